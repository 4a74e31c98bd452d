/* What the library does for programs compiled with older headers, where it must ask.  See compat.c. */
#ifndef PSI_COMPAT_H
#define PSI_COMPAT_H

#include "runtime/psi.h"

enum { PSI_LAYOUT_FIXED_OPS = 5 };

/* Is the program's layout older than this one?  Not before init, when nobody knows. */
static inline bool
psi_is_older_than(uint32_t layout)
{
	return psi.layout && psi.layout < layout;
}

/* GEX_OP_ codes of layouts 1 to 4 as those of today. */
gex_OP_t psi_ops_of_old(gex_OP_t old);

/* What the program means by these codes. */
static inline gex_OP_t
psi_ops_of_program(gex_OP_t ops)
{
	return PSI_UNLIKELY(psi_is_older_than(PSI_LAYOUT_FIXED_OPS)) ? psi_ops_of_old(ops) : ops;
}

/* For calls whose arguments have changed: ends an older program, which must be compiled again. */
void psi_need_layout(uint32_t layout, const char *call);

#endif
