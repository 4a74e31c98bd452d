/* The built-in operations on vectors: of any length, also where vectors of the processor do not
 * fit, they do what they do on each element alone. */
#include "coll/coll.h"
#include "coll/kernels.h"
#include "tests/unit/main.h"

#include <string.h>

enum { MOST = 67, ELEM_MOST = 16, LEFT_SHIFT = 3 };

/* Without padding, which no operator writes. */
#ifdef __x86_64__
enum { LDBL_BYTES = 10 };
#else
enum { LDBL_BYTES = sizeof(long double) };
#endif

static uint64_t state = 20261126;

static uint32_t
draw(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 33);
}

/* Numbers of all sizes of integers; of floating types small ones, some of them 0. */
static void
element_draw(unsigned type, unsigned char *out)
{
	const uint64_t bits = (uint64_t)draw() << 32 ^ draw();
	const int small = (int)(draw() % 7) - 3;
	const float flt = (float)small / 2;
	const double dbl = (double)small / 4;
	const long double ldbl = (long double)small / 8;

	memset(out, 0, ELEM_MOST);
	if (1u << type == GEX_DT_FLT)
		memcpy(out, &flt, sizeof flt);
	else if (1u << type == GEX_DT_DBL)
		memcpy(out, &dbl, sizeof dbl);
	else if (1u << type == PST_DT_LDBL)
		memcpy(out, &ldbl, LDBL_BYTES);
	else
		memcpy(out, &bits, draw() % 4 ? sizeof bits : 0);
}

static void
vector_draw(unsigned type, size_t elem, unsigned char *out)
{
	for (size_t i = 0; i < MOST; i++) {
		unsigned char drawn[ELEM_MOST];

		element_draw(type, drawn);
		memcpy(out + i * elem, drawn, elem);
	}
}

/* The vectors have MOST elements.  Those of the result behind `count' must stay as they are. */
static void
check_length(pcoll_kernel_fn kernel, unsigned op, unsigned type, size_t count)
{
	static _Alignas(16) unsigned char from[(MOST + LEFT_SHIFT) * ELEM_MOST];
	static _Alignas(16) unsigned char right[MOST * ELEM_MOST], apart[MOST * ELEM_MOST];
	static _Alignas(16) unsigned char expected[MOST * ELEM_MOST];
	const size_t elem = pcoll_type_bytes((gex_DT_t)1 << type), bytes = count * elem;
	unsigned char *left = from + draw() % LEFT_SHIFT * elem;

	vector_draw(type, elem, left);
	vector_draw(type, elem, right);
	memcpy(expected, right, MOST * elem);
	memcpy(apart, right, MOST * elem);
	for (size_t i = 0; i < count; i++)
		kernel(left + i * elem, right + i * elem, expected + i * elem, 1);
	memset(apart, 0, bytes);
	kernel(left, right, apart, count);
	ck_assert_msg(memcmp(apart, expected, MOST * elem) == 0,
	              "operator %u of type %u, %zu elements", op, type, count);
	memcpy(apart, left, bytes);
	kernel(apart, right, apart, count);
	ck_assert_msg(memcmp(apart, expected, bytes) == 0,
	              "operator %u of type %u, %zu elements, into the left ones", op, type,
	              count);
	kernel(left, right, right, count);
	ck_assert_msg(memcmp(right, expected, MOST * elem) == 0,
	              "operator %u of type %u, %zu elements, into the right ones", op, type,
	              count);
}

START_TEST(vectors_are_combined_as_their_elements)
{
	unsigned kernels = 0;

	for (unsigned op = 0; op < PCOLL_OPS; op++)
		for (unsigned type = 0; type < PCOLL_TYPES; type++) {
			const pcoll_kernel_fn kernel = pcoll_kernel(op, type);

			for (size_t count = 0; kernel && count <= MOST; count++)
				check_length(kernel, op, type, count);
			kernels += kernel != NULL;
		}
	ck_assert_uint_eq(kernels, 6 * 11 + 3 * 8);
}
END_TEST

static void
check_one(gex_OP_t op, int32_t left, int32_t right, int32_t expected)
{
	pcoll_builtin(GEX_DT_I32, op)(&left, &right, &right, 1);
	ck_assert_int_eq(right, expected);
}

START_TEST(an_element_is_combined_as_the_operator_says)
{
	check_one(GEX_OP_AND, 12, 10, 8);
	check_one(GEX_OP_OR, 12, 10, 14);
	check_one(GEX_OP_XOR, 12, 10, 6);
	check_one(GEX_OP_ADD, INT32_MAX, 1, INT32_MIN);
	check_one(GEX_OP_MULT, -3, 4, -12);
	check_one(GEX_OP_MIN, -3, 2, -3);
	check_one(GEX_OP_MAX, -3, 2, 2);
	check_one(PST_OP_LAND, 4, 2, 1);
	check_one(PST_OP_LAND, 4, 0, 0);
	check_one(PST_OP_LOR, 0, 2, 1);
	check_one(PST_OP_LOR, 0, 0, 0);
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("kernels");

	tcase_add_test(tests, vectors_are_combined_as_their_elements);
	tcase_add_test(tests, an_element_is_combined_as_the_operator_says);
	return unit_run("kernels", tests);
}
