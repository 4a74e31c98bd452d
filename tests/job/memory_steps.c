/*
 * A client whose memory and end are tested: memory_steps ACTION [BYTES [BYTES]]
 *
 *     max          print the largest segment
 *     attach N     attach a segment of N bytes, 0 for the largest
 *     fill N       and write to all of it
 *     heap N M     and, on rank 0, to M bytes of heap
 *     broadcast N  attach the largest segment, and then broadcast N bytes
 *     raise S      on rank 1, raise signal S
 *     recurse 0    on rank 1, until the stack is full
 *     early-as N   begin with N bytes of address space left
 *     late-as N, late-file N, late-open N
 *                  attach N bytes with no address space, file size or descriptor left
 *     late-endpoint
 *                  make an endpoint with no file size left
 *
 * and without a job, System V segments that are not the library's, to be cleaned or not:
 *
 *     sysv-data KEY, sysv-blank KEY [COMMAND]
 *                  make one, with data or without, and run the command
 *     sysv-remove KEY
 */
#include <gasnet_coll.h>
#include <gasnetex.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <unistd.h>

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

/* Collectives need memory beside the segment. */
static void
broadcast(size_t bytes)
{
	char *buf = (char *)malloc(bytes);

	if (!buf)
		gasnet_exit(4);
	memset(buf, gex_TM_QueryRank(team) == 0, bytes);
	gex_Event_Wait(gex_Coll_BroadcastNB(team, 0, buf, buf, bytes, 0));
	if (!buf[0] || !buf[bytes - 1])
		gasnet_exit(8);
	free(buf);
}

static size_t
address_space(void)
{
	unsigned long pages = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	if (!file || fscanf(file, "%lu", &pages) != 1)
		_exit(9);
	fclose(file);
	return pages * 4096;
}

static void
limit(__rlimit_resource_t what, size_t most)
{
	struct rlimit limits;

	if (getrlimit(what, &limits) != 0)
		_exit(9);
	limits.rlim_cur = most;
	if (setrlimit(what, &limits) != 0)
		_exit(9);
}

static void
limit_late(const char *action)
{
	if (strcmp(action, "late-as") == 0) {
		limit(RLIMIT_AS, address_space() + 65536);
	} else if (strcmp(action, "late-file") == 0 || strcmp(action, "late-endpoint") == 0) {
		limit(RLIMIT_FSIZE, 4096);
	} else if (strcmp(action, "late-open") == 0) {
		while (open("/dev/null", O_RDONLY) >= 0)
			;
	}
}

static unsigned
recurse(unsigned depth)
{
	volatile char frame[1024];

	frame[0] = (char)depth;
	return depth == UINT32_MAX ? 0 : recurse(depth + 1) + (unsigned)frame[0];
}

static int
sysv(const char *action, key_t key, const char *command)
{
	int id = shmget(key, 8192,
	                strcmp(action, "sysv-remove") == 0 ? 0 : IPC_CREAT | IPC_EXCL | 0600);
	char *base;

	if (id < 0)
		return 7;
	if (strcmp(action, "sysv-remove") == 0)
		return shmctl(id, IPC_RMID, NULL) == 0 ? 0 : 7;
	base = shmat(id, NULL, 0);
	if (strcmp(action, "sysv-data") == 0)
		base[100] = 1;
	shmdt(base);
	return command ? system(command) : 0;
}

int
main(int argc, char **argv)
{
	const char *action = argc > 1 ? argv[1] : "max";
	unsigned long long number = argc > 2 ? strtoull(argv[2], NULL, 0) : 0;
	gex_Client_t client;
	gex_EP_t ep;

	if (strncmp(action, "sysv-", 5) == 0)
		return sysv(action, (key_t)number, argc > 3 ? argv[3] : NULL);
	if (strcmp(action, "early-as") == 0)
		limit(RLIMIT_AS, address_space() + number);
	if (gex_Client_Init(&client, &ep, &team, "memory", &argc, &argv, 0) != GASNET_OK)
		return 5;
	if (strcmp(action, "max") == 0) {
		printf("%llu\n", (unsigned long long)gasnet_getMaxLocalSegmentSize());
	} else if (strcmp(action, "raise") == 0) {
		if (gex_TM_QueryRank(team) == 1)
			raise((int)number);
	} else if (strcmp(action, "recurse") == 0) {
		if (gex_TM_QueryRank(team) == 1)
			return (int)recurse(0);
	} else if (strcmp(action, "late-endpoint") == 0) {
		limit_late(action);
		if (gex_EP_Create(&ep, client, GEX_EP_CAPABILITY_ALL, 0) == GASNET_ERR_RESOURCE)
			gasnet_exit(3);
	} else if (strcmp(action, "broadcast") == 0) {
		attach(0, 0);
		broadcast((size_t)number);
	} else {
		limit_late(action);
		attach((uintptr_t)number,
		       strcmp(action, "fill") == 0 || strcmp(action, "heap") == 0);
	}
	if (strcmp(action, "heap") == 0 && gex_TM_QueryRank(team) == 0 && argc > 3)
		fill_heap((size_t)strtoull(argv[3], NULL, 0));
	gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
	if (gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS) != GASNET_OK)
		gasnet_exit(6);
	gasnet_exit(0);
}
