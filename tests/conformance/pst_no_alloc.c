/*
 * Calls whose schedules are kept allocate nothing: with and without lists, and plans.  A note that
 * comes early may take memory where no note had before, so a few allocations are allowed.
 *
 * Sanitizers have their own malloc; with them the results alone are checked.
 */
#include <penstock.h>

#include "tests/lib/pt.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { WARM = 140, RUNS = 210, LISTS = 3, FEW = RUNS / 10 };

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

static uint64_t *src, *dst;
static size_t *counts[LISTS];   /* of 0 to 2 elements; 8 bytes each */

static void
gather_all(unsigned run)
{
	(void)run;
	pst_gather_all(pt.tm, dst, src, 8, 0);
	PT_EQ(dst[pt.size - 1], pt.size - 1);
}

static void
reduce_to_all(unsigned run)
{
	(void)run;
	pst_allreduce(pt.tm, dst, src, GEX_DT_U64, 8, 1, GEX_OP_ADD, NULL, NULL, 0);
	PT_EQ(dst[0], pt.size * (pt.size - 1) / 2);
}

/* Three lists in turns. */
static void
gather_allv(unsigned run)
{
	const size_t *list = counts[run % LISTS];

	pst_gather_allv(pt.tm, dst, list, NULL, src, list[pt.rank], 0);
	PT_EQ(dst[0], list[0] ? 0 : list[1 % pt.size] ? 1 % pt.size : dst[0]);
}

static void
exchangev(unsigned run)
{
	size_t *list = counts[run % LISTS];

	/* each member sends and receives as many as the sum of two ranks says */
	for (gex_Rank_t rank = 0; rank < pt.size; rank++)
		list[rank] = (pt.rank + rank + run % LISTS) % 3 * 8;
	pst_exchangev(pt.tm, dst, list, NULL, src, list, NULL, 0);
}

static pst_plan_t plan;

static void
start_plan(unsigned run)
{
	(void)run;
	gex_Event_Wait(pst_plan_start(plan));
}

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

static void
counts_reset(void)
{
	for (unsigned i = 0; i < LISTS; i++)
		for (gex_Rank_t rank = 0; rank < pt.size; rank++)
			counts[i][rank] = (rank + i) % 3 * 8;
}

int
main(int argc, char **argv)
{
	pt_start(&argc, &argv, NULL, 0, 4096);
	src = calloc(2 * (size_t)pt.size, sizeof *src);
	dst = calloc(2 * (size_t)pt.size, sizeof *dst);
	for (unsigned i = 0; i < LISTS; i++)
		counts[i] = calloc(pt.size, sizeof *counts[i]);
	PT_EQ(src && dst && counts[LISTS - 1], 1);
	for (gex_Rank_t i = 0; i < 2 * pt.size; i++)
		src[i] = pt.rank;
	repeat("gather_all", gather_all);
	repeat("reduce to all", reduce_to_all);
	counts_reset();
	repeat("gather_allv", gather_allv);
	PT_OK(pst_gather_allv_plan(pt.tm, dst, counts[1], NULL, src, counts[1][pt.rank], &plan, 0));
	repeat("plan of gather_allv", start_plan);
	pst_plan_free(plan, 0);
	repeat("exchangev", exchangev);
	free(src);
	free(dst);
	for (unsigned i = 0; i < LISTS; i++)
		free(counts[i]);
	pt_finish();
}
