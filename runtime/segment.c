/*
 * Segments: made, bound to the endpoint, published to the processes of the team.
 *
 * What others need to know stands on a board in memory of the host.  A rank writes its own entry,
 * then all pass a barrier, then all read; another barrier keeps the next writer off until all have.
 * When memory for a segment to attach is missing somewhere, that is on the board too, and all ranks
 * return the error, rather than that the others wait for one that has gone its way.
 */
#include "runtime/psi.h"

#include "runtime/rules.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static bool attached_once;

/* -- the board ------------------------------------------------------------------------------- */

/* Under this, what is told and known is changed: by one thread at a time, where several publish. */
static pthread_mutex_t knowing = PTHREAD_MUTEX_INITIALIZER;

static struct psi_board_entry *
entry_of(uint32_t place)
{
	if (place < psi.boot.size)
		return &psi.shared->board[place];
	return &psi_shared_further(psi.shared, psi.boot.size, place)->segment;
}

static void
write_entry(uint32_t place, gex_Segment_t segment)
{
	struct psi_board_entry *entry = entry_of(place);

	if (!segment)
		return;
	entry->base = (uintptr_t)segment->base;
	entry->size_bytes = segment->size;
	entry->key = segment->key;
	entry->mappable = segment->library_memory;
	entry->card = psi_vm_card_make();
}

static void
reach_peer(uint32_t place)
{
	const gex_Rank_t rank = psi_jobrank_of(place);
	const struct psi_board_entry *entry = entry_of(place);
	struct pst_peer *peer = &psi.peers[place];
	char *here, lack[PBOOT_LACK_BYTES];

	if (!entry->size_bytes || memcmp(&psi.known[place], entry, sizeof *entry) == 0)
		return;
	psi.known[place] = *entry;
	if (!entry->mappable || !psi_in_my_nbrhd(rank)) {
		*peer = (struct pst_peer){ .base = entry->base };
		if (rank != psi.boot.rank)
			psi_vm_probe(rank, &entry->card);
		return;
	}
	here = rank == psi.boot.rank
		? (char *)(uintptr_t)entry->base
		: pboot_range_map(1 + rank, entry->key, entry->size_bytes);
	if (!here)
		psi_fatal("cannot map the segment of rank %u, %zu bytes: %s", rank,
		          (size_t)entry->size_bytes, pboot_range_lack(errno, lack));
	*peer = (struct pst_peer){
		.base = (uintptr_t)entry->base, .size_bytes = (uintptr_t)entry->size_bytes,
		.offset = (uintptr_t)here - (uintptr_t)entry->base,
	};
}

/* All endpoints of a process. */
static void
reach_process(gex_Rank_t rank)
{
	const unsigned count = psi_ep_count_of(rank);

	pthread_mutex_lock(&knowing);
	for (unsigned index = 0; index < count; index++)
		reach_peer(index * psi.boot.size + rank);
	pthread_mutex_unlock(&knowing);
}

/* Its pages go as well; their owner gives them back at the same time. */
void
psi_segment_forget(uint32_t place)
{
	struct psi_board_entry *known = &psi.known[place];
	const struct pst_peer peer = psi.peers[place];

	pthread_mutex_lock(&knowing);
	psi.peers[place] = (struct pst_peer){ .base = 0 };
	if (psi_jobrank_of(place) == psi.boot.rank)
		*entry_of(place) = (struct psi_board_entry){ .base = 0 };
	else if (peer.size_bytes)
		pboot_range_unmap((void *)(peer.base + peer.offset), known->key, peer.size_bytes);
	*known = (struct psi_board_entry){ .base = 0 };
	pthread_mutex_unlock(&knowing);
}

static bool
has_failed(void)
{
	for (uint32_t rank = 0; rank < psi.boot.size; rank++)
		if (psi.shared->board[rank].failed)
			return true;
	return false;
}

static void
say_lack(const char *call, uintptr_t size, int error)
{
	char lack[PBOOT_LACK_BYTES];

	if (gex_System_GetVerboseErrors())
		psi_log("%s: no segment of %zu bytes: %s", call, (size_t)size,
		        pboot_range_lack(error, lack));
}

/* What many lack, one says: the first of them. */
static void
say_lack_of_job(uintptr_t size, int error)
{
	uint32_t first = 0;

	while (!psi.shared->board[first].failed)
		first++;
	if (first == psi.boot.rank)
		say_lack("gex_Segment_Attach", size, error);
}

/* The first half of an exchange; the caller's barrier ends it.  False if a rank failed: then nothing
 * has changed for anybody.  error is an errno value, where there is no memory of `size' bytes. */
static bool
exchange(gex_Segment_t mine, uintptr_t size, int error)
{
	struct psi_board_entry *entry = &psi.shared->board[psi.boot.rank], before = *entry;

	write_entry(psi.boot.rank, mine);
	entry->failed = (uint64_t)error;
	gex_Coll_BarrierBlocking(psi.tm, 0);
	if (has_failed()) {
		say_lack_of_job(size, error);
		gex_Coll_BarrierBlocking(psi.tm, 0);    /* all have seen it */
		*entry = before;
		return false;
	}
	for (uint32_t rank = 0; rank < psi.boot.size; rank++)
		reach_process(rank);
	return true;
}

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

/* -- make and bind --------------------------------------------------------------------------- */

/* With checks the object stays, so that its later use is known for what it is. */
static void
discard(gex_Segment_t segment)
{
	static _Atomic(gex_Segment_t) last_destroyed;   /* holds the objects for leak checkers */

	if (segment->library_memory)
		pboot_range_unmap(segment->base, segment->key, segment->size);
	segment->destroyed = true;
	if (psi.checks)
		segment->destroyed_before = atomic_exchange_explicit(&last_destroyed, segment,
		                                                      memory_order_relaxed);
	else
		free(segment);
}

static gex_Segment_t
live(gex_Segment_t segment, const char *call)
{
	if (PSI_UNLIKELY(!segment))
		psi_fatal("%s: called with GEX_SEGMENT_INVALID; an endpoint has a segment after "
		          "gex_Segment_Attach or gex_EP_BindSegment", call);
	if (PSI_UNLIKELY(psi.checks) && segment->destroyed)
		psi_fatal("%s: the segment was destroyed before; destroy it when nothing uses it any more",
		          call);
	return segment;
}

static gex_Segment_t
new_segment(gex_Client_t client, void *base, uintptr_t size)
{
	gex_Segment_t segment = calloc(1, sizeof *segment);

	if (!segment)
		return NULL;
	segment->client = client;
	segment->base = base;
	segment->size = size;
	return segment;
}

/* 0, or an errno value. */
static int
library_segment(gex_Client_t client, uintptr_t size, gex_Segment_t *segment_out)
{
	gex_Segment_t segment = new_segment(client, NULL, size);
	int error;

	if (!segment)
		return ENOMEM;
	segment->base = pboot_range_make(1 + psi.boot.rank, size, &segment->key);
	if (!segment->base) {
		error = errno;
		free(segment);
		return error;
	}
	segment->library_memory = true;
	*segment_out = segment;
	return 0;
}

static int
refuse_size(const char *call, uintptr_t size)
{
	char why[160];

	snprintf(why, sizeof why, "%zu bytes are above gasnet_getMaxLocalSegmentSize(), %zu, which is "
	         "bounded by %s", (size_t)size, (size_t)psi.max_segment, psi.max_segment_bound);
	return psi_refuse(GASNET_ERR_BAD_ARG, call, why);
}

int
gex_Segment_Attach(gex_Segment_t *segment_p, gex_TM_t tm, uintptr_t size)
{
	const char *call = "gex_Segment_Attach";
	gex_Segment_t segment = GEX_SEGMENT_INVALID;
	int error;

	psi_need_init(call);
	psi_rule_context(call);
	if (!segment_p || tm != psi.tm)
		return psi_refuse(GASNET_ERR_BAD_ARG, call, "the team must be the primordial one");
	if (size == 0 || size % GASNET_PAGESIZE)
		return psi_refuse(GASNET_ERR_BAD_ARG, call,
		              "the size must be a non-zero multiple of GASNET_PAGESIZE");
	if (size > psi.max_segment)
		return refuse_size(call, size);
	psi.attach_first = false;
	if (attached_once || psi.ep->segment)
		return psi_refuse(GASNET_ERR_RESOURCE, call, "the endpoint has a segment already");
	error = library_segment(psi.client, size, &segment);
	psi.ep->segment = segment;
	if (!exchange(segment, size, error)) {
		/* Here or elsewhere there is no memory: all return the same. */
		psi.ep->segment = GEX_SEGMENT_INVALID;
		if (segment)
			discard(segment);
		gex_Coll_BarrierBlocking(psi.tm, 0);
		return GASNET_ERR_RESOURCE;
	}
	attached_once = segment->attached = true;
	if (gasnet_client_attach_hook)
		gasnet_client_attach_hook(segment->base, segment->size);
	gex_Coll_BarrierBlocking(psi.tm, 0);
	*segment_p = segment;
	return GASNET_OK;
}

/* MS_ASYNC does nothing but look. */
static bool
is_mapped(gex_Addr_t address, uintptr_t length)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = (uintptr_t)address & ~(page - 1);

	return msync((void *)first, (uintptr_t)address + length - first, MS_ASYNC) == 0 || errno != ENOMEM;
}

int
gex_Segment_Create(gex_Segment_t *segment_p, gex_Client_t client, gex_Addr_t address,
                   uintptr_t length, gex_MK_t kind, gex_Flags_t flags)
{
	const char *call = "gex_Segment_Create";
	const uintptr_t rounded = (length + GASNET_PAGESIZE - 1) & ~(uintptr_t)(GASNET_PAGESIZE - 1);
	gex_Segment_t segment;
	int error;

	psi_need_init(call);
	psi_rule_context(call);
	if (!segment_p || client != psi.client)
		return psi_refuse(GASNET_ERR_BAD_ARG, call, "the client must be that of gex_Client_Init, and segment_p not NULL");
	if (kind != GEX_MK_HOST)
		return psi_refuse(GASNET_ERR_BAD_ARG, call, "the memory kind must be GEX_MK_HOST");
	if (flags)
		return psi_refuse(GASNET_ERR_BAD_ARG, call, "flags must be 0");
	if (!length)
		return psi_refuse(GASNET_ERR_BAD_ARG, call, "the length must not be 0");
	if (!address) {
		if (length > psi.max_segment)
			return refuse_size(call, length);
		error = library_segment(client, rounded, segment_p);
		if (error)
			say_lack(call, rounded, error);
		return error ? GASNET_ERR_RESOURCE : GASNET_OK;
	}
	if (length - 1 > UINTPTR_MAX - (uintptr_t)address)
		return psi_refuse(GASNET_ERR_BAD_ARG, call, "the range wraps around the address space");
	if (!is_mapped(address, length))
		return psi_refuse(GASNET_ERR_BAD_ARG, call, "the client's memory is not mapped in this "
		                  "process; map it first");
	segment = new_segment(client, address, length);
	if (!segment)
		return GASNET_ERR_RESOURCE;
	*segment_p = segment;
	return GASNET_OK;
}

void
gex_Segment_Destroy(gex_Segment_t segment, gex_Flags_t flags)
{
	const char *call = "gex_Segment_Destroy";

	psi_rule_context(call);
	psi_check_flags(flags, 0, call);
	if (live(segment, call)->attached)
		psi_fatal("%s: a segment from gex_Segment_Attach lives as long as the job; leave it", call);
	discard(segment);
}

int
gex_EP_BindSegment(gex_EP_t ep, gex_Segment_t segment, gex_Flags_t flags)
{
	const char *call = "gex_EP_BindSegment";

	psi_rule_context(call);
	if (!ep || !segment || flags)
		return psi_refuse(GASNET_ERR_BAD_ARG, call, "endpoint and segment must be valid, flags 0");
	(void)live(segment, call);
	if (ep->segment)
		return psi_refuse(GASNET_ERR_BAD_ARG, call, "the endpoint has a segment already");
	ep->segment = segment;
	return GASNET_OK;
}

/* All members have come so far. */
static void
meet(gex_TM_t tm, const char *call)
{
	if (tm == psi.tm)
		gex_Coll_BarrierBlocking(tm, 0);
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
	for (size_t i = 0; i < num_eps; i++)
		if (!eps[i] || psi_ep_of(eps[i]->index) != eps[i])
			return psi_refuse(GASNET_ERR_BAD_ARG, call, "an endpoint is not valid");
	pthread_mutex_lock(&knowing);
	for (size_t i = 0; i < num_eps; i++)
		write_entry(eps[i]->place, eps[i]->segment);
	pthread_mutex_unlock(&knowing);
	meet(tm, call);
	for (gex_Rank_t rank = 0; rank < tm->size; rank++)
		reach_process(psi_team_location(tm, rank).gex_rank);
	meet(tm, call);
	return GASNET_OK;
}

/* -- queries --------------------------------------------------------------------------------- */

gex_Client_t
gex_Segment_QueryClient(gex_Segment_t seg)
{
	return live(seg, "gex_Segment_QueryClient")->client;
}

gex_Flags_t
gex_Segment_QueryFlags(gex_Segment_t seg)
{
	return live(seg, "gex_Segment_QueryFlags")->flags;
}

void *
gex_Segment_QueryAddr(gex_Segment_t seg)
{
	return live(seg, "gex_Segment_QueryAddr")->base;
}

uintptr_t
gex_Segment_QuerySize(gex_Segment_t seg)
{
	return live(seg, "gex_Segment_QuerySize")->size;
}

void *
gex_Segment_QueryCData(gex_Segment_t seg)
{
	return live(seg, "gex_Segment_QueryCData")->cdata;
}

void
gex_Segment_SetCData(gex_Segment_t seg, const void *val)
{
	live(seg, "gex_Segment_SetCData")->cdata = (void *)(uintptr_t)val;
}

/* Own endpoint: what is bound.  Others: what was published. */
static bool
query(uint32_t place, void **owneraddr_p, void **localaddr_p, uintptr_t *size_p)
{
	const struct psi_board_entry *entry = &psi.known[place];
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
	/* the board answers without communication */
	query(target.place, owneraddr_p, localaddr_p, size_p);
	return GEX_EVENT_INVALID;
}

int
gex_Segment_QueryBound(gex_TM_t tm, gex_Rank_t rank, void **owneraddr_p, void **localaddr_p,
                       uintptr_t *size_p)
{
	struct psi_target target = psi_rule_target(tm, rank, "gex_Segment_QueryBound");
	void *owner, *local;
	uintptr_t size;

	if (!query(target.place, &owner, &local, &size))
		return GASNET_ERR_NOT_READY;
	query(target.place, owneraddr_p, localaddr_p, size_p);
	return GASNET_OK;
}

uintptr_t
gasnet_getMaxLocalSegmentSize(void)
{
	psi_need_init("gasnet_getMaxLocalSegmentSize");
	return psi.max_segment;
}

uintptr_t
gasnet_getMaxGlobalSegmentSize(void)
{
	psi_need_init("gasnet_getMaxGlobalSegmentSize");
	return psi.max_segment_global;
}

int
gasnet_getSegmentInfo(gasnet_seginfo_t *seginfo_table, int numentries)
{
	psi_need_init("gasnet_getSegmentInfo");
	psi_rule_call("gasnet_getSegmentInfo");
	for (int i = 0; i < numentries && (uint32_t)i < psi.boot.size; i++) {
		seginfo_table[i].addr = (void *)(uintptr_t)psi.known[i].base;
		seginfo_table[i].size = (uintptr_t)psi.known[i].size_bytes;
	}
	return GASNET_OK;
}
