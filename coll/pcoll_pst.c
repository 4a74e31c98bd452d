/* The calls of penstock_coll.h that move data.  Each checks its arguments and starts the call. */
#include "coll/pst.h"

#include "runtime/process/rules.h"
#include "runtime/team/team.h"

/* -- flags ------------------------------------------------------------------------------------- */

void
pcoll_pst_flags_bad(gex_Flags_t flags, gex_Flags_t allowed, const char *call)
{
	psi_check_flags(flags, allowed | PCOLL_PST_FLAGS, call);
	psi_fatal("%s: flags 0x%x have two of PST_IN_*, of PST_OUT_*, or SINGLE and LOCAL; "
	          "pass one of each at most", call, (unsigned)flags);
}

gex_Event_t
pcoll_pst_start(const struct pcoll_call *call)
{
	if (call->what.operation == PCOLL_BARRIER)
		return pcoll_team_barrier(call->tm, PCOLL_PST);
	if (!call->len_bytes && !pcoll_call_has_lists(call) && PSI_LIKELY(!psi.checks))
		return GEX_EVENT_INVALID;
	return pcoll_start(call);
}

/* -- vectors and blocks ------------------------------------------------------------------------ */

/* A call that moves data: nbytes are those of a vector or of one block. */
static inline void
move_call(struct pcoll_call *call_out, gex_TM_t tm, struct pcoll_what what, void *dst,
          const void *src, size_t nbytes, gex_Flags_t flags)
{
	pcoll_pst_begin(call_out, tm, what, flags, 0);
	call_out->dst = dst;
	call_out->src = src;
	call_out->len_bytes = nbytes;
}

static inline void
rooted_call(struct pcoll_call *call_out, gex_TM_t tm, struct pcoll_what what, gex_Rank_t root,
            void *dst, const void *src, size_t nbytes, gex_Flags_t flags)
{
	move_call(call_out, tm, what, dst, src, nbytes, flags);
	pcoll_check_root(tm, root, pcoll_call_name(what));
	call_out->root = root;
}

gex_Event_t
pst_barrier_nb(gex_TM_t tm, gex_Flags_t flags)
{
	struct pcoll_call call;

	pcoll_pst_begin(&call, tm, (struct pcoll_what){ PCOLL_BARRIER, PCOLL_PST }, flags, 0);
	return pcoll_pst_start(&call);
}

int
pst_barrier_plan(gex_TM_t tm, pst_plan_t *plan_out, gex_Flags_t flags)
{
	struct pcoll_call call;

	pcoll_pst_begin(&call, tm, (struct pcoll_what){ PCOLL_BARRIER, PCOLL_PST }, flags,
	                PST_PLAN_REBIND);
	return pcoll_plan_make(&call, plan_out, flags);
}

static void
bcast_call(struct pcoll_call *call_out, gex_TM_t tm, gex_Rank_t root, void *dst, const void *src,
           size_t nbytes, gex_Flags_t flags)
{
	const struct pcoll_what what = { PCOLL_BROADCAST, PCOLL_PST };

	rooted_call(call_out, tm, what, root, dst, src, nbytes, flags);
	pcoll_check_memory(call_out, pcoll_call_name(what));
}

PCOLL_PST_FORMS(bcast,
                (gex_Rank_t root, void *dst, const void *src, size_t nbytes),
                (root, dst, src, nbytes))

static void
scatter_call(struct pcoll_call *call_out, gex_TM_t tm, gex_Rank_t root, void *dst, const void *src,
             size_t nbytes, gex_Flags_t flags)
{
	const struct pcoll_what what = { PCOLL_SCATTER, PCOLL_PST };

	rooted_call(call_out, tm, what, root, dst, src, nbytes, flags);
	pcoll_check_memory(call_out, pcoll_call_name(what));
}

PCOLL_PST_FORMS(scatter,
                (gex_Rank_t root, void *dst, const void *src, size_t nbytes),
                (root, dst, src, nbytes))

static void
gather_call(struct pcoll_call *call_out, gex_TM_t tm, gex_Rank_t root, void *dst, const void *src,
            size_t nbytes, gex_Flags_t flags)
{
	const struct pcoll_what what = { PCOLL_GATHER, PCOLL_PST };

	rooted_call(call_out, tm, what, root, dst, src, nbytes, flags);
	pcoll_check_memory(call_out, pcoll_call_name(what));
}

PCOLL_PST_FORMS(gather,
                (gex_Rank_t root, void *dst, const void *src, size_t nbytes),
                (root, dst, src, nbytes))

static void
gather_all_call(struct pcoll_call *call_out, gex_TM_t tm, void *dst, const void *src, size_t nbytes,
                gex_Flags_t flags)
{
	const struct pcoll_what what = { PCOLL_GATHER_ALL, PCOLL_PST };

	move_call(call_out, tm, what, dst, src, nbytes, flags);
	pcoll_check_memory(call_out, pcoll_call_name(what));
}

PCOLL_PST_FORMS(gather_all,
                (void *dst, const void *src, size_t nbytes),
                (dst, src, nbytes))

static void
exchange_call(struct pcoll_call *call_out, gex_TM_t tm, void *dst, const void *src, size_t nbytes,
              gex_Flags_t flags)
{
	const struct pcoll_what what = { PCOLL_EXCHANGE, PCOLL_PST };

	move_call(call_out, tm, what, dst, src, nbytes, flags);
	pcoll_check_memory(call_out, pcoll_call_name(what));
}

PCOLL_PST_FORMS(exchange,
                (void *dst, const void *src, size_t nbytes),
                (dst, src, nbytes))

void
pcoll_permute_fill(struct pcoll_call *call, gex_Rank_t target, void *dst, const void *src,
                   size_t nbytes)
{
	const char *name = pcoll_call_name(call->what);

	if (PSI_UNLIKELY(target >= call->tm->size))
		psi_fatal("%s: target is %u, and the team has %u members; pass a rank of the team",
		          name, target, call->tm->size);
	call->target = target;
	call->dst = dst;
	call->src = src;
	call->len_bytes = nbytes;
	pcoll_check_memory(call, name);
}

static void
permute_call(struct pcoll_call *call_out, gex_TM_t tm, gex_Rank_t target, void *dst,
             const void *src, size_t nbytes, gex_Flags_t flags)
{
	pcoll_pst_begin(call_out, tm, (struct pcoll_what){ PCOLL_PERMUTE, PCOLL_PST }, flags, 0);
	pcoll_permute_fill(call_out, target, dst, src, nbytes);
}

PCOLL_PST_FORMS(permute,
                (gex_Rank_t target, void *dst, const void *src, size_t nbytes),
                (target, dst, src, nbytes))

/* -- blocks of any lengths --------------------------------------------------------------------- */

static void
scatterv_call(struct pcoll_call *call_out, gex_TM_t tm, gex_Rank_t root, void *dst,
              size_t dst_nbytes, const void *src, const size_t *counts, const size_t *displs,
              gex_Flags_t flags)
{
	const struct pcoll_what what = { PCOLL_SCATTER, PCOLL_PST_LISTS };

	rooted_call(call_out, tm, what, root, dst, src, dst_nbytes, flags);
	if (tm->rank == root)
		call_out->src_counts = (struct pcoll_counts){ counts, displs, 1 };
	pcoll_check_memory(call_out, pcoll_call_name(what));
}

PCOLL_PST_FORMS(scatterv,
                (gex_Rank_t root, void *dst, size_t dst_nbytes, const void *src,
                 const size_t *counts, const size_t *displs),
                (root, dst, dst_nbytes, src, counts, displs))

static void
gatherv_call(struct pcoll_call *call_out, gex_TM_t tm, gex_Rank_t root, void *dst,
             const size_t *counts, const size_t *displs, const void *src, size_t src_nbytes,
             gex_Flags_t flags)
{
	const struct pcoll_what what = { PCOLL_GATHER, PCOLL_PST_LISTS };

	rooted_call(call_out, tm, what, root, dst, src, src_nbytes, flags);
	if (tm->rank == root)
		call_out->dst_counts = (struct pcoll_counts){ counts, displs, 1 };
	pcoll_check_memory(call_out, pcoll_call_name(what));
}

PCOLL_PST_FORMS(gatherv,
                (gex_Rank_t root, void *dst, const size_t *counts, const size_t *displs,
                 const void *src, size_t src_nbytes),
                (root, dst, counts, displs, src, src_nbytes))

static void
gather_allv_call(struct pcoll_call *call_out, gex_TM_t tm, void *dst, const size_t *counts,
                 const size_t *displs, const void *src, size_t src_nbytes, gex_Flags_t flags)
{
	const struct pcoll_what what = { PCOLL_GATHER_ALL, PCOLL_PST_LISTS };

	move_call(call_out, tm, what, dst, src, src_nbytes, flags);
	call_out->dst_counts = (struct pcoll_counts){ counts, displs, 1 };
	pcoll_check_memory(call_out, pcoll_call_name(what));
}

PCOLL_PST_FORMS(gather_allv,
                (void *dst, const size_t *counts, const size_t *displs, const void *src,
                 size_t src_nbytes),
                (dst, counts, displs, src, src_nbytes))

static void
exchangev_call(struct pcoll_call *call_out, gex_TM_t tm, void *dst, const size_t *dst_counts,
               const size_t *dst_displs, const void *src, const size_t *src_counts,
               const size_t *src_displs, gex_Flags_t flags)
{
	const struct pcoll_what what = { PCOLL_EXCHANGE, PCOLL_PST_LISTS };

	move_call(call_out, tm, what, dst, src, 0, flags);
	call_out->dst_counts = (struct pcoll_counts){ dst_counts, dst_displs, 1 };
	call_out->src_counts = (struct pcoll_counts){ src_counts, src_displs, 1 };
	pcoll_check_memory(call_out, pcoll_call_name(what));
}

PCOLL_PST_FORMS(exchangev,
                (void *dst, const size_t *dst_counts, const size_t *dst_displs,
                 const void *src, const size_t *src_counts, const size_t *src_displs),
                (dst, dst_counts, dst_displs, src, src_counts, src_displs))
