/* What algorithms that move blocks of members have in common. */
#include "coll/schedule_parts.h"

uint32_t
pcoll_child_place(const struct pcoll_kin *kin, uint32_t i)
{
	uint32_t place = 1;

	for (uint32_t before = 0; before < i; before++)
		place += kin->child_run[before];
	return place;
}

/* -- runs -------------------------------------------------------------------------------------- */

static uint32_t
run_to_last_rank(uint32_t rank, uint32_t run, uint32_t size)
{
	return run < size - rank ? run : size - rank;
}

static struct pcoll_span
run_tail(uint32_t view, uint32_t first, uint32_t blocks)
{
	return blocks ? pcoll_span(view, pcoll_at(first), blocks) : pcoll_no_span();
}

struct pcoll_root_subtree
pcoll_subtree_of_members(uint32_t view, uint32_t rank, uint32_t run, uint32_t size)
{
	const uint32_t head = run_to_last_rank(rank, run, size);

	return (struct pcoll_root_subtree){ pcoll_span(view, pcoll_at(rank), head),
		                        run_tail(view, 0, run - head) };
}

struct pcoll_root_subtree
pcoll_subtree_of_own(uint32_t view, uint32_t rank, uint32_t run, uint32_t size)
{
	const uint32_t head = run_to_last_rank(rank, run, size);

	return (struct pcoll_root_subtree){ pcoll_span(view, pcoll_at(0), head),
		                        run_tail(view, head, run - head) };
}

void
pcoll_add_root_subtree(struct pcoll_schedule *schedule,
                   void (*add)(struct pcoll_schedule *schedule, struct pcoll_index peer,
                               struct pcoll_index tag, struct pcoll_span span,
                               struct pcoll_span like),
                   uint32_t peer, struct pcoll_root_subtree run)
{
	add(schedule, pcoll_at(peer), pcoll_at(schedule->tags), run.head, pcoll_no_span());
	if (run.tail.blocks)
		add(schedule, pcoll_at(peer), pcoll_at(schedule->tags + 1), run.tail,
		    pcoll_no_span());
}

/* -- exchanges --------------------------------------------------------------------------------- */

uint32_t
pcoll_add_exchange_source(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	const uint32_t src = pcoll_view_members(schedule, PCOLL_SRC, shape);
	uint32_t copy;

	if (!shape->in_place)
		return src;
	copy = pcoll_view_tmp(schedule, shape->size, shape->len_bytes);
	pcoll_add_copy(schedule, pcoll_span(copy, pcoll_at(0), shape->size),
	               pcoll_span(src, pcoll_at(0), shape->size));
	return copy;
}
