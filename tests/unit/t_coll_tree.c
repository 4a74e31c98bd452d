/* Trees of collectives, and how a vector is cut, against what they should be, for all sizes. */
#include "coll/parts.h"

#include "tests/unit/main.h"

#include <string.h>

enum { MOST_RANKS = 300, PIECE_BYTES = 64 << 10 };

static struct pcoll_tree trees[MOST_RANKS];

/* The place of a rank in the order that the tree of a root goes by. */
static gex_Rank_t
place_of(gex_Rank_t rank, gex_Rank_t size, gex_Rank_t root)
{
	return (rank + size - root) % size;
}

/* A subtree is a run of places that its root begins: returns the place behind it. */
static gex_Rank_t
walk(gex_Rank_t rank, gex_Rank_t size, gex_Rank_t root, unsigned depth, unsigned *deepest)
{
	gex_Rank_t end = place_of(rank, size, root) + 1;

	if (depth > *deepest)
		*deepest = depth;
	for (uint32_t i = 0; i < trees[rank].children; i++) {
		const gex_Rank_t child = trees[rank].child[i];

		ck_assert_uint_eq(place_of(child, size, root), end);
		ck_assert_uint_eq(trees[child].parent, rank);
		ck_assert(!trees[child].is_root);
		end = walk(child, size, root, depth + 1, deepest);
	}
	return end;
}

static void
check_tree(gex_Rank_t size, gex_Rank_t root)
{
	unsigned deepest = 0, rounds = 0;

	while ((1u << rounds) < size)
		rounds++;
	for (gex_Rank_t rank = 0; rank < size; rank++) {
		pcoll_tree_make(rank, size, root, &trees[rank]);
		ck_assert_uint_le(trees[rank].children, rounds);
		ck_assert_int_eq(trees[rank].is_root, rank == root);
	}
	ck_assert_uint_eq(walk(root, size, root, 0, &deepest), size);
	ck_assert_uint_le(deepest, rounds);
}

START_TEST(each_subtree_is_a_run_of_ranks)
{
	for (gex_Rank_t size = 1; size <= MOST_RANKS; size++) {
		check_tree(size, 0);
		check_tree(size, size / 2);
		check_tree(size, size - 1);
		check_tree(size, size * 7 % 31 % size);
	}
}
END_TEST

START_TEST(the_largest_teams_have_trees)
{
	struct pcoll_tree tree;

	pcoll_tree_make(0, UINT32_MAX, 0, &tree);
	ck_assert_uint_eq(tree.children, PCOLL_TREE_CHILDREN);
	pcoll_tree_make(UINT32_MAX - 1, UINT32_MAX, 0, &tree);
	ck_assert_uint_eq(tree.children, 0);
	ck_assert_uint_eq(tree.parent, UINT32_MAX - 3);
	pcoll_tree_make(0, UINT32_MAX, UINT32_MAX - 1, &tree);
	ck_assert_uint_eq(tree.parent, UINT32_MAX - 1);
}
END_TEST

/* Pieces are whole elements, end where the vector does, and are no smaller than need be. */
START_TEST(vectors_are_cut_between_elements)
{
	static const size_t elems[] = { 1, 3, 4, 8, 24, 4096, 40000, PIECE_BYTES, 65537, 1000000 };

	for (size_t i = 0; i < sizeof elems / sizeof elems[0]; i++) {
		for (size_t count = 1; count < 200000 && count * elems[i] < 4000000;
		     count = count * 3 + 1) {
			const struct pcoll_call call = {
				.len_bytes = count * elems[i],
				.reduction = { .elem_bytes = elems[i] },
			};
			size_t at = 0;

			while (at < call.len_bytes) {
				const size_t piece = pcoll_up_piece(&call, at);

				ck_assert_uint_gt(piece, 0);
				ck_assert_uint_eq(piece % elems[i], 0);
				ck_assert(piece <= PIECE_BYTES || piece == elems[i]);
				ck_assert(piece + elems[i] > PIECE_BYTES ||
				          at + piece == call.len_bytes);
				at += piece;
			}
			ck_assert_uint_eq(at, call.len_bytes);
		}
	}
}
END_TEST

START_TEST(floats_have_no_bits)
{
	const gex_OP_t bits[] = { GEX_OP_AND, GEX_OP_OR, GEX_OP_XOR };

	for (unsigned i = 0; i < 3; i++) {
		ck_assert(pcoll_builtin(GEX_DT_I32, bits[i]));
		ck_assert(pcoll_builtin(GEX_DT_U64, bits[i]));
		ck_assert(!pcoll_builtin(GEX_DT_FLT, bits[i]));
		ck_assert(!pcoll_builtin(GEX_DT_DBL, bits[i]));
	}
	ck_assert(!pcoll_builtin(GEX_DT_I32 | GEX_DT_U32, GEX_OP_ADD));
	ck_assert(!pcoll_builtin(GEX_DT_I32, GEX_OP_ADD | GEX_OP_MIN));
	ck_assert(!pcoll_builtin(GEX_DT_USER, GEX_OP_ADD));
	ck_assert_uint_eq(pcoll_type_bytes(GEX_DT_FLT), 4);
	ck_assert_uint_eq(pcoll_type_bytes(GEX_DT_I64), 8);
	ck_assert_uint_eq(pcoll_type_bytes(GEX_DT_USER), 0);
	ck_assert_uint_eq(pcoll_type_bytes(0), 0);
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("coll_tree");

	tcase_add_test(tests, each_subtree_is_a_run_of_ranks);
	tcase_add_test(tests, the_largest_teams_have_trees);
	tcase_add_test(tests, vectors_are_cut_between_elements);
	tcase_add_test(tests, floats_have_no_bits);
	return unit_run("coll_tree", tests);
}
