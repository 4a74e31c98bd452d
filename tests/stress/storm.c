/*
 * storm ROUNDS THREADS CODE [FAULT]: the job's life is of so many rounds, each of a random number
 * of acts and a barrier of some kind; then it ends in one of several ways, with that code.  A fault
 * is one of storm_plant.h.
 *
 * PT_SEED  what all chance begins with
 */
#include "tests/stress/storm.h"
#include "tests/stress/storm_plant.h"

enum { MOST_ACTS = 80, LAST_POLLS = 50 };
enum { STREAM_COMMON = 1 << 20 };        /* random numbers that all ranks have in common */

struct storm storm;

/* ----------------------------------------------------------------------- who may call --- */

#ifdef GASNET_PARSYNC
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

void
storm_enter(void)
{
	pthread_mutex_lock(&turn);
}

void
storm_leave(void)
{
	pthread_mutex_unlock(&turn);
}
#else
void
storm_enter(void)
{
}

void
storm_leave(void)
{
}
#endif

/* --------------------------------------------------------- where things lie in a segment --- */

static size_t
told_bytes(void)
{
	return (pt.size * sizeof(struct storm_tally) + 63) / 64 * 64;
}

struct storm_tally *
storm_told_at(gex_Rank_t owner, gex_Rank_t source)
{
	return (struct storm_tally *)(void *)pt.peers[owner].owner + source;
}

char *
storm_long_at(gex_Rank_t owner, gex_Rank_t source, unsigned thread)
{
	return pt.peers[owner].owner + told_bytes() +
	       ((size_t)source * storm.threads + thread) * LONG_BYTES;
}

char *
storm_answer_at(gex_Rank_t owner, unsigned thread, unsigned entry)
{
	return storm_long_at(owner, pt.size, 0) +
	       ((size_t)thread * LONG_ANSWERS + entry % LONG_ANSWERS) * LONG_BYTES;
}

char *
storm_area_at(gex_Rank_t owner, gex_Rank_t source, unsigned thread)
{
	return storm_answer_at(owner, storm.threads, 0) +
	       ((size_t)source * storm.threads + thread) * AREA_BYTES;
}

size_t
storm_segment_bytes(void)
{
	const size_t threads = (size_t)pt.size * storm.threads;

	return told_bytes() + threads * (LONG_BYTES + AREA_BYTES) +
	       (size_t)storm.threads * LONG_ANSWERS * LONG_BYTES;
}

/* ------------------------------------------------------------------------- accounting --- */

void
storm_tally_add(struct storm_tally *tally, uint32_t key)
{
	__atomic_add_fetch(&tally->sum, key, __ATOMIC_RELAXED);
	__atomic_add_fetch(&tally->count, 1, __ATOMIC_RELEASE);
}

static int
all_has_come(void)
{
	for (gex_Rank_t source = 0; source < pt.size; source++) {
		const struct storm_tally *told =
			(struct storm_tally *)(void *)pt.base + source;

		if (__atomic_load_n(&storm.got[source].count, __ATOMIC_ACQUIRE) < told->count)
			return 0;
	}
	return 1;
}

static void
check_tallies(void)
{
	for (gex_Rank_t source = 0; source < pt.size; source++) {
		const struct storm_tally *told =
			(struct storm_tally *)(void *)pt.base + source;

		PT_EQ(storm.got[source].count, told->count);
		PT_EQ(storm.got[source].sum, told->sum);
	}
}

/* Each sender tells how much was accepted; that must come, and no more. */
static void
account(void)
{
	pt_phase("telling what was sent");
	for (gex_Rank_t rank = 0; rank < pt.size; rank++)
		PT_OK(gex_RMA_PutBlocking(pt.tm, rank, storm_told_at(rank, pt.rank),
		                          &storm.sent[rank], sizeof storm.sent[rank], 0));
	pt_barrier();
	pt_phase("waiting for what was sent");
	GASNET_BLOCKUNTIL(all_has_come());
	check_tallies();
	pt_barrier();
	for (int i = 0; i < LAST_POLLS; i++)
		gasnet_AMPoll();
	check_tallies();
	for (unsigned t = 0; t < storm.threads; t++)
		for (int i = 0; i < ENTRIES; i++)
			PT_EQ(PT_GET(storm.thread[t].entry[i].waiting), 0);
	pt_barrier();
}

/* --------------------------------------------------------------------------- barriers --- */

static void
some_acts(struct storm_thread *self, unsigned most)
{
	for (uint64_t left = pt_rand_below(&self->rng, most + 1); left; left--) {
		storm_act(self);
		storm_pause(&self->rng);
	}
}

static void
named_barrier(struct storm_thread *self, int id, int flags, int expected)
{
	int result;

	gasnet_barrier_notify(id, flags);
	some_acts(self, 6);
	if (pt_rand_below(&self->rng, 2)) {
		PT_EQ(gasnet_barrier_wait(id, flags), expected);
		return;
	}
	while ((result = gasnet_barrier_try(id, flags)) == GASNET_ERR_NOT_READY)
		storm_act(self);
	PT_EQ(result, expected);
}

static void
team_barrier(struct storm_thread *self)
{
	gex_Event_t event = gex_Coll_BarrierNB(pt.tm, 0);

	some_acts(self, 6);
	if (pt_rand_below(&self->rng, 2)) {
		gex_Event_Wait(event);
		return;
	}
	while (gex_Event_Test(event) != GASNET_OK)
		storm_act(self);
}

/* Of a kind that all ranks draw alike. */
static void
barrier(struct storm_thread *self, struct pt_rng *common)
{
	const uint64_t which = pt_rand_below(common, 8);
	const int id = (int)pt_rand(common);

	pt_phase("a barrier");
	if (which < 4)
		team_barrier(self);
	else if (which < 6)
		named_barrier(self, id, 0, GASNET_OK);
	else if (which < 7)
		named_barrier(self, id, pt.rank % 2 ? 0 : GASNET_BARRIERFLAG_ANONYMOUS, GASNET_OK);
	else
		named_barrier(self, id, pt.rank == pt.size - 1 ? GASNET_BARRIERFLAG_MISMATCH : 0,
		              GASNET_ERR_BARRIER_MISMATCH);
}

/* ---------------------------------------------------------------------------- threads --- */

static void
run_rounds(struct storm_thread *self, unsigned long rounds)
{
	struct pt_rng common = pt_rng_make(STREAM_COMMON);

	for (; rounds; rounds--) {
		pt_phase("sending");
		for (uint64_t acts = pt_rand_below(&self->rng, MOST_ACTS); acts; acts--) {
			storm_enter();
			storm_act(self);
			storm_leave();
			storm_pause(&self->rng);
		}
		storm_enter();
		barrier(self, &common);
		storm_leave();
	}
	PT_SET(storm.finished, 1);
	storm_enter();
	storm_drain(self);
	storm_leave();
}

static void
run_beside(struct storm_thread *self)
{
	while (!PT_GET(storm.finished)) {
		storm_enter();
		storm_act(self);
		storm_leave();
		storm_pause(&self->rng);
	}
	storm_enter();
	storm_drain(self);
	storm_leave();
}

static void
thread_main(unsigned index, void *rounds)
{
	storm_self = &storm.thread[index];
	if (index == 0)
		run_rounds(storm_self, *(unsigned long *)rounds);
	else
		run_beside(storm_self);
}

/* ------------------------------------------------------------------- start and end --- */

static void *
zeroes(size_t count, size_t bytes)
{
	void *memory = calloc(count, bytes);

	PT_CHECK(memory != NULL);
	return memory;
}

static void
prepare(unsigned threads)
{
	storm.threads = threads;
	storm.medium_bytes = gex_AM_LUBRequestMedium();
	if (gex_AM_LUBReplyMedium() < storm.medium_bytes)
		storm.medium_bytes = gex_AM_LUBReplyMedium();
	if (storm.medium_bytes > LONG_BYTES)
		storm.medium_bytes = LONG_BYTES;
	storm.sent = (struct storm_tally *)zeroes(pt.size, sizeof *storm.sent);
	storm.got = (struct storm_tally *)zeroes(pt.size, sizeof *storm.got);
	for (unsigned t = 0; t < threads; t++) {
		struct storm_thread *thread = &storm.thread[t];

		thread->index = t;
		thread->rng = pt_rng_make(pt.rank * MAX_THREADS + t);
		thread->long_busy = (pt_count *)zeroes(pt.size, sizeof *thread->long_busy);
		thread->buffer = (char *)zeroes(1, LONG_BYTES);
		thread->answer = (char *)zeroes(1, LONG_BYTES);
		thread->area = (char *)zeroes(1, AREA_BYTES);
	}
	storm_self = &storm.thread[0];
}

static void
report(void)
{
	unsigned long requests = 0, refused = 0, cancelled = 0, transfers = 0;

	for (unsigned t = 0; t < storm.threads; t++) {
		requests += storm.thread[t].requests;
		refused += storm.thread[t].refused;
		cancelled += storm.thread[t].cancelled;
		transfers += storm.thread[t].transfers;
	}
	printf("rank %u: %lu requests, %lu refused, %lu cancelled, %lu transfers\n",
	       (unsigned)pt.rank, requests, refused, cancelled, transfers);
	fflush(stdout);
}

/* All leave, or one for all, or all return. */
static int
end(int code)
{
	struct pt_rng common = pt_rng_make(STREAM_COMMON + 1);
	gex_Rank_t first = (gex_Rank_t)pt_rand_below(&common, pt.size);

	pt_phase("end");
	switch (pt_rand_below(&common, 3)) {
	case 0:
		gasnet_exit(code);
		break;
	case 1:
		if (pt.rank == first)
			gasnet_exit(code);
		GASNET_BLOCKUNTIL(0);
		break;
	}
	return code;
}

static const int wait_modes[] = { GASNET_WAIT_SPINBLOCK, GASNET_WAIT_SPINBLOCK, GASNET_WAIT_BLOCK,
	                          GASNET_WAIT_SPIN };

int
main(int argc, char **argv)
{
	unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 0) : 20;
	unsigned threads = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 0) : 1;
	int code = argc > 3 ? atoi(argv[3]) : 0;
	struct pt_rng common;

	pt_init(&argc, &argv, 0);
	common = pt_rng_make(STREAM_COMMON + 2);
	gasnet_set_waitmode(wait_modes[pt_rand_below(&common, PT_COUNT(wait_modes))]);
	storm_plant_set(argc > 4 ? argv[4] : "nothing");
#ifdef GASNET_SEQ
	threads = 1;
#endif
	if (threads < 1 || threads > MAX_THREADS)
		PT_FAIL("1 to %d threads", MAX_THREADS);
	prepare(threads);
	pt_attach(storm_handlers, storm_handlers_count, storm_segment_bytes());
	if (threads == 1)
		thread_main(0, &rounds);
	else
		pt_threads(threads, thread_main, &rounds);
	account();
	report();
	pt_barrier();
	return end(code);
}
