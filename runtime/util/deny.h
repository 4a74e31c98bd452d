/*
 * Kernel features that are optional at run time.  PST_DENY names some of them, comma separated, and
 * the code then behaves as on a kernel without them; so the fallbacks can be tested anywhere.
 */
#ifndef PSI_UTIL_DENY_H
#define PSI_UTIL_DENY_H

#include <stdbool.h>

/* Known: subreaper pidfd vm_readv memfd membarrier.  Any thread, any time; reads the environment. */
bool psi_denied(const char *feature);

/* The first word of PST_DENY that names no feature, or NULL; the caller may print it. */
const char *psi_deny_unknown(void);

#endif
