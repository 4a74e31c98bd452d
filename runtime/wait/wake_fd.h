/*
 * The descriptors on which the processes of this host sleep where a futex is not enough: beside a
 * network, which wakes by a descriptor of its own (runtime/conduit/watch.c).  The keeper makes them
 * and hands them out, each when it is first needed.
 */
#ifndef PSI_WAKE_FD_H
#define PSI_WAKE_FD_H

#include <stdint.h>

/* The descriptor of this process; -1 after one line: there is none.  The caller does not close it.
 * Called by one thread, at start-up. */
int psi_wake_fd(void);

/*
 * Writes to the descriptor of a process of this host, which ends its sleep.  Any thread may call
 * it.  The first call for a process may wait for one answer of the keeper.  Where this process can
 * have no descriptor of the other, the other sleeps until its bound, and the first time a line says
 * why.
 */
void psi_wake_asleep(uint32_t host_index);

#endif
