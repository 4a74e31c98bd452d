/* Shared objects that are opened at run time. */
#ifndef PSI_UTIL_OBJECT_H
#define PSI_UTIL_OBJECT_H

#include <stdbool.h>

/* A static program has no loader that could open another file. */
bool psi_program_is_static(void);

/*
 * dlopen, of all symbols at once and for its caller alone; NULL: dlerror says why.  What the file
 * is linked with may install signal handlers when it is loaded: libinfinipath, which Debian's
 * libfabric brings, takes SIGSEGV, SIGTERM and others, and its handler ends the process by exit(1).
 * The handlers of before are put back.
 */
void *psi_object_open(const char *path);

#endif
