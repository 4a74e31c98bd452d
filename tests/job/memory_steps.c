/*
 * A client whose memory and end are looked at: memory_steps ACTION [BYTES [BYTES]]
 *
 *     max          print the largest segment
 *     attach N     attach a segment of N bytes, 0 for the largest
 *     fill N       and write to all of it
 *     heap N M     and, on rank 0, to M bytes of heap
 *     raise S      on rank 1, raise signal S
 */
#include <gasnetex.h>

#include <signal.h>
#include <stdio.h>

static gex_TM_t team;

static void
attach(uintptr_t bytes, int fill)
{
	gex_Segment_t segment;

	if (bytes == 0)
		bytes = gasnet_getMaxLocalSegmentSize();
	if (gex_Segment_Attach(&segment, team, bytes) != GASNET_OK)
		gasnet_exit(3);
	if (fill)
		memset(gex_Segment_QueryAddr(segment), 1, gex_Segment_QuerySize(segment));
}

static void
fill_heap(size_t bytes)
{
	volatile char *heap = (volatile char *)malloc(bytes);
	size_t at;

	if (!heap)
		gasnet_exit(4);
	for (at = 0; at < bytes; at += 1024)
		heap[at] = 1;
	free((void *)(uintptr_t)heap);
}

int
main(int argc, char **argv)
{
	const char *action = argc > 1 ? argv[1] : "max";
	unsigned long long number = argc > 2 ? strtoull(argv[2], NULL, 0) : 0;
	gex_Client_t client;
	gex_EP_t ep;

	if (gex_Client_Init(&client, &ep, &team, "memory", &argc, &argv, 0) != GASNET_OK)
		return 5;
	if (strcmp(action, "max") == 0) {
		printf("%llu\n", (unsigned long long)gasnet_getMaxLocalSegmentSize());
	} else if (strcmp(action, "raise") == 0) {
		if (gex_TM_QueryRank(team) == 1)
			raise((int)number);
	} else {
		attach((uintptr_t)number, strcmp(action, "attach") != 0);
	}
	if (strcmp(action, "heap") == 0 && gex_TM_QueryRank(team) == 0 && argc > 3)
		fill_heap((size_t)strtoull(argv[3], NULL, 0));
	gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
	if (gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS) != GASNET_OK)
		gasnet_exit(6);
	gasnet_exit(0);
}
