/* Events.  An event has a function that tells whether it has happened; it is not notified. */
#ifndef PSI_EVENT_H
#define PSI_EVENT_H

#include "runtime/wait/waiting.h"

struct gex_Event_s {
	/* Has it happened?  Does not poll.  Called with `object' and `number'.  NULL: the event is
	 * not in use. */
	bool (*done)(const void *object, uint64_t number);
	const void *object;
	uint64_t number;
	enum psi_wait_kind kind;        /* what a thread that waits for the event waits for */
	/* As in struct psi_reason; NULL: the kind says it. */
	void (*describe)(const void *object, uint64_t number, char text_out[PSI_WHERE_BYTES]);
	gex_EP_t ep;                    /* the endpoint that gets the messages which complete it;
	                                 * NULL: the thread's own; or PSI_EP_SEVERAL */
	bool leaf;                      /* a leaf event (op.h); it does not own its operation */
	bool found;                     /* found done by the current pass of events_sync */
};

/* Returns a root event that is done when done(object, number) returns true, for a transfer that is
 * not an operation of parts (op.h).  Any thread may call this. */
gex_Event_t psi_event_new(bool (*done)(const void *, uint64_t), const void *object,
                          uint64_t number, enum psi_wait_kind kind, gex_EP_t ep);

#endif
