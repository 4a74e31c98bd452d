#include "runtime/segment/reach.h"

#include "runtime/process/endpoint.h"
#include "runtime/settings/settings_tables.h"

#include <errno.h>
#include <stdlib.h>

unsigned psi_ways_masked;
uint64_t psi_first_phase;
uint32_t psi_group_members;

static _Atomic uint8_t *roads;  /* [places]: enum psi_road; NULL before init */

static const char *const ways[] = { "put", "get", "atomic", "long", "barrier", "signal", NULL };

static const struct psi_setting rows[] = {
	{ .name = "PST_TEST_CONDUIT_MASK", .kind = PSI_SETTING_SET, .default_text = "",
	  .choices = ways,
	  .help = "operations to make by messages although there is a shorter way, so that the "
	          "reference can be tested anywhere" },
	{ .name = "PST_TEST_COLL_PHASE", .kind = PSI_SETTING_SIZE, .default_text = "0",
	  .unit = "B", .max = INT64_MAX / 4,
	  .help = "phases of collectives by cells count from here, so that it can be tested how "
	          "counters wrap" },
	{ .name = "PST_TEST_COLL_GROUP", .kind = PSI_SETTING_INT, .default_text = "0", .max = 1000,
	  .help = "members of a group in collectives by cells and barriers, so that groups can be "
	          "tested where ranks share CPUs; 0: as many as share a cache, where each has a "
	          "CPU" },
};

const struct psi_setting_table psi_settings_reach = PSI_SETTING_TABLE("Reference", rows);

void
psi_reach_open(void)
{
	psi_ways_masked = (unsigned)psi_setting_set(&rows[0]);
	psi_first_phase = psi_setting_size(&rows[1]);
	psi_group_members = (uint32_t)psi_setting_int(&rows[2]);
	psi_vm_open();
	roads = calloc((size_t)psi.boot.size * GASNET_MAXEPS, sizeof *roads);
	if (!roads)
		psi_fatal("no memory for the tables of %u ranks", psi.boot.size);
}

/* -- the choice ------------------------------------------------------------------------------ */

static void
reach_set_road(uint32_t place, enum psi_road road)
{
	if (roads)
		atomic_store_explicit(&roads[place], road, memory_order_relaxed);
}

enum psi_road
psi_reach_road(enum psi_way way, uint32_t place)
{
	if (!roads || psi_ways_masked & way)
		return PSI_BY_OPERATION;
	return atomic_load_explicit(&roads[place], memory_order_relaxed);
}

static void
reach_map_segment(uint32_t place)
{
	const struct psi_segment_entry *known = &psi.known[place];
	const gex_Rank_t rank = psi_jobrank_of(place);
	char *here, lack[PBOOT_ERROR_TEXT_BYTES];

	here = rank == psi.boot.rank ? (char *)(uintptr_t)known->base
	                             : pboot_range_map(psi_file_of(rank), known->key,
	                                               known->size_bytes);
	if (!here)
		psi_fatal("cannot map the segment of rank %u, %zu bytes: %s", rank,
		          (size_t)known->size_bytes, pboot_range_error_text(errno, lack));
	psi.peers[place] = (struct pst_peer){
		.base = (uintptr_t)known->base, .size_bytes = (uintptr_t)known->size_bytes,
		.offset = (uintptr_t)here - (uintptr_t)known->base,
	};
}

void
psi_reach_choose(uint32_t place)
{
	const struct psi_segment_entry *known = &psi.known[place];
	const gex_Rank_t rank = psi_jobrank_of(place);
	bool by_kernel;

	if (known->mappable && psi_in_my_nbrhd(rank)) {
		reach_map_segment(place);
		reach_set_road(place, PSI_BY_MEMORY);
		return;
	}
	psi.peers[place] = (struct pst_peer){ .base = (uintptr_t)known->base };
	by_kernel = rank != psi.boot.rank && psi_shares_memory(rank) &&
	            psi_vm_probe(rank, &known->card);
	reach_set_road(place, by_kernel ? PSI_BY_KERNEL : PSI_BY_OPERATION);
}

/* Unmaps the pages too.  Their owner gives them back at the same time. */
void
psi_reach_lose(uint32_t place)
{
	const struct pst_peer peer = psi.peers[place];

	psi.peers[place] = (struct pst_peer){ .base = 0 };
	reach_set_road(place, PSI_BY_OPERATION);
	if (peer.size_bytes && psi_jobrank_of(place) != psi.boot.rank)
		pboot_range_unmap((void *)(peer.base + peer.offset), psi.known[place].key,
		                  peer.size_bytes);
}

/* -- by the kernel ---------------------------------------------------------------------------- */

/* A copy that failed is not tried again: a filter of system calls may have been installed. */
static bool
reach_copied_or_lost(uint32_t place, bool copied)
{
	if (!copied)
		reach_set_road(place, PSI_BY_OPERATION);
	return copied;
}

bool
psi_reach_write(uint32_t place, void *dest, const void *src, size_t len_bytes)
{
	return reach_copied_or_lost(place,
	                            psi_vm_write(psi_jobrank_of(place), dest, src, len_bytes));
}

bool
psi_reach_read(uint32_t place, void *dest, const void *src, size_t len_bytes)
{
	return reach_copied_or_lost(place,
	                            psi_vm_read(psi_jobrank_of(place), dest, src, len_bytes));
}

size_t
psi_reach_move(uint32_t place, enum psi_vm_direction direction, const struct psi_vm_pieces *pieces)
{
	const size_t moved = psi_vm_move(psi_jobrank_of(place), direction, pieces);

	(void)reach_copied_or_lost(place, moved != 0);
	return moved;
}

/* -- addresses -------------------------------------------------------------------------------- */

static bool
reach_covers(uintptr_t base, uintptr_t size_bytes, uintptr_t at, size_t nbytes)
{
	return nbytes <= size_bytes && at - base <= size_bytes - nbytes;
}

static void __attribute__((noreturn, cold))
bad_target(uint32_t place, const void *addr, size_t nbytes, const char *call)
{
	const struct psi_segment_entry *known = &psi.known[place];
	char whose[PSI_PLACE_TEXT];

	psi_place_text(place, whose);
	if (!known->size_bytes)
		psi_fatal("%s: %s has no segment that is known here; attach or publish one first",
		          call, whose);
	psi_fatal("%s: %zu bytes at %p do not lie in the segment of %s, which is %zu bytes at %p; "
	          "gex_EP_QueryBoundSegmentNB tells its bounds", call, nbytes, addr, whose,
	          (size_t)known->size_bytes, (void *)(uintptr_t)known->base);
}

void *
psi_reach_unmapped(uint32_t place, const void *addr, size_t nbytes, const char *call)
{
	const struct psi_segment_entry *known = &psi.known[place];
	const gex_EP_t ep = psi_ep_at(place);
	const gex_Segment_t own = ep ? ep->segment : NULL;
	const uintptr_t at = (uintptr_t)addr;

	if (own && reach_covers((uintptr_t)own->base, own->size, at, nbytes))
		return (void *)at;
	if (!reach_covers((uintptr_t)known->base, (uintptr_t)known->size_bytes, at, nbytes))
		bad_target(place, addr, nbytes, call);
	return NULL;
}

/* Memory of this process is named by its own segment, which need not be published. */
struct psi_remote
psi_reach_remote(uint32_t place, const void *addr)
{
	const struct psi_segment_entry *known = &psi.known[place];
	const gex_EP_t ep = psi_ep_at(place);
	const bool own = ep && ep->segment;
	const uintptr_t base = own ? (uintptr_t)ep->segment->base : (uintptr_t)known->base;

	return (struct psi_remote){
		.peer = place, .name = own ? ep->segment->name : known->name,
		.offset = (uintptr_t)addr - base,
	};
}

void *
psi_reach_owned(gex_EP_t ep, uint64_t offset)
{
	return (char *)ep->segment->base + offset;
}
