/*
 * coll: one collective over all ranks after the other, roots in turn; per collective.  Bytes are
 * those of a vector or of one block.
 */
#include "perf_blocks.h"
#include "perf_commands.h"
#include "perf_plan.h"
#include "perf_sample.h"

#include <penstock.h>

#include <string.h>

/* Kinds stand above the bytes of an order, then how it synchronises at the start and at the end. */
enum { KIND_SHIFT = 24, SYNC_SHIFT = 28, SYNC_MASK = 3, SYNC_OUT_SHIFT = 30 };

static struct perf_blocks blocks;
static gex_Flags_t sync_flags;
static gex_TM_t own_team; /* of all ranks; devices take its barriers, not the job's */

#define MOVES(name, ...)                                                        \
	static void coll_##name(gex_Rank_t root, size_t bytes)                  \
	{                                                                       \
		(void)root;                                                     \
		pst_##name(perf_tm, __VA_ARGS__, bytes, sync_flags);            \
	}

#define REDUCES(name, ...)                                                      \
	static void coll_##name(gex_Rank_t root, size_t bytes)                  \
	{                                                                       \
		(void)root;                                                     \
		pst_##name(perf_tm, __VA_ARGS__, GEX_DT_DBL, sizeof(double),    \
		           bytes / sizeof(double), GEX_OP_ADD, NULL, NULL,      \
		           sync_flags);                                         \
	}

MOVES(bcast, root, blocks.target, blocks.source)
MOVES(scatter, root, blocks.target, blocks.source)
MOVES(gather, root, blocks.target, blocks.source)
MOVES(gather_all, blocks.target, blocks.source)
MOVES(exchange, blocks.target, blocks.source)
MOVES(permute, (perf_rank + 1 + root) % perf_ranks, blocks.target, blocks.source)
REDUCES(reduce, root, blocks.target, blocks.source)
REDUCES(allreduce, blocks.target, blocks.source)
REDUCES(reduce_scatter, blocks.target, blocks.source)
REDUCES(scan, blocks.target, blocks.source)
REDUCES(exscan, blocks.target, blocks.source)

static void
coll_barrier(gex_Rank_t root, size_t bytes)
{
	(void)root, (void)bytes;
	pst_barrier(perf_tm, 0);
}

static void
coll_team_barrier(gex_Rank_t root, size_t bytes)
{
	(void)root, (void)bytes;
	pst_barrier(own_team, 0);
}

static const struct collective {
	const char *name;
	void (*call)(gex_Rank_t root, size_t bytes);
} collectives[] = {
	{ "barrier", coll_barrier },
	{ "team_barrier", coll_team_barrier },
	{ "bcast", coll_bcast },
	{ "scatter", coll_scatter },
	{ "gather", coll_gather },
	{ "gather_all", coll_gather_all },
	{ "exchange", coll_exchange },
	{ "permute", coll_permute },
	{ "reduce", coll_reduce },
	{ "allreduce", coll_allreduce },
	{ "reduce_scatter", coll_reduce_scatter },
	{ "scan", coll_scan },
	{ "exscan", coll_exscan },
};

/* All ranks: the kind and the bytes in one number.  The barrier keeps the next order away from
 * ranks that still obey this one: a root may be done before others have begun. */
static void
collectives_run(unsigned count, size_t order)
{
	static const gex_Flags_t in[] = {
		[PERF_SYNC_DEFAULT] = 0, [PERF_SYNC_NO] = PST_IN_NOSYNC,
		[PERF_SYNC_MY] = PST_IN_MYSYNC, [PERF_SYNC_ALL] = PST_IN_ALLSYNC,
	};
	static const gex_Flags_t out[] = {
		[PERF_SYNC_DEFAULT] = 0, [PERF_SYNC_NO] = PST_OUT_NOSYNC,
		[PERF_SYNC_MY] = PST_OUT_MYSYNC, [PERF_SYNC_ALL] = PST_OUT_ALLSYNC,
	};
	const struct collective *collective = &collectives[order >> KIND_SHIFT & 15];
	const size_t bytes = order & ((1u << KIND_SHIFT) - 1);

	sync_flags = in[order >> SYNC_SHIFT & SYNC_MASK] | out[order >> SYNC_OUT_SHIFT];
	for (unsigned i = 0; i < count; i++)
		collective->call(i % perf_ranks, bytes);
	pst_barrier(perf_tm, 0);
}

static void
coll_open(void)
{
	blocks = perf_blocks_open();
	gex_TM_Split(&own_team, perf_tm, 0, (int)perf_rank, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
}

static void
coll_close(void)
{
	perf_blocks_close(blocks);
}

const struct perf_module perf_coll_module = {
	.open = coll_open, .close = coll_close, .order = PERF_COLLECTIVES,
	.follow = collectives_run,
};

/* What rank 0 was asked for; the other ranks obey its orders. */
static enum perf_sync in_wanted, out_wanted;

static double
batch_coll(const struct perf_point *point, unsigned count)
{
	size_t kind = 0, order;
	double start;

	while (strcmp(collectives[kind].name, point->kind) != 0)
		kind++;
	order = (size_t)out_wanted << SYNC_OUT_SHIFT | (size_t)in_wanted << SYNC_SHIFT |
	        kind << KIND_SHIFT | point->bytes;
	perf_job_order(PERF_COLLECTIVES, count, order);
	start = perf_now_ns();
	collectives_run(count, order);
	return perf_now_ns() - start;
}

int
perf_coll(const struct perf_options *options)
{
	static const struct perf_style style = { "us", 1000, NULL, NULL };
	static const size_t sizes[] = { 8, 1 << 10, 64 << 10, 0 };
	static const struct perf_kind kinds[] = {
		{ "barrier", batch_coll, NULL, 0 },
		{ "team_barrier", batch_coll, NULL, 0 },
		{ "bcast", batch_coll, NULL, 1 },
		{ "scatter", batch_coll, perf_block_most, 1 },
		{ "gather", batch_coll, perf_block_most, 1 },
		{ "gather_all", batch_coll, perf_block_most, 1 },
		{ "exchange", batch_coll, perf_block_most, 1 },
		{ "permute", batch_coll, NULL, 1 },
		{ "reduce", batch_coll, NULL, 1 },
		{ "allreduce", batch_coll, NULL, 1 },
		{ "reduce_scatter", batch_coll, perf_block_most, 1 },
		{ "scan", batch_coll, NULL, 1 },
		{ "exscan", batch_coll, NULL, 1 },
		{ 0 },
	};

	in_wanted = options->sync_in;
	out_wanted = options->sync_out;
	perf_plan_run("coll", kinds, sizes, &style, options);
	return 0;
}
