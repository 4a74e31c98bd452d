/*
 * Members take device steps, and behind each stands the same stage in software, only for where no
 * device has done it.  What devices there are says which steps (device.h): two levels, as in the
 * algorithms `levels', in which hosts, those that lead them, or both have one for each stage; or
 * one step of all members, in front of the two levels.  Where all share memory, it is one step of
 * all, in front of an algorithm for such teams.
 *
 * Source: the study P1 of UPC collectives on Power7IH.
 * Cost: the steps of a neighbourhood in memory, and what the device costs.
 * Wins: where there is a device, and payloads are as it likes them.
 */
#include "coll/device.h"
#include "coll/schedule_device.h"
#include "coll/schedule_list.h"
#include "coll/schedule_parts.h"

static bool
device_serves(const struct pcoll_shape *shape)
{
	if (!shape->layout)
		return pcoll_device_serves_near(shape);
	return pcoll_device && pcoll_device->serves(shape);
}

/* -- stages with a device step ----------------------------------------------------------------- */

/* The stage of those that lead; `root' is a neighbourhood. */
static void
far_add(struct pcoll_schedule *schedule, const struct pcoll_shape *shape, bool by_device,
        struct pcoll_device_step step,
        void (*software)(struct pcoll_schedule *schedule, const struct pcoll_shape *far))
{
	struct pcoll_shape far = pcoll_shape_far(shape);
	const bool leads = shape->layout->leads[far.rank] == shape->rank;

	step.line = PCOLL_LINE_LEADERS;
	far.root = step.root;
	pcoll_stage_far_begin(schedule, shape);
	if (leads && by_device) {
		pcoll_device_stage_begin(schedule, &step);
		software(schedule, &far);
		pcoll_device_stage_end(schedule, &step, true);
	} else if (leads) {
		software(schedule, &far);
	}
	pcoll_stage_end(schedule);
}

/* The stage of a neighbourhood, up to the one that leads it or down from there. */
static void
near_add(struct pcoll_schedule *schedule, const struct pcoll_shape *shape, bool by_device,
         struct pcoll_device_step step,
         void (*software)(struct pcoll_schedule *schedule, const struct pcoll_shape *near,
                          const struct pcoll_kin *kin))
{
	const struct pcoll_shape near = pcoll_shape_near(shape);
	struct pcoll_kin kin;

	step.line = PCOLL_LINE_HOST;
	pcoll_kin_knomial(near.rank, near.size, 0, near.radix, &kin);
	pcoll_stage_near_begin(schedule, shape);
	if (by_device && near.size > 1) {
		pcoll_device_stage_begin(schedule, &step);
		software(schedule, &near, &kin);
		pcoll_device_stage_end(schedule, &step,
		                       kin.is_root || step.does != PCOLL_DEVICE_REDUCES);
	} else {
		software(schedule, &near, &kin);
	}
	pcoll_stage_end(schedule);
}

static void
near_down(struct pcoll_schedule *schedule, const struct pcoll_shape *near,
          const struct pcoll_kin *kin)
{
	pcoll_add_down(schedule, near, kin, PCOLL_DST);
}

/* A step of all members in front of the operation in software; of two levels, with those steps that
 * `levels' may have. */
static void
whole_add(struct pcoll_schedule *schedule, const struct pcoll_shape *shape,
          struct pcoll_device_step step,
          void (*levels)(struct pcoll_schedule *schedule, const struct pcoll_shape *shape,
                         unsigned scopes),
          void (*flat)(struct pcoll_schedule *schedule, const struct pcoll_shape *shape))
{
	if (shape->layout && !(pcoll_device->scopes & PCOLL_SCOPE_RANKS)) {
		levels(schedule, shape, pcoll_device->scopes);
		return;
	}
	step.line = PCOLL_LINE_ALL;
	if (shape->device_only) {
		pcoll_add_device(schedule, &step);
		return;
	}
	pcoll_device_stage_begin(schedule, &step);
	if (shape->layout)
		levels(schedule, shape, 0);
	else
		flat(schedule, shape);
	pcoll_add_round(schedule);
	pcoll_device_stage_end(schedule, &step, true);
}

/* -- reduce to all ----------------------------------------------------------------------------- */

static void
reduce_to_all_levels(struct pcoll_schedule *schedule, const struct pcoll_shape *shape,
                     unsigned scopes)
{
	const struct pcoll_span src = pcoll_vector(schedule, PCOLL_SRC, shape);
	const struct pcoll_span dst = pcoll_vector(schedule, PCOLL_DST, shape);

	near_add(schedule, shape, scopes & PCOLL_SCOPE_HOST,
	         (struct pcoll_device_step){ .does = PCOLL_DEVICE_REDUCES, .from = src,
	                                     .to = dst }, pcoll_add_reduce);
	far_add(schedule, shape, scopes & PCOLL_SCOPE_LEADERS,
	        (struct pcoll_device_step){ .does = PCOLL_DEVICE_REDUCES_TO_ALL, .from = dst,
	                                    .to = dst }, pcoll_add_reduce_far);
	near_add(schedule, shape, scopes & PCOLL_SCOPE_HOST,
	         (struct pcoll_device_step){ .does = PCOLL_DEVICE_MULTICASTS, .from = dst,
	                                     .to = dst }, near_down);
}

static void
reduce_to_all_build(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	whole_add(schedule, shape,
	          (struct pcoll_device_step){
			  .does = PCOLL_DEVICE_REDUCES_TO_ALL,
			  .from = pcoll_vector(schedule, PCOLL_SRC, shape),
			  .to = pcoll_vector(schedule, PCOLL_DST, shape) },
	          reduce_to_all_levels, pcoll_add_reduce_far);
}

const struct pcoll_builder pcoll_build_reduce_to_all_device = {
	.operation = PCOLL_REDUCE_TO_ALL, .name = "device",
	.summary = "hosts reduce to a rank of each, which let a device reduce; or it does all",
	.has_radix = true, .has_device = true, .reorders = true, .serves = device_serves,
	.build = reduce_to_all_build,
};

/* -- barrier ----------------------------------------------------------------------------------- */

static void
near_barrier_up(struct pcoll_schedule *schedule, const struct pcoll_shape *near,
                const struct pcoll_kin *kin)
{
	(void)near;
	pcoll_add_barrier_up(schedule, kin);
}

static void
near_barrier_down(struct pcoll_schedule *schedule, const struct pcoll_shape *near,
                  const struct pcoll_kin *kin)
{
	(void)near;
	pcoll_add_barrier_down(schedule, kin);
}

static void
barrier_levels(struct pcoll_schedule *schedule, const struct pcoll_shape *shape, unsigned scopes)
{
	near_add(schedule, shape, scopes & PCOLL_SCOPE_HOST,
	         (struct pcoll_device_step){ .does = PCOLL_DEVICE_MEETS_UP }, near_barrier_up);
	far_add(schedule, shape, scopes & PCOLL_SCOPE_LEADERS,
	        (struct pcoll_device_step){ .does = PCOLL_DEVICE_MEETS }, pcoll_add_barrier);
	near_add(schedule, shape, scopes & PCOLL_SCOPE_HOST,
	         (struct pcoll_device_step){ .does = PCOLL_DEVICE_MEETS_DOWN }, near_barrier_down);
}

static void
barrier_build(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	whole_add(schedule, shape, (struct pcoll_device_step){ .does = PCOLL_DEVICE_MEETS },
	          barrier_levels, pcoll_add_barrier);
}

const struct pcoll_builder pcoll_build_barrier_device = {
	.operation = PCOLL_BARRIER, .name = "device",
	.summary = "one rank of each host lets a device go for all of its host; or all do",
	.has_radix = true, .has_device = true, .serves = device_serves, .build = barrier_build,
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
broadcast_levels(struct pcoll_schedule *schedule, const struct pcoll_shape *shape, unsigned scopes)
{
	const struct pcoll_layout *layout = shape->layout;
	const uint32_t root_nbrhd = layout->nbrhd_of[shape->root];
	const struct pcoll_span dst = pcoll_vector(schedule, PCOLL_DST, shape);

	root_tells_lead(schedule, shape, layout->leads[root_nbrhd]);
	pcoll_stage_end(schedule);
	far_add(schedule, shape, scopes & PCOLL_SCOPE_LEADERS,
	        (struct pcoll_device_step){ .does = PCOLL_DEVICE_MULTICASTS, .root = root_nbrhd,
	                                    .from = dst, .to = dst }, broadcast_far);
	near_add(schedule, shape, scopes & PCOLL_SCOPE_HOST,
	         (struct pcoll_device_step){ .does = PCOLL_DEVICE_MULTICASTS, .from = dst,
	                                     .to = dst }, near_down);
}

static void
broadcast_flat(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	struct pcoll_kin kin;

	pcoll_kin_knomial(shape->rank, shape->size, shape->root, shape->radix, &kin);
	pcoll_add_broadcast(schedule, shape, &kin);
}

static void
broadcast_build(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	const enum pcoll_buffer from = shape->rank == shape->root ? PCOLL_SRC : PCOLL_DST;

	whole_add(schedule, shape,
	          (struct pcoll_device_step){
			  .does = PCOLL_DEVICE_MULTICASTS, .root = shape->root,
			  .from = pcoll_vector(schedule, from, shape),
			  .to = pcoll_vector(schedule, PCOLL_DST, shape) },
	          broadcast_levels, broadcast_flat);
}

const struct pcoll_builder pcoll_build_broadcast_device = {
	.operation = PCOLL_BROADCAST, .name = "device",
	.summary = "a device multicasts to a rank of each host, which tell their hosts; or to all",
	.has_radix = true, .has_device = true, .serves = device_serves, .build = broadcast_build,
};
