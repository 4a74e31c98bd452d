/*
 * The root sends to each child the blocks of its whole subtree, which the child passes on.
 *
 * Cost: log_k n steps of latency; a block is sent once for each step on its way.
 * Wins: small blocks.
 */
#include "coll/schedule_list.h"
#include "coll/schedule_parts.h"

static void
scatter_knomial_root(struct pcoll_schedule *schedule, const struct pcoll_shape *shape,
                     const struct pcoll_kin *kin)
{
	const uint32_t blocks = pcoll_view_members(schedule, PCOLL_SRC, shape);

	for (uint32_t i = kin->children; i-- > 0; )
		pcoll_add_root_subtree(
			schedule, pcoll_add_send, kin->child[i],
			pcoll_subtree_of_members(blocks, kin->child[i], kin->child_run[i],
		                                 shape->size));
	if (!shape->in_place)
		pcoll_add_copy(schedule,
		               pcoll_vector(schedule, PCOLL_DST, shape),
		               pcoll_block(blocks, pcoll_at(shape->rank)));
}

static void
scatter_knomial_receive(struct pcoll_schedule *schedule, const struct pcoll_shape *shape,
                        const struct pcoll_kin *kin, uint32_t view)
{
	if (kin->parent == shape->root)
		pcoll_add_root_subtree(
			schedule, pcoll_add_receive, kin->parent,
			pcoll_subtree_of_own(view, shape->rank, kin->run, shape->size));
	else
		pcoll_add_receive(schedule, pcoll_at(kin->parent), pcoll_at(schedule->tags),
		                  pcoll_span(view, pcoll_at(0), kin->run), pcoll_no_span());
}

/* Its own block is the first of its run. */
static void
scatter_knomial_inner(struct pcoll_schedule *schedule, const struct pcoll_shape *shape,
                      const struct pcoll_kin *kin)
{
	const uint32_t dst = pcoll_view_vector(schedule, PCOLL_DST, shape);
	const uint32_t run = pcoll_view_tmp(schedule, kin->run, shape->len_bytes);

	scatter_knomial_receive(schedule, shape, kin, run);
	pcoll_add_round(schedule);
	for (uint32_t i = kin->children; i-- > 0; )
		pcoll_add_send(schedule, pcoll_at(kin->child[i]), pcoll_at(schedule->tags),
		               pcoll_span(run, pcoll_at(pcoll_child_place(kin, i)),
		                          kin->child_run[i]),
		               pcoll_no_span());
	pcoll_add_copy(schedule, pcoll_block(dst, pcoll_at(0)), pcoll_block(run, pcoll_at(0)));
}

static void
scatter_knomial_build(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	struct pcoll_kin kin;

	pcoll_kin_knomial(shape->rank, shape->size, shape->root, shape->radix, &kin);
	if (kin.is_root)
		scatter_knomial_root(schedule, shape, &kin);
	else if (kin.children)
		scatter_knomial_inner(schedule, shape, &kin);
	else
		scatter_knomial_receive(schedule, shape, &kin,
		                        pcoll_view_vector(schedule, PCOLL_DST, shape));
	schedule->tags += PCOLL_SUBTREE_TAGS;
}

const struct pcoll_builder pcoll_build_scatter_knomial = {
	.operation = PCOLL_SCATTER, .name = "knomial", .summary = "down a k-nomial tree",
	.has_radix = true, .build = scatter_knomial_build,
};
