/*
 * atomic: fetch-and-add on a word of the peer, and by all ranks on one word of rank 0; each beside
 * the processor's own on the same word, where it is mapped.
 */
#include "perf_commands.h"
#include "perf_plan.h"
#include "perf_sample.h"

#include <gasnet_ratomic.h>

static gex_AD_t adder;
static uint64_t *mapped[2]; /* the words of rank 0 and of the peer; NULL: not mapped here */
static uint64_t sink;

static uint64_t *
word_of(gex_Rank_t rank)
{
	return (uint64_t *)(void *)perf_inbox(rank);
}

static void
atomic_open(void)
{
	const gex_Rank_t ranks[] = { 0, perf_peer };
	void *local;

	gex_AD_Create(&adder, perf_tm, GEX_DT_U64, GEX_OP_FADD, 0);
	for (unsigned i = 0; i < 2; i++) {
		local = NULL;
		gex_Event_Wait(
			gex_EP_QueryBoundSegmentNB(perf_tm, ranks[i], NULL, &local, NULL, 0));
		mapped[i] = local;
	}
}

static void
ours(gex_Rank_t rank, unsigned count)
{
	uint64_t *there = word_of(rank);

	while (count-- > 0)
		gex_Event_Wait(gex_AD_OpNB_U64(adder, &sink, rank, there, GEX_OP_FADD, 1, 0, 0));
}

static void
plain(uint64_t *there, unsigned count)
{
	while (count-- > 0)
		sink = __atomic_fetch_add(there, 1, __ATOMIC_RELAXED);
}

static void
atomic_together(unsigned count, size_t is_plain)
{
	perf_job_barriers(1);
	if (is_plain)
		plain(mapped[0], count);
	else
		ours(0, count);
}

const struct perf_module perf_atomic_module = {
	.open = atomic_open, .order = PERF_ATOMICS, .follow = atomic_together,
};

static double
batch_ours(const struct perf_point *point, unsigned count)
{
	double start = perf_now_ns();

	(void)point;
	ours(perf_peer, count);
	return perf_now_ns() - start;
}

static double
batch_plain(const struct perf_point *point, unsigned count)
{
	double start = perf_now_ns();

	(void)point;
	plain(mapped[1], count);
	return perf_now_ns() - start;
}

/* Long enough that the start, which ranks do not make at the same instant, does not count. */
static double
together(unsigned count, size_t is_plain)
{
	enum { AT_ONCE = 1024 };
	double start;

	perf_job_order(PERF_ATOMICS, count * AT_ONCE, is_plain);
	start = perf_now_ns();
	atomic_together(count * AT_ONCE, is_plain);
	return (perf_now_ns() - start) / AT_ONCE;
}

static double
batch_all(const struct perf_point *point, unsigned count)
{
	(void)point;
	return together(count, 0);
}

static double
batch_all_plain(const struct perf_point *point, unsigned count)
{
	(void)point;
	return together(count, 1);
}

int
perf_atomic(const struct perf_options *options)
{
	static const struct perf_style style = { "ns", 1, "million/s", perf_m_per_s };
	static const size_t sizes[] = { 0 };
	struct perf_kind kinds[] = {
		{ "fetch-add", batch_ours, NULL, 0 },
		{ "contended", batch_all, NULL, 0 },
		{ "+fetch-add", batch_plain, NULL, 0 },
		{ "+contended", batch_all_plain, NULL, 0 },
		{ 0 },
	};

	if (mapped[0] == NULL || mapped[1] == NULL)
		kinds[2].name = NULL;
	perf_plan_run("atomic", kinds, sizes, &style, options);
	return 0;
}
