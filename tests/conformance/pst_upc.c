/* The collectives over shared arrays as UPC has them, against what one process computes: block
 * sizes 0, 1, odd and larger than the array, from each first rank. */
#include <penstock_upc_coll.h>

#include "tests/lib/pt.h"
#include "tests/lib/pt_step.h"

enum { MOST = 100 };            /* elements of an array */

static PT_OWN void **dst_base, **src_base, **perm_base;

static pst_upc_array_t
array_of(void **base, void *own)
{
	pst_upc_array_t array = { pt.tm, NULL, 0, 1, 0, 0 };

	base[pt.rank] = own;
	array.base = base;
	return array;
}

/* -- data -------------------------------------------------------------------------------------- */

enum { BLOCK = 24 };

static uint64_t
key_of(gex_Rank_t from, gex_Rank_t to)
{
	return 1 + from * 300u + to;
}

static void
data(gex_Rank_t first, gex_Flags_t flags)
{
	unsigned char *src = (unsigned char *)malloc(pt.size * BLOCK);
	unsigned char *dst = (unsigned char *)malloc(pt.size * BLOCK);
	pst_upc_array_t to = array_of(dst_base, dst), from = array_of(src_base, src);
	int target = (int)((pt.rank + 1 + first) % pt.size);
	pst_upc_array_t perm = array_of(perm_base, &target);

	for (gex_Rank_t rank = 0; rank < pt.size; rank++)
		pt_fill(src + rank * BLOCK, BLOCK, key_of(pt.rank, rank));
	from.first = to.first = first;
	pst_upc_all_broadcast(&to, &from, BLOCK, flags);
	PT_MEM(dst, BLOCK, key_of(first, 0));
	pst_upc_all_scatter(&to, &from, BLOCK, flags);
	PT_MEM(dst, BLOCK, key_of(first, pt.rank));
	pst_upc_all_gather(&to, &from, BLOCK, flags);
	for (gex_Rank_t rank = 0; pt.rank == first && rank < pt.size; rank++)
		PT_MEM(dst + rank * BLOCK, BLOCK, key_of(rank, 0));
	pst_upc_all_gather_all(&to, &from, BLOCK, flags);
	for (gex_Rank_t rank = 0; rank < pt.size; rank++)
		PT_MEM(dst + rank * BLOCK, BLOCK, key_of(rank, 0));
	pst_upc_all_exchange(&to, &from, BLOCK, flags);
	for (gex_Rank_t rank = 0; rank < pt.size; rank++)
		PT_MEM(dst + rank * BLOCK, BLOCK, key_of(rank, pt.rank));
	pst_upc_all_permute(&to, &from, &perm, BLOCK, flags);
	PT_MEM(dst, BLOCK, key_of((pt.rank + 2 * pt.size - 1 - first) % pt.size, 0));
	free(src);
	free(dst);
}

/* -- reductions -------------------------------------------------------------------------------- */

static struct pt_step
step_of(size_t i)
{
	const struct pt_step step = { 2 * i + 3, i * 5 + 1 };

	return step;
}

/* Calls visit with each element of this rank's part: its place there, and its index. */
static void
each_own(const pst_upc_array_t *array, void (*visit)(size_t at, size_t i, void *arg), void *arg)
{
	const size_t blk = array->blk_elems ? array->blk_elems : array->elems;
	size_t at = 0;

	for (size_t i = 0; i < array->elems; i++)
		if ((array->first + i / blk) % pt.size == pt.rank)
			visit(at++, i, arg);
}

static void
step_fill(size_t at, size_t i, void *arg)
{
	((struct pt_step *)arg)[at] = step_of(i);
}

static void
step_check(size_t at, size_t i, void *arg)
{
	const struct pt_step *got = (const struct pt_step *)arg + at;
	struct pt_step sum = step_of(0);

	for (size_t k = 1; k <= i; k++)
		sum = pt_step_join(sum, step_of(k));
	PT_EQ(got->a, sum.a);
	PT_EQ(got->b, sum.b);
}

static void
int_fill(size_t at, size_t i, void *arg)
{
	((int32_t *)arg)[at] = (int32_t)(i * i % 17) - 8;
}

static void
int_check(size_t at, size_t i, void *arg)
{
	int32_t sum = 0;

	for (size_t k = 0; k <= i; k++)
		sum += (int32_t)(k * k % 17) - 8;
	PT_EQ(((const int32_t *)arg)[at], sum);
}

#define STEPS(elems) GEX_DT_USER, sizeof(struct pt_step), elems, GEX_OP_USER_NC,        \
	             pt_steps_combine, NULL
#define INTS(elems)  GEX_DT_I32, sizeof(int32_t), elems, GEX_OP_ADD, NULL, NULL

/* In the order of elements, and by an operator of the library. */
static void
reductions(size_t elems, size_t blk_elems, gex_Rank_t first, gex_Flags_t flags, int in_place)
{
	struct pt_step src[MOST], dst[MOST];
	int32_t numbers[MOST], sums[MOST];
	pst_upc_array_t from = array_of(src_base, src);
	pst_upc_array_t to = array_of(dst_base, in_place ? src : dst);

	from.elem_bytes = to.elem_bytes = sizeof(struct pt_step);
	from.elems = to.elems = elems;
	from.blk_elems = to.blk_elems = blk_elems;
	from.first = to.first = first;
	each_own(&from, step_fill, src);
	memset(dst, 0, sizeof dst);
	if (!in_place) {
		to.first = (first + 1) % pt.size;
		pst_upc_all_reduce(&to, &from, STEPS(elems), flags);
		if (pt.rank == to.first)
			step_check(0, elems - 1, dst);
		to.first = first;
	}
	pst_upc_all_prefix_reduce(&to, &from, STEPS(elems), flags);
	each_own(&to, step_check, in_place ? src : dst);

	from.elem_bytes = to.elem_bytes = sizeof(int32_t);
	src_base[pt.rank] = numbers;
	dst_base[pt.rank] = in_place ? numbers : sums;
	each_own(&from, int_fill, numbers);
	if (!in_place) {
		pst_upc_all_reduce(&to, &from, INTS(elems), flags);
		if (pt.rank == to.first)
			int_check(0, elems - 1, sums);
	}
	pst_upc_all_prefix_reduce(&to, &from, INTS(elems), flags);
	each_own(&to, int_check, in_place ? numbers : sums);
}

int
main(int argc, char **argv)
{
	static const size_t sizes[] = { 1, 5, 36, MOST }, blocks[] = { 0, 1, 3, 7, MOST + 20 };
	unsigned turn = 0;

	pt_start(&argc, &argv, NULL, 0, 4096);
	dst_base = (void **)calloc(3 * (size_t)pt.size, sizeof *dst_base);
	PT_EQ(dst_base != NULL, 1);
	src_base = dst_base + pt.size;
	perm_base = src_base + pt.size;
	pt_phase("data");
	for (gex_Rank_t first = 0; first < pt.size; first++) {
		data(first, 0);
		data(first, PST_UPC_IN_MYSYNC | PST_UPC_OUT_ALLSYNC);
	}
	pt_phase("reductions");
	for (size_t s = 0; s < PT_COUNT(sizes); s++)
		for (size_t b = 0; b < PT_COUNT(blocks); b++)
			for (gex_Rank_t first = 0; first < pt.size; first++, turn++)
				reductions(sizes[s], blocks[b], first,
				           turn % 3 ? 0 : PST_UPC_IN_MYSYNC | PST_UPC_OUT_ALLSYNC,
				           (int)(turn % 2));
	free(dst_base);
	pt_finish();
}
