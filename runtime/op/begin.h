/* How operations of the contract begin, for those who start transfers, and how they complete. */
#ifndef PSI_BEGIN_H
#define PSI_BEGIN_H

#include "runtime/op/op.h"

/*
 * An operation that is being started.  It is called until it has begun or is refused:
 *
 *     struct psi_begin begin = PSI_BEGIN(call, "put", place, immediate);
 *
 *     while (!psi_begin_over(&begin, ep->ops->put(ep->port, &transfer)))
 *             ;
 *     return begin.begun;
 */
struct psi_begin {
	const char *call, *operation;
	uint32_t place;
	enum psi_wait_kind kind;        /* PSI_FOR_ROOM, or PSI_FOR_BUFFER */
	uint8_t category, network;      /* of the message that may stand for it */
	bool immediate;                 /* refused rather than started later */
	bool begun;                     /* set by psi_begin_over */
	bool waited;
	struct psi_reason reason;
	struct psi_wait wait;
};

#define PSI_BEGIN(call_name, operation_name, peer_place, is_immediate) \
	{ .call = (call_name), .operation = (operation_name), .place = (peer_place), \
	  .kind = PSI_FOR_ROOM, .category = PSI_MEDIUM, .network = PSI_REQUESTS, \
	  .immediate = (is_immediate) }

/* Judges what the operation returned; false if it is to be called again, after a wait for room.
 * Ends the job if nobody provides the operation, and if it failed. */
bool psi_begin_over(struct psi_begin *begin, int result);

/* The service: the cookie is a part of an operation, which is done; wakes the threads that wait. */
void psi_completed(uint64_t cookie);
/* The same in handlers, behind which the runtime wakes them. */
static inline void psi_completed_in_handler(uint64_t cookie) { psi_part_done(cookie); }

#endif
