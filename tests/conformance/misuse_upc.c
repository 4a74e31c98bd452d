/* Collectives of penstock_upc_coll.h that are called as they may not be. */
#include <penstock_upc_coll.h>

#include "tests/lib/pt_misuse.h"

static uint64_t words[8];

static void
sum(const void *arg1, void *out, size_t count, const void *cdata)
{
	const uint64_t *left = arg1;
	uint64_t *right = out;

	(void)cdata;
	for (size_t i = 0; i < count; i++)
		right[i] += left[i];
}

static void
other_elements(void)
{
	void *base[1] = { words };
	const pst_upc_array_t array = { pt.tm, base, 1, 8, 2, 0 };

	pst_upc_all_reduce(&array, &array, GEX_DT_U64, 8, 3, GEX_OP_ADD, NULL, NULL, 0);
}

/* A reduction along two elements, with the sum at `dst'. */
static void
upc_reduce(void *dst, void *src)
{
	void *to[1] = { dst }, *from[1] = { src };
	const pst_upc_array_t result = { pt.tm, to, 1, 8, 1, 0 };
	const pst_upc_array_t array = { pt.tm, from, 1, 8, 2, 0 };

	pst_upc_all_reduce(&result, &array, GEX_DT_U64, 8, 2, GEX_OP_ADD, NULL, NULL, 0);
}

static void
upc_prefixes(void *dst, void *src)
{
	void *to[1] = { dst }, *from[1] = { src };
	const pst_upc_array_t result = { pt.tm, to, 1, 8, 3, 0 };
	const pst_upc_array_t array = { pt.tm, from, 1, 8, 3, 0 };

	pst_upc_all_prefix_reduce(&result, &array, GEX_DT_U64, 8, 3, GEX_OP_ADD, NULL, NULL, 0);
}

static void upc_reduce_nowhere(void) { upc_reduce(NULL, words); }
static void upc_reduce_odd(void) { upc_reduce(words, (char *)words + 36); }
static void upc_reduce_to_odd(void) { upc_reduce((char *)words + 1, words + 4); }
static void upc_prefixes_odd(void) { upc_prefixes((char *)words + 4, words + 4); }
static void
upc_reduce_overlaps(void)
{
	upc_reduce(words, words + 1);                           /* before it */
	upc_reduce(words + 1, words + 1);                       /* in place */
	upc_reduce(words + 2, words + 1);
}
static void
upc_prefixes_overlap(void)
{
	upc_prefixes(words, words + 3);
	upc_prefixes(words, words);
	upc_prefixes(words + 2, words);
}

static void
upc_no_targets(void)
{
	void *base[1] = { words }, *nowhere[1] = { NULL };
	const pst_upc_array_t array = { pt.tm, base, 1, 8, 1, 0 };
	const pst_upc_array_t perm = { pt.tm, nowhere, 1, sizeof(int), 1, 0 };

	pst_upc_all_permute(&array, &array, &perm, 8, 0);
}

static void upc_no_array(void) { pst_upc_all_broadcast(NULL, NULL, 8, 0); }

static void
upc_no_source(void)
{
	void *base[1] = { words };
	const pst_upc_array_t array = { pt.tm, base, 1, 8, 1, 0 };

	pst_upc_all_gather(&array, NULL, 8, 0);
}

static void
upc_no_permutation(void)
{
	void *base[1] = { words };
	const pst_upc_array_t array = { pt.tm, base, 1, 8, 1, 0 };

	pst_upc_all_permute(&array, &array, NULL, 8, 0);
}

static void
upc_no_parts(void)
{
	const pst_upc_array_t array = { pt.tm, NULL, 1, 8, 1, 0 };

	pst_upc_all_broadcast(&array, &array, 8, 0);
}

static void
other_layout(void)
{
	void *base[1] = { words };
	const pst_upc_array_t dst = { pt.tm, base, 1, 8, 2, 0 }, src = { pt.tm, base, 2, 8, 2, 0 };

	pst_upc_all_prefix_reduce(&dst, &src, GEX_DT_U64, 8, 2, GEX_OP_ADD, NULL, NULL, 0);
}

static void
two_teams(void)
{
	void *base[1] = { words };
	pst_upc_array_t dst = { pt.tm, base, 1, 8, 1, 0 }, src = dst;

	gex_TM_Split(&src.tm, pt.tm, 0, 0, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
	pst_upc_all_broadcast(&dst, &src, 8, 0);
}

static void
upc_modes(void)
{
	void *base[1] = { words };
	const pst_upc_array_t array = { pt.tm, base, 1, 8, 1, 0 };

	pst_upc_all_prefix_reduce(&array, &array, GEX_DT_U64, 8, 1, GEX_OP_ADD, NULL, NULL,
	                          PST_UPC_OUT_NOSYNC | PST_UPC_OUT_ALLSYNC);
}

static void *both[2] = { words, words };

/* Starts the job; returns an array of so many elements in both ranks. */
static pst_upc_array_t
started_with_array(size_t elems)
{
	pt_start(NULL, NULL, NULL, 0, 1);
	return (pst_upc_array_t){ pt.tm, both, 1, 8, elems, 0 };
}

/* Run by both: rank 1 passes another size. */
static void
upc_sizes(void)
{
	const pst_upc_array_t array = started_with_array(1);

	pst_upc_all_broadcast(&array, &array, pt.rank ? 16 : 8, 0);
}

/* Run by both, as above. */
static void
upc_permuted_sizes(void)
{
	static uint64_t to[2];
	static int target;
	void *results[2] = { to, to }, *targets[2] = { &target, &target };
	const pst_upc_array_t array = started_with_array(2);
	const pst_upc_array_t dst = { pt.tm, results, 1, 8, 2, 0 };
	const pst_upc_array_t perm = { pt.tm, targets, 1, sizeof target, 2, 0 };

	target = 1 - (int)pt.rank;
	pst_upc_all_permute(&dst, &array, &perm, pt.rank ? 16 : 8, 0);
}

/* Run by both: rank 1 has the elements in rows of two. */
static void
upc_rows(void)
{
	pst_upc_array_t array = started_with_array(4);
	const size_t elems = pt.rank ? 4 : 2;

	array.elems = elems;
	pst_upc_all_reduce(&array, &array, GEX_DT_U64, 8, elems, GEX_OP_USER_NC, sum, NULL, 0);
}

static const struct pt_misuse cases[] = {
	{ "other_elements", PT_ALWAYS, 1, other_elements,
	  "a reduction of more elements than the array has",
	  "pst_upc_all_reduce: 3 elements of 8 bytes, and the array has 2 of 8; pass the array's",
	  0 },
	{ "upc_reduce_nowhere", PT_ALWAYS, 1, upc_reduce_nowhere, "a reduction of an array to NULL",
	  "pst_upc_all_reduce: dst is NULL, but should have 8 bytes; pass memory of this process",
	  0 },
	{ "upc_reduce_odd", PT_CHECKED, 1, upc_reduce_odd,
	  "a reduction of an array that is not aligned",
	  "pst_upc_all_reduce: dst 0x* or src 0x* is not aligned for elements of 8 bytes; align "
	  "them",
	  0 },
	{ "upc_reduce_to_odd", PT_CHECKED, 1, upc_reduce_to_odd,
	  "a reduction of an array to memory that is not aligned",
	  "pst_upc_all_reduce: dst 0x* or src 0x* is not aligned for elements of 8 bytes; align "
	  "them",
	  0 },
	{ "upc_reduce_overlaps", PT_CHECKED, 1, upc_reduce_overlaps,
	  "a reduction of an array to its second element",
	  "pst_upc_all_reduce: dst 0x* and src 0x* of 16 bytes overlap; pass the same address "
	  "twice, or memory apart",
	  0 },
	{ "upc_prefixes_odd", PT_CHECKED, 1, upc_prefixes_odd,
	  "prefixes into an array that is not aligned",
	  "pst_upc_all_prefix_reduce: dst 0x* or src 0x* is not aligned for elements of 8 bytes; "
	  "align them",
	  0 },
	{ "upc_prefixes_overlap", PT_CHECKED, 1, upc_prefixes_overlap,
	  "prefixes into an array that overlaps",
	  "pst_upc_all_prefix_reduce: dst 0x* and src 0x* of 24 bytes overlap; pass the same "
	  "address twice, or memory apart",
	  0 },
	{ "upc_no_targets", PT_ALWAYS, 1, upc_no_targets, "a permutation without targets",
	  "pst_upc_all_permute: perm is NULL, but should have 4 bytes; pass memory of this process",
	  0 },
	{ "upc_no_array", PT_ALWAYS, 1, upc_no_array, "a broadcast to an array that is not there",
	  "pst_upc_all_broadcast: dst is NULL, but should be an array; pass its description", 0 },
	{ "upc_no_source", PT_ALWAYS, 1, upc_no_source,
	  "a gather from an array that is not there",
	  "pst_upc_all_gather: src is NULL, but should be an array; pass its description", 0 },
	{ "upc_no_permutation", PT_ALWAYS, 1, upc_no_permutation,
	  "a permutation without the array of targets",
	  "pst_upc_all_permute: perm is NULL, but should be an array; pass its description", 0 },
	{ "upc_no_parts", PT_ALWAYS, 1, upc_no_parts, "an array without the ranks' parts",
	  "pst_upc_all_broadcast: base of dst is NULL, but should have 1 entries; pass the list",
	  0 },
	{ "other_layout", PT_ALWAYS, 1, other_layout, "prefixes into an array of another layout",
	  "pst_upc_all_prefix_reduce: dst is not laid out as src; pass an array of the same layout",
	  0 },
	{ "two_teams", PT_ALWAYS, 1, two_teams, "a broadcast between arrays of two teams",
	  "pst_upc_all_broadcast: the arrays are of two teams; pass arrays of one team", 0 },
	{ "upc_sizes", PT_CHECKED, 2, upc_sizes, "members that pass different sizes",
	  "pst_upc_all_broadcast: call * on its team, to which rank 0 passes 8 bytes and rank 1 "
	  "passes 16; let all members pass the same sizes",
	  1 },
	{ "upc_permuted_sizes", PT_CHECKED, 2, upc_permuted_sizes,
	  "the same in a permutation",
	  "pst_upc_all_permute: call * on its team, to which rank 0 passes 8 bytes and rank 1 "
	  "passes 16; let all members pass the same sizes",
	  1 },
	{ "upc_rows", PT_CHECKED, 2, upc_rows, "members that have arrays of different lengths",
	  "pst_upc_all_reduce: call * on its team, to which rank 0 passes * bytes and rank 1 "
	  "passes *; let all members pass the same sizes",
	  1 },
	{ "upc_modes", PT_ALWAYS, 1, upc_modes, "two ways to synchronise after a reduction",
	  "pst_upc_all_prefix_reduce: flags 0x28 have two of PST_IN_*, of PST_OUT_*, or SINGLE and "
	  "LOCAL; pass one of each at most",
	  0 },
};

const struct pt_misuse_set pt_misuse_acts = { .cases = cases, .count = PT_COUNT(cases) };
