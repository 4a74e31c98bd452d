/* Collectives of penstock.h with single-valued addresses: every rank passes every pointer, at one
 * offset of its segment.  PST_CHECK compares the offsets.  Each rank is the root once. */
#include <penstock.h>

#include "tests/lib/pt.h"

enum { ELEMS = 40 };

static PT_OWN uint64_t *src, *dst;

static uint64_t
operand(gex_Rank_t rank, gex_Rank_t block, unsigned i)
{
	return 1000 * rank + 100 * block + i;
}

static void
fill(void)
{
	for (gex_Rank_t block = 0; block < pt.size; block++)
		for (unsigned i = 0; i < ELEMS; i++) {
			src[block * ELEMS + i] = operand(pt.rank, block, i);
			dst[block * ELEMS + i] = 0;
		}
}

/* dst has, as block `at', the block of one rank. */
static void
expect_block(gex_Rank_t at, gex_Rank_t rank, gex_Rank_t block)
{
	for (unsigned i = 0; i < ELEMS; i++)
		PT_EQ(dst[at * ELEMS + i], operand(rank, block, i));
}

/* dst has the sum of a block of ranks 0 to count - 1. */
static void
expect_sum(gex_Rank_t count, gex_Rank_t block)
{
	for (unsigned i = 0; i < ELEMS; i++) {
		uint64_t sum = 0;

		for (gex_Rank_t rank = 0; rank < count; rank++)
			sum += operand(rank, block, i);
		PT_EQ(dst[i], sum);
	}
}

#define RED GEX_DT_U64, 8, ELEMS, GEX_OP_ADD, NULL, NULL

static void
with_root(gex_Rank_t root)
{
	const size_t bytes = ELEMS * sizeof *src;

	fill();
	pst_bcast(pt.tm, root, dst, src, bytes, PST_SINGLE);
	expect_block(0, root, 0);
	pst_scatter(pt.tm, root, dst, src, bytes, PST_SINGLE);
	expect_block(0, root, pt.rank);
	pst_reduce(pt.tm, root, dst, src, RED, PST_SINGLE);
	if (pt.rank == root)
		expect_sum(pt.size, 0);
	pst_gather(pt.tm, root, dst, src, bytes, PST_SINGLE);
	for (gex_Rank_t rank = 0; pt.rank == root && rank < pt.size; rank++)
		expect_block(rank, rank, 0);
}

static void
without_root(void)
{
	const size_t bytes = ELEMS * sizeof *src;

	fill();
	pst_gather_all(pt.tm, dst, src, bytes, PST_SINGLE);
	for (gex_Rank_t rank = 0; rank < pt.size; rank++)
		expect_block(rank, rank, 0);
	pst_exchange(pt.tm, dst, src, bytes, PST_SINGLE);
	for (gex_Rank_t rank = 0; rank < pt.size; rank++)
		expect_block(rank, rank, pt.rank);
	pst_permute(pt.tm, (pt.rank + 1) % pt.size, dst, src, bytes, PST_SINGLE);
	expect_block(0, (pt.rank + pt.size - 1) % pt.size, 0);
	pst_allreduce(pt.tm, dst, src, RED, PST_SINGLE);
	expect_sum(pt.size, 0);
	pst_reduce_scatter(pt.tm, dst, src, RED, PST_SINGLE);
	expect_sum(pt.size, pt.rank);
	pst_scan(pt.tm, dst, src, RED, PST_SINGLE);
	expect_sum(pt.rank + 1, 0);
	pst_exscan(pt.tm, dst, src, RED, PST_SINGLE);
	if (pt.rank)
		expect_sum(pt.rank, 0);
}

/* Addresses of nothing are no offsets of a segment. */
static void
without_bytes(void)
{
	pst_bcast(pt.tm, 0, NULL, NULL, 0, PST_SINGLE);
	pst_allreduce(pt.tm, NULL, NULL, GEX_DT_U64, 8, 0, GEX_OP_ADD, NULL, NULL, PST_SINGLE);
	pst_permute(pt.tm, pt.rank, NULL, NULL, 0, PST_SINGLE);
}

int
main(int argc, char **argv)
{
	size_t vector_bytes;

	pt_init(&argc, &argv, 0);
	vector_bytes = pt.size * ELEMS * sizeof *src;
	pt_attach(NULL, 0, 2 * vector_bytes);
	src = (uint64_t *)pt.base;
	dst = src + pt.size * ELEMS;
	pt_phase("calls with a root");
	for (gex_Rank_t root = 0; root < pt.size; root++)
		with_root(root);
	pt_phase("calls without");
	without_root();
	pt_phase("calls of no bytes");
	without_bytes();
	pt_finish();
}
