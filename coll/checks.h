/* What is looked for in the arguments of collectives.  A fault ends the job with one line. */
#ifndef PCOLL_CHECKS_H
#define PCOLL_CHECKS_H

#include "coll/coll.h"

#include "runtime/process/rules.h"
#include "runtime/team/team.h"

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
static inline void
pcoll_check_team(gex_TM_t tm, const char *call)
{
	psi_need_init(call);
	psi_rule_call(call);
	(void)psi_team_live(tm, call);
}

void pcoll_root_bad(gex_TM_t tm, gex_Rank_t root, const char *call)
	__attribute__((noreturn, cold));

static inline void
pcoll_check_root(gex_TM_t tm, gex_Rank_t root, const char *call)
{
	if (PSI_UNLIKELY(root >= tm->size))
		pcoll_root_bad(tm, root, call);
}

/* With PST_CHECK: the buffers do not overlap, unless src begins in_place bytes behind dst. */
#define PCOLL_NEVER_IN_PLACE PTRDIFF_MAX
void pcoll_check_apart(const void *dst, size_t dst_bytes, const void *src, size_t src_bytes,
                       ptrdiff_t in_place, const char *call);

static inline void
pcoll_check_overlap(const void *dst, size_t dst_bytes, const void *src, size_t src_bytes,
                    ptrdiff_t in_place, const char *call)
{
	if (PSI_UNLIKELY(psi.checks))
		pcoll_check_apart(dst, dst_bytes, src, src_bytes, in_place, call);
}

/* With PST_CHECK: they are aligned for elements of a built-in type, which have that many bytes; 0:
 * another type. */
void pcoll_check_aligned(const void *dst, const void *src, size_t elem_bytes, const char *call);

/* What the two functions above check, of the memory that the call has, and that it is there; and
 * its lists (check_memory.c).  name: as which call messages name it. */
void pcoll_check_all_memory(const struct pcoll_call *call, const char *name);

/* A short call whose buffers are there has nothing to be looked for without PST_CHECK. */
static inline void
pcoll_check_memory(const struct pcoll_call *call, const char *name)
{
	if (PSI_UNLIKELY(psi.checks || !call->dst || !call->src ||
	                 call->len_bytes >= PSI_LARGE_BYTES ||
	                 call->len_bytes * call->tm->size >= PSI_LARGE_BYTES ||
	                 pcoll_call_has_lists(call)))
		pcoll_check_all_memory(call, name);
}

/* Returns what a call has of these arguments; of dst and src nothing.  extended: also accepts types
 * and operators of penstock_coll.h, and a dt_cnt of 0. */
struct pcoll_reduction pcoll_check_reduction(const struct pcoll_reduce_args *args, bool extended,
                                             const char *call);

#endif
