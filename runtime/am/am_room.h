/* What messages of a fixed payload (am_send.c) and of a negotiated one (am_negotiated.c) share. */
#ifndef PSI_AM_ROOM_H
#define PSI_AM_ROOM_H

#include "runtime/process/rules.h"
#include "runtime/wait/pollset.h"

/* A serial endpoint has one owner thread, which sends without a lock.  Is this it?  Another thread
 * that completes the owner's operations sends as to any endpoint. */
static inline bool
psi_am_is_alone(gex_EP_t ep)
{
	if (PSI_LIKELY(!ep->serial) || psi_pollset_bound != ep)
		return false;
	if (psi_rule_serial_enter(ep, "a message"))
		psi_rule_serial_leave(ep);
	return true;
}

/* Tries to send; PSI_OK or PSI_AGAIN. */
typedef int psi_am_try_fn(void *sender, const struct psi_am *am);

/* The message was tried once and found no room.  Waits for room and tries again, unless flags say
 * IMMEDIATE: GASNET_OK or GASNET_ERR_NOT_READY.  The message was counted, which a refusal takes
 * back. */
int psi_am_when_room(void *sender, psi_am_try_fn *try_again, const struct psi_am *am,
                     gex_Flags_t flags);

#endif
