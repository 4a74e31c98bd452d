/* portable_inttypes.h: fixed-width integer types, and a format for size_t. */
#ifndef GASNET_PORTABLE_INTTYPES_H
#define GASNET_PORTABLE_INTTYPES_H

#include <inttypes.h>
#include <stdint.h>

#ifndef PRIuSZ
#define PRIuSZ "zu"
#endif

#endif
