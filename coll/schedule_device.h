/* Stages with a device step in front, which stand in several algorithms. */
#ifndef PCOLL_SCHEDULE_DEVICE_H
#define PCOLL_SCHEDULE_DEVICE_H

#include "coll/schedule.h"

/* Between the two is the same in software, left out where the device has done it.  With
 * `has_result', the device gives this member one, which is compared if that is asked for. */
void pcoll_device_stage_begin(struct pcoll_schedule *schedule,
                              const struct pcoll_device_step *step);
void pcoll_device_stage_end(struct pcoll_schedule *schedule, const struct pcoll_device_step *step,
                            bool has_result);

/* The algorithms of two levels for operations with blocks, in which those that lead may have a
 * device step for their stage.  With one, hosts have equally many ranks, which follow each other
 * (algorithms/gather_all_levels.c, algorithms/reduce_scatter_levels.c). */
void pcoll_add_gather_all_levels(struct pcoll_schedule *schedule, const struct pcoll_shape *shape,
                                 bool by_device);
void pcoll_add_reduce_scatter_levels(struct pcoll_schedule *schedule,
                                     const struct pcoll_shape *shape, bool by_device);

#endif
