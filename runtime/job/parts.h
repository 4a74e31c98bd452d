/* The parts of the library; see runtime/process/part.h. */
#ifndef PSI_PARTS_H
#define PSI_PARTS_H

#include "runtime/process/part.h"

/* In the order in which they are opened; NULL at the end. */
extern const struct psi_part *const psi_parts[];

/* Opens one, of whose handlers the endpoint is to have its own. */
void psi_part_open(const struct psi_part *part, gex_EP_t ep);
void psi_parts_open(gex_EP_t ep);
void psi_parts_close(const char *call);

#endif
