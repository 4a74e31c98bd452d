/*
 * How long handlers have been running, as those can tell who wait meanwhile: a handler that is seen
 * twice has run since the first time at least.  One is told from the next by the number of messages
 * that its thread has handled.  What is noted are milliseconds and that number, 32 bits each, in
 * one word, so that several may write it.
 */
#ifndef PSI_HANDLER_AGE_H
#define PSI_HANDLER_AGE_H

#include "runtime/process/shared.h"

/* Looks at all ranks of the host, unless somebody did a moment ago.  For who waits for long. */
void psi_handler_ages_update(struct psi_host_shared *shared, uint32_t size, uint64_t now_ns);

/* Since when the handler is known to run that runs there; 0: it is not known. */
uint64_t psi_handler_start_ns(const struct psi_block *block, uint64_t now_ns);

#endif
