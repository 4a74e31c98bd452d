/*
 * Many collectives of penstock_coll.h under way at once, of random operations, lengths and ways to
 * synchronise, on the job's team and on parts of it, synced in an order of each rank's own.
 */
#include <penstock.h>

#include "tests/lib/pt.h"

enum { OPEN = 20, LONG_BYTES = 80000, UNTOUCHED = 0xee };
enum operation {
	BARRIER, BCAST, SCATTER, GATHER, GATHER_ALL, EXCHANGE, PERMUTE, EXCHANGEV,
	REDUCE, ALLREDUCE, REDUCE_SCATTER, SCAN, EXSCAN, OPERATIONS
};

struct call {
	gex_Event_t event;
	enum operation operation;
	gex_TM_t tm;
	gex_Rank_t rank, size, root;
	unsigned number;
	size_t nbytes;                  /* of a vector or of one block */
	gex_Flags_t flags;
	unsigned char *src, *dst;
	size_t *lens;                   /* of blocks; exchangev: to and from the ranks */
};

/* Of the block of one rank for another. */
static uint64_t
key_of(const struct call *call, gex_Rank_t from, gex_Rank_t to)
{
	return call->number * 5000u + from * 70u + to + 1;
}

static uint32_t
operand(const struct call *call, gex_Rank_t rank, size_t i)
{
	return (rank + 1) * (call->number + 3) + (uint32_t)i;
}

/* Over ranks 0 to count - 1. */
static uint32_t
sum(const struct call *call, gex_Rank_t count, size_t i)
{
	return (call->number + 3) * (count * (count + 1) / 2) + count * (uint32_t)i;
}

/* -- what all members draw alike --------------------------------------------------------------- */

static gex_Flags_t
flags_draw(struct pt_rng *same)
{
	static const gex_Flags_t in[] = { 0, PST_IN_NOSYNC, PST_IN_MYSYNC, PST_IN_ALLSYNC };
	static const gex_Flags_t out[] = { 0, PST_OUT_NOSYNC, PST_OUT_MYSYNC, PST_OUT_ALLSYNC };
	const gex_Flags_t begin = in[pt_rand_below(same, 4)];

	return begin | out[pt_rand_below(same, 4)];
}

static void
call_draw(struct call *call, gex_TM_t part, unsigned number, struct pt_rng *same)
{
	const uint64_t length = pt_rand_below(same, 12); /* most are short, few are long */
	uint64_t root;

	call->number = number;
	call->operation = (enum operation)pt_rand_below(same, OPERATIONS);
	call->tm = pt_rand_below(same, 3) ? pt.tm : part;
	call->size = gex_TM_QuerySize(call->tm);
	call->rank = gex_TM_QueryRank(call->tm);
	root = pt_rand(same); /* one draw, however large the part */
	call->root = (gex_Rank_t)(root % call->size);
	call->nbytes = 4 * pt_rand_below(same, length == 0  ? LONG_BYTES / 4
	                                       : length < 4 ? 1500
	                                                    : 20);
	call->flags = flags_draw(same);
}

/* A list whose lengths differ, but sum up to no more than the blocks of the other operations. */
static size_t
list_len(const struct call *call, gex_Rank_t from, gex_Rank_t to)
{
	return call->nbytes * ((from + to) % 3) / 2;
}

/* -- before ------------------------------------------------------------------------------------ */

static void
src_fill(struct call *call)
{
	uint32_t *words = (uint32_t *)call->src;
	size_t at = 0;

	if (call->operation < REDUCE) {
		for (gex_Rank_t to = 0; to < call->size; to++) {
			call->lens[to] = call->operation == EXCHANGEV
			                         ? list_len(call, call->rank, to)
			                         : call->nbytes;
			pt_fill(call->src + at, call->lens[to], key_of(call, call->rank, to));
			at += call->lens[to];
		}
		return;
	}
	for (size_t i = 0; i < call->nbytes / 4 * call->size; i++)
		words[i] = operand(call, call->rank, i);
}

static void
call_open(struct call *call)
{
	const size_t bytes = call->nbytes * call->size + 4;

	call->src = malloc(bytes);
	call->dst = malloc(bytes);
	call->lens = calloc(call->size, sizeof *call->lens);
	PT_CHECK(call->src && call->dst && call->lens);
	memset(call->dst, UNTOUCHED, bytes);
	src_fill(call);
}

/* -- the call ---------------------------------------------------------------------------------- */

#define RED GEX_DT_U32, 4, call->nbytes / 4, GEX_OP_ADD, NULL, NULL, call->flags

static gex_Event_t
call_start(const struct call *call)
{
	const gex_TM_t tm = call->tm;
	const gex_Rank_t root = call->root;
	const size_t nbytes = call->nbytes;
	void *src = call->src, *dst = call->dst;

	switch (call->operation) {
	case BARRIER: return pst_barrier_nb(tm, call->flags);
	case BCAST: return pst_bcast_nb(tm, root, dst, src, nbytes, call->flags);
	case SCATTER: return pst_scatter_nb(tm, root, dst, src, nbytes, call->flags);
	case GATHER: return pst_gather_nb(tm, root, dst, src, nbytes, call->flags);
	case GATHER_ALL: return pst_gather_all_nb(tm, dst, src, nbytes, call->flags);
	case EXCHANGE: return pst_exchange_nb(tm, dst, src, nbytes, call->flags);
	case PERMUTE:
		return pst_permute_nb(tm, (call->rank + root) % call->size, dst, src, nbytes,
		                      call->flags);
	case EXCHANGEV:
		return pst_exchangev_nb(tm, dst, call->lens, NULL, src, call->lens, NULL,
		                        call->flags);
	case REDUCE: return pst_reduce_nb(tm, root, dst, src, RED);
	case ALLREDUCE: return pst_allreduce_nb(tm, dst, src, RED);
	case REDUCE_SCATTER: return pst_reduce_scatter_nb(tm, dst, src, RED);
	case SCAN: return pst_scan_nb(tm, dst, src, RED);
	default: return pst_exscan_nb(tm, dst, src, RED);
	}
}

/* -- after ------------------------------------------------------------------------------------- */

/* The vector of dst is the sum of `count' ranks' words from `first' on; none: it is untouched. */
static void
sums_check(const struct call *call, gex_Rank_t count, size_t first)
{
	for (size_t i = 0; i < call->nbytes / 4; i++) {
		const uint32_t got = ((const uint32_t *)call->dst)[i];

		PT_EQ(got, count ? sum(call, count, first + i) : UNTOUCHED * 0x01010101u);
	}
}

/* The blocks of dst are those of all ranks for `to', the caller or the first. */
static void
blocks_check(const struct call *call, gex_Rank_t to)
{
	size_t at = 0;

	for (gex_Rank_t from = 0; from < call->size; from++) {
		PT_MEM(call->dst + at, call->lens[from], key_of(call, from, to));
		at += call->lens[from];
	}
}

static void
call_check(const struct call *call)
{
	const gex_Rank_t rank = call->rank, size = call->size, root = call->root;
	const gex_Rank_t sender = (rank + size - root) % size;

	switch (call->operation) {
	case BARRIER: break;
	case BCAST: PT_MEM(call->dst, call->nbytes, key_of(call, root, 0)); break;
	case SCATTER: PT_MEM(call->dst, call->nbytes, key_of(call, root, rank)); break;
	case GATHER:
		if (rank == root)
			blocks_check(call, 0);
		break;
	case GATHER_ALL: blocks_check(call, 0); break;
	case EXCHANGE:
	case EXCHANGEV: blocks_check(call, rank); break;
	case PERMUTE: PT_MEM(call->dst, call->nbytes, key_of(call, sender, 0)); break;
	case REDUCE: sums_check(call, rank == root ? size : 0, 0); break;
	case ALLREDUCE: sums_check(call, size, 0); break;
	case REDUCE_SCATTER: sums_check(call, size, rank * (call->nbytes / 4)); break;
	case SCAN: sums_check(call, rank + 1, 0); break;
	default: sums_check(call, rank, 0); break;
	}
}

/* Sources are filled before any rank enters a call, and what has PST_OUT_NOSYNC is looked at when
 * all have left all. */
static void
round_of(gex_TM_t part, unsigned round)
{
	struct pt_rng same = pt_rng_make(round), own = pt_rng_make(round * 1000 + pt.rank + 7);
	struct call calls[OPEN];
	unsigned at[OPEN];

	for (unsigned i = 0; i < OPEN; i++) {
		at[i] = i;
		call_draw(&calls[i], part, round * OPEN + i, &same);
		call_open(&calls[i]);
	}
	pt_barrier();
	for (unsigned i = 0; i < OPEN; i++) {
		calls[i].event = call_start(&calls[i]);
		if (pt_rand_below(&own, 4) == 0)
			gasnet_AMPoll();
	}
	for (unsigned left = OPEN; left > 0; left--) {
		const unsigned pick = (unsigned)pt_rand_below(&own, left);
		const struct call *call = &calls[at[pick]];

		gex_Event_Wait(call->event);
		if (!(call->flags & PST_OUT_NOSYNC))
			call_check(call);
		at[pick] = at[left - 1];
	}
	pt_barrier();
	for (unsigned i = 0; i < OPEN; i++) {
		call_check(&calls[i]);
		free(calls[i].src);
		free(calls[i].dst);
		free(calls[i].lens);
	}
}

int
main(int argc, char **argv)
{
	gex_TM_t part;

	pt_start(&argc, &argv, NULL, 0, 4096);
	gex_TM_Split(&part, pt.tm, (int)(pt.rank % 2), (int)(pt.size - pt.rank), NULL, 0,
	             GEX_FLAG_TM_NO_SCRATCH);
	for (unsigned round = 0; round < pt_scale(8, 30); round++)
		round_of(part, round);
	gex_TM_Destroy(part, NULL, 0);
	pt_finish();
}
