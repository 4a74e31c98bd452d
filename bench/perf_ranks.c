/*
 * perf-ranks: what communication costs between ranks that are processes, and
 * between ranks that are threads, by one program for both.
 *
 *     penstock-run -n 2 perf-ranks
 *     PST_RANKS_PER_PROCESS=2 penstock-run -n 1 perf-ranks
 *     perf-ranks barrier       what has this in its name
 *
 * Ranks 0 and 1 measure, all take part in barriers. The least and the middle of
 * many batches, in nanoseconds. Beside the barrier stand pthread_barrier_wait,
 * where all ranks are threads of one process, and a yield of every rank: with
 * more ranks than CPUs, each rank of a CPU gets its turn once, less than which no
 * barrier can take. The yields of all ranks in a time give that row, since the
 * CPUs may have unequal numbers of them. The last rows are an inner loop in the manner of
 * Apex-Map: blocks of a table at random places are added up, where none, one, two
 * or all of the loop's global variables belong to the thread.
 */
#include <gasnetex.h>
#include <gasnet_tools.h>
#include <penstock.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ON_PING = GEX_AM_INDEX_BASE, ON_PING_PAYLOAD, ON_PONG, ON_STREAM };
enum { BATCHES = 40, SEGMENT_BYTES = 1 << 20, WINDOW = 64 };

/* A handler runs in the thread of the rank that its message is for. */
static __thread volatile unsigned pongs, arrived;
static __thread struct {
	gex_TM_t tm;
	gex_Rank_t me, ranks;
	char *there; /* rank 1's segment */
} self;

static void
on_ping(gex_Token_t token)
{
	gex_AM_ReplyShort0(token, ON_PONG, 0);
}

static void
on_ping_payload(gex_Token_t token, void *buf, size_t nbytes)
{
	(void)buf, (void)nbytes;
	gex_AM_ReplyShort0(token, ON_PONG, 0);
}

static void
on_pong(gex_Token_t token)
{
	(void)token;
	pongs++;
}

/* One answer for a window of them. */
static void
on_stream(gex_Token_t token)
{
	if (++arrived % WINDOW == 0)
		gex_AM_ReplyShort0(token, ON_PONG, 0);
}

static void
barrier(void)
{
	gex_Event_Wait(gex_Coll_BarrierNB(self.tm, 0));
}

/* -- one operation, `count' times ------------------------------------------------------------ */

static void
do_short(unsigned count)
{
	for (unsigned i = 0, before; i < count; i++) {
		before = pongs;
		gex_AM_RequestShort0(self.tm, 1, ON_PING, 0);
		GASNET_BLOCKUNTIL(pongs != before);
	}
}

static void
do_medium(unsigned count)
{
	char payload[8] = "payload";

	for (unsigned i = 0, before; i < count; i++) {
		before = pongs;
		gex_AM_RequestMedium0(self.tm, 1, ON_PING_PAYLOAD, payload, sizeof payload,
		                      GEX_EVENT_NOW, 0);
		GASNET_BLOCKUNTIL(pongs != before);
	}
}

static void
do_put(unsigned count)
{
	uint64_t value = 1;

	for (unsigned i = 0; i < count; i++)
		gex_RMA_PutBlocking(self.tm, 1, self.there, &value, sizeof value, 0);
}

/* Two windows under way at most. */
static void
do_stream(unsigned count)
{
	const unsigned first = pongs;

	for (unsigned sent = 0; sent < count; sent += WINDOW) {
		for (unsigned i = 0; i < WINDOW; i++)
			gex_AM_RequestShort0(self.tm, 1, ON_STREAM, 0);
		GASNET_BLOCKUNTIL(pongs - first >= sent / WINDOW);
	}
	GASNET_BLOCKUNTIL(pongs - first == (count + WINDOW - 1) / WINDOW);
}

static void
do_barrier(unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		barrier();
}

static pthread_barrier_t of_threads;

static void
do_pthread_barrier(unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		pthread_barrier_wait(&of_threads);
}

/* -- the inner loop -------------------------------------------------------------------------- */

enum { TABLE = 1 << 15, BLOCK = 16 };

/* Each variant has its own copies of the four variables, which every step loads and stores. */
#define INNER_LOOP(name, A, B, C, D)                                                        \
	static A uint64_t name##_sum;                                                       \
	static B uint32_t name##_random = 1;                                                \
	static C const uint64_t *name##_table;                                              \
	static D uint32_t name##_mask = TABLE - BLOCK;                                      \
	static void name(unsigned count)                                                    \
	{                                                                                   \
		name##_table = table;                                                       \
		for (unsigned i = 0; i < count; i++) {                                      \
			name##_random = name##_random * 1664525u + 1013904223u;             \
			for (unsigned j = 0; j < BLOCK; j++) {                              \
				unsigned at = (name##_random >> 8) & name##_mask;           \
				name##_sum += name##_table[at + j];                         \
				__asm__ __volatile__("" ::: "memory");                      \
			}                                                                   \
		}                                                                           \
	}

static uint64_t table[TABLE];
INNER_LOOP(no_own, , , , )
INNER_LOOP(one_own, __thread, , , )
INNER_LOOP(two_own, __thread, __thread, , )
INNER_LOOP(all_own, __thread, __thread, __thread, __thread)

/* -- measuring ------------------------------------------------------------------------------- */

struct kind {
	const char *name;
	void (*run)(unsigned count);
	unsigned count; /* of one batch */
	int ways;       /* messages one after the other in one operation */
	int all;        /* ranks take part; else the others serve */
	int threads;    /* of one process take part alone */
	void (*measure)(double *times); /* in place of `run'; by all ranks, for rank 0 */
};

static void yields_measure(double *times);

static const struct kind kinds[] = {
	{ "short, one way", do_short, 500, 2, 0, 0, NULL },
	{ "medium 8 B, one way", do_medium, 500, 2, 0, 0, NULL },
	{ "short, in a stream", do_stream, 16 * WINDOW, 1, 0, 0, NULL },
	{ "put 8 B", do_put, 5000, 1, 0, 0, NULL },
	{ "barrier", do_barrier, 300, 1, 1, 0, NULL },
	{ "barrier of pthreads", do_pthread_barrier, 300, 1, 1, 1, NULL },
	{ "a yield of every rank, beside a barrier", NULL, 0, 1, 1, 0, yields_measure },
	{ "inner loop, no variable of the thread", no_own, 2000, 1, 0, 0, NULL },
	{ "inner loop, one", one_own, 2000, 1, 0, 0, NULL },
	{ "inner loop, two", two_own, 2000, 1, 0, 0, NULL },
	{ "inner loop, all four", all_own, 2000, 1, 0, 0, NULL },
};

static int
times_compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void
batches_measure(const struct kind *kind, double *times)
{
	for (unsigned i = 0; i < BATCHES && (kind->all || self.me == 0); i++) {
		const gasnett_tick_t start = gasnett_ticks_now();

		kind->run(kind->count);
		times[i] = (double)gasnett_ticks_to_ns(gasnett_ticks_now() - start) / kind->count /
		           kind->ways;
	}
}

/* Yields until that time after `start'.  Returns how often. */
static int64_t
yields_until(gasnett_tick_t start, uint64_t until_ns)
{
	enum { PER_CLOCK = 8 };
	int64_t count = 0;

	for (; gasnett_ticks_to_ns(gasnett_ticks_now() - start) < until_ns; count += PER_CLOCK)
		for (unsigned i = 0; i < PER_CLOCK; i++)
			sched_yield();
	return count;
}

/* A rotation is the time in which each rank yields once. */
static void
yields_measure(double *times)
{
	enum { BATCH_NS = 5000000 };
	const gasnett_tick_t start = gasnett_ticks_now();
	int64_t own[BATCHES], all[BATCHES];

	for (unsigned i = 0; i < BATCHES; i++)
		own[i] = yields_until(start, (i + 1) * (uint64_t)BATCH_NS);
	gex_Event_Wait(gex_Coll_ReduceToOneNB(self.tm, 0, all, own, GEX_DT_I64, sizeof own[0],
	                                      BATCHES, GEX_OP_ADD, NULL, NULL, 0));
	for (unsigned i = 0; i < BATCHES && self.me == 0; i++)
		times[i] = (double)BATCH_NS * self.ranks / (double)(all[i] ? all[i] : 1);
}

static void
kind_measure(const struct kind *kind)
{
	double times[BATCHES];

	if (kind->threads && gex_System_QueryJobSize() > 1)
		return;
	if (kind->measure)
		kind->measure(times);
	else
		batches_measure(kind, times);
	barrier();
	if (self.me != 0)
		return;
	qsort(times, BATCHES, sizeof times[0], times_compare);
	printf("%-40s %10.1f %10.1f\n", kind->name, times[0], times[BATCHES / 2]);
}

static int
rank_main(gex_TM_t tm, void *arg)
{
	void *owner = NULL;

	self.tm = tm;
	self.me = gex_TM_QueryRank(tm);
	self.ranks = gex_TM_QuerySize(tm);
	if (self.ranks < 2) {
		fprintf(stderr, "perf-ranks: needs two ranks: penstock-run -n 2, or "
		                "PST_RANKS_PER_PROCESS=2\n");
		return 2;
	}
	gex_Event_Wait(gex_EP_QueryBoundSegmentNB(tm, 1, &owner, NULL, NULL, 0));
	self.there = (char *)owner;
	if (self.me == 0)
		printf("%u ranks in %u processes                     least ns  middle ns\n",
		       (unsigned)self.ranks, (unsigned)gex_System_QueryJobSize());
	barrier();
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (!arg || strstr(kinds[i].name, (const char *)arg))
			kind_measure(&kinds[i]);
	return 0;
}

int
main(int argc, char **argv)
{
	gex_AM_Entry_t handlers[] = {
		{ ON_PING, (gex_AM_Fn_t)on_ping, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, NULL,
		  "ping" },
		{ ON_PING_PAYLOAD, (gex_AM_Fn_t)on_ping_payload,
		  GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 0, NULL, "ping_payload" },
		{ ON_PONG, (gex_AM_Fn_t)on_pong, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 0, NULL,
		  "pong" },
		{ ON_STREAM, (gex_AM_Fn_t)on_stream, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0,
		  NULL, "stream" },
	};
	const size_t handler_count = sizeof handlers / sizeof handlers[0];
	gex_Client_t client;
	gex_Segment_t segment;
	gex_EP_t ep;
	gex_TM_t tm;
	char *only;
	int status;

	if (gex_Client_Init(&client, &ep, &tm, "PERF_RANKS", &argc, &argv, 0) != GASNET_OK)
		return 1;
	only = argc > 1 ? argv[1] : NULL;
	if (pst_ranks_per_process() > 1) {
		pthread_barrier_init(&of_threads, NULL, (unsigned)pst_ranks_per_process());
		status = pst_threads_run(tm, 0, SEGMENT_BYTES, handlers, handler_count, rank_main,
		                         only, getenv("PERF_SERIAL") ? PST_FLAG_EP_SERIAL : 0);
	} else {
		gex_EP_RegisterHandlers(ep, handlers, handler_count);
		gex_Segment_Attach(&segment, tm, SEGMENT_BYTES);
		status = rank_main(tm, only);
	}
	gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
	gasnet_exit(status);
	return 0;
}
