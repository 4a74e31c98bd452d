/*
 * Attach without memory on one rank: all ranks return the same error, nothing has changed, and it
 * may be tried again.
 */
#include "tests/lib/pt.h"

#include <sys/mman.h>
#include <sys/resource.h>

enum { MIB = 1 << 20 };

static unsigned hooked;

static void
on_attach(void *base, uintptr_t size)
{
	(void)base, (void)size;
	hooked++;
}

/* No further memory for this process, and back. */
static void
limit_memory(int on)
{
	static struct rlimit before;
	struct rlimit limit;

	if (on) {
		PT_EQ(getrlimit(RLIMIT_AS, &before), 0);
		limit = before;
		limit.rlim_cur = 16 * MIB;
		PT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
	} else {
		PT_EQ(setrlimit(RLIMIT_AS, &before), 0);
	}
}

/* Emulators of another processor do not keep to the limit, and a sanitizer's runtime ends the
 * process that has no memory. */
static int
limit_works(size_t size)
{
	const char *sanitizers = getenv("TEST_SANITIZERS");
	void *probe;

	if (sanitizers && strcmp(sanitizers, "no") != 0)
		return 0;
	limit_memory(1);
	probe = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	limit_memory(0);
	if (probe == MAP_FAILED)
		return 1;
	munmap(probe, size);
	return 0;
}

static void
one_without_memory(gex_Rank_t poor, uintptr_t size)
{
	gex_Segment_t segment = (gex_Segment_t)(uintptr_t)&poor, none = segment;
	void *owner, *local;
	uintptr_t bytes;

	if (pt.rank == poor)
		limit_memory(1);
	PT_EQ(gex_Segment_Attach(&segment, pt.tm, size), GASNET_ERR_RESOURCE);
	if (pt.rank == poor)
		limit_memory(0);
	PT_PTR(segment, none);
	PT_PTR(gex_EP_QuerySegment(pt.ep), NULL);
	for (gex_Rank_t rank = 0; rank < pt.size; rank++)
		PT_CHECK(gex_Segment_QueryBound(pt.tm, rank, &owner, &local, &bytes) != GASNET_OK);
	PT_EQ(hooked, 0);
}

int
main(int argc, char **argv)
{
	const uintptr_t size = 64 * MIB;

	gasnet_client_attach_hook = on_attach;
	pt_init(&argc, &argv, 0);
#ifdef PT_ASAN
	pt_skip("AddressSanitizer needs address space of its own");
#endif
	if (gasnet_getMaxLocalSegmentSize() < size)
		pt_skip("too little memory");
	if (!limit_works(size))
		pt_skip("RLIMIT_AS cannot be used here");
	gex_System_SetVerboseErrors(0);
	for (gex_Rank_t poor = 0; poor < pt.size; poor++)
		one_without_memory(poor, size);
	pt_attach(NULL, 0, size);
	PT_EQ(hooked, 1);
	for (gex_Rank_t rank = 0; rank < pt.size; rank++) {
		PT_EQ(pt.peers[rank].size_bytes, size);
		PT_OK(gex_RMA_PutBlockingVal(pt.tm, rank,
		                             pt.peers[rank].owner + size - 8 * (1 + pt.rank),
		                             pt.rank + 1, 8, 0));
	}
	pt_barrier();
	for (gex_Rank_t rank = 0; rank < pt.size; rank++)
		PT_EQ(gex_RMA_GetBlockingVal(pt.tm, pt.rank, pt.base + size - 8 * (1 + rank), 8, 0),
		      rank + 1);
	pt_finish();
}
