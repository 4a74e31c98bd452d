/* Signals by message: what pref_signal.c and pref_signal_behind.c share. */
#ifndef PREF_SIGNAL_H
#define PREF_SIGNAL_H

#include "extended-ref/pref.h"

enum { PREF_SIGNAL_ARGS = 7 };

/* pref_signal.c */

/* The words of a message; part: what the owner's reply finishes, or 0. */
void pref_signal_fill(gex_AM_Arg_t args[PREF_SIGNAL_ARGS], const pst_signal_t *sig, uint64_t part);
struct psi_am pref_signal_message(const struct psi_target *target, const gex_AM_Arg_t *args);
/* Sends, waiting for room unless `immediate'; false if there is none then. */
bool pref_signal_send(gex_EP_t ep, const struct psi_am *am, bool immediate);

/* pref_signal_behind.c */

/* A signal that is to be sent, behind a payload that may still be on its way. */
struct pref_behind {
	struct pref_behind *next;
	struct psi_target target;
	pst_signal_t sig;
	const char *call;
	gex_Event_t moved;      /* root event of the payload; GEX_EVENT_INVALID: it is there */
	gex_Event_t leaf;       /* of its local completion, likewise */
	uint64_t part;          /* of the call's operation, or 0 */
	uint64_t read;          /* done with leaf; 0: nobody asks */
	bool with_leaf;         /* part is done with leaf, */
	bool with_moved;        /* with moved, or else when the signal is applied */
};

/* Sends it when its payload has come to its end and there is room, at some poll. */
void pref_signal_later(const struct pref_behind *behind);
#endif
