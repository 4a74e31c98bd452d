/*
 * The schedules of a team's last calls, which calls of the same shape use again.  A team keeps the
 * 64 that were used last, 8 of them with lists.  A schedule in use is kept even where there are
 * more.
 */
#ifndef PCOLL_SCHEDULE_CACHE_H
#define PCOLL_SCHEDULE_CACHE_H

#include "coll/coll.h"

struct pcoll_cached {
	struct pcoll_cached *next;
	struct pcoll_shape shape;
	bool in_all, out_all;
	struct pcoll_schedule schedule;
	bool has_device;                /* some member's has a device step */
	uint32_t device_steps[PCOLL_LINES];     /* of this one */
	size_t *lists;                  /* lengths and offsets in bytes, to which the lists of
	                                 * shape point; NULL: it has none */
	uint64_t lists_key;
	uint32_t users;                 /* operations; under the lock */
};

/* Without what is found only when a schedule is made: the hosts, and for a call with lists these
 * and in_place. */
struct pcoll_shape pcoll_shape_of_call(const struct pcoll_call *call);
/* The schedule of this member for its next call on the team, or for a phase of a barrier.  Ends the
 * job where memory is missing. */
struct pcoll_cached *pcoll_schedule_hold(const struct pcoll_call *call);
void pcoll_schedule_release(struct pcoll_cached *cached);
/* Frees those of a team, none of which is used, and its layout. */
void pcoll_schedules_free(gex_TM_t tm);

#endif
