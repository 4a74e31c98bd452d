/*
 * Two levels, as in the algorithms `levels', where those that lead take a device step, and the
 * stage behind it only where no device has done it.
 *
 * Source: the study P1 of UPC collectives on Power7IH.
 * Cost: the steps of a neighbourhood in memory, and what the device costs.
 * Wins: where there is a device, and payloads are as it likes them.
 */
#include "coll/device.h"
#include "coll/schedule_list.h"
#include "coll/schedule_parts.h"

static bool
device_serves(const struct pcoll_shape *shape)
{
	return pcoll_device && pcoll_device->serves(shape);
}

/* The stage of those that lead; `root' is that of the device step, a neighbourhood. */
struct stage {
	struct pcoll_span from, to;
	uint32_t root;
	void (*software)(struct pcoll_schedule *schedule, const struct pcoll_shape *far);
};

static void
stage_add(struct pcoll_schedule *schedule, const struct pcoll_shape *shape,
          const struct stage *stage)
{
	struct pcoll_shape far = pcoll_shape_far(shape);
	const bool leads = shape->layout->leads[far.rank] == shape->rank;

	far.root = stage->root;
	pcoll_stage_far_begin(schedule, shape);
	if (leads) {
		pcoll_add_device(schedule, stage->root, stage->from, stage->to);
		pcoll_unless_begin(schedule);
		stage->software(schedule, &far);
		pcoll_unless_end(schedule);
		if (pcoll_device->verifies)
			pcoll_add_compare(schedule, stage->to);
	}
	pcoll_stage_end(schedule);
}

/* -- reduce to all ----------------------------------------------------------------------------- */

static void
reduce_to_all_build(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	const struct pcoll_shape near = pcoll_shape_near(shape);
	const struct pcoll_span dst = pcoll_vector(schedule, PCOLL_DST, shape);
	struct pcoll_kin kin;

	pcoll_kin_knomial(near.rank, near.size, 0, near.radix, &kin);
	pcoll_stage_near_begin(schedule, shape);
	pcoll_add_reduce(schedule, &near, &kin);
	pcoll_stage_end(schedule);
	stage_add(schedule, shape, &(struct stage){ dst, dst, 0, pcoll_add_reduce_far });
	pcoll_stage_near_begin(schedule, shape);
	pcoll_add_down(schedule, &near, &kin, PCOLL_DST);
	pcoll_stage_end(schedule);
}

const struct pcoll_builder pcoll_build_reduce_to_all_device = {
	.operation = PCOLL_REDUCE_TO_ALL, .name = "device",
	.summary = "hosts reduce to a rank of each, which let a device reduce",
	.has_radix = true, .has_levels = true, .has_device = true, .reorders = true,
	.serves = device_serves, .build = reduce_to_all_build,
};

/* -- barrier ----------------------------------------------------------------------------------- */

static void
barrier_build(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	const struct pcoll_shape near = pcoll_shape_near(shape);
	struct pcoll_kin kin;

	pcoll_kin_knomial(near.rank, near.size, 0, near.radix, &kin);
	pcoll_stage_near_begin(schedule, shape);
	pcoll_add_barrier_up(schedule, &kin);
	pcoll_stage_end(schedule);
	stage_add(schedule, shape, &(struct stage){ pcoll_no_span(), pcoll_no_span(), 0,
	                                            pcoll_add_barrier });
	pcoll_stage_near_begin(schedule, shape);
	pcoll_add_barrier_down(schedule, &kin);
	pcoll_stage_end(schedule);
}

const struct pcoll_builder pcoll_build_barrier_device = {
	.operation = PCOLL_BARRIER, .name = "device",
	.summary = "one rank of each host lets a device go for all of its host", .has_radix = true,
	.has_levels = true, .has_device = true, .serves = device_serves, .build = barrier_build,
};

/* -- broadcast --------------------------------------------------------------------------------- */

/* The root tells the one that leads its neighbourhood, if that is another, and then all who lead
 * tell their neighbourhoods, the root's with it. */
static void
root_tells_lead(struct pcoll_schedule *schedule, const struct pcoll_shape *shape, uint32_t lead)
{
	if (shape->root != lead && shape->rank == shape->root)
		pcoll_add_send(schedule, pcoll_at(lead), pcoll_at(schedule->tags),
		               pcoll_vector(schedule, PCOLL_SRC, shape), pcoll_no_span());
	if (shape->root != lead && shape->rank == lead)
		pcoll_add_receive(schedule, pcoll_at(shape->root), pcoll_at(schedule->tags),
		                  pcoll_vector(schedule, PCOLL_DST, shape), pcoll_no_span());
	if (shape->rank == shape->root && !shape->in_place)
		pcoll_add_own_copy(schedule, shape);
	schedule->tags++;
}

static void
broadcast_far(struct pcoll_schedule *schedule, const struct pcoll_shape *far)
{
	struct pcoll_kin kin;

	pcoll_kin_knomial(far->rank, far->size, far->root, far->radix, &kin);
	pcoll_add_down(schedule, far, &kin, PCOLL_DST);
}

static void
broadcast_build(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	const struct pcoll_layout *layout = shape->layout;
	const uint32_t root_nbrhd = layout->nbrhd_of[shape->root];
	const struct pcoll_shape near = pcoll_shape_near(shape);
	const struct pcoll_span dst = pcoll_vector(schedule, PCOLL_DST, shape);
	struct pcoll_kin kin;

	root_tells_lead(schedule, shape, layout->leads[root_nbrhd]);
	pcoll_stage_end(schedule);
	stage_add(schedule, shape, &(struct stage){ dst, dst, root_nbrhd, broadcast_far });
	pcoll_kin_knomial(near.rank, near.size, 0, near.radix, &kin);
	pcoll_stage_near_begin(schedule, shape);
	pcoll_add_down(schedule, &near, &kin, PCOLL_DST);
	pcoll_stage_end(schedule);
}

const struct pcoll_builder pcoll_build_broadcast_device = {
	.operation = PCOLL_BROADCAST, .name = "device",
	.summary = "a device multicasts to a rank of each host, which tell their hosts",
	.has_radix = true, .has_levels = true, .has_device = true, .serves = device_serves,
	.build = broadcast_build,
};
