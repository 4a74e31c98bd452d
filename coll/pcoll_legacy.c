/* The collectives of GASNet 1, over the same engine. */
#include "coll/checks.h"

#include "runtime/process/rules.h"
#include "runtime/team/team.h"

#include "runtime/util/copy.h"

enum {
	IN_FLAGS = GASNET_COLL_IN_NOSYNC | GASNET_COLL_IN_MYSYNC | GASNET_COLL_IN_ALLSYNC,
	OUT_FLAGS = GASNET_COLL_OUT_NOSYNC | GASNET_COLL_OUT_MYSYNC | GASNET_COLL_OUT_ALLSYNC,
	OTHER_FLAGS = GASNET_COLL_LOCAL | GASNET_COLL_DST_IN_SEGMENT | GASNET_COLL_SRC_IN_SEGMENT |
	              GASNET_COLL_NO_IMAGES | GASNET_COLL_DISABLE_AUTOTUNE |
	              GASNET_COLL_FIXED_THREADS_PER_NODE,
};

static const struct legacy {
	const char *name;
	enum pcoll_operation operation;
} table[GASNET_COLL_NUM_COLL_OPTYPES] = {
	[GASNET_COLL_BROADCAST_OP] = { "gasnet_coll_broadcast", PCOLL_BROADCAST },
	[GASNET_COLL_SCATTER_OP] = { "gasnet_coll_scatter", PCOLL_SCATTER },
	[GASNET_COLL_GATHER_OP] = { "gasnet_coll_gather", PCOLL_GATHER },
	[GASNET_COLL_GATHER_ALL_OP] = { "gasnet_coll_gather_all", PCOLL_GATHER_ALL },
	[GASNET_COLL_EXCHANGE_OP] = { "gasnet_coll_exchange", PCOLL_EXCHANGE },
};

void
psi_coll_legacy_team(gasnet_team_handle_t team, const char *call)
{
	psi_need_init(call);
	if (PSI_UNLIKELY(team != GASNET_TEAM_ALL && team != psi.tm))
		psi_fatal("%s: %p is no team of these calls; pass GASNET_TEAM_ALL", call,
		          (void *)team);
}

static void
legacy_check_flags(int flags, const char *call)
{
	const int in = flags & IN_FLAGS, out = flags & OUT_FLAGS;

	psi_check_flags((gex_Flags_t)flags, IN_FLAGS | OUT_FLAGS | OTHER_FLAGS, call);
	if (PSI_UNLIKELY(!in || !out || (in & (in - 1)) || (out & (out - 1))))
		psi_fatal(
			"%s: flags 0x%x must have one way to synchronise before and one after; "
			"pass one of GASNET_COLL_IN_* and one of GASNET_COLL_OUT_*",
			call, (unsigned)flags);
}

static void
legacy_check_arguments(const struct legacy *legacy, const struct pcoll_call *call)
{
	if (PSI_UNLIKELY(!call->len_bytes))
		psi_fatal("%s: nbytes is 0; pass at least 1", legacy->name);
	if (PSI_UNLIKELY(call->root >= psi.tm->size))
		psi_fatal("%s: image %u does not exist, the job has %u; pass the rank of a process",
		          legacy->name, call->root, psi.tm->size);
	pcoll_check_memory(call, legacy->name);
}

gex_Event_t
psi_coll_legacy_start(gasnet_coll_optype_t operation, gasnet_team_handle_t team,
                      gasnet_image_t root, void *dst, const void *src, size_t nbytes, int flags)
{
	const struct legacy *legacy = &table[operation];
	const struct pcoll_call call = {
		.what = { legacy->operation, PCOLL_LEGACY },
		.tm = psi.tm,
		.root = root,
		.dst = dst,
		.src = src,
		.len_bytes = nbytes,
		.in_all = flags & GASNET_COLL_IN_ALLSYNC,
		.out_all = flags & GASNET_COLL_OUT_ALLSYNC,
	};

	psi_coll_legacy_team(team, legacy->name);
	psi_rule_call(legacy->name);
	legacy_check_flags(flags, legacy->name);
	legacy_check_arguments(legacy, &call);
	if (psi.tm->size > 1)
		return pcoll_start(&call);
	if (dst != src)
		psi_copy(dst, src, nbytes);
	return GEX_EVENT_INVALID;
}

/* -- the tuner, which is not there ------------------------------------------------------------- */

void
gasnet_coll_loadTuningState(char *filename, gasnet_team_handle_t team)
{
	(void)filename;
	psi_coll_legacy_team(team, "gasnet_coll_loadTuningState");
}

void
gasnet_coll_dumpTuningState(char *filename, gasnet_team_handle_t team)
{
	(void)filename;
	psi_coll_legacy_team(team, "gasnet_coll_dumpTuningState");
}

void
gasnet_coll_dumpProfile(char *filename, gasnet_team_handle_t team)
{
	(void)filename;
	psi_coll_legacy_team(team, "gasnet_coll_dumpProfile");
}

int
gasnet_coll_get_num_tree_classes(gasnet_team_handle_t team, gasnet_coll_optype_t optype)
{
	(void)optype;
	psi_coll_legacy_team(team, "gasnet_coll_get_num_tree_classes");
	return 1;
}

void
gasnet_coll_set_tree_kind(gasnet_team_handle_t team, int tree_type, int fanout,
                          gasnet_coll_optype_t optype)
{
	(void)tree_type, (void)fanout, (void)optype;
	psi_coll_legacy_team(team, "gasnet_coll_set_tree_kind");
}

void
gasnet_coll_set_dissem_limit(gasnet_team_handle_t team, size_t limit, gasnet_coll_optype_t optype)
{
	(void)limit, (void)optype;
	psi_coll_legacy_team(team, "gasnet_coll_set_dissem_limit");
}
