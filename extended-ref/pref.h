/* What the parts of the reference know of each other. */
#ifndef PREF_H
#define PREF_H

#include "runtime/rma/reference.h"

/* Registers what a part needs, in this order; called by psi_reference_open. */
void pref_gates_open(void);
void pref_atomic_open(void);

/* Sends pieces while there is room; true when none is left.  The last one carries the transfer's
 * own part, which may be done before this returns. */
bool pref_send_pieces(struct psi_ref *ref);

#endif
