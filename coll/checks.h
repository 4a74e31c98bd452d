/* What is looked for in the arguments of collectives.  A fault ends the job with one line. */
#ifndef PCOLL_CHECKS_H
#define PCOLL_CHECKS_H

#include "coll/coll.h"

/* What the caller of a reduction passes, but for the team and the root. */
struct pcoll_reduce_args {
	void *dst;
	const void *src;
	gex_DT_t dt;
	size_t dt_sz, dt_cnt;
	gex_OP_t op;
	gex_Coll_ReduceFn_t user_op;
	void *user_cdata;
};

/* Checks that the call is allowed here, and that the team exists. */
void pcoll_check_team(gex_TM_t tm, const char *call);
void pcoll_check_root(gex_TM_t tm, gex_Rank_t root, const char *call);
/* With PST_CHECK: the buffers do not overlap, unless src begins in_place bytes behind dst. */
#define PCOLL_NEVER_IN_PLACE PTRDIFF_MAX
void pcoll_check_overlap(const void *dst, size_t dst_bytes, const void *src, size_t src_bytes,
                         ptrdiff_t in_place, const char *call);
/* extended: also accepts types and operators of penstock_coll.h, and a dt_cnt of 0. */
void pcoll_check_reduction(const struct pcoll_reduce_args *args, bool extended, const char *call);
/* What a call has of arguments that have passed. */
struct pcoll_reduction pcoll_reduction_of(const struct pcoll_reduce_args *args);

#endif
