/*
 * Collectives with lists of lengths: blocks of any lengths, none, a few bytes and more than fits
 * where members share memory, mixed in one call; several calls under way at once; packed and with
 * gaps; in place; all modes of synchronisation.  Each rank works out for itself what it is to get.
 */
#include <penstock.h>

#include "tests/lib/pt.h"

#include <stdbool.h>
#include <stdlib.h>

/* ROOM: what a rank may have for all others without messages (coll/cells.h). */
enum { OPEN = 6, ROOM = 32768, GAP = 24, OUTSIDE = 0xee };
enum kind { SCATTERV, GATHERV, GATHER_ALLV, EXCHANGEV, REDUCE_SCATTERV, KINDS };
/* How long blocks are in a call. */
enum lengths { SHORT, SOME_EMPTY, ABOUT_ROOM, ONE_LONG, ALL_LONG, LENGTHS };

struct side {
	unsigned char *bytes;
	size_t all_bytes;
	size_t *counts, *displs;        /* [pt.size] */
};

struct call {
	bool open;
	enum kind kind;
	enum lengths lengths;
	bool packed, in_place;
	uint64_t number;
	gex_Rank_t root;
	gex_Event_t event;
	struct side src, dst;
};

static PT_OWN struct call calls[OPEN];

/* -- what everybody knows ---------------------------------------------------------------------- */

static uint64_t
mixed(uint64_t number, gex_Rank_t from, gex_Rank_t to)
{
	uint64_t x = (number + 1) * 0x9e3779b97f4a7c15u + from * 0xff51afd7ed558ccdu + to + 1;

	x ^= x >> 29;
	x *= 0xbf58476d1ce4e5b9u;
	return x ^ x >> 32;
}

/* The length of a block depends on `from' alone where it is one block for all. */
static size_t
block_bytes(const struct call *call, gex_Rank_t from, gex_Rank_t to)
{
	const bool one = call->kind == GATHERV || call->kind == GATHER_ALLV;
	const bool same = call->kind == REDUCE_SCATTERV;
	const uint64_t draw = mixed(call->number, same ? 0 : from, one ? 0 : to);
	const gex_Rank_t who = one ? from : to;

	switch (call->lengths) {
	case SHORT: return draw % 20;
	case SOME_EMPTY: return draw % 3 ? 0 : 1 + draw / 3 % 3000;
	case ABOUT_ROOM: return ROOM / (one ? 1 : pt.size) - 40 + draw % 60;
	case ONE_LONG: return who == call->number % pt.size ? ROOM + draw % 100000 : draw % 50;
	default: return ROOM + draw % 70000;
	}
}

/* Elements of reductions are of 4 bytes. */
static size_t
given_bytes(const struct call *call, gex_Rank_t from, gex_Rank_t to)
{
	const size_t bytes = block_bytes(call, from, to);

	return call->kind == REDUCE_SCATTERV ? bytes / 4 * 4 : bytes;
}

static uint32_t
element(const struct call *call, gex_Rank_t from, size_t i)
{
	return (uint32_t)mixed(call->number, from, (gex_Rank_t)i);
}

static uint64_t
key_of(const struct call *call, gex_Rank_t from, gex_Rank_t to)
{
	const bool one = call->kind == GATHERV || call->kind == GATHER_ALLV;

	return mixed(call->number, from, one ? 0 : to);
}

/* -- buffers ----------------------------------------------------------------------------------- */

/* Blocks from or to each rank, one behind the other or with gaps. */
static void
side_make(const struct call *call, struct side *side, bool gives)
{
	size_t at = 0;

	side->counts = malloc(2 * pt.size * sizeof *side->counts);
	side->displs = side->counts + pt.size;
	for (gex_Rank_t rank = 0; rank < pt.size; rank++) {
		side->counts[rank] = gives ? given_bytes(call, pt.rank, rank)
		                           : given_bytes(call, rank, pt.rank);
		side->displs[rank] = at;
		at += side->counts[rank] + (call->packed ? 0 : GAP);
	}
	side->all_bytes = at;
	side->bytes = malloc(at + 1);
	memset(side->bytes, OUTSIDE, at);
}

static void
side_make_one(struct side *side, size_t bytes)
{
	*side = (struct side){ malloc(bytes + 1), bytes, NULL, NULL };
	memset(side->bytes, OUTSIDE, bytes);
}

static void
side_free(struct side *side)
{
	free(side->bytes);
	free(side->counts);
	*side = (struct side){ NULL, 0, NULL, NULL };
}

static bool is_root(const struct call *call) { return pt.rank == call->root; }

static void
src_fill(const struct call *call)
{
	size_t i = 0;

	if (call->kind == REDUCE_SCATTERV)
		for (; i < call->src.all_bytes / 4; i++)
			((uint32_t *)(void *)call->src.bytes)[i] = element(call, pt.rank, i);
	else if (!call->src.counts)
		pt_fill(call->src.bytes, call->src.all_bytes, key_of(call, pt.rank, 0));
	else
		for (gex_Rank_t to = 0; to < pt.size; to++)
			pt_fill(call->src.bytes + call->src.displs[to], call->src.counts[to],
			        key_of(call, pt.rank, to));
}

static void
sides_make(struct call *call)
{
	const bool scatters = call->kind == SCATTERV;

	if (call->kind == EXCHANGEV || call->kind == REDUCE_SCATTERV || (scatters && is_root(call)))
		side_make(call, &call->src, true);
	else if (!scatters)
		side_make_one(&call->src, given_bytes(call, pt.rank, 0));
	if (call->kind == EXCHANGEV || call->kind == GATHER_ALLV ||
	    (call->kind == GATHERV && is_root(call)))
		side_make(call, &call->dst, false);
	else if (scatters || call->kind == REDUCE_SCATTERV)
		side_make_one(&call->dst, given_bytes(call, call->root, pt.rank));
	if (call->src.bytes)
		src_fill(call);
}

/* -- calls ------------------------------------------------------------------------------------- */

static void *
own_block(const struct side *side)
{
	return side->bytes + side->displs[pt.rank];
}

static const size_t *
displs_of(const struct call *call, const struct side *side)
{
	return call->packed ? NULL : side->displs;
}

static gex_Event_t
gather_start(struct call *call, gex_Flags_t flags)
{
	const size_t own_bytes = call->src.all_bytes;
	void *src = call->src.bytes;

	if (call->in_place && call->dst.counts)
		src = memcpy(own_block(&call->dst), src, own_bytes);
	if (call->kind == GATHERV)
		return pst_gatherv_nb(pt.tm, call->root, call->dst.bytes, call->dst.counts,
		                      displs_of(call, &call->dst), src, own_bytes, flags);
	return pst_gather_allv_nb(pt.tm, call->dst.bytes, call->dst.counts,
	                          displs_of(call, &call->dst), src, own_bytes, flags);
}

static gex_Event_t
scatter_start(struct call *call, gex_Flags_t flags)
{
	void *dst = call->dst.bytes;

	if (call->in_place && is_root(call))
		dst = own_block(&call->src);
	return pst_scatterv_nb(pt.tm, call->root, dst, given_bytes(call, call->root, pt.rank),
	                       call->src.bytes, call->src.counts, displs_of(call, &call->src),
	                       flags);
}

static gex_Event_t
reduce_start(struct call *call, gex_Flags_t flags)
{
	void *dst = call->in_place ? own_block(&call->src) : call->dst.bytes;
	size_t elems = 0;

	for (gex_Rank_t rank = 0; rank < pt.size; rank++)
		elems += call->src.counts[rank] /= 4;
	return pst_reduce_scatterv_nb(pt.tm, dst, call->src.bytes, call->src.counts, GEX_DT_U32, 4,
	                              elems, GEX_OP_ADD, NULL, NULL, flags);
}

static gex_Event_t
call_start(struct call *call, gex_Flags_t flags)
{
	switch (call->kind) {
	case SCATTERV: return scatter_start(call, flags);
	case REDUCE_SCATTERV: return reduce_start(call, flags);
	case EXCHANGEV:
		return pst_exchangev_nb(pt.tm, call->dst.bytes, call->dst.counts,
		                        displs_of(call, &call->dst), call->src.bytes,
		                        call->src.counts, displs_of(call, &call->src), flags);
	default: return gather_start(call, flags);
	}
}

static void
reduction_check(const struct call *call)
{
	const unsigned char *got = call->in_place ? own_block(&call->src) : call->dst.bytes;
	const size_t before = call->src.displs[pt.rank] / 4;

	for (size_t i = 0; i < call->src.counts[pt.rank]; i++) {
		uint32_t sum = 0, value;

		for (gex_Rank_t rank = 0; rank < pt.size; rank++)
			sum += element(call, rank, before + i);
		memcpy(&value, got + 4 * i, sizeof value);
		PT_EQ(value, sum);
	}
}

/* What lies between blocks has stayed. */
static void
gap_check(const struct call *call, gex_Rank_t rank)
{
	const unsigned char *gap = call->dst.bytes + call->dst.displs[rank] +
	                           call->dst.counts[rank];

	for (unsigned i = 0; i < (call->packed ? 0 : GAP); i++)
		PT_EQ(gap[i], OUTSIDE);
}

static void
call_check(const struct call *call)
{
	if (call->kind == REDUCE_SCATTERV) {
		reduction_check(call);
	} else if (call->kind == SCATTERV) {
		PT_MEM(call->in_place && is_root(call) ? own_block(&call->src) : call->dst.bytes,
		       call->dst.all_bytes, key_of(call, call->root, pt.rank));
	} else if (call->dst.counts) {
		for (gex_Rank_t from = 0; from < pt.size; from++) {
			PT_MEM(call->dst.bytes + call->dst.displs[from], call->dst.counts[from],
			       key_of(call, from, pt.rank));
			gap_check(call, from);
		}
	}
}

static void
call_finish(struct call *call)
{
	if (!call->open)
		return;
	gex_Event_Wait(call->event);
	call_check(call);
	side_free(&call->src);
	side_free(&call->dst);
	call->open = false;
}

/* Blocks of a reduction follow each other. */
static void
call_begin(struct call *call, uint64_t number, uint64_t draw)
{
	static const gex_Flags_t ins[] = { 0, PST_IN_NOSYNC, PST_IN_MYSYNC, PST_IN_ALLSYNC },
	                         outs[] = { 0, PST_OUT_MYSYNC, PST_OUT_ALLSYNC };

	call_finish(call);
	call->open = true;
	call->number = number;
	call->kind = (enum kind)(draw % KINDS);
	call->lengths = draw >> 8 & 3 ? (enum lengths)((draw >> 10) % 3)
	                              : (enum lengths)((draw >> 10) % LENGTHS);
	call->root = (gex_Rank_t)((draw >> 20) % pt.size);
	call->packed = call->kind == REDUCE_SCATTERV || (draw >> 40 & 1);
	call->in_place = call->kind != EXCHANGEV && (draw >> 41 & 1);
	sides_make(call);
	call->event = call_start(call, ins[draw >> 42 & 3] | outs[(draw >> 44) % 3]);
}

int
main(int argc, char **argv)
{
	struct pt_rng same;
	unsigned long count;

	pt_start(&argc, &argv, NULL, 0, 4096);
	count = pt_scale(300, 2000);
	same = pt_rng_make(1);
	for (uint64_t number = 0; number < count; number++)
		call_begin(&calls[number % OPEN], number, pt_rand(&same));
	for (unsigned i = 0; i < OPEN; i++)
		call_finish(&calls[i]);
	pt_finish();
}
