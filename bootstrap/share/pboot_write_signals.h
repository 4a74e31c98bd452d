/*
 * A write that fails may bring a signal, SIGPIPE or SIGXFSZ, while the call's result tells enough.
 * Between these two calls such a signal does not end the process, and those of writes in between
 * are gone afterwards; one that was pending before stays.  Any thread.
 */
#ifndef PBOOT_WRITE_SIGNALS_H
#define PBOOT_WRITE_SIGNALS_H

#include <signal.h>

struct pboot_write_signals {
	sigset_t these, mask;
};

struct pboot_write_signals pboot_write_signals_block(void);
void pboot_write_signals_unblock(const struct pboot_write_signals *self);

#endif
