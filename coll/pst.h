/* What the calls of penstock_coll.h have in common: pcoll_pst.c moves data, pcoll_pst_reduce.c
 * reduces. */
#ifndef PCOLL_PST_H
#define PCOLL_PST_H

#include "coll/checks.h"

/* A call with its team and ways to synchronise, which have passed; `allowed' are flags beside the
 * usual ones. */
struct pcoll_call pcoll_pst_call(gex_TM_t tm, struct pcoll_what what, gex_Flags_t flags,
                                 gex_Flags_t allowed);
/* A buffer of that many blocks. */
void pcoll_pst_check_side(const struct pcoll_call *call, const void *addr, size_t nbytes,
                          size_t blocks, const char *name);

#endif
