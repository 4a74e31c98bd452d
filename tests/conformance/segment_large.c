/* A segment close to the limit is had at once and costs only the pages that are used. */
#include <gasnet.h>

#include "tests/lib/pt.h"

#include <sys/resource.h>

int
main(int argc, char **argv)
{
	uintptr_t max, bytes;
	struct rusage used;
	gex_Rank_t peer;
	uint64_t start;
	char byte = 'z', back = 0;

	pt_init(&argc, &argv, 0);
	max = gasnet_getMaxGlobalSegmentSize();
	bytes = max / 10 * 9 / GASNET_PAGESIZE * GASNET_PAGESIZE;
	PT_LE(GASNET_PAGESIZE, bytes);
	start = pt_now_ns();
	pt_attach(NULL, 0, bytes);
	PT_UNDER(pt_now_ns() - start, 5e9);
	PT_EQ(pt.segment_bytes, bytes);
	peer = (pt.rank + 1) % pt.size;
	for (int part = 0; part <= 16; part++) {
		char *at = pt.peers[peer].owner + (bytes - 1) / 16 * (uintptr_t)part;

		PT_OK(gex_RMA_PutBlocking(pt.tm, peer, at, &byte, 1, 0));
		PT_OK(gex_RMA_GetBlocking(pt.tm, &back, peer, at, 1, 0));
		PT_EQ(back, 'z');
	}
	pt_barrier();
	for (int part = 0; part <= 16; part++)
		PT_EQ(pt.base[(bytes - 1) / 16 * (uintptr_t)part], 'z');
	getrusage(RUSAGE_SELF, &used);
	PT_LE(used.ru_maxrss, 200 * 1024); /* KiB */
	pt_finish();
}
