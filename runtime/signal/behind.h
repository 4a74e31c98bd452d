/* Signals by the contract's operations: what behind.c and carried.c know of each other. */
#ifndef PSI_BEHIND_H
#define PSI_BEHIND_H

#include "runtime/op/begin.h"
#include "runtime/signal/put_signal.h"

/* -- carried.c ------------------------------------------------------------------------------- */

/* Starts operation `signal'; cookie: what is done when it has been applied, or 0.  Waits for
 * room unless `immediate'; false if there is none then. */
bool psi_signal_start(const struct psi_target *target, const pst_signal_t *sig, uint64_t cookie,
                      bool immediate, const char *call);

/* The cold part of psi_signal_behind, for a signal that is not applied here at once. */
gex_Event_t psi_signal_carried(const struct psi_signalled *s, gex_Event_t moved, gex_Event_t leaf);
/* Payload and signal of a contiguous transfer, at least one byte that is not reached here. */
gex_Event_t psi_put_carried(const struct psi_signalled *s, void *dst, const void *src,
                            size_t nbytes);
gex_Event_t psi_get_carried(const struct psi_signalled *s, void *dst, const void *src,
                            size_t nbytes);

/* -- behind.c -------------------------------------------------------------------------------- */

/* A signal that is to be sent, behind a payload that may still be on its way. */
struct psi_behind {
	struct psi_behind *next;
	struct psi_target target;
	pst_signal_t sig;
	const char *call;
	gex_Event_t moved;      /* root event of the payload; GEX_EVENT_INVALID: it is there */
	gex_Event_t leaf;       /* of its local completion, likewise */
	uint64_t part;          /* of the call's operation, or 0 */
	uint64_t read;          /* the part that is done with `leaf'; 0: none */
	bool with_leaf;         /* part is done with leaf, */
	bool with_moved;        /* with moved, or else when the signal is applied */
};

/* Sends it when its payload has come to its end and there is room, at some poll. */
void psi_signal_later(const struct psi_behind *behind);
/* A progress function. */
void psi_behind_advance(void);

#endif
