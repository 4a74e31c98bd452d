/* Whether memory is there, asked without touching it.  Safe in signal handlers. */
#ifndef PSI_UTIL_READABLE_H
#define PSI_UTIL_READABLE_H

#include <stdbool.h>
#include <stdint.h>

/* Are the aligned 8 bytes there that contain `at'?  Makes a system call. */
bool psi_is_readable(uintptr_t at);

#endif
