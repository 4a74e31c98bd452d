/*
 * Carries out the schedules of all members of a team in one process, without buffers: each member
 * goes through its own until it has to wait, and messages that have the same tag meet.  A send is
 * not done before its receive has begun, which is the strictest rule that a network may have.
 */
#ifndef PCOLL_SCHEDULE_MODEL_H
#define PCOLL_SCHEDULE_MODEL_H

#include "coll/schedule.h"

/* What is done with each event.  `stamp' is a number of the caller's. */
struct pcoll_model_events {
	void *arg;
	/* A copy or a combination. */
	void (*local)(void *arg, uint32_t rank, const struct pcoll_act *act);
	/* A message is begun, at either end; returns its stamp. */
	uint64_t (*begun)(void *arg, uint32_t rank, const struct pcoll_act *act);
	/* It is done, at both ends, whose acts and stamps these are. */
	void (*met)(void *arg, const struct pcoll_act *send, uint64_t send_stamp,
	            const struct pcoll_act *receive, uint64_t receive_stamp);
	/* All that the member has begun is done, behind which it goes on. */
	void (*round)(void *arg, uint32_t rank);
	/* A device does a step of all members that have it, by rank, of which the last has come to
	 * it; the stage behind it is left out.  NULL: no device does any, and none is. */
	void (*device)(void *arg, const uint32_t *ranks, const struct pcoll_act *acts,
	               uint32_t count);
};

enum { PCOLL_MODEL_TEXT_BYTES = 200 };

/*
 * Runs `size' schedules, by rank.  A member has at most `slots' messages under way, 2 at least, and
 * begins another when one of them is done.  Returns false, with the reason, if members wait for
 * each other, if messages that meet have different lengths, if two have the same tag, or if memory
 * is missing.
 */
bool pcoll_model_run(const struct pcoll_schedule *schedules, uint32_t size, uint32_t slots,
                     const struct pcoll_model_events *events,
                     char text_out[PCOLL_MODEL_TEXT_BYTES]);

#endif
