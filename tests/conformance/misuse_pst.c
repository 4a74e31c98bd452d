/* Collectives of penstock_coll.h that are called as they may not be. */
#include <penstock_coll.h>

#include "tests/lib/pt_misuse.h"

static uint64_t words[8];

static void
two_modes(void)
{
	pst_bcast(pt.tm, 0, words, words, 8, PST_IN_NOSYNC | PST_IN_ALLSYNC);
}

static void
two_addresses(void)
{
	pst_barrier(pt.tm, PST_SINGLE | PST_LOCAL);
}

static void
other_flags(void)
{
	pst_gather_all(pt.tm, words, words + 4, 8, (gex_Flags_t)0x1000);
}

static void
reduce_by_pair(void)
{
	pst_reduce(gex_TM_Pair(pt.ep, 0), 0, words, words + 4, GEX_DT_U64, 8, 1, GEX_OP_ADD, NULL,
	           NULL, 0);
}

static void
blocks_by_pair(void)
{
	const size_t cnts[1] = { 1 };

	pst_reduce_scatterv(gex_TM_Pair(pt.ep, 0), words, words + 4, cnts, GEX_DT_U64, 8, 1,
	                    GEX_OP_ADD, NULL, NULL, 0);
}

static void no_target(void) { pst_permute(pt.tm, 3, words, words + 4, 8, 0); }
static void no_root(void) { pst_scatter(pt.tm, 3, words, words + 4, 8, 0); }
static void nowhere(void) { pst_exchange(pt.tm, NULL, words, 8, 0); }
static void no_counts(void) { pst_gather_allv(pt.tm, words, NULL, NULL, words + 4, 8, 0); }

static void
other_own_length(void)
{
	const size_t counts[1] = { 8 };

	pst_gatherv(pt.tm, 0, words, counts, NULL, words + 4, 16, 0);
}

static void
displaced_too_far(void)
{
	const size_t counts[1] = { 8 }, displs[1] = { SIZE_MAX - 7 };

	pst_scatterv(pt.tm, 0, words, 8, words + 4, counts, displs, 0);
}

static void
permute_overlaps(void)
{
	pst_permute(pt.tm, 0, words, words, 8, 0);
}

static void
other_sum(void)
{
	const size_t cnts[1] = { 2 };

	pst_reduce_scatterv(pt.tm, words, words + 4, cnts, GEX_DT_U64, 8, 1, GEX_OP_ADD, NULL,
	                    NULL, 0);
}

static void
no_size(void)
{
	pst_scan(pt.tm, words, words + 4, GEX_DT_USER, 0, 1, GEX_OP_ADD, NULL, NULL, 0);
}

static void value_nowhere(void) { (void)pst_barrier_value(GEX_TM_INVALID, 1, 0); }

static void
value_operator(void)
{
	(void)pst_allreduce_value_FLT(pt.tm, 1, GEX_OP_XOR, 0);
}

static void
no_type(void)
{
	pst_scan(pt.tm, words, words + 4, GEX_DT_U64 | PST_DT_I8, 8, 1, GEX_OP_ADD, NULL, NULL, 0);
}

/* Run by both: rank 1 meets rank 0 where that has a block for it already. */
static void
other_way(void)
{
	static unsigned char from[2 * 4096], to[2 * 4096];

	pt_start(NULL, NULL, NULL, 0, 1);
	pst_exchange(pt.tm, to, from, 4096, pt.rank ? PST_IN_ALLSYNC : 0);
}

/* Run by both: rank 1 passes a flag that rank 0 does not. */
static void
reduce_with_flag(gex_Flags_t flag)
{
	pt_start(NULL, NULL, NULL, 0, 4096);
	pst_allreduce(pt.tm, pt.base, pt.base + 64, GEX_DT_U64, 8, 1, GEX_OP_ADD, NULL, NULL,
	              pt.rank ? flag : 0);
}

/* Run by both: rank 0 alone works in place, after both did. */
static void
one_in_place(void)
{
	uint64_t *own = words, *sum = words;

	pt_start(NULL, NULL, NULL, 0, 1);
	for (unsigned turn = 0; turn < 2; turn++, sum = words + pt.rank)
		pst_scan(pt.tm, sum, own, GEX_DT_U64, 8, 1, GEX_OP_ADD, NULL, NULL, 0);
}

/* Run by both: rank 1 passes no bytes, after both passed none. */
static void
one_without_bytes(void)
{
	pt_start(NULL, NULL, NULL, 0, 1);
	pst_bcast(pt.tm, 0, words, words, 0, 0);
	pst_bcast(pt.tm, 0, words, words, pt.rank ? 0 : 8, 0);
}

/* Run by three: rank 1 passes another value, rank 2 none; rank 0 says so, once. */
static void
other_values(void)
{
	pt_start(NULL, NULL, NULL, 0, 1);
	PT_EQ(pst_barrier_value(pt.tm, pt.rank ? 7 : -2, pt.rank == 2 ? PST_BARRIER_ANONYMOUS : 0),
	      PST_ERR_BARRIER_MISMATCH);
	pt_barrier();
}

static void other_end(void) { reduce_with_flag(PST_OUT_NOSYNC); }
static void other_begin(void) { reduce_with_flag(PST_IN_NOSYNC); }
static void other_grouping(void) { reduce_with_flag(PST_REPRODUCIBLE); }
static void other_addresses(void) { reduce_with_flag(PST_SINGLE); }

/* Run by both: rank 0 sends more than rank 1 expects. */
static void
other_counts(void)
{
	const size_t counts[2] = { 8, 16 };

	pt_start(NULL, NULL, NULL, 0, 1);
	pst_scatterv(pt.tm, 0, words, 8, words + 4, counts, NULL, 0);
}

/* Run by both. */
static void
one_target(void)
{
	pt_start(NULL, NULL, NULL, 0, 1);
	pst_permute(pt.tm, 0, words + 4, words, 8, 0);
}

static void
other_offsets(void)
{
	pt_start(NULL, NULL, NULL, 0, 4096);
	pst_gather_all(pt.tm, pt.base + 64 + 8 * pt.rank, pt.base, 8, PST_SINGLE);
}

/* Run by both: blocks whose order is not that of ranks are received well, then two that overlap. */
static void
gatherv_overlaps(void)
{
	const size_t counts[2] = { 8, 16 }, reverse[2] = { 16, 0 }, overlap[2] = { 8, 0 };
	size_t own;

	pt_start(NULL, NULL, NULL, 0, 1);
	own = counts[pt.rank];
	pst_gatherv(pt.tm, 0, words, counts, reverse, words + 4, own, 0);
	pst_gatherv(pt.tm, 0, words, counts, overlap, words + 4, own, 0);
}

/* Run by three; rank 1 has no bytes, so its offset means nothing. */
static void
gather_allv_overlaps(void)
{
	const size_t counts[3] = { 8, 0, 8 };
	const size_t apart[3] = { 8, SIZE_MAX, 0 }, same[3] = { 16, 16, 16 };
	size_t own;

	pt_start(NULL, NULL, NULL, 0, 1);
	own = counts[pt.rank];
	pst_gather_allv(pt.tm, words, counts, apart, words + 4, own, 0);
	pst_gather_allv(pt.tm, words, counts, pt.rank ? apart : same, words + 4, own, 0);
}

/* Run by both: offsets of blocks that are sent may be the same. */
static void
exchangev_overlaps(void)
{
	const size_t counts[2] = { 8, 8 }, same[2] = { 0, 0 }, near[2] = { 0, 7 };
	pst_plan_t plan;

	pt_start(NULL, NULL, NULL, 0, 1);
	pst_exchangev(pt.tm, words, counts, NULL, words + 4, counts, same, 0);
	PT_OK(pst_exchangev_plan(pt.tm, words, counts, pt.rank ? NULL : near, words + 4, counts,
	                         same, &plan, 0));
}

/* Run by both: rank 0 makes calls of barriers, and `before' of them before rank 1's broadcast; with
 * 0 that comes first. */
static void
barrier_of_one(unsigned before)
{
	const unsigned late = before ? 0 : 1;

	pt_start(NULL, NULL, NULL, 0, 1);
	if (pt.rank == 0)
		for (unsigned i = 0; i < before; i++)
			(void)pst_barrier_nb(pt.tm, 0);
	if (pt.rank == 1 && late)
		(void)pst_bcast_nb(pt.tm, 1, words, words, 8, 0);
	gasnet_barrier(0, GASNET_BARRIERFLAG_ANONYMOUS);
	if (pt.rank == 0)
		pst_barrier(pt.tm, 0);
	else
		pst_bcast(pt.tm, 1, words, words, 8, 0);
}

static void barrier_later(void) { barrier_of_one(0); }
static void barrier_before(void) { barrier_of_one(1); }
static void barriers_long_before(void) { barrier_of_one(70); }

static const struct pt_misuse cases[] = {
	{ "two_modes", PT_ALWAYS, 1, two_modes, "two ways to synchronise before a broadcast",
	  "pst_bcast: flags 0x5 have two of PST_IN_*, of PST_OUT_*, or SINGLE and LOCAL; pass one "
	  "of each at most",
	  0 },
	{ "two_addresses", PT_ALWAYS, 1, two_addresses, "addresses that are both single and local",
	  "pst_barrier: flags 0xc0 have two of PST_IN_*, of PST_OUT_*, or SINGLE and LOCAL; pass "
	  "one of each at most",
	  0 },
	{ "other_flags", PT_ALWAYS, 1, other_flags, "a flag of other calls on a gather",
	  "pst_gather_all: flags 0x* have no meaning in this call, which takes those of 0x1ff; "
	  "leave them out",
	  0 },
	{ "reduce_by_pair", PT_ALWAYS, 1, reduce_by_pair, "a reduction over a pair",
	  "pst_reduce: called with a pair of endpoints; pass a team", 0 },
	{ "blocks_by_pair", PT_ALWAYS, 1, blocks_by_pair,
	  "a reduction to blocks of any lengths over a pair",
	  "pst_reduce_scatterv: called with a pair of endpoints; pass a team", 0 },
	{ "no_target", PT_ALWAYS, 1, no_target, "a permutation to a rank that is not there",
	  "pst_permute: target is 3, and the team has 1 members; pass a rank of the team", 0 },
	{ "no_root", PT_ALWAYS, 1, no_root, "a scatter from a rank that is not there",
	  "pst_scatter: root is 3, and the team has 1 members; pass a rank of the team", 0 },
	{ "nowhere", PT_ALWAYS, 1, nowhere, "an exchange to NULL",
	  "pst_exchange: dst is NULL, but should have 8 bytes; pass memory of this process", 0 },
	{ "no_counts", PT_ALWAYS, 1, no_counts, "a gather without the lengths of blocks",
	  "pst_gather_allv: counts is NULL, but should have 1 entries; pass the list",
	  0 },
	{ "other_own_length", PT_ALWAYS, 1, other_own_length,
	  "a block of another length than in the list",
	  "pst_gatherv: the own block has 16 bytes, and the list says 8; pass the same", 0 },
	{ "displaced_too_far", PT_ALWAYS, 1, displaced_too_far, "a block beyond all memory",
	  "pst_scatterv: 18446744073709551615 bytes, more than memory holds; check whether the "
	  "length was negative",
	  0 },
	{ "permute_overlaps", PT_CHECKED, 1, permute_overlaps, "a permutation in place",
	  "pst_permute: dst 0x* and src 0x* of 8 bytes overlap; pass memory apart", 0 },
	{ "other_sum", PT_ALWAYS, 1, other_sum, "blocks that do not make up the vector",
	  "pst_reduce_scatterv: dt_cnt is 1, and the blocks have 2 elements; pass their sum", 0 },
	{ "no_size", PT_ALWAYS, 1, no_size, "elements of no bytes",
	  "pst_scan: dt_sz is 0, and the type has at least one byte; pass its sizeof", 0 },
	{ "value_nowhere", PT_ALWAYS, 1, value_nowhere, "a barrier with a value of no team",
	  "pst_barrier_value: called with GEX_TM_INVALID; pass one that the library gave", 0 },
	{ "value_operator", PT_ALWAYS, 1, value_operator, "an operation of integers on values",
	  "pst_allreduce_value: op 0x4 cannot reduce type 0x10; pass ADD, MULT, MIN or MAX, with "
	  "integers also AND, OR or XOR, else GEX_OP_USER",
	  0 },
	{ "no_type", PT_ALWAYS, 1, no_type, "a scan of two types",
	  "pst_scan: dt 0x108 is no type; pass one of GEX_DT_* or PST_DT_*", 0 },
	{ "other_values", PT_REFUSED, 3, other_values, "values of a barrier that differ",
	  "pst_barrier_value: rank 0 passes -2, and rank 1 passes 7", 1 },
	{ "one_in_place", PT_CHECKED, 2, one_in_place, "a scan in place at one member alone",
	  "pst_scan: call * on its team, which is in place at rank 0 and not at rank 1; let all "
	  "members work in place, or none",
	  1 },
	{ "one_without_bytes", PT_CHECKED, 2, one_without_bytes,
	  "a broadcast to which one member alone passes no bytes",
	  "pst_bcast: call * on its team, to which rank 0 passes 8 bytes and rank 1 passes 0; let "
	  "all members pass the same sizes",
	  1 },
	{ "other_way", PT_ALWAYS, 2, other_way,
	  "an exchange that one member alone begins with all others",
	  "pst_exchange: call * on its team, in which rank 0 and rank 1 synchronise in different "
	  "ways; let all members pass the same flags",
	  1 },
	{ "other_begin", PT_CHECKED, 2, other_begin,
	  "a reduction that one member alone begins with `PST_IN_NOSYNC`",
	  "pst_allreduce: call * on its team, in which rank 0 and rank 1 synchronise in different "
	  "ways; let all members pass the same flags",
	  1 },
	{ "other_end", PT_CHECKED, 2, other_end,
	  "a reduction that one member alone ends with `PST_OUT_NOSYNC`",
	  "pst_allreduce: call * on its team, in which rank 0 and rank 1 synchronise in different "
	  "ways; let all members pass the same flags",
	  1 },
	{ "other_grouping", PT_CHECKED, 2, other_grouping,
	  "a reduction to which one member alone passes `PST_REPRODUCIBLE`",
	  "pst_allreduce: call * on its team, to which rank 1 passes PST_REPRODUCIBLE and rank 0 "
	  "does not; let all members pass the same flags",
	  1 },
	{ "other_addresses", PT_CHECKED, 2, other_addresses,
	  "a reduction to which one member alone passes `PST_SINGLE`",
	  "pst_allreduce: call * on its team, to which rank 1 passes PST_SINGLE and rank 0 does "
	  "not; let all members pass the same flags",
	  1 },
	{ "other_counts", PT_CHECKED, 2, other_counts, "counts that differ between two members",
	  "pst_scatterv: call * on its team, in which rank 0 sends 16 bytes to rank 1, which "
	  "expects 8; let the counts of both agree",
	  1 },
	{ "gatherv_overlaps", PT_CHECKED, 2, gatherv_overlaps, "a gather of blocks that overlap",
	  "pst_gatherv: in dst, rank 0's block of 8 bytes at 8 and rank 1's of 16 bytes at 0 "
	  "overlap; pass offsets that keep them apart",
	  1 },
	{ "gather_allv_overlaps", PT_CHECKED, 3, gather_allv_overlaps,
	  "a gather of blocks at one offset",
	  "pst_gather_allv: in dst, rank 0's block of 8 bytes at 16 and rank 2's of 8 bytes at 16 "
	  "overlap; pass offsets that keep them apart",
	  1 },
	{ "exchangev_overlaps", PT_CHECKED, 2, exchangev_overlaps,
	  "an exchange into blocks that overlap",
	  "pst_exchangev: in dst, rank 0's block of 8 bytes at 0 and rank 1's of 8 bytes at 7 "
	  "overlap; pass offsets that keep them apart",
	  1 },
	{ "one_target", PT_CHECKED, 2, one_target, "a permutation of two members to one",
	  "pst_permute: call * on its team, to which rank 0 and rank 1 both pass target 0; let "
	  "each rank be the target of one",
	  1 },
	{ "barrier_later", PT_CHECKED, 2, barrier_later,
	  "a barrier where another member has begun a broadcast",
	  "pst_barrier: call * on its team, which is pst_bcast at its rank 1; let all members make "
	  "the same calls in the same order",
	  1 },
	{ "barrier_before", PT_CHECKED, 2, barrier_before,
	  "a broadcast where another member has begun a barrier",
	  "pst_barrier: call * on its team, which is pst_bcast at its rank 1; let all members make "
	  "the same calls in the same order",
	  1 },
	{ "barriers_long_before", PT_CHECKED, 2, barriers_long_before,
	  "the same, and many more barriers",
	  "pst_bcast: call * on its team, which is another at its rank 0; let all members make the "
	  "same calls in the same order",
	  1 },
	{ "other_offsets", PT_CHECKED, 2, other_offsets,
	  "single addresses at different offsets",
	  "pst_gather_all: call * on its team, in which rank 0 and rank 1 pass pointers at "
	  "different offsets of their segments; with PST_SINGLE let all members pass the same",
	  1 },
};

const struct pt_misuse_set pt_misuse_acts = { .cases = cases, .count = PT_COUNT(cases) };
