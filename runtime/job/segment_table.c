#include "runtime/job/segment_table.h"

#include "runtime/job/barrier_all.h"
#include "runtime/segment/reach.h"
#include "runtime/segment/shmem.h"
#include "runtime/team/team_rules.h"
#include "runtime/util/fence.h"

#include <pthread.h>
#include <string.h>

/* -- entries --------------------------------------------------------------------------------- */

/* Several threads may publish; this lock lets one at a time change the tables. */
static pthread_mutex_t knowing = PTHREAD_MUTEX_INITIALIZER;

static struct psi_segment_entry *
segment_entry_of(uint32_t place)
{
	if (place < psi.boot.size)
		return &psi.shared->segments[place];
	return &psi_shared_further(psi.shared, psi.boot.size, place)->segment;
}

static void
segment_write_entry(uint32_t place, gex_Segment_t segment)
{
	struct psi_segment_entry *entry = segment_entry_of(place);

	if (!segment)
		return;
	entry->base = (uintptr_t)segment->base;
	entry->size_bytes = segment->size;
	entry->key = segment->key;
	entry->mappable = segment->library_memory;
	entry->card = psi_vm_card_make();
	/* A rank that reads the entry may then ask for its memory. */
	psi_handed_to_process(psi_ep_at(place));
}

static void
segment_reach_peer(uint32_t place)
{
	const struct psi_segment_entry *entry = segment_entry_of(place);

	if (!entry->size_bytes || memcmp(&psi.known[place], entry, sizeof *entry) == 0)
		return;
	psi.known[place] = *entry;
	psi_reach_choose(place);
}

/* All endpoints of a process. */
static void
segment_reach_process(gex_Rank_t rank)
{
	const unsigned count = psi_ep_count_of(rank);

	pthread_mutex_lock(&knowing);
	for (unsigned index = 0; index < count; index++)
		segment_reach_peer(index * psi.boot.size + rank);
	pthread_mutex_unlock(&knowing);
}

void
psi_segment_forget(uint32_t place)
{
	pthread_mutex_lock(&knowing);
	psi_reach_lose(place);
	if (psi_jobrank_of(place) == psi.boot.rank)
		*segment_entry_of(place) = (struct psi_segment_entry){ .base = 0 };
	psi.known[place] = (struct psi_segment_entry){ .base = 0 };
	pthread_mutex_unlock(&knowing);
}

/* -- exchange -------------------------------------------------------------------------------- */

/* The first rank that lacks memory; their number if none does. */
static uint32_t
ranks_first_failed(void)
{
	uint32_t rank = 0;

	while (rank < psi.boot.size && !psi.shared->segments[rank].failed)
		rank++;
	return rank;
}

uint32_t
psi_segment_table_exchange(gex_Segment_t mine, int error)
{
	struct psi_segment_entry *entry = &psi.shared->segments[psi.boot.rank], before = *entry;
	uint32_t failed;

	segment_write_entry(psi.boot.rank, mine);
	entry->failed = (uint64_t)error;
	psi_barrier_all();
	failed = ranks_first_failed();
	if (failed < psi.boot.size) {
		psi_barrier_all();    /* all have seen it */
		*entry = before;
		return failed;
	}
	for (uint32_t rank = 0; rank < psi.boot.size; rank++)
		segment_reach_process(rank);
	return failed;
}

/* All members have come so far. */
static void
ranks_meet(gex_TM_t tm, const char *call)
{
	if (tm == psi.tm)
		psi_barrier_all();
	else
		psi_team_gather(tm, NULL, 0, NULL, call);
}

int
gex_EP_PublishBoundSegment(gex_TM_t tm, gex_EP_t *eps, size_t num_eps, gex_Flags_t flags)
{
	const char *call = "gex_EP_PublishBoundSegment";

	psi_need_init(call);
	psi_rule_context(call);
	if (!tm || psi_tm_is_pair(tm) || flags)
		return psi_refuse(GASNET_ERR_BAD_ARG, call, "the team must be valid, flags 0");
	psi_rule_team(tm, call);
	psi_check_list(eps, num_eps, sizeof(gex_EP_t), "eps", call);
	for (size_t i = 0; i < num_eps; i++)
		if (!eps[i] || psi_ep_of(eps[i]->index) != eps[i])
			return psi_refuse(GASNET_ERR_BAD_ARG, call, "an endpoint is not valid");
	pthread_mutex_lock(&knowing);
	for (size_t i = 0; i < num_eps; i++)
		segment_write_entry(eps[i]->place, eps[i]->segment);
	pthread_mutex_unlock(&knowing);
	ranks_meet(tm, call);
	for (gex_Rank_t rank = 0; rank < tm->size; rank++)
		segment_reach_process(psi_team_location(tm, rank).gex_rank);
	ranks_meet(tm, call);
	return GASNET_OK;
}

/* -- queries --------------------------------------------------------------------------------- */

bool
psi_segment_covers(const void *addr)
{
	uintptr_t at = (uintptr_t)addr;

	if (!psi.peers)
		return false;
	for (uint32_t rank = 0; rank < psi.boot.size; rank++) {
		for (unsigned index = 0; index < psi_ep_count_of(rank); index++) {
			const struct pst_peer *peer = &psi.peers[index * psi.boot.size + rank];

			if (at - (peer->base + peer->offset) < peer->size_bytes)
				return true;
		}
	}
	return false;
}

/* For an own endpoint the bound segment; for others the published one. */
static bool
segment_query(uint32_t place, void **owneraddr_p, void **localaddr_p, uintptr_t *size_p)
{
	const struct psi_segment_entry *entry = &psi.known[place];
	void *owner = (void *)(uintptr_t)entry->base, *local = NULL;
	uintptr_t size = (uintptr_t)entry->size_bytes;

	if (psi_jobrank_of(place) == psi.boot.rank) {
		const gex_EP_t own = psi_ep_at(place);
		gex_Segment_t segment = own ? own->segment : NULL;

		owner = local = segment ? segment->base : NULL;
		size = segment ? segment->size : 0;
	} else if (psi.peers[place].size_bytes && psi_in_my_nbrhd(psi_jobrank_of(place))) {
		local = (void *)(psi.peers[place].base + psi.peers[place].offset);
	}
	if (size_p && !size)
		*size_p = 0;
	if (!size)
		return false;
	if (owneraddr_p)
		*owneraddr_p = owner;
	if (localaddr_p)
		*localaddr_p = local;
	if (size_p)
		*size_p = size;
	return true;
}

gex_Event_t
gex_EP_QueryBoundSegmentNB(gex_TM_t tm, gex_Rank_t rank, void **owneraddr_p, void **localaddr_p,
                           uintptr_t *size_p, gex_Flags_t flags)
{
	const char *call = "gex_EP_QueryBoundSegmentNB";
	struct psi_target target;

	if (!(flags & GEX_FLAG_IMMEDIATE))
		psi_rule_context(call);
	psi_rule_team(tm, call);
	psi_check_flags(flags, GEX_FLAG_IMMEDIATE, call);
	target = psi_target_of(tm, rank, call);
	/* the segment table answers without communication */
	segment_query(target.place, owneraddr_p, localaddr_p, size_p);
	return GEX_EVENT_INVALID;
}

int
gex_Segment_QueryBound(gex_TM_t tm, gex_Rank_t rank, void **owneraddr_p, void **localaddr_p,
                       uintptr_t *size_p)
{
	struct psi_target target = psi_rule_target(tm, rank, "gex_Segment_QueryBound");
	void *owner, *local;
	uintptr_t size;

	if (!segment_query(target.place, &owner, &local, &size))
		return GASNET_ERR_NOT_READY;
	segment_query(target.place, owneraddr_p, localaddr_p, size_p);
	return GASNET_OK;
}

int
gasnet_getSegmentInfo(gasnet_seginfo_t *seginfo_table, int numentries)
{
	psi_need_init("gasnet_getSegmentInfo");
	psi_rule_call("gasnet_getSegmentInfo");
	if (!seginfo_table && numentries > 0)
		return psi_refuse(GASNET_ERR_BAD_ARG, "gasnet_getSegmentInfo", "seginfo_table is "
		                  "NULL; pass an array of numentries");
	for (int i = 0; i < numentries && (uint32_t)i < psi.boot.size; i++) {
		seginfo_table[i].addr = (void *)(uintptr_t)psi.known[i].base;
		seginfo_table[i].size = (uintptr_t)psi.known[i].size_bytes;
	}
	return GASNET_OK;
}
