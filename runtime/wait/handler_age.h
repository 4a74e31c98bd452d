/*
 * How long handlers have been running.  Handlers do not record when they start.  A waiting thread
 * notes the time when it first sees one run: a handler that is seen twice has run since then at
 * least.  Handlers of one thread are told apart by the number of messages that the thread has
 * handled.  A note is one word, with the time in milliseconds and that number in 32 bits each, so
 * that several threads may write it.
 */
#ifndef PSI_HANDLER_AGE_H
#define PSI_HANDLER_AGE_H

#include "runtime/process/shared.h"

/* Looks at all ranks of the host, unless a thread did so a moment ago.  Called by threads that have
 * waited for long. */
void psi_handler_ages_update(struct psi_host_shared *shared, uint32_t size, uint64_t now_ns);

/* The time since when the handler that runs there is known to run; 0: it is not known. */
uint64_t psi_handler_start_ns(const struct psi_block *block, uint64_t now_ns);

#endif
