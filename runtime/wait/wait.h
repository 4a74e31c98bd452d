/* What wait.c and wait_sleep.c share. */
#ifndef PSI_WAIT_H
#define PSI_WAIT_H

#include "runtime/process/process.h"

/* Has this process more endpoints than the first? */
static inline bool
psi_are_several(void)
{
	return PSI_UNLIKELY(atomic_load_explicit(&psi.several, memory_order_relaxed));
}

/* A sleep must not outlast any of its bounds. */
uint64_t psi_wait_limit_ns(const struct psi_wait *wait);

/* Says that the thread is about to sleep; false if something has come.  room_peer as of the
 * conduit. */
bool psi_wait_arm(struct psi_wait *wait, unsigned networks, uint32_t room_peer);
/* Sleeps, unless the threshold that was told has been reached, and disarms. */
void psi_wait_sleep(struct psi_wait *wait);
void psi_wait_disarm(struct psi_wait *wait);

#endif
