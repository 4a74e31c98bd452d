/* Stages with a device step. */
#include "coll/schedule_device.h"

#include "coll/device.h"

void
pcoll_device_stage_begin(struct pcoll_schedule *schedule, const struct pcoll_device_step *step)
{
	pcoll_add_device(schedule, step);
	pcoll_unless_begin(schedule);
}

void
pcoll_device_stage_end(struct pcoll_schedule *schedule, const struct pcoll_device_step *step,
                       bool has_result)
{
	pcoll_unless_end(schedule);
	if (pcoll_device->verifies && has_result)
		pcoll_add_compare(schedule, step);
}
