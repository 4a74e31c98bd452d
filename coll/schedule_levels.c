/* Two levels: members of a neighbourhood, and those that lead one. */
#include "coll/schedule_parts.h"

static uint32_t
own_nbrhd(const struct pcoll_shape *shape)
{
	return shape->layout->nbrhd_of[shape->rank];
}

const uint32_t *
pcoll_near_ranks(const struct pcoll_shape *shape, uint32_t *count_out)
{
	return pcoll_layout_members(shape->layout, own_nbrhd(shape), count_out);
}

struct pcoll_shape
pcoll_shape_near(const struct pcoll_shape *shape)
{
	struct pcoll_shape near = *shape;

	(void)pcoll_near_ranks(shape, &near.size);
	near.rank = shape->layout->place[shape->rank];
	near.root = 0;
	near.layout = NULL;
	return near;
}

struct pcoll_shape
pcoll_shape_far(const struct pcoll_shape *shape)
{
	struct pcoll_shape far = *shape;

	far.size = shape->layout->nbrhds;
	far.rank = own_nbrhd(shape);
	far.root = 0;
	far.in_place = true;
	far.layout = NULL;
	return far;
}

void
pcoll_stage_near_begin(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	uint32_t count;

	pcoll_stage_begin(schedule,
	                  (struct pcoll_group){ .ranks = pcoll_near_ranks(shape, &count) });
}

void
pcoll_stage_far_begin(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	pcoll_stage_begin(schedule, (struct pcoll_group){ .ranks = shape->layout->leads,
	                                                  .from_dst = true });
}

/* -- a tree of both levels --------------------------------------------------------------------- */

/* The member that leads a neighbourhood in a tree with that root. */
static uint32_t
tree_lead(const struct pcoll_layout *layout, uint32_t root, uint32_t nbrhd)
{
	return layout->nbrhd_of[root] == nbrhd ? root : layout->leads[nbrhd];
}

uint32_t
pcoll_near_lead(const struct pcoll_shape *shape)
{
	return tree_lead(shape->layout, shape->root, own_nbrhd(shape));
}

void
pcoll_kin_levels(const struct pcoll_shape *shape, struct pcoll_kin *kin_out)
{
	const struct pcoll_layout *layout = shape->layout;
	const uint32_t nbrhd = own_nbrhd(shape), root = shape->root;
	const uint32_t lead = tree_lead(layout, root, nbrhd);
	uint32_t count;
	const uint32_t *ranks = pcoll_near_ranks(shape, &count);
	struct pcoll_kin far;

	pcoll_kin_knomial(layout->place[shape->rank], count, layout->place[lead], shape->radix,
	                  kin_out);
	kin_out->parent = ranks[kin_out->parent];
	for (uint32_t i = 0; i < kin_out->children; i++)
		kin_out->child[i] = ranks[kin_out->child[i]];
	if (shape->rank != lead)
		return;
	pcoll_kin_knomial(nbrhd, layout->nbrhds, layout->nbrhd_of[root], shape->radix, &far);
	kin_out->is_root = far.is_root;
	kin_out->parent = tree_lead(layout, root, far.parent);
	for (uint32_t i = 0; i < far.children; i++)
		kin_out->child[kin_out->children++] = tree_lead(layout, root, far.child[i]);
}

/* -- blocks ------------------------------------------------------------------------------------ */

struct pcoll_span
pcoll_span_of_nbrhd(const struct pcoll_shape *shape, uint32_t nbrhd, uint32_t all, uint32_t packed)
{
	const struct pcoll_layout *layout = shape->layout;
	uint32_t count;
	const uint32_t *ranks = pcoll_layout_members(layout, nbrhd, &count);

	if (pcoll_nbrhd_is_run(layout, nbrhd))
		return pcoll_span(all, pcoll_at(ranks[0]), count);
	return pcoll_span(packed, pcoll_at(layout->start[nbrhd]), count);
}

uint32_t
pcoll_add_packed(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	return pcoll_view_tmp(schedule, shape->layout->in_runs ? 1 : shape->size,
	                      shape->layout->in_runs ? 0 : shape->len_bytes);
}

/* Adds one copy for each run of ranks. */
static void
blocks_copy(struct pcoll_schedule *schedule, const struct pcoll_shape *shape, uint32_t nbrhd,
            uint32_t all, uint32_t packed, uint32_t at, bool packs)
{
	uint32_t count, run;
	const uint32_t *ranks = pcoll_layout_members(shape->layout, nbrhd, &count);

	for (uint32_t i = 0; i < count; i += run) {
		struct pcoll_span in_all, in_packed;

		run = pcoll_layout_run(ranks, i, count);
		in_all = pcoll_span(all, pcoll_at(ranks[i]), run);
		in_packed = pcoll_span(packed, pcoll_at(at + i), run);
		if (packs)
			pcoll_add_copy(schedule, in_packed, in_all);
		else
			pcoll_add_copy(schedule, in_all, in_packed);
	}
}

void
pcoll_add_pack(struct pcoll_schedule *schedule, const struct pcoll_shape *shape, uint32_t nbrhd,
               uint32_t all, uint32_t packed)
{
	if (!pcoll_nbrhd_is_run(shape->layout, nbrhd))
		blocks_copy(schedule, shape, nbrhd, all, packed, shape->layout->start[nbrhd], true);
}

void
pcoll_add_unpack(struct pcoll_schedule *schedule, const struct pcoll_shape *shape, uint32_t nbrhd,
                 uint32_t all, uint32_t packed)
{
	if (!pcoll_nbrhd_is_run(shape->layout, nbrhd))
		blocks_copy(schedule, shape, nbrhd, all, packed, shape->layout->start[nbrhd],
		            false);
}

void
pcoll_add_order(struct pcoll_schedule *schedule, const struct pcoll_shape *shape, uint32_t nbrhd,
                uint32_t all, uint32_t from, uint32_t at)
{
	blocks_copy(schedule, shape, nbrhd, all, from, at, false);
}

/* -- sums before ------------------------------------------------------------------------------- */

bool
pcoll_shape_is_in_runs(const struct pcoll_shape *shape)
{
	return shape->layout->in_runs;
}

/* The last members of the neighbourhoods, each for its own. */
static void
lasts_sum(struct pcoll_schedule *schedule, const struct pcoll_shape *shape, struct pcoll_span sum,
          uint32_t tmp)
{
	const struct pcoll_shape far = pcoll_shape_far(shape);
	const struct pcoll_span sums = pcoll_block(tmp, pcoll_at(1));

	pcoll_add_copy(schedule, sums, sum);
	pcoll_stage_begin(schedule, (struct pcoll_group){ .ranks = shape->layout->lasts });
	pcoll_add_sums_before(schedule, &far, sums, pcoll_block(tmp, pcoll_at(2)),
	                      pcoll_block(tmp, pcoll_at(0)));
}

bool
pcoll_add_before(struct pcoll_schedule *schedule, const struct pcoll_shape *shape,
                 struct pcoll_span sum, struct pcoll_span *before_out)
{
	const uint32_t last = shape->layout->lasts[own_nbrhd(shape)];
	const bool is_last = shape->rank == last;
	const uint32_t tmp = pcoll_view_tmp(schedule, is_last ? 3 : 1, shape->len_bytes);
	const struct pcoll_span before = *before_out = pcoll_block(tmp, pcoll_at(0));
	struct pcoll_index tag;
	uint32_t count;
	const uint32_t *ranks = pcoll_near_ranks(shape, &count);

	if (is_last)
		lasts_sum(schedule, shape, sum, tmp);
	pcoll_stage_end(schedule);
	tag = pcoll_at(schedule->tags++);
	if (!own_nbrhd(shape))
		return false;
	if (!is_last)
		pcoll_add_receive(schedule, pcoll_at(last), tag, before, pcoll_no_span());
	for (uint32_t i = 0; is_last && i + 1 < count; i++)
		pcoll_add_send(schedule, pcoll_at(ranks[i]), tag, before, pcoll_no_span());
	pcoll_add_round(schedule);
	return true;
}
