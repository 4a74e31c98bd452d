/*
 * The member that leads a neighbourhood gathers what all its members send.  Those that lead
 * exchange all blocks between two neighbourhoods as one message, and bring to each of their
 * members what is for it.
 *
 * Cost: two steps in memory and one over the network, in which a neighbourhood sends a message to
 * each other one; a block is sent three times, and copied twice by each of two that lead.
 * Wins: small blocks, where a message of the network takes many times as long as one in memory.
 */
#include "coll/schedule_list.h"
#include "coll/schedule_parts.h"

enum { ROWS_MOST_BYTES = 4 << 20 };

/*
 * Of one that leads.  `rows' has a row of blocks for each member of the neighbourhood, by place:
 * first what it sends, by rank of the target; in the end what it receives, by rank of the source.
 * `to' and `from' have the blocks that go to and come from a neighbourhood one after the other,
 * from block count * start of its layout on: for each member that sends, those of all that receive.
 */
struct leading {
	struct pcoll_schedule *schedule;
	const struct pcoll_shape *shape;
	const uint32_t *ranks;          /* of the neighbourhood */
	uint32_t count;
	uint32_t rows, to, from;        /* views */
};

static struct pcoll_span
row_of(const struct leading *leading, uint32_t place)
{
	const uint32_t size = leading->shape->size;

	return pcoll_span(leading->rows, pcoll_at(place * size), size);
}

/* All blocks between this neighbourhood and another. */
static struct pcoll_span
blocks_between(const struct leading *leading, uint32_t view, uint32_t nbrhd)
{
	const uint32_t *start = leading->shape->layout->start;

	return pcoll_span(view, pcoll_at(leading->count * start[nbrhd]),
	                  leading->count * (start[nbrhd + 1] - start[nbrhd]));
}

/* Rows to `to': a loop over the members for each run of a neighbourhood's ranks. */
static void
rows_pack(const struct leading *leading, uint32_t nbrhd)
{
	const struct pcoll_layout *layout = leading->shape->layout;
	const uint32_t base = leading->count * layout->start[nbrhd];
	uint32_t count, run;
	const uint32_t *ranks = pcoll_layout_members(layout, nbrhd, &count);

	for (uint32_t i = 0; i < count; i += run) {
		run = pcoll_layout_run(ranks, i, count);
		pcoll_loop_begin(leading->schedule, leading->count);
		pcoll_add_copy(leading->schedule,
		               pcoll_span(leading->to, pcoll_from(base + i, (int32_t)count), run),
		               pcoll_span(leading->rows,
		                          pcoll_from(ranks[i], (int32_t)leading->shape->size),
		                          run));
		pcoll_loop_end(leading->schedule);
	}
}

/* `from', or of the own neighbourhood `to', to rows: a loop over the members for each member of the
 * other neighbourhood. */
static void
rows_unpack(const struct leading *leading, uint32_t nbrhd)
{
	const struct pcoll_layout *layout = leading->shape->layout;
	const uint32_t base = leading->count * layout->start[nbrhd];
	const bool is_own = nbrhd == layout->nbrhd_of[leading->shape->rank];
	const uint32_t view = is_own ? leading->to : leading->from;
	uint32_t count;
	const uint32_t *ranks = pcoll_layout_members(layout, nbrhd, &count);

	for (uint32_t i = 0; i < count; i++) {
		const struct pcoll_index row =
			pcoll_from(ranks[i], (int32_t)leading->shape->size);

		pcoll_loop_begin(leading->schedule, leading->count);
		pcoll_add_copy(leading->schedule, pcoll_block(leading->rows, row),
		               pcoll_block(view, pcoll_from(base + i * leading->count, 1)));
		pcoll_loop_end(leading->schedule);
	}
}

static void
rows_gather(const struct leading *leading)
{
	struct pcoll_schedule *schedule = leading->schedule;
	const uint32_t src = pcoll_view_members(schedule, PCOLL_SRC, leading->shape);

	for (uint32_t i = 1; i < leading->count; i++)
		pcoll_add_receive(schedule, pcoll_at(leading->ranks[i]), pcoll_at(schedule->tags),
		                  row_of(leading, i), pcoll_no_span());
	pcoll_add_copy(schedule, row_of(leading, 0),
	               pcoll_span(src, pcoll_at(0), leading->shape->size));
	pcoll_add_round(schedule);
}

static void
leads_exchange(const struct leading *leading)
{
	struct pcoll_schedule *schedule = leading->schedule;
	const struct pcoll_layout *layout = leading->shape->layout;
	const uint32_t own = layout->nbrhd_of[leading->shape->rank];
	const struct pcoll_index tag = pcoll_at(schedule->tags + 1);

	for (uint32_t nbrhd = 0; nbrhd < layout->nbrhds; nbrhd++)
		rows_pack(leading, nbrhd);
	for (uint32_t away = 1; away < layout->nbrhds; away++) {
		const uint32_t above = pcoll_rank_at(away, layout->nbrhds, own);
		const uint32_t below = pcoll_place_of(own, layout->nbrhds, away);

		pcoll_add_send(schedule, pcoll_at(layout->leads[above]), tag,
		               blocks_between(leading, leading->to, above), pcoll_no_span());
		pcoll_add_receive(schedule, pcoll_at(layout->leads[below]), tag,
		                  blocks_between(leading, leading->from, below), pcoll_no_span());
	}
	pcoll_add_round(schedule);
	for (uint32_t nbrhd = 0; nbrhd < layout->nbrhds; nbrhd++)
		rows_unpack(leading, nbrhd);
}

static void
rows_scatter(const struct leading *leading)
{
	struct pcoll_schedule *schedule = leading->schedule;
	const uint32_t dst = pcoll_view_members(schedule, PCOLL_DST, leading->shape);

	for (uint32_t i = 1; i < leading->count; i++)
		pcoll_add_send(schedule, pcoll_at(leading->ranks[i]), pcoll_at(schedule->tags + 2),
		               row_of(leading, i), pcoll_no_span());
	pcoll_add_copy(schedule, pcoll_span(dst, pcoll_at(0), leading->shape->size),
	               row_of(leading, 0));
}

static void
exchange_levels_lead(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	struct leading leading = { .schedule = schedule, .shape = shape };
	uint32_t blocks;

	leading.ranks = pcoll_near_ranks(shape, &leading.count);
	blocks = leading.count * shape->size;
	leading.rows = pcoll_view_tmp(schedule, blocks, shape->len_bytes);
	leading.to = pcoll_view_tmp(schedule, blocks, shape->len_bytes);
	leading.from = pcoll_view_tmp(schedule, blocks, shape->len_bytes);
	rows_gather(&leading);
	leads_exchange(&leading);
	rows_scatter(&leading);
}

/* The others send all their blocks before they receive, so in place needs no copy. */
static void
exchange_levels_build(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	const uint32_t lead = shape->layout->leads[shape->layout->nbrhd_of[shape->rank]];
	uint32_t src, dst;

	if (shape->rank == lead) {
		exchange_levels_lead(schedule, shape);
	} else {
		src = pcoll_view_members(schedule, PCOLL_SRC, shape);
		dst = pcoll_view_members(schedule, PCOLL_DST, shape);
		pcoll_add_send(schedule, pcoll_at(lead), pcoll_at(schedule->tags),
		               pcoll_span(src, pcoll_at(0), shape->size), pcoll_no_span());
		pcoll_add_round(schedule);
		pcoll_add_receive(schedule, pcoll_at(lead), pcoll_at(schedule->tags + 2),
		                  pcoll_span(dst, pcoll_at(0), shape->size), pcoll_no_span());
	}
	schedule->tags += 3;
}

/* Each that leads has three buffers for all blocks of its neighbourhood. */
static bool
exchange_levels_serves(const struct pcoll_shape *shape)
{
	return (uint64_t)shape->layout->most * shape->size * shape->len_bytes <= ROWS_MOST_BYTES;
}

const struct pcoll_builder pcoll_build_exchange_levels = {
	.operation = PCOLL_EXCHANGE, .name = "levels",
	.summary = "a rank of each host exchanges all blocks of its host",
	.has_levels = true, .serves = exchange_levels_serves,
	.build = exchange_levels_build,
};
