/* Has the kernel killed for lack of memory? */
#ifndef PSI_UTIL_OOM_H
#define PSI_UTIL_OOM_H

#include <stdint.h>

/*
 * How many processes of this control group the kernel has killed for lack of memory; where groups
 * do not tell, how many of the whole host.  Only a difference of two readings means something: one
 * that grew while a process ended by SIGKILL explains that.  root is "" but in tests.
 */
uint64_t psi_oom_kills(const char *root);

#endif
