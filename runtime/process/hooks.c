/*
 * Variables that clients may define themselves (gasnet_frozen is in freeze.c).  Weak, so that a
 * client's definition wins over these in a static link; of default visibility and read through the
 * global offset table, so that it wins over the shared library's too.
 */
#include "gasnetex.h"

#define PSI_WEAK __attribute__((weak))

PSI_WEAK void (*gasnet_client_attach_hook)(void *segbase, uintptr_t segsize) = NULL;
PSI_WEAK const char *gasnet_max_segsize_str = NULL;
PSI_WEAK uint64_t gasnet_max_segsize = 0;
