/*
 * Calls that a kept schedule serves, or nearly one: they do what their own arguments say, and
 * allocate nothing.  A note that comes early may take memory where no note had before, so a few
 * allocations are allowed; what puts waiters in order reads files now and then, and is off.
 *
 * Sanitizers have their own malloc; with them the results alone are checked.
 */
#include <penstock.h>

#include "tests/lib/pt.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

enum { WARM = 140, RUNS = 210, LISTS = 3, FEW = RUNS / 10, MOST = 2, GAP = 3, NOTHING = 77 };

static atomic_ulong allocations;

#if !defined(PT_ASAN) && !defined(PT_TSAN) && defined(__GLIBC__)
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);

void *
malloc(size_t len_bytes)
{
	atomic_fetch_add(&allocations, 1);
	return __libc_malloc(len_bytes);
}

void *
calloc(size_t count, size_t len_bytes)
{
	atomic_fetch_add(&allocations, 1);
	return __libc_calloc(count, len_bytes);
}

void *
realloc(void *memory, size_t len_bytes)
{
	atomic_fetch_add(&allocations, 1);
	return __libc_realloc(memory, len_bytes);
}
#endif

/* The buffers of a call.  A block has up to MOST elements; those that lie apart begin GAP apart. */
static uint64_t *src, *dst;
static size_t *counts, *displs, *given;

/* The elements that one rank has for another in a call with that list. */
static size_t
elems(gex_Rank_t from, gex_Rank_t to, unsigned list)
{
	return (from + to + list) % (MOST + 1);
}

static uint64_t
value(gex_Rank_t from, gex_Rank_t to, size_t i, unsigned run)
{
	return ((uint64_t)run << 32 | from << 16 | to) * 8 + i;
}

static void
dst_clear(void)
{
	for (size_t i = 0; i < (size_t)GAP * pt.size; i++)
		dst[i] = NOTHING;
}

/* At `at' is what `from' has for `to'. */
static void
block_is(size_t at, gex_Rank_t from, gex_Rank_t to, size_t count, unsigned run)
{
	for (size_t i = 0; i < count; i++)
		PT_EQ(dst[at + i], value(from, to, i, run));
}

/* -- calls ------------------------------------------------------------------------------------- */

static void
gather_all(unsigned run)
{
	src[0] = value(pt.rank, 0, 0, run);
	pst_gather_all(pt.tm, dst, src, 8, 0);
	for (gex_Rank_t rank = 0; rank < pt.size; rank++)
		block_is(rank, rank, 0, 1, run);
}

static void
reduce_to_all(unsigned run)
{
	src[0] = pt.rank + run;
	pst_allreduce(pt.tm, dst, src, GEX_DT_U64, 8, 1, GEX_OP_ADD, NULL, NULL, 0);
	PT_EQ(dst[0], pt.size * (pt.size - 1) / 2 + pt.size * run);
}

/* Blocks of the list of that number, in reverse and with gaps where `apart'. */
static void
lists_fill(unsigned list, bool apart)
{
	for (gex_Rank_t rank = 0; rank < pt.size; rank++) {
		counts[rank] = 8 * elems(rank, 0, list);
		displs[rank] = 8 * (size_t)GAP * (apart ? pt.size - 1 - rank : rank);
	}
}

static void
src_fill(unsigned run)
{
	for (size_t i = 0; i < MOST; i++)
		src[i] = value(pt.rank, 0, i, run);
}

static void
blocks_are(unsigned run)
{
	for (gex_Rank_t rank = 0; rank < pt.size; rank++)
		block_is(displs[rank] / 8, rank, 0, counts[rank] / 8, run);
}

/* Three lists in turns. */
static void
gather_allv(unsigned run)
{
	lists_fill(run % LISTS, false);
	src_fill(run);
	dst_clear();
	pst_gather_allv(pt.tm, dst, counts, displs, src, counts[pt.rank], 0);
	blocks_are(run);
}

/* Packed; each has something else for each. */
static void
exchangev(unsigned run)
{
	size_t at = 0;

	for (gex_Rank_t rank = 0; rank < pt.size; rank++) {
		counts[rank] = 8 * elems(rank, pt.rank, run % LISTS);
		given[rank] = 8 * elems(pt.rank, rank, run % LISTS);
		for (size_t i = 0; i < given[rank] / 8; i++)
			src[at++] = value(pt.rank, rank, i, run);
	}
	dst_clear();
	pst_exchangev(pt.tm, dst, counts, NULL, src, given, NULL, 0);
	at = 0;
	for (gex_Rank_t rank = 0; rank < pt.size; at += counts[rank++] / 8)
		block_is(at, rank, pt.rank, counts[rank] / 8, run);
	PT_EQ(dst[at], NOTHING);
}

static pst_plan_t plan;

static void
start_plan(unsigned run)
{
	src_fill(run);
	dst_clear();
	gex_Event_Wait(pst_plan_start(plan));
	blocks_are(run);
}

/* -- how often they allocate ------------------------------------------------------------------- */

static void
repeat(const char *what, void (*call)(unsigned run))
{
	unsigned long before = 0, now;

	pt_phase(what);
	for (unsigned run = 0; run < WARM + RUNS; run++) {
		if (run == WARM)
			before = atomic_load(&allocations);
		call(run);
		pst_barrier(pt.tm, 0);
	}
	now = atomic_load(&allocations);
	PT_LE(now - before, FEW);
}

/* -- calls that differ in one thing ------------------------------------------------------------ */

/* The lists, the offsets, in place or apart, packed or not. */
static void
gather_allv_nearly(unsigned run)
{
	const bool in_place = run / 4 % 2, packed = run / 8 % 2;
	const void *from = src;
	size_t at = 0;

	lists_fill(run % 2, run / 2 % 2);
	for (gex_Rank_t rank = 0; packed && rank < pt.size; at += counts[rank++])
		displs[rank] = at;
	src_fill(run);
	dst_clear();
	if (in_place) {
		memcpy((char *)dst + displs[pt.rank], src, counts[pt.rank]);
		from = (char *)dst + displs[pt.rank];
	}
	pst_gather_allv(pt.tm, dst, counts, packed ? NULL : displs, from, counts[pt.rank], 0);
	blocks_are(run);
}

/* The root, or the lists. */
static void
gatherv_nearly(unsigned run)
{
	const gex_Rank_t root = run % pt.size;

	lists_fill(run / pt.size % 2, run / pt.size / 2 % 2);
	src_fill(run);
	dst_clear();
	pst_gatherv(pt.tm, root, dst, counts, displs, src, counts[pt.rank], 0);
	if (pt.rank == root)
		blocks_are(run);
}

int
main(int argc, char **argv)
{
	pt_start(&argc, &argv, NULL, 0, 4096);
	src = calloc((size_t)MOST * pt.size, sizeof *src);
	dst = calloc((size_t)GAP * pt.size, sizeof *dst);
	counts = calloc(pt.size, sizeof *counts);
	displs = calloc(pt.size, sizeof *displs);
	given = calloc(pt.size, sizeof *given);
	PT_EQ(src && dst && counts && displs && given, 1);
	repeat("gather_all", gather_all);
	repeat("reduce to all", reduce_to_all);
	repeat("gather_allv", gather_allv);
	lists_fill(1, true);
	PT_OK(pst_gather_allv_plan(pt.tm, dst, counts, displs, src, counts[pt.rank], &plan, 0));
	repeat("plan of gather_allv", start_plan);
	pst_plan_free(plan, 0);
	repeat("exchangev", exchangev);
	pt_phase("calls that are nearly alike");
	for (unsigned run = 0; run < 64; run++) {
		gather_allv_nearly(run);
		gatherv_nearly(run);
	}
	free(src);
	free(dst);
	free(counts);
	free(displs);
	free(given);
	pt_finish();
}
