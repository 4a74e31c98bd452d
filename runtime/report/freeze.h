/* Waiting for a debugger. */
#ifndef PSI_FREEZE_H
#define PSI_FREEZE_H

#include <stdint.h>

/* Called at init with rank and host, for the message.  Waits if GASNET_FREEZE is set. */
void psi_freeze_open(uint32_t rank, const char *host);

/*
 * Says how to attach and which variable to change, and sleeps until *flag is not zero.  Safe in
 * signal handlers.
 */
void psi_freeze_now(volatile int *flag, const char *name);

/* The same with gasnet_frozen, if GASNET_FREEZE_ON_ERROR is set. */
void psi_freeze_on_error(void);

#endif
