/* The functions that combine two vectors by a built-in operator. */
#ifndef PCOLL_KERNELS_H
#define PCOLL_KERNELS_H

#include <stddef.h>

/* The number of a type or of an operator is that of its bit in GEX_DT_ and PST_DT_, or in GEX_OP_
 * and PST_OP_. */
enum { PCOLL_TYPES = 13, PCOLL_OPS = 14 };

/* out[i] = left[i] op right[i].  `out' is one of the others, or apart from both. */
typedef void (*pcoll_kernel_fn)(const void *left, const void *right, void *out, size_t count);

/* NULL: the operator does not serve the type. */
pcoll_kernel_fn pcoll_kernel(unsigned op, unsigned type);

#endif
