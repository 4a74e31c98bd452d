/*
 * Reductions by functions of the client: its types of any size, its own data, its order, and what a
 * function may rely on.
 */
#include <gasnet_coll.h>

#include "tests/lib/pt.h"

/* -- a pair: the sum, and how often it was added to -------------------------------------------- */

struct pair {
	double sum;
	uint32_t adds;
	char pad[20];
};

/* As a type may ask for that holds a vector. */
enum { ALIGN = 32 };

static pt_count calls, misaligned, wrong_data;
static char my_data;

static void
add_pairs(const void *left_p, void *out_p, size_t count, const void *cdata)
{
	const struct pair *left = (const struct pair *)left_p;
	struct pair *out = (struct pair *)out_p;

	PT_INC(calls);
	if ((uintptr_t)left_p % ALIGN || (uintptr_t)out_p % ALIGN)
		PT_INC(misaligned);
	if (cdata != &my_data || count == 0)
		PT_INC(wrong_data);
	for (size_t i = 0; i < count; i++) {
		out[i].sum += left[i].sum;
		out[i].adds += left[i].adds + 1;
	}
}

static void
fill_pairs(struct pair *pairs, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		memset(&pairs[i], 0, sizeof pairs[i]);
		pairs[i].sum = (double)(pt.rank + 1) * (double)(i + 1);
	}
}

static void
check_pairs(const struct pair *pairs, size_t count)
{
	const double ranks = (double)pt.size * (pt.size + 1) / 2;

	for (size_t i = 0; i < count; i++) {
		PT_CHECK(pairs[i].sum == ranks * (double)(i + 1));
		PT_EQ(pairs[i].adds, pt.size - 1);
	}
}

static void
pairs(size_t count, gex_Rank_t root)
{
	struct pair *src = (struct pair *)aligned_alloc(ALIGN, count * sizeof *src);
	struct pair *dst = (struct pair *)aligned_alloc(ALIGN, count * sizeof *dst);

	PT_CHECK(src && dst);
	fill_pairs(src, count);
	gex_Event_Wait(gex_Coll_ReduceToOneNB(pt.tm, root, dst, src, GEX_DT_USER, sizeof *src,
	                                      count, GEX_OP_USER, add_pairs, &my_data, 0));
	if (pt.rank == root)
		check_pairs(dst, count);
	gex_Event_Wait(gex_Coll_ReduceToAllNB(pt.tm, src, src, GEX_DT_USER, sizeof *src, count,
	                                      GEX_OP_USER, add_pairs, &my_data, 0));
	check_pairs(src, count);
	free(src);
	free(dst);
}

/* -- words, in the order of the ranks ---------------------------------------------------------- */

enum { LETTERS = 40 };

struct word {
	char text[LETTERS];
};

/* Associative, and not commutative. */
static void
join_words(const void *left_p, void *out_p, size_t count, const void *cdata)
{
	const struct word *left = (const struct word *)left_p;
	struct word *out = (struct word *)out_p;

	(void)cdata;
	for (size_t i = 0; i < count; i++) {
		char both[2 * LETTERS];

		snprintf(both, sizeof both, "%s%s", left[i].text, out[i].text);
		both[LETTERS - 1] = '\0';
		memcpy(out[i].text, both, LETTERS);
	}
}

static void
check_words(const struct word *words, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		PT_EQ(strlen(words[i].text), pt.size);
		for (gex_Rank_t rank = 0; rank < pt.size; rank++)
			PT_EQ(words[i].text[rank], (int)('!' + (rank + i) % 90));
	}
}

/* Several pieces; in place where odd. */
static void
words(size_t count, gex_Rank_t root)
{
	struct word *src = (struct word *)calloc(count, sizeof *src);
	struct word *dst = (struct word *)calloc(count, sizeof *dst);

	PT_CHECK(src && dst);
	for (size_t i = 0; i < count; i++)
		src[i].text[0] = (char)('!' + (pt.rank + i) % 90);
	gex_Event_Wait(gex_Coll_ReduceToAllNB(pt.tm, dst, src, GEX_DT_USER, sizeof *src, count,
	                                      GEX_OP_USER_NC, join_words, NULL, 0));
	check_words(dst, count);
	if (root % 2)
		free(dst), dst = src;
	gex_Event_Wait(gex_Coll_ReduceToOneNB(pt.tm, root, dst, src, GEX_DT_USER, sizeof *src,
	                                      count, GEX_OP_USER_NC, join_words, NULL, 0));
	if (pt.rank == root)
		check_words(dst, count);
	if (dst != src)
		free(dst);
	free(src);
}

/* -- a built-in type, and elements as large as several messages -------------------------------- */

static void
gcds(const void *left_p, void *out_p, size_t count, const void *cdata)
{
	const uint32_t *left = (const uint32_t *)left_p;
	uint32_t *out = (uint32_t *)out_p;

	(void)cdata;
	for (size_t i = 0; i < count; i++) {
		uint32_t a = left[i], b = out[i];

		while (b) {
			const uint32_t rest = a % b;

			a = b;
			b = rest;
		}
		out[i] = a;
	}
}

static void
built_in_type(void)
{
	uint32_t value = 12 * (pt.rank + 1), all = 0;

	gex_Event_Wait(gex_Coll_ReduceToAllNB(pt.tm, &all, &value, GEX_DT_U32, sizeof value, 1,
	                                      GEX_OP_USER, gcds, NULL, 0));
	PT_EQ(all, 12);
	PT_EQ(value, 12 * (pt.rank + 1));
}

/* Each byte is a sum modulo 256; cdata is the size of an element. */
static void
add_bytes(const void *left_p, void *out_p, size_t count, const void *cdata)
{
	const unsigned char *left = (const unsigned char *)left_p;
	unsigned char *out = (unsigned char *)out_p;

	for (size_t i = 0; i < count * *(const size_t *)cdata; i++)
		out[i] = (unsigned char)(out[i] + left[i]);
}

static void
large_elements(size_t elem_bytes, size_t count)
{
	const size_t nbytes = elem_bytes * count;
	unsigned char *src = (unsigned char *)malloc(nbytes),
		      *dst = (unsigned char *)malloc(nbytes);

	PT_CHECK(src && dst);
	pt_fill(src, nbytes, pt.rank);
	gex_Event_Wait(gex_Coll_ReduceToAllNB(pt.tm, dst, src, GEX_DT_USER, elem_bytes, count,
	                                      GEX_OP_USER, add_bytes, &elem_bytes, 0));
	for (size_t i = 0; i < nbytes; i += 1 + i / 16) {
		unsigned char want = 0;

		for (gex_Rank_t rank = 0; rank < pt.size; rank++)
			want = (unsigned char)(want + pt_byte(rank, i));
		PT_EQ(dst[i], want);
	}
	free(src);
	free(dst);
}

int
main(int argc, char **argv)
{
	uint32_t ran; /* by all */

	pt_start(&argc, &argv, NULL, 0, 4096);
	for (unsigned round = 0; round < pt_scale(1, 4); round++) {
		const gex_Rank_t root = (round * 3 + 1) % pt.size;

		pairs(1, root);
		pairs(100, pt.size - 1 - root);
		pairs(5000, root);
		words(1, root);
		words(3000 + round, (root + 1) % pt.size);
		built_in_type();
	}
	large_elements(3, 50000);
	large_elements(32768, 3);
	large_elements(100001, 2);
	PT_EQ(PT_GET(misaligned), 0);
	PT_EQ(PT_GET(wrong_data), 0);
	ran = (uint32_t)PT_GET(calls);
	gex_Event_Wait(gex_Coll_ReduceToAllNB(pt.tm, &ran, &ran, GEX_DT_U32, sizeof ran, 1,
	                                      GEX_OP_ADD, NULL, NULL, 0));
	PT_CHECK(ran > 0 || pt.size == 1);
	pt_finish();
}
