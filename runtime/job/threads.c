/*
 * Making and ending teams of threads.  Each process makes its endpoints and their segments alone.
 * All then exchange, over the parent, whether that succeeded and the indices of the endpoints.  So
 * all return the same code, and each knows the list of members.  The end is the same in reverse: no
 * process gives anything back before all have come, and none returns before all have done so.
 */
#include "runtime/job/threads.h"

#include "runtime/job/start.h"
#include "runtime/job/team_offer.h"
#include "runtime/process/rules.h"
#include "runtime/segment/shmem.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MASK_WORDS = (GASNET_MAXEPS + 63) / 64 };

/* The data that a process sends to the others. */
struct told {
	int64_t code;
	uint64_t indices[MASK_WORDS];   /* of its members */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct psi_thread_team *teams;   /* under lock */

/* -- endpoints ------------------------------------------------------------------------------- */

static void
threads_unmake_endpoint(gex_EP_t ep)
{
	gex_Segment_t segment = ep->segment;

	psi_ep_unmake(ep);
	if (segment)
		gex_Segment_Destroy(segment, 0);
}

static int
threads_make_endpoint(gex_EP_t *ep_out, unsigned first, uintptr_t bytes, gex_AM_Entry_t *table,
                      size_t entries, gex_Flags_t flags, bool held)
{
	gex_EP_t ep = psi_ep_make(first, flags, flags & PST_FLAG_EP_SERIAL, held);
	int code;

	if (!ep)
		return GASNET_ERR_RESOURCE;
	if (bytes) {
		code = gex_Segment_Create(&ep->segment, psi.client, NULL, bytes, GEX_MK_HOST, 0);
		if (code != GASNET_OK) {
			threads_unmake_endpoint(ep);
			return code;
		}
	}
	if (entries)
		(void)gex_EP_RegisterHandlers(ep, table, entries);
	*ep_out = ep;
	return GASNET_OK;
}

/* All, in ascending order of their indices, or none. */
static int
threads_make_endpoints(struct psi_thread_team *team, uintptr_t bytes, gex_AM_Entry_t *table,
                       size_t entries, gex_Flags_t flags, bool held)
{
	for (unsigned i = 0; i < team->count; i++) {
		const unsigned first = i ? team->eps[i - 1]->index + 1u : 1;
		const int code = threads_make_endpoint(&team->eps[i], first, bytes, table, entries,
		                                       flags, held);

		if (code == GASNET_OK)
			continue;
		while (i--)
			threads_unmake_endpoint(team->eps[i]);
		return code;
	}
	return GASNET_OK;
}

/* -- the team -------------------------------------------------------------------------------- */

static struct psi_thread_team *
threads_new_team(gex_TM_t parent, unsigned count)
{
	struct psi_thread_team *team = psi_team_memory(1, sizeof *team);

	team->parent = parent;
	team->count = count;
	team->eps = psi_team_memory(count, sizeof(gex_EP_t));
	team->tms = psi_team_memory(count, sizeof(gex_TM_t));
	return team;
}

static void
threads_free_team(struct psi_thread_team *team)
{
	free(team->eps);
	free(team->tms);
	free(team);
}

/* The data of all processes, by rank of the parent team. */
static struct told *
threads_tell(const struct psi_thread_team *team, int code, const char *call)
{
	struct told *all = psi_team_memory(team->parent->size, sizeof *all), own = { .code = code };

	for (unsigned i = 0; code == GASNET_OK && i < team->count; i++)
		own.indices[team->eps[i]->index / 64] |= (uint64_t)1 << team->eps[i]->index % 64;
	psi_team_gather(team->parent, &own, sizeof own, all, call);
	return all;
}

/* The first code that is none of success. */
static int
threads_code_of_all(const struct told *all, gex_Rank_t size)
{
	for (gex_Rank_t rank = 0; rank < size; rank++)
		if (all[rank].code != GASNET_OK)
			return (int)all[rank].code;
	return GASNET_OK;
}

static size_t
threads_list_members(const struct told *all, gex_Rank_t size, gex_EP_Location_t *list_out)
{
	size_t count = 0;

	for (gex_Rank_t rank = 0; rank < size; rank++)
		for (unsigned index = 0; index < GASNET_MAXEPS; index++)
			if (all[rank].indices[index / 64] >> index % 64 & 1)
				list_out[count++] = (gex_EP_Location_t){
					.gex_rank = rank, .gex_ep_index = (gex_EP_Index_t)index,
				};
	return count;
}

static void
threads_join_endpoints(struct psi_thread_team *team, const struct told *all)
{
	const gex_Rank_t size = team->parent->size;
	gex_EP_Location_t *list = psi_team_memory((size_t)size * GASNET_MAXEPS, sizeof *list);
	const size_t count = threads_list_members(all, size, list);

	(void)gex_EP_PublishBoundSegment(team->parent, team->eps, team->count, 0);
	/* Collectives need no scratch. */
	(void)gex_TM_Create(team->tms, team->count, team->parent, list, count, NULL, 0,
	                    GEX_FLAG_TM_NO_SCRATCH);
	free(list);
}

static int
threads_check_create(gex_TM_t parent, unsigned count, uintptr_t bytes, gex_Flags_t flags,
                     const char *call)
{
	if (parent->group && psi_group_here(parent->group) != 1)
		return psi_refuse(GASNET_ERR_BAD_ARG, call, "the parent has several members in "
		                  "this process; pass a team of processes");
	if (!count)
		return psi_refuse(GASNET_ERR_BAD_ARG, call, "ranks_here must be from 0, for "
		                  "PST_RANKS_PER_PROCESS, to GASNET_MAXEPS - 1");
	if (bytes % GASNET_PAGESIZE)
		return psi_refuse(GASNET_ERR_BAD_ARG, call, "segment_bytes must be a multiple of "
		                  "GASNET_PAGESIZE");
	if (flags & ~PST_FLAG_EP_SERIAL)
		return psi_refuse(GASNET_ERR_BAD_ARG, call, "flags must be 0 or "
		                                            "PST_FLAG_EP_SERIAL");
	return GASNET_OK;
}

static int
threads_check_lists(const gex_AM_Entry_t *table, size_t numentries, const gex_EP_t *eps_out,
                    const gex_TM_t *tms_out, const char *call)
{
	if (!eps_out || !tms_out)
		return psi_refuse(GASNET_ERR_BAD_ARG, call, "eps_out or tms_out is NULL; pass "
		                  "arrays with an entry for each rank here");
	if ((!table && numentries) || numentries > PSI_HANDLERS - GEX_AM_INDEX_BASE)
		return psi_refuse(GASNET_ERR_BAD_ARG, call, "table must have numentries entries, "
		                  "of which there are 128 at most");
	return GASNET_OK;
}

int
psi_threads_create(gex_TM_t parent, int ranks_here, size_t segment_bytes, gex_AM_Entry_t *table,
                   size_t numentries, gex_EP_t *eps_out, gex_TM_t *tms_out, gex_Flags_t flags,
                   bool held)
{
	const char *call = "pst_team_create_threads";
	const unsigned count = psi_threads_count(ranks_here);
	struct psi_thread_team *team;
	struct told *all;
	int code, own;

	psi_need_init(call);
	psi_rule_call(call);
	(void)psi_team_live(parent, call);
	if (!psi.threaded)
		return psi_refuse(GASNET_ERR_BAD_ARG, call, "threads are ranks in GASNET_PAR "
		                                            "alone");
	own = threads_check_create(parent, count, segment_bytes, flags, call);
	if (own == GASNET_OK)
		own = threads_check_lists(table, numentries, eps_out, tms_out, call);
	team = threads_new_team(parent, own == GASNET_OK ? count : 0);
	if (own == GASNET_OK)
		own = threads_make_endpoints(team, segment_bytes, table, numentries, flags, held);
	all = threads_tell(team, own, call);
	code = threads_code_of_all(all, parent->size);
	if (code == GASNET_OK) {
		threads_join_endpoints(team, all);
		memcpy(eps_out, team->eps, count * sizeof *eps_out);
		memcpy(tms_out, team->tms, count * sizeof *tms_out);
		pthread_mutex_lock(&lock);
		team->next = teams;
		teams = team;
		pthread_mutex_unlock(&lock);
	} else {
		for (unsigned i = 0; own == GASNET_OK && i < team->count; i++)
			threads_unmake_endpoint(team->eps[i]);
		threads_free_team(team);
	}
	free(all);
	return code;
}

int
pst_team_create_threads(gex_TM_t parent, int ranks_here, size_t segment_bytes,
                        gex_AM_Entry_t *table, size_t numentries, gex_EP_t *eps_out,
                        gex_TM_t *tms_out, gex_Flags_t flags)
{
	return psi_threads_create(parent, ranks_here, segment_bytes, table, numentries, eps_out,
	                          tms_out, flags, false);
}

/* -- the end --------------------------------------------------------------------------------- */

/* Takes it off the list; NULL if these are not the members of one. */
static struct psi_thread_team *
threads_take_team(const gex_TM_t *tms, unsigned count)
{
	struct psi_thread_team **at, *team;

	pthread_mutex_lock(&lock);
	for (at = &teams; *at; at = &(*at)->next)
		if ((*at)->count == count && memcmp((*at)->tms, tms, count * sizeof *tms) == 0)
			break;
	team = *at;
	if (team)
		*at = team->next;
	pthread_mutex_unlock(&lock);
	return team;
}

static void
threads_forget_members(const struct psi_thread_team *team)
{
	const gex_TM_t tm = team->tms[0];

	for (gex_Rank_t rank = 0; rank < tm->size; rank++)
		psi_segment_forget(tm->places[rank]);
}

int
pst_team_destroy_threads(const gex_TM_t *tms, int ranks_here, gex_Flags_t flags)
{
	const char *call = "pst_team_destroy_threads";
	struct psi_thread_team *team;
	gex_TM_t parent;

	psi_need_init(call);
	psi_rule_call(call);
	if (flags || !tms)
		return psi_refuse(GASNET_ERR_BAD_ARG, call, "flags must be 0, and tms not NULL");
	team = threads_take_team(tms, psi_threads_count(ranks_here));
	if (!team)
		return psi_refuse(GASNET_ERR_BAD_ARG, call, "these are not all the teams of this "
		                  "process that pst_team_create_threads gave");
	parent = team->parent;
	psi_team_gather(parent, NULL, 0, NULL, call);
	threads_forget_members(team);
	for (unsigned i = 0; i < team->count; i++)
		(void)gex_TM_Destroy(team->tms[i], NULL, GEX_FLAG_GLOBALLY_QUIESCED);
	for (unsigned i = 0; i < team->count; i++)
		threads_unmake_endpoint(team->eps[i]);
	threads_free_team(team);
	psi_team_gather(parent, NULL, 0, NULL, call);
	return GASNET_OK;
}
