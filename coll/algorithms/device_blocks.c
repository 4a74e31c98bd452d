/*
 * Operations in which members have blocks of each other, with a device step.  Where all take that
 * step, it stands in front of the algorithm that software has for the shape.  Where the ranks that
 * lead hosts take it, each for as many ranks, it stands in front of their stage of two levels.
 * Other hosts have a step that says no, so that it is counted, and then software's algorithm.
 *
 * Cost: the steps of a neighbourhood in memory, and what the device costs.
 * Wins: where there is a device, and blocks are as it likes them.
 */
#include "coll/device.h"
#include "coll/schedule_device.h"
#include "coll/schedule_list.h"
#include "coll/schedule_parts.h"
#include "coll/select.h"

static bool
blocks_served(const struct pcoll_shape *shape)
{
	const unsigned far = PCOLL_SCOPE_RANKS | PCOLL_SCOPE_LEADERS;

	if (!shape->layout)
		return pcoll_device_serves_near(shape);
	return pcoll_device && pcoll_device->serves(shape) &&
	       (pcoll_device->scopes & far || pcoll_layout_has_levels(shape->layout));
}

static void
software_add(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	struct pcoll_shape chosen = *shape;
	const struct pcoll_builder *builder = pcoll_select_software(&chosen);

	builder->build(schedule, &chosen);
}

/* A step of all members, on the line that has them all. */
static void
whole_add(struct pcoll_schedule *schedule, const struct pcoll_shape *shape,
          struct pcoll_device_step step)
{
	const bool all_lead = shape->layout && !(pcoll_device->scopes & PCOLL_SCOPE_RANKS);

	step.line = all_lead ? PCOLL_LINE_LEADERS : PCOLL_LINE_ALL;
	if (shape->device_only) {
		pcoll_add_device(schedule, &step);
		return;
	}
	pcoll_device_stage_begin(schedule, &step);
	software_add(schedule, shape);
	pcoll_add_round(schedule);
	pcoll_device_stage_end(schedule, &step, true);
}

/* Those that would be its members tell the device. */
static void
declined_add(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	const struct pcoll_layout *layout = shape->layout;
	const bool far = pcoll_device->scopes & PCOLL_SCOPE_LEADERS;
	const struct pcoll_device_step step = {
		.line = far ? PCOLL_LINE_LEADERS : PCOLL_LINE_HOST, .does = PCOLL_DEVICE_DECLINES,
	};
	uint32_t count;
	const uint32_t *ranks = pcoll_near_ranks(shape, &count);

	if (far ? layout->leads[layout->nbrhd_of[shape->rank]] == shape->rank : count > 1) {
		pcoll_stage_begin(schedule, (struct pcoll_group){ .ranks = far ? layout->leads
		                                                               : ranks });
		pcoll_add_device(schedule, &step);
	}
	pcoll_stage_end(schedule);
	software_add(schedule, shape);
}

static void
blocks_add(struct pcoll_schedule *schedule, const struct pcoll_shape *shape,
           struct pcoll_device_step step,
           void (*levels)(struct pcoll_schedule *schedule, const struct pcoll_shape *shape,
                          bool by_device))
{
	const struct pcoll_layout *layout = shape->layout;

	if (!layout || pcoll_device->scopes & PCOLL_SCOPE_RANKS || !pcoll_layout_has_levels(layout))
		whole_add(schedule, shape, step);
	else if (pcoll_device->scopes & PCOLL_SCOPE_LEADERS && layout->least == layout->most &&
	         layout->in_runs)
		levels(schedule, shape, true);
	else
		declined_add(schedule, shape);
}

static void
gather_all_build(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	const uint32_t dst = pcoll_view_members(schedule, PCOLL_DST, shape);

	blocks_add(schedule, shape,
	           (struct pcoll_device_step){
			   .does = PCOLL_DEVICE_GATHERS_ALL,
			   .from = pcoll_vector(schedule, PCOLL_SRC, shape),
			   .to = pcoll_span(dst, pcoll_at(0), shape->size) },
	           pcoll_add_gather_all_levels);
}

const struct pcoll_builder pcoll_build_gather_all_device = {
	.operation = PCOLL_GATHER_ALL, .name = "device",
	.summary = "hosts gather at a rank of each, which let a device gather; or it does all",
	.has_radix = true, .has_device = true, .serves = blocks_served, .build = gather_all_build,
};

static void
reduce_scatter_build(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	const uint32_t src = pcoll_view_members(schedule, PCOLL_SRC, shape);

	blocks_add(schedule, shape,
	           (struct pcoll_device_step){
			   .does = PCOLL_DEVICE_REDUCES_SCATTER,
			   .from = pcoll_span(src, pcoll_at(0), shape->size),
			   .to = pcoll_vector(schedule, PCOLL_DST, shape) },
	           pcoll_add_reduce_scatter_levels);
}

const struct pcoll_builder pcoll_build_reduce_scatter_device = {
	.operation = PCOLL_REDUCE_SCATTER, .name = "device",
	.summary = "hosts reduce to a rank of each, which let a device do the rest; or it does all",
	.has_device = true, .reorders = true, .serves = blocks_served,
	.build = reduce_scatter_build,
};
