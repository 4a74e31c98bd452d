/* Two levels: members of a neighbourhood, and those that lead one. */
#include "coll/schedule_parts.h"

static uint32_t
own_nbrhd(const struct pcoll_shape *shape)
{
	return shape->layout->nbrhd_of[shape->rank];
}

static const uint32_t *
near_ranks(const struct pcoll_shape *shape, uint32_t *count_out)
{
	return pcoll_layout_members(shape->layout, own_nbrhd(shape), count_out);
}

struct pcoll_shape
pcoll_shape_near(const struct pcoll_shape *shape)
{
	struct pcoll_shape near = *shape;

	(void)near_ranks(shape, &near.size);
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
	                  (struct pcoll_group){ .ranks = near_ranks(shape, &count) });
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

void
pcoll_kin_levels(const struct pcoll_shape *shape, struct pcoll_kin *kin_out)
{
	const struct pcoll_layout *layout = shape->layout;
	const uint32_t nbrhd = own_nbrhd(shape), root = shape->root;
	const uint32_t lead = tree_lead(layout, root, nbrhd);
	uint32_t count;
	const uint32_t *ranks = near_ranks(shape, &count);
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
