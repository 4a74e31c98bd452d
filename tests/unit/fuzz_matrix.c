/*
 * Texts against the reader of Matrix Market files of examples/cg.  What it takes is a symmetric
 * matrix with a positive diagonal; what it refuses has a line of the text and a reason.  As a
 * program of its own it makes the texts up; built with PT_LIBFUZZER it is a target of libFuzzer
 * (scripts/fuzz).
 *
 *     fuzz_matrix [seconds [seed]]
 */
#include "examples/cg_mtx_reader.h"

#include "tests/unit/fuzz_need.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Zero where the matrix has no entry. */
static double
value_at(const struct mtx *mtx, uint32_t row, uint32_t col)
{
	for (uint64_t i = mtx->start[row]; i < mtx->start[row + 1]; i++)
		if (mtx->col[i] == col)
			return mtx->val[i];
	return 0;
}

static void
check_row(const struct mtx *mtx, uint32_t row)
{
	need(mtx->start[row] < mtx->start[row + 1], "an empty row");
	for (uint64_t i = mtx->start[row]; i < mtx->start[row + 1]; i++) {
		const uint32_t col = mtx->col[i];

		need(col < mtx->rows, "a column outside");
		need(i == mtx->start[row] || mtx->col[i - 1] < col, "columns that do not ascend");
		need(isfinite(mtx->val[i]), "no finite value");
		need(fabs(mtx->val[i] - value_at(mtx, col, row)) <= 1e-12 * fabs(mtx->val[i]),
		     "not symmetric");
	}
	need(value_at(mtx, row, row) > 0, "no positive diagonal");
}

/* Where the text ends too early, the line is the one behind its last. */
static void
check_error(const struct mtx_error *error, const uint8_t *text, size_t len)
{
	size_t lines = 2;

	for (size_t i = 0; i < len; i++)
		lines += text[i] == '\n';
	need(memchr(error->text, '\0', sizeof error->text) && *error->text, "no reason");
	need(error->line <= lines, "a line that is not there");
}

static void
check(const uint8_t *text, size_t len)
{
	struct mtx_error error = { 0 };
	struct mtx mtx;
	char *copy = malloc(len + (len == 0));
	FILE *file;

	if (!copy)
		abort();
	memcpy(copy, text, len);
	file = len ? fmemopen(copy, len, "r") : fopen("/dev/null", "r");
	need(file != NULL, "the text does not open");
	if (mtx_read_file(&mtx, file, &error) != 0) {
		check_error(&error, text, len);
	} else {
		need(mtx.rows > 0 && mtx.start[0] == 0, "no rows");
		for (uint32_t row = 0; row < mtx.rows; row++)
			check_row(&mtx, row);
		mtx_free(&mtx);
	}
	fclose(file);
	free(copy);
}

/* The first three are those of matrices that the reader takes. */
static const char *const headers[] = {
	"%%MatrixMarket matrix coordinate real symmetric\n",
	"%%MatrixMarket matrix coordinate real general\n",
	"%%MatrixMarket matrix coordinate integer general\n",
	"%%MatrixMarket matrix array real general\n", "%%MatrixMarket\n", "",
};

enum { HEADERS = sizeof headers / sizeof *headers };

#if defined(PT_LIBFUZZER)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The first byte chooses a header, which libFuzzer would not find. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *header = size ? headers[data[0] % HEADERS] : "";
	const size_t header_len = strlen(header), rest_len = size ? size - 1 : 0;
	uint8_t *text = malloc(header_len + rest_len + 1);

	if (!text)
		abort();
	memcpy(text, header, header_len);
	if (rest_len)
		memcpy(text + header_len, data + 1, rest_len);
	check(text, header_len + rest_len);
	free(text);
	return 0;
}

#else

#include "tests/unit/fuzz.h"

enum { TEXT_BYTES = 512 };

/* Lines that make a matrix, and pieces that break them. */
static size_t
make_up(char text[TEXT_BYTES])
{
	static const char *const sizes[] = {
		"% a comment\n2 2 2\n", "2 2 3\n", "2 2 4\n", "1 1 1\n", "3 2 9\n", "0 0 0\n",
		"2147483647 2147483647 2147483648\n", "18446744073709551616 1 1\n",
	};
	static const char *const pieces[] = {
		"1 1 2\n", "2 2 2\n", "1 2 1\n", "2 1 1\n", "2 1 1.0000000000001\n", "3 3 1\n",
		"1 1 -1\n", "1 1 1e999\n", "1 1 nan\n", "1 1 0x1\n", "1 1 1 1\n", "1 1\n", "%\n",
		"\n", " ", "-", "9", ".", "e", "\t", "\r\n", "4294967297 1 1\n",
	};
	unsigned left = (unsigned)fuzz_draw(8);

	strcpy(text, headers[fuzz_draw(4) ? fuzz_draw(3) : fuzz_draw(HEADERS)]);
	strcat(text, sizes[fuzz_draw(4) ? fuzz_draw(4) : fuzz_draw(8)]);
	while (left-- > 0)
		strcat(text, pieces[fuzz_draw(3) ? fuzz_draw(5) : fuzz_draw(22)]);
	return strlen(text);
}

static void
try_one(void)
{
	char text[TEXT_BYTES];
	size_t len = make_up(text);

	if (len > 0 && fuzz_draw(8) == 0)
		text[fuzz_draw(len)] = (char)fuzz_draw(256);
	check((const uint8_t *)text, len);
}

int
main(int argc, char **argv)
{
	return fuzz_run("fuzz_matrix", argc, argv, try_one);
}

#endif
