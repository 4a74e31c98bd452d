/* The modules of the library; see runtime/process/module.h. */
#ifndef PSI_MODULES_H
#define PSI_MODULES_H

#include "runtime/process/module.h"

/* The modules in the order in which they are opened; NULL at the end. */
extern const struct psi_module *const psi_modules[];

/* Opens one, of whose handlers the endpoint is to have its own. */
void psi_module_open(const struct psi_module *module, gex_EP_t ep);
void psi_modules_open(gex_EP_t ep);
void psi_modules_close(const char *call);

#endif
