#include "runtime/job/segment_table.h"

#include "runtime/job/barrier_all.h"
#include "runtime/segment/reach.h"
#include "runtime/segment/segment.h"
#include "runtime/segment/shmem.h"
#include "runtime/team/team_rules.h"
#include "runtime/util/fence.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* -- entries --------------------------------------------------------------------------------- */

/* Several threads may publish; this lock lets one at a time change the tables. */
static pthread_mutex_t knowing = PTHREAD_MUTEX_INITIALIZER;

static struct psi_segment_entry *
segment_entry_of(uint32_t place)
{
	if (place < psi.boot.size)
		return &psi.shared->segments[psi.host_index[place]];
	return &psi_further_at(place)->segment;
}

static void
segment_write_entry(uint32_t place, gex_Segment_t segment)
{
	struct psi_segment_entry *entry = segment_entry_of(place);

	if (!segment)
		return;
	psi_segment_bind(segment);
	entry->base = (uintptr_t)segment->base;
	entry->size_bytes = segment->size;
	entry->key = segment->key;
	entry->mappable = segment->library_memory;
	entry->name = segment->name;
	entry->card = psi_vm_card_make();
	/* A rank that reads the entry may then ask for its memory. */
	psi_handed_to_process(psi_ep_at(place));
}

static void
segment_reach_peer(uint32_t place, const struct psi_segment_entry *entry)
{
	if (!entry->size_bytes || memcmp(&psi.known[place], entry, sizeof *entry) == 0)
		return;
	psi.known[place] = *entry;
	psi_reach_choose(place);
}

/* All endpoints of a process of this host. */
static void
segment_reach_process(gex_Rank_t rank)
{
	const unsigned count = psi_ep_count_of(rank);

	pthread_mutex_lock(&knowing);
	for (unsigned index = 0; index < count; index++) {
		const uint32_t place = index * psi.boot.size + rank;

		segment_reach_peer(place, segment_entry_of(place));
	}
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

/* -- ranks of other hosts -------------------------------------------------------------------- */

/* An entry of the segment table, as it travels. */
struct told {
	uint32_t place;         /* PSI_NO_PEER: nothing is told */
	struct psi_segment_entry entry;
};

static bool
job_has_several_hosts(void)
{
	return psi.boot.host_count > 1;
}

/* An entry as other hosts get it, without what only this host can use. */
static struct told
segment_told(uint32_t place)
{
	struct told told = { .place = place, .entry = *segment_entry_of(place) };

	told.entry.mappable = 0;
	told.entry.card = (struct psi_vm_card){ 0 };
	return told;
}

static void
segments_learn(const struct told *all, size_t count)
{
	pthread_mutex_lock(&knowing);
	for (size_t i = 0; i < count; i++)
		if (all[i].place != PSI_NO_PEER && !psi_on_this_host(psi_jobrank_of(all[i].place)))
			segment_reach_peer(all[i].place, &all[i].entry);
	pthread_mutex_unlock(&knowing);
}

static void *
segment_memory(size_t count, size_t bytes)
{
	void *memory = calloc(count, bytes);

	if (!memory)
		psi_fatal("no memory for the exchange of %zu segments", count);
	return memory;
}

/* The most endpoints that a member publishes. */
static size_t
publish_agree_most(gex_TM_t tm, size_t num_eps, const char *call)
{
	uint64_t *counts = segment_memory(tm->size, sizeof *counts), mine = num_eps, most = 0;

	psi_team_gather(tm, &mine, sizeof mine, counts, call);
	for (gex_Rank_t rank = 0; rank < tm->size; rank++)
		most = counts[rank] > most ? counts[rank] : most;
	free(counts);
	return most;
}

static void
publish_over_hosts(gex_TM_t tm, const gex_EP_t *eps, size_t num_eps, const char *call)
{
	const size_t most = publish_agree_most(tm, num_eps, call);
	struct told *mine, *all;

	if (!most)
		return;
	mine = segment_memory(most, sizeof *mine);
	all = segment_memory(most * tm->size, sizeof *all);
	for (size_t i = 0; i < most; i++)
		mine[i] = i < num_eps ? segment_told(eps[i]->place)
		                      : (struct told){ .place = PSI_NO_PEER };
	psi_team_gather(tm, mine, most * sizeof *mine, all, call);
	segments_learn(all, most * tm->size);
	free(all);
	free(mine);
}

/* -- exchange -------------------------------------------------------------------------------- */

/* The first rank that lacks memory; their number if none does. */
static uint32_t
attach_over_hosts(const char *call)
{
	struct told *all = segment_memory(psi.boot.size, sizeof *all);
	const struct told mine = segment_told(psi.boot.rank);
	uint32_t rank = 0;

	psi_team_gather(psi.tm, &mine, sizeof mine, all, call);
	while (rank < psi.boot.size && !all[rank].entry.failed)
		rank++;
	if (rank == psi.boot.size)
		segments_learn(all, psi.boot.size);
	free(all);
	return rank;
}

static uint32_t
attach_on_host(void)
{
	uint32_t rank = 0;

	psi_barrier_all();
	while (rank < psi.boot.size && !psi.shared->segments[rank].failed)
		rank++;
	return rank;
}

uint32_t
psi_segment_table_exchange(gex_Segment_t mine, int error, const char *call)
{
	struct psi_segment_entry *entry = segment_entry_of(psi.boot.rank), before = *entry;
	uint32_t failed;

	segment_write_entry(psi.boot.rank, mine);
	entry->failed = (uint64_t)error;
	failed = job_has_several_hosts() ? attach_over_hosts(call) : attach_on_host();
	if (failed < psi.boot.size) {
		psi_barrier_all();    /* all have seen it */
		*entry = before;
		return failed;
	}
	for (uint32_t i = 0; i < psi.host_places; i++)
		segment_reach_process(psi.host_ranks[i]);
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

static void
segments_reach_members(gex_TM_t tm)
{
	for (gex_Rank_t rank = 0; rank < tm->size; rank++) {
		const gex_Rank_t jobrank = psi_team_location(tm, rank).gex_rank;

		if (psi_on_this_host(jobrank))
			segment_reach_process(jobrank);
	}
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
	if (job_has_several_hosts())
		publish_over_hosts(tm, eps, num_eps, call);
	else
		ranks_meet(tm, call);
	segments_reach_members(tm);
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
	for (uint32_t i = 0; i < psi.host_places; i++) {
		const uint32_t rank = psi.host_ranks[i];

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
