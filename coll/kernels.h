/* The functions that combine two vectors by a built-in operator. */
#ifndef PCOLL_KERNELS_H
#define PCOLL_KERNELS_H

#include "penstock_coll.h"

/* The number of a type or of an operator is that of its bit in GEX_DT_ and PST_DT_, or in GEX_OP_
 * and PST_OP_. */
enum { PCOLL_TYPES = 13, PCOLL_OPS = 14 };

/* NULL: the operator does not serve the type. */
gex_Coll_ReduceFn_t pcoll_kernel(unsigned op, unsigned type);

#endif
