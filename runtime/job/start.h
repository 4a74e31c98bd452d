/* The parts of init and exit. */
#ifndef PSI_START_H
#define PSI_START_H

#include "runtime/process/process.h"

/* Chooses, opens and connects the conduits and the endpoint's port; ends the job on failure. */
void psi_conduit_open(gex_EP_t ep);
/* The name of the conduit between ranks that share memory. */
const char *psi_conduit_local(void);
/* After this call exit() and return from main end the job. */
void psi_exit_open(void);
/* Ends this rank at the request of another, from a handler.  Output that it has printed is
 * flushed. */
void psi_exit_told(int status) __attribute__((noreturn));

/* What gex_EP_Create does, of any index from `first' on; NULL if there is no room.  held: a thread
 * that will come alone serves it (pollset.h). */
gex_EP_t psi_ep_make(unsigned first, gex_Flags_t flags, bool serial, bool held);
/* Ends the endpoint.  No thread is bound to it, and no operation is in flight. */
void psi_ep_unmake(gex_EP_t ep);

#endif
