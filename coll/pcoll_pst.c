/* The calls of penstock_coll.h that move data.  Each checks its arguments and starts the call. */
#include "coll/pst.h"

#include "runtime/process/rules.h"
#include "runtime/team/team.h"

/* -- flags ------------------------------------------------------------------------------------- */

enum { ADDRESS_FLAGS = PST_SINGLE | PST_LOCAL };

static bool
flags_are_several(gex_Flags_t bits)
{
	return bits & (bits - 1);
}

void
pcoll_pst_check_flags(gex_Flags_t flags, gex_Flags_t allowed, const char *call)
{
	psi_check_flags(flags, allowed | PCOLL_IN_FLAGS | PCOLL_OUT_FLAGS | ADDRESS_FLAGS |
	                               PST_REPRODUCIBLE, call);
	if (PSI_UNLIKELY(flags_are_several(flags & PCOLL_IN_FLAGS) ||
	                 flags_are_several(flags & PCOLL_OUT_FLAGS) ||
	                 flags_are_several(flags & ADDRESS_FLAGS)))
		psi_fatal("%s: flags 0x%x have two of PST_IN_*, of PST_OUT_*, or SINGLE and LOCAL; "
		          "pass one of each at most", call, (unsigned)flags);
}

struct pcoll_call
pcoll_pst_call(gex_TM_t tm, struct pcoll_what what, gex_Flags_t flags, gex_Flags_t allowed)
{
	pcoll_check_team(tm, pcoll_call_name(what));
	pcoll_pst_check_flags(flags, allowed, pcoll_call_name(what));
	return (struct pcoll_call){
		.what = what, .tm = tm, .in_all = flags & PST_IN_ALLSYNC,
		.out_all = flags & PST_OUT_ALLSYNC, .reproducible = flags & PST_REPRODUCIBLE,
		.single = psi.checks && flags & PST_SINGLE,
	};
}

gex_Event_t
pcoll_pst_start(const struct pcoll_call *call)
{
	if (call->what.operation == PCOLL_BARRIER)
		return pcoll_team_barrier(call->tm, PCOLL_PST);
	if (!call->len_bytes && !pcoll_call_has_lists(call))
		return GEX_EVENT_INVALID;
	return pcoll_start(call);
}

/* -- vectors and blocks ------------------------------------------------------------------------ */

/* A call that moves data: nbytes are those of a vector or of one block. */
static struct pcoll_call
move_call(gex_TM_t tm, enum pcoll_operation operation, enum pcoll_api api, void *dst,
          const void *src, size_t nbytes, gex_Flags_t flags)
{
	struct pcoll_call call =
		pcoll_pst_call(tm, (struct pcoll_what){ operation, api }, flags, 0);

	call.dst = dst;
	call.src = src;
	call.len_bytes = nbytes;
	return call;
}

static struct pcoll_call
rooted_call(gex_TM_t tm, enum pcoll_operation operation, enum pcoll_api api, gex_Rank_t root,
            void *dst, const void *src, size_t nbytes, gex_Flags_t flags)
{
	struct pcoll_call call = move_call(tm, operation, api, dst, src, nbytes, flags);

	pcoll_check_root(tm, root, pcoll_call_name(call.what));
	call.root = root;
	return call;
}

gex_Event_t
pst_barrier_nb(gex_TM_t tm, gex_Flags_t flags)
{
	const struct pcoll_call call =
		pcoll_pst_call(tm, (struct pcoll_what){ PCOLL_BARRIER, PCOLL_PST }, flags, 0);

	return pcoll_pst_start(&call);
}

int
pst_barrier_plan(gex_TM_t tm, pst_plan_t *plan_out, gex_Flags_t flags)
{
	const struct pcoll_call call = pcoll_pst_call(
		tm, (struct pcoll_what){ PCOLL_BARRIER, PCOLL_PST }, flags, PST_PLAN_REBIND);

	return pcoll_plan_make(&call, plan_out, flags);
}

static struct pcoll_call
bcast_call(gex_TM_t tm, gex_Rank_t root, void *dst, const void *src, size_t nbytes,
           gex_Flags_t flags)
{
	const struct pcoll_call call = rooted_call(tm, PCOLL_BROADCAST, PCOLL_PST, root,
	                                           dst, src, nbytes, flags);

	pcoll_check_memory(&call, pcoll_call_name(call.what));
	return call;
}

PCOLL_PST_FORMS(bcast,
                (gex_Rank_t root, void *dst, const void *src, size_t nbytes),
                (root, dst, src, nbytes))

static struct pcoll_call
scatter_call(gex_TM_t tm, gex_Rank_t root, void *dst, const void *src, size_t nbytes,
             gex_Flags_t flags)
{
	const struct pcoll_call call = rooted_call(tm, PCOLL_SCATTER, PCOLL_PST, root,
	                                           dst, src, nbytes, flags);

	pcoll_check_memory(&call, pcoll_call_name(call.what));
	return call;
}

PCOLL_PST_FORMS(scatter,
                (gex_Rank_t root, void *dst, const void *src, size_t nbytes),
                (root, dst, src, nbytes))

static struct pcoll_call
gather_call(gex_TM_t tm, gex_Rank_t root, void *dst, const void *src, size_t nbytes,
            gex_Flags_t flags)
{
	const struct pcoll_call call = rooted_call(tm, PCOLL_GATHER, PCOLL_PST, root,
	                                           dst, src, nbytes, flags);

	pcoll_check_memory(&call, pcoll_call_name(call.what));
	return call;
}

PCOLL_PST_FORMS(gather,
                (gex_Rank_t root, void *dst, const void *src, size_t nbytes),
                (root, dst, src, nbytes))

static struct pcoll_call
gather_all_call(gex_TM_t tm, void *dst, const void *src, size_t nbytes, gex_Flags_t flags)
{
	const struct pcoll_call call = move_call(tm, PCOLL_GATHER_ALL, PCOLL_PST,
	                                         dst, src, nbytes, flags);

	pcoll_check_memory(&call, pcoll_call_name(call.what));
	return call;
}

PCOLL_PST_FORMS(gather_all,
                (void *dst, const void *src, size_t nbytes),
                (dst, src, nbytes))

static struct pcoll_call
exchange_call(gex_TM_t tm, void *dst, const void *src, size_t nbytes, gex_Flags_t flags)
{
	const struct pcoll_call call = move_call(tm, PCOLL_EXCHANGE, PCOLL_PST,
	                                         dst, src, nbytes, flags);

	pcoll_check_memory(&call, pcoll_call_name(call.what));
	return call;
}

PCOLL_PST_FORMS(exchange,
                (void *dst, const void *src, size_t nbytes),
                (dst, src, nbytes))

static struct pcoll_call
permute_call(gex_TM_t tm, gex_Rank_t target, void *dst, const void *src, size_t nbytes,
             gex_Flags_t flags)
{
	struct pcoll_call call = move_call(tm, PCOLL_PERMUTE, PCOLL_PST, dst, src, nbytes, flags);
	const char *name = pcoll_call_name(call.what);

	if (PSI_UNLIKELY(target >= tm->size))
		psi_fatal("%s: target is %u, and the team has %u members; pass a rank of the team",
		          name, target, tm->size);
	call.target = target;
	pcoll_check_memory(&call, name);
	return call;
}

PCOLL_PST_FORMS(permute,
                (gex_Rank_t target, void *dst, const void *src, size_t nbytes),
                (target, dst, src, nbytes))

/* -- blocks of any lengths --------------------------------------------------------------------- */

static struct pcoll_call
scatterv_call(gex_TM_t tm, gex_Rank_t root, void *dst, size_t dst_nbytes, const void *src,
              const size_t *counts, const size_t *displs, gex_Flags_t flags)
{
	struct pcoll_call call = rooted_call(tm, PCOLL_SCATTER, PCOLL_PST_LISTS, root,
	                                     dst, src, dst_nbytes, flags);

	if (tm->rank == root)
		call.src_counts = (struct pcoll_counts){ counts, displs, 1 };
	pcoll_check_memory(&call, pcoll_call_name(call.what));
	return call;
}

PCOLL_PST_FORMS(scatterv,
                (gex_Rank_t root, void *dst, size_t dst_nbytes, const void *src,
                 const size_t *counts, const size_t *displs),
                (root, dst, dst_nbytes, src, counts, displs))

static struct pcoll_call
gatherv_call(gex_TM_t tm, gex_Rank_t root, void *dst, const size_t *counts,
             const size_t *displs, const void *src, size_t src_nbytes, gex_Flags_t flags)
{
	struct pcoll_call call = rooted_call(tm, PCOLL_GATHER, PCOLL_PST_LISTS, root,
	                                     dst, src, src_nbytes, flags);

	if (tm->rank == root)
		call.dst_counts = (struct pcoll_counts){ counts, displs, 1 };
	pcoll_check_memory(&call, pcoll_call_name(call.what));
	return call;
}

PCOLL_PST_FORMS(gatherv,
                (gex_Rank_t root, void *dst, const size_t *counts, const size_t *displs,
                 const void *src, size_t src_nbytes),
                (root, dst, counts, displs, src, src_nbytes))

static struct pcoll_call
gather_allv_call(gex_TM_t tm, void *dst, const size_t *counts, const size_t *displs,
                 const void *src, size_t src_nbytes, gex_Flags_t flags)
{
	struct pcoll_call call = move_call(tm, PCOLL_GATHER_ALL, PCOLL_PST_LISTS,
	                                   dst, src, src_nbytes, flags);

	call.dst_counts = (struct pcoll_counts){ counts, displs, 1 };
	pcoll_check_memory(&call, pcoll_call_name(call.what));
	return call;
}

PCOLL_PST_FORMS(gather_allv,
                (void *dst, const size_t *counts, const size_t *displs, const void *src,
                 size_t src_nbytes),
                (dst, counts, displs, src, src_nbytes))

static struct pcoll_call
exchangev_call(gex_TM_t tm, void *dst, const size_t *dst_counts, const size_t *dst_displs,
               const void *src, const size_t *src_counts, const size_t *src_displs,
               gex_Flags_t flags)
{
	struct pcoll_call call = move_call(tm, PCOLL_EXCHANGE, PCOLL_PST_LISTS, dst, src, 0, flags);

	call.dst_counts = (struct pcoll_counts){ dst_counts, dst_displs, 1 };
	call.src_counts = (struct pcoll_counts){ src_counts, src_displs, 1 };
	pcoll_check_memory(&call, pcoll_call_name(call.what));
	return call;
}

PCOLL_PST_FORMS(exchangev,
                (void *dst, const size_t *dst_counts, const size_t *dst_displs,
                 const void *src, const size_t *src_counts, const size_t *src_displs),
                (dst, dst_counts, dst_displs, src, src_counts, src_displs))
