/*
 * Many ranks: all exchange largest Mediums with all in both networks, in
 * time, and the memory of the queues stays within its bounds (Pss of the
 * mappings that are shared, the segments apart).
 */
#include "tests/lib/pt.h"

enum { REQ_LARGEST = 128, REP_LARGEST, REQ_PSS };

static size_t request_bytes, reply_bytes;
static char *payload;
static pt_count replies, reported;
static double pss_sum; /* KiB, over all ranks; at rank 0 */

static void
req_largest(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t letter)
{
	const char *at = buf;

	PT_EQ(nbytes, request_bytes);
	PT_EQ(at[0], letter);
	PT_EQ(at[nbytes - 1], letter);
	PT_OK(gex_AM_ReplyMedium1(token, REP_LARGEST, payload, reply_bytes, GEX_EVENT_NOW, 0,
	                          'A' + (gex_AM_Arg_t)(pt.rank % 26)));
}

static void
rep_largest(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t letter)
{
	const char *at = buf;

	(void)token;
	PT_EQ(nbytes, reply_bytes);
	PT_EQ(at[0], letter);
	PT_EQ(at[nbytes - 1], letter);
	PT_INC(replies);
}

static void
req_pss(gex_Token_t token, gex_AM_Arg_t kib)
{
	(void)token;
	pss_sum += kib;
	PT_INC(reported);
}

/* Is this address in somebody's segment? */
static int
in_segment(uintptr_t at)
{
	for (gex_Rank_t rank = 0; rank < pt.size; rank++) {
		uintptr_t base = (uintptr_t)pt.peers[rank].local;

		if (base && at >= base && at < base + pt.peers[rank].size_bytes)
			return 1;
	}
	return 0;
}

/* Proportional size of our shared, writable mappings but the segments, in KiB. */
static unsigned long
shared_pss_kib(void)
{
	FILE *file = fopen("/proc/self/smaps", "r");
	unsigned long sum = 0, kib;
	int counts = 0;
	char line[512], perms[8];

	PT_CHECK(file != NULL);
	while (fgets(line, sizeof(line), file)) {
		unsigned long from, to;

		if (sscanf(line, "%lx-%lx %7s", &from, &to, perms) == 3)
			counts = perms[3] == 's' && perms[1] == 'w' && !in_segment(from);
		else if (counts && sscanf(line, "Pss: %lu kB", &kib) == 1)
			sum += kib;
	}
	fclose(file);
	return sum;
}

/* The average over all ranks in MiB; known at rank 0, 0 elsewhere. */
static double
average_pss(void)
{
	double average = 0;
	unsigned long own;

	pt_barrier();
	own = shared_pss_kib();
	pt_barrier();
	PT_OK(gex_AM_RequestShort1(pt.tm, 0, REQ_PSS, 0, (gex_AM_Arg_t)own));
	if (pt.rank == 0) {
		GASNET_BLOCKUNTIL(PT_GET(reported) == (int)pt.size);
		average = pss_sum / 1024 / pt.size;
		PT_CHECK(average > 0); /* something was found */
		pss_sum = 0;
		PT_SET(reported, 0);
	}
	pt_barrier();
	return average;
}

int
main(int argc, char **argv)
{
	gex_AM_Entry_t table[] = {
		PT_HANDLER(REQ_LARGEST, req_largest, PT_REQ_MEDIUM, 1),
		PT_HANDLER(REP_LARGEST, rep_largest, PT_REP_MEDIUM, 1),
		PT_HANDLER(REQ_PSS, req_pss, PT_REQ_SHORT, 1),
	};
	double empty, full, seconds;
	uint64_t start;

	pt_start(&argc, &argv, table, PT_COUNT(table), 4096);
	empty = average_pss();
	request_bytes = gex_AM_MaxRequestMedium(pt.tm, GEX_RANK_INVALID, GEX_EVENT_NOW, 0, 1);
	reply_bytes = gex_AM_MaxReplyMedium(pt.tm, GEX_RANK_INVALID, GEX_EVENT_NOW, 0, 1);
	payload = malloc(request_bytes + reply_bytes);
	PT_CHECK(payload != NULL);
	memset(payload, 'A' + (int)(pt.rank % 26), request_bytes + reply_bytes);
	pt_barrier();
	start = pt_now_ns();
	for (gex_Rank_t step = 0; step < pt.size; step++)
		PT_OK(gex_AM_RequestMedium1(pt.tm, (pt.rank + step) % pt.size, REQ_LARGEST, payload,
		                            request_bytes, GEX_EVENT_NOW, 0,
		                            'A' + (gex_AM_Arg_t)(pt.rank % 26)));
	GASNET_BLOCKUNTIL(PT_GET(replies) == (int)pt.size);
	pt_barrier();
	seconds = (double)(pt_now_ns() - start) * 1e-9;
	full = average_pss();
	if (pt.rank == 0) {
		printf("%u ranks: exchange %.2f s; queues per rank %.2f MiB at start, %.2f MiB "
		       "after\n",
		       (unsigned)pt.size, seconds, empty, full);
		PT_UNDER(seconds, 60);
		PT_LE(empty * 1024, 512);
		PT_LE(full * 1024, 4096);
	}
	pt_finish();
}
