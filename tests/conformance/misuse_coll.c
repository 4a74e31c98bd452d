/* Collectives that are called as they may not be. */
#include <gasnet_coll.h>

#include "tests/lib/pt_misuse.h"

static uint32_t words[16];
static uint64_t twos[4];
static char *const bytes = (char *)words;

static void
sum(const void *left, void *out, size_t count, const void *cdata)
{
	(void)cdata;
	for (size_t i = 0; i < count; i++)
		((uint32_t *)out)[i] += ((const uint32_t *)left)[i];
}

static void
broadcast(gex_TM_t tm, gex_Rank_t root, void *dst, const void *src, gex_Flags_t flags)
{
	gex_Event_Wait(gex_Coll_BroadcastNB(tm, root, dst, src, 8, flags));
}

static void
reduce(void *dst, const void *src, gex_DT_t dt, size_t dt_sz, size_t dt_cnt, gex_OP_t op)
{
	gex_Event_Wait(
		gex_Coll_ReduceToAllNB(pt.tm, dst, src, dt, dt_sz, dt_cnt, op, NULL, NULL, 0));
}

static void pair_broadcast(void) { broadcast(gex_TM_Pair(pt.ep, 0), 0, words, words, 0); }
static void broadcast_flags(void) { broadcast(pt.tm, 0, words, words, 1); }
static void broadcast_root(void) { broadcast(pt.tm, 1, words, words, 0); }
static void broadcast_nowhere(void) { broadcast(pt.tm, 0, NULL, words, 0); }
static void broadcast_nothing(void) { broadcast(pt.tm, 0, words, NULL, 0); }
static void broadcast_overlap(void) { broadcast(pt.tm, 0, words + 1, words, 0); }

/* A length that was negative, kept from the compiler's sight. */
static size_t
minus(size_t amount)
{
	volatile size_t kept = amount;

	return 0 - kept;
}

static void
broadcast_negative(void)
{
	gex_Event_Wait(gex_Coll_BroadcastNB(pt.tm, 0, words, twos, minus(1), 0));
}

static void
broadcast_long(void)
{
	gex_Event_Wait(
		gex_Coll_BroadcastNB(pt.tm, 0, words, words, minus(0) + ((size_t)1 << 40), 0));
}

static void
reduce_root(void)
{
	gex_Event_Wait(gex_Coll_ReduceToOneNB(pt.tm, 7, words, words, GEX_DT_U32, 4, 1, GEX_OP_ADD,
	                                      NULL, NULL, 0));
}

static void
reduce_no_type(void)
{
	reduce(words, words, GEX_DT_I32 | GEX_DT_I64, 4, 1, GEX_OP_ADD);
}
static void reduce_size(void) { reduce(twos, twos, GEX_DT_U64, 4, 1, GEX_OP_ADD); }
static void reduce_none(void) { reduce(words, words, GEX_DT_U32, 4, 0, GEX_OP_ADD); }
static void reduce_negative(void) { reduce(words, words, GEX_DT_U32, 4, minus(4) / 4, GEX_OP_ADD); }
static void reduce_op(void) { reduce(words, words, GEX_DT_FLT, 4, 1, GEX_OP_AND); }
static void reduce_sub(void) { reduce(words, words, GEX_DT_U32, 4, 1, GEX_OP_SUB); }
static void reduce_user_type(void) { reduce(words, words, GEX_DT_USER, 4, 1, GEX_OP_ADD); }
static void reduce_no_function(void) { reduce(words, words, GEX_DT_USER, 4, 1, GEX_OP_USER); }
static void reduce_nothing(void) { reduce(words, NULL, GEX_DT_U32, 4, 1, GEX_OP_ADD); }
static void reduce_odd(void) { reduce(bytes + 1, bytes + 9, GEX_DT_U32, 4, 1, GEX_OP_ADD); }

/* -- members that do not agree: run by both ---------------------------------------------------- */

static void
other_calls(void)
{
	pt_start(NULL, NULL, NULL, 0, 1);
	if (pt.rank == 1)
		broadcast(pt.tm, 0, words, words, 0);
	else
		reduce(words, words, GEX_DT_U32, 4, 1, GEX_OP_ADD);
}

/* A barrier of all members of a host sends nothing. */
static void
other_barrier(void)
{
	pt_start(NULL, NULL, NULL, 0, 1);
	if (pt.rank == 1)
		broadcast(pt.tm, 0, words, words, 0);
	else
		gex_Event_Wait(gex_Coll_BarrierNB(pt.tm, 0));
}

static void
other_sizes(void)
{
	pt_start(NULL, NULL, NULL, 0, 1);
	gex_Event_Wait(gex_Coll_ReduceToOneNB(pt.tm, 0, words, words, GEX_DT_USER, 4, 1 + pt.rank,
	                                      GEX_OP_USER, sum, NULL, 0));
}

/* Rank 1 alone passes no bytes. */
static void
no_bytes(void)
{
	pt_start(NULL, NULL, NULL, 0, 1);
	gex_Event_Wait(gex_Coll_BroadcastNB(pt.tm, 0, words, words, pt.rank ? 0 : 8, 0));
}

/* Rank 0 passes a vector that is divided, the others one that is as long as a block of it. */
static void
other_lengths(void)
{
	static int32_t many[3 * 8192], result[3 * 8192];

	pt_start(NULL, NULL, NULL, 0, 1);
	gex_Event_Wait(gex_Coll_ReduceToAllNB(pt.tm, result, many, GEX_DT_I32, 4,
	                                      pt.rank ? 8192 : 3 * 8192, GEX_OP_ADD, NULL, NULL,
	                                      0));
}

/* As many bytes, in other elements. */
static void
other_types(void)
{
	pt_start(NULL, NULL, NULL, 0, 1);
	gex_Event_Wait(gex_Coll_ReduceToAllNB(pt.tm, words, words, GEX_DT_USER,
	                                      pt.rank ? 8 : 4, pt.rank ? 1 : 2, GEX_OP_USER, sum,
	                                      NULL, 0));
}

static void
other_operators(void)
{
	pt_start(NULL, NULL, NULL, 0, 1);
	gex_Event_Wait(gex_Coll_ReduceToAllNB(pt.tm, words, words, GEX_DT_USER, 4, 1,
	                                      pt.rank ? GEX_OP_USER : GEX_OP_USER_NC, sum, NULL,
	                                      0));
}

static void
other_modes(void)
{
	const int in = GASNET_COLL_IN_MYSYNC | GASNET_COLL_LOCAL;

	pt_start(NULL, NULL, NULL, 0, 1);
	gasnet_coll_gather_all(GASNET_TEAM_ALL, twos, words, 8,
	                       in | (pt.rank ? GASNET_COLL_OUT_MYSYNC : GASNET_COLL_OUT_ALLSYNC));
}

static void
other_roots(void)
{
	pt_start(NULL, NULL, NULL, 0, 1);
	broadcast(pt.tm, pt.rank, words, words, 0);
}

/* -- GASNet 1 ---------------------------------------------------------------------------------- */

enum { MY = GASNET_COLL_IN_MYSYNC | GASNET_COLL_OUT_MYSYNC | GASNET_COLL_LOCAL };

static void
legacy(gasnet_team_handle_t team, gasnet_image_t root, void *dst, size_t nbytes, int flags)
{
	gasnet_coll_scatter(team, dst, root, words, nbytes, flags);
}

static void legacy_team(void) { legacy(gex_TM_Pair(pt.ep, 7), 0, words, 8, MY); }
static void legacy_sync(void) { legacy(GASNET_TEAM_ALL, 0, words, 8, GASNET_COLL_IN_MYSYNC); }
static void legacy_both(void) { legacy(GASNET_TEAM_ALL, 0, words, 8, MY | GASNET_COLL_IN_ALLSYNC); }
static void legacy_single(void) { legacy(GASNET_TEAM_ALL, 0, words, 8, MY | 1 << 6); }
static void legacy_image(void) { legacy(GASNET_TEAM_ALL, 1, words, 8, MY); }
static void legacy_none(void) { legacy(GASNET_TEAM_ALL, 0, words, 0, MY); }
static void legacy_negative(void) { legacy(GASNET_TEAM_ALL, 0, words, minus(8), MY); }
static void
legacy_product(void)
{
	legacy(GASNET_TEAM_ALL, 0, words, minus(0) + ((size_t)1 << 63), MY);
}
static void
legacy_overlap(void)
{
	gasnet_coll_gather_all(GASNET_TEAM_ALL, bytes + 4, bytes, 8, MY);
}
static void legacy_nowhere(void) { legacy(GASNET_TEAM_ALL, 0, NULL, 8, MY); }

static const struct pt_misuse cases[] = {
	{ "pair_broadcast", PT_ALWAYS, 1, pair_broadcast, "a broadcast over a pair",
	  "gex_Coll_BroadcastNB: called with a pair of endpoints; pass a team", 0 },
	{ "broadcast_flags", PT_ALWAYS, 1, broadcast_flags, "flags on a broadcast",
	  "gex_Coll_BroadcastNB: flags are 0x1, and this call has none; pass 0", 0 },
	{ "broadcast_root", PT_ALWAYS, 1, broadcast_root,
	  "a broadcast from a rank that is not "
	  "there",
	  "gex_Coll_BroadcastNB: root is 1, and the team has 1 members; pass a rank of the team",
	  0 },
	{ "broadcast_nowhere", PT_ALWAYS, 1, broadcast_nowhere, "a broadcast to NULL",
	  "gex_Coll_BroadcastNB: dst is NULL, but should have 8 bytes; pass memory of this "
	  "process",
	  0 },
	{ "broadcast_nothing", PT_ALWAYS, 1, broadcast_nothing, "a broadcast from NULL",
	  "gex_Coll_BroadcastNB: src is NULL, but should have 8 bytes; pass memory of this "
	  "process",
	  0 },
	{ "broadcast_overlap", PT_CHECKED, 1, broadcast_overlap,
	  "a broadcast between memory that "
	  "overlaps",
	  "gex_Coll_BroadcastNB: dst 0x* and src 0x* of 8 bytes overlap; pass the same address "
	  "twice, or memory apart",
	  0 },
	{ "broadcast_negative", PT_ALWAYS, 1, broadcast_negative, "a broadcast of -1 bytes",
	  "gex_Coll_BroadcastNB: 18446744073709551615 bytes, more than memory holds; check "
	  "whether the length was negative",
	  0 },
	{ "broadcast_long", PT_ALWAYS, 1, broadcast_long,
	  "a broadcast of more than there is "
	  "memory",
	  "gex_Coll_BroadcastNB: dst at 0x* does not have 1099511627776 bytes; "
	  "check the length",
	  0 },
	{ "reduce_root", PT_ALWAYS, 1, reduce_root, "a reduction to a rank that is not there",
	  "gex_Coll_ReduceToOneNB: root is 7, and the team has 1 members; pass a rank of the team",
	  0 },
	{ "reduce_no_type", PT_ALWAYS, 1, reduce_no_type, "a reduction of two types",
	  "gex_Coll_ReduceToAllNB: dt 0x5 is no type; pass one of GEX_DT_*", 0 },
	{ "reduce_size", PT_ALWAYS, 1, reduce_size, "a size that is not the type's",
	  "gex_Coll_ReduceToAllNB: dt_sz is 4, and the type has 8 bytes; pass its sizeof", 0 },
	{ "reduce_none", PT_ALWAYS, 1, reduce_none, "a reduction of no elements",
	  "gex_Coll_ReduceToAllNB: dt_cnt is 0 elements of 4 bytes; pass at least one, and no more "
	  "than fit in memory",
	  0 },
	{ "reduce_negative", PT_ALWAYS, 1, reduce_negative,
	  "a reduction of more elements than "
	  "memory holds",
	  "gex_Coll_ReduceToAllNB: dt_cnt is 4611686018427387903 elements of 4 bytes; pass at "
	  "least one, and no more than fit in memory",
	  0 },
	{ "reduce_op", PT_ALWAYS, 1, reduce_op, "an operation of integers on floats",
	  "gex_Coll_ReduceToAllNB: op 0x* cannot reduce type 0x10; pass ADD, MULT, MIN or "
	  "MAX, with integers also AND, OR or XOR, else GEX_OP_USER",
	  0 },
	{ "reduce_sub", PT_ALWAYS, 1, reduce_sub, "an operation of atomics alone",
	  "gex_Coll_ReduceToAllNB: op 0x* cannot reduce type 0x2; pass ADD, MULT, MIN or "
	  "MAX, with integers also AND, OR or XOR, else GEX_OP_USER",
	  0 },
	{ "reduce_user_type", PT_ALWAYS, 1, reduce_user_type,
	  "a built-in operation on the user's "
	  "type",
	  "gex_Coll_ReduceToAllNB: op 0x* cannot reduce type 0x40; pass ADD, MULT, MIN or "
	  "MAX, with integers also AND, OR or XOR, else GEX_OP_USER",
	  0 },
	{ "reduce_no_function", PT_ALWAYS, 1, reduce_no_function,
	  "no function for the user's "
	  "operation",
	  "gex_Coll_ReduceToAllNB: user_op is NULL, and op is the user's; pass a function", 0 },
	{ "reduce_nothing", PT_ALWAYS, 1, reduce_nothing, "a reduction of memory at NULL",
	  "gex_Coll_ReduceToAllNB: src is NULL, but should have 4 bytes; pass memory of this "
	  "process",
	  0 },
	{ "reduce_odd", PT_CHECKED, 1, reduce_odd, "a reduction of elements that are not aligned",
	  "gex_Coll_ReduceToAllNB: dst 0x* or src 0x* is not aligned for elements of 4 bytes; "
	  "align them",
	  0 },
	{ "other_calls", PT_ALWAYS, 2, other_calls, "members that call different collectives",
	  "call * on its team, which is gex_Coll_* at its rank *; let all members make the same "
	  "calls in the same order",
	  1 },
	{ "other_barrier", PT_CHECKED, 2, other_barrier,
	  "a barrier where another member "
	  "broadcasts",
	  "gex_Coll_BarrierNB: call * on its team, which is gex_Coll_BroadcastNB at its rank 1; "
	  "let all members make the same calls in the same order",
	  1 },
	{ "other_sizes", PT_ALWAYS, 2, other_sizes, "members that pass different sizes",
	  "gex_Coll_ReduceToOneNB: call * on its team, to which rank 0 passes 4 bytes and rank 1 "
	  "passes 8; let all members pass the same sizes",
	  1 },
	{ "no_bytes", PT_CHECKED, 2, no_bytes, "a broadcast of no bytes at one member alone",
	  "gex_Coll_BroadcastNB: call * on its team, to which rank 0 passes 8 bytes and rank 1 "
	  "passes 0; let all members pass the same sizes",
	  1 },
	{ "other_lengths", PT_ALWAYS, 3, other_lengths,
	  "members that pass vectors, one of which is divided",
	  "gex_Coll_ReduceToAllNB: call * on its team, to which rank 0 passes 98304 bytes and rank "
	  "* passes 32768; let all members pass the same sizes",
	  1 },
	{ "other_types", PT_CHECKED, 2, other_types, "members that pass different types",
	  "gex_Coll_ReduceToAllNB: call * on its team, to which rank 0 passes elements of 4 bytes "
	  "and rank 1 elements of 8; let all members pass the same type",
	  1 },
	{ "other_operators", PT_CHECKED, 2, other_operators,
	  "members of which one alone passes an operator that keeps the order",
	  "gex_Coll_ReduceToAllNB: call * on its team, in which rank 0 and rank 1 pass different "
	  "types or operators; let all members pass the same",
	  1 },
	{ "other_modes", PT_CHECKED, 2, other_modes,
	  "members that synchronise in different ways",
	  "gasnet_coll_gather_all: call * on its team, in which rank 0 and rank 1 synchronise in "
	  "different ways; let all members pass the same flags",
	  1 },
	{ "other_roots", PT_CHECKED, 2, other_roots, "members that pass different roots",
	  "gex_Coll_BroadcastNB: call * on its team, to which rank 0 passes root 0 and rank 1 "
	  "passes root 1; let all members pass the same root",
	  1 },
	{ "legacy_team", PT_ALWAYS, 1, legacy_team, "another team for a legacy collective",
	  "gasnet_coll_scatter: 0x* is no team of these calls; pass GASNET_TEAM_ALL", 0 },
	{ "legacy_sync", PT_ALWAYS, 1, legacy_sync,
	  "a legacy collective without a mode for its "
	  "end",
	  "gasnet_coll_scatter: flags 0x* must have one way to synchronise before and one after; "
	  "pass one of GASNET_COLL_IN_* and one of GASNET_COLL_OUT_*",
	  0 },
	{ "legacy_both", PT_ALWAYS, 1, legacy_both,
	  "a legacy collective with two modes for its "
	  "beginning",
	  "gasnet_coll_scatter: flags 0x* must have one way to synchronise before and one after; "
	  "pass one of GASNET_COLL_IN_* and one of GASNET_COLL_OUT_*",
	  0 },
	{ "legacy_single", PT_ALWAYS, 1, legacy_single, "the flag of equal addresses",
	  "gasnet_coll_scatter: flags 0x40 have no meaning in this call, which takes those of 0x*; "
	  "leave them out",
	  0 },
	{ "legacy_image", PT_ALWAYS, 1, legacy_image, "an image that is not there",
	  "gasnet_coll_scatter: image 1 does not exist, the job has 1; pass the rank of a process",
	  0 },
	{ "legacy_none", PT_ALWAYS, 1, legacy_none, "a legacy collective of no bytes",
	  "gasnet_coll_scatter: nbytes is 0; pass at least 1", 0 },
	{ "legacy_negative", PT_ALWAYS, 1, legacy_negative, "a legacy collective of -8 bytes",
	  "gasnet_coll_scatter: 18446744073709551608 bytes, more than memory holds; check whether "
	  "the length was negative",
	  0 },
	{ "legacy_product", PT_ALWAYS, 2, legacy_product, "blocks whose product wraps to 0",
	  "gasnet_coll_scatter: 2 blocks of 9223372036854775808 bytes, more than memory holds; "
	  "check whether the length was negative",
	  0 },
	{ "legacy_overlap", PT_CHECKED, 1, legacy_overlap,
	  "a legacy collective between memory that overlaps",
	  "gasnet_coll_gather_all: dst 0x* and src 0x* of 8 bytes overlap; pass the same address "
	  "twice, or memory apart",
	  0 },
	{ "legacy_nowhere", PT_ALWAYS, 1, legacy_nowhere, "a legacy collective with NULL",
	  "gasnet_coll_scatter: dst is NULL, but should have 8 bytes; pass memory of this "
	  "process",
	  0 },
};

const struct pt_misuse_set pt_misuse_acts = { .cases = cases, .count = PT_COUNT(cases) };
