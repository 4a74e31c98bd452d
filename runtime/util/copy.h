/*
 * Copies whose way is chosen by size, ordered before later release stores.
 */
#ifndef PSI_UTIL_COPY_H
#define PSI_UTIL_COPY_H

#include <stddef.h>

/* memcpy.  The regions must not overlap; either pointer may be anything when len_bytes is 0. */
void psi_copy(void *dst, const void *src, size_t len_bytes);

#endif
