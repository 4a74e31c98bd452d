/* How the runtime starts operations of the contract, and how they complete. */
#ifndef PSI_BEGIN_H
#define PSI_BEGIN_H

#include "runtime/op/op.h"

/*
 * An operation that is being started.  The caller repeats it until it has begun or is refused:
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
	uint8_t category, network;      /* of the message, if it is made by one */
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

/* Takes what the operation returned.  Returns false if there was no room: then this function has
 * waited, and the caller calls the operation again.  Ends the job if the operation failed, or if no
 * conduit has it. */
bool psi_begin_over(struct psi_begin *begin, int result);

/* The service of the contract.  The cookie is a part of an operation, and that part is done.  Wakes
 * threads that wait for it. */
void psi_completed(uint64_t cookie);
/* The same, in handlers.  The runtime wakes the threads after the handler. */
static inline void psi_completed_in_handler(uint64_t cookie) { psi_part_done(cookie); }

#endif
