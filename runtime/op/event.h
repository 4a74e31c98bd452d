/* Events.  An event asks its owner whether it has happened, so nobody has to tell it. */
#ifndef PSI_EVENT_H
#define PSI_EVENT_H

#include "runtime/wait/waiting.h"

struct gex_Event_s {
	/* Has it happened?  No polling.  Called with the owner's two words.  NULL: no event. */
	bool (*done)(const void *object, uint64_t number);
	const void *object;
	uint64_t number;
	enum psi_wait_kind kind;        /* what a wait for it is for */
	gex_EP_t ep;                    /* where that arrives; NULL: at the thread's own; or
	                                 * _SEVERAL */
	bool leaf;                      /* of an operation (op.h); syncing it ends nothing */
	bool found;                     /* done, in the array that is being looked at */
};

/* A root event that is done when done(object, number) says so; any thread.  For what is no
 * operation of parts (op.h). */
gex_Event_t psi_event_new(bool (*done)(const void *, uint64_t), const void *object,
                          uint64_t number, enum psi_wait_kind kind, gex_EP_t ep);

#endif
