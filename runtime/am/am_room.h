/* What am_send.c (fixed payload) and am_negotiated.c (negotiated payload) share: the wait for room
 * at the receiver. */
#ifndef PSI_AM_ROOM_H
#define PSI_AM_ROOM_H

#include "runtime/process/rules.h"
#include "runtime/wait/pollset.h"

/* Is this the owner thread of a serial endpoint?  The owner sends without a lock.  Another thread
 * that completes the owner's operations uses am_send. */
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

/* Called when a first attempt has found no room.  Waits for room and tries again, unless flags say
 * IMMEDIATE.  Returns GASNET_OK or GASNET_ERR_NOT_READY.  The caller has counted the message; if it
 * is refused, this function uncounts it. */
int psi_am_when_room(void *sender, psi_am_try_fn *attempt, const struct psi_am *am,
                     gex_Flags_t flags);

#endif
