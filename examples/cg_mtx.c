/*
 * Matrix Market files, read strictly: coordinate format, real or integer
 * values, general or symmetric.  Whatever could make the answer wrong is refused
 * with the number of its line.  Here: lines become entries.
 */
#include "cg_mtx_reader.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/types.h>

enum { MAX_LINE = 1024, MAX_ROWS = INT32_MAX };

int
mtx_fail(struct reader *rd, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(rd->error->text, sizeof rd->error->text, format, args);
	va_end(args);
	return -1;
}

/* ----------------------------------------------------- lines and numbers --- */

static void
split(struct reader *rd)
{
	char *p = rd->text;

	for (rd->words = 0; rd->words < MTX_WORDS; rd->words++) {
		while (isspace((unsigned char)*p))
			*p++ = '\0';
		if (*p == '\0')
			return;
		rd->word[rd->words] = p;
		while (*p != '\0' && !isspace((unsigned char)*p))
			p++;
	}
}

/* 1: the next line is in rd->word; 0: the file has ended; -1: it cannot be read. */
static int
next_line(struct reader *rd)
{
	ssize_t len;

	errno = 0;
	len = getline(&rd->text, &rd->text_bytes, rd->file);
	rd->error->line++;
	if (len < 0 && (ferror(rd->file) || !feof(rd->file))) {
		rd->error->line = 0;
		return mtx_fail(rd, "%s", strerror(errno));
	}
	if (len < 0)
		return 0;
	if (memchr(rd->text, '\0', (size_t)len) != NULL)
		return mtx_fail(rd, "not a text file: a byte is zero");
	if (len > MAX_LINE)
		return mtx_fail(rd, "the line has more than %d characters", MAX_LINE);
	split(rd);
	return 1;
}

/* Digits only: no sign, no space, no base but ten. */
static int
parse_index(const char *word, uint64_t most, uint64_t *value_out)
{
	uint64_t value = 0;
	const char *p;

	for (p = word; *p != '\0'; p++) {
		if (!isdigit((unsigned char)*p) || value > (most - (uint64_t)(*p - '0')) / 10)
			return -1;
		value = 10 * value + (uint64_t)(*p - '0');
	}
	*value_out = value;
	return 0;
}

static int
parse_value(struct reader *rd, const char *word, double *value_out)
{
	const char *allowed = rd->integer ? "+-0123456789" : "+-.0123456789eE";
	char *end;

	if (word[strspn(word, allowed)] != '\0')
		return mtx_fail(rd, "`%.40s' is not %s", word,
		                rd->integer ? "an integer" : "a finite number");
	*value_out = strtod(word, &end);
	if (end == word || *end != '\0')
		return mtx_fail(rd, "`%.40s' is not a number", word);
	if (!isfinite(*value_out))
		return mtx_fail(rd, "`%.40s' is too large", word);
	return 0;
}

/* ------------------------------------------------------ header and sizes --- */

static int
read_header(struct reader *rd)
{
	int got = next_line(rd);

	if (got < 0)
		return -1;
	if (got == 0 || rd->words == 0 || strcmp(rd->word[0], "%%MatrixMarket") != 0)
		return mtx_fail(rd,
		                "not a Matrix Market file: it must begin with %%%%MatrixMarket");
	if (rd->words != 5)
		return mtx_fail(rd, "the header must have five words");
	if (strcasecmp(rd->word[1], "matrix") != 0)
		return mtx_fail(rd, "holds a `%.40s', a matrix is wanted", rd->word[1]);
	if (strcasecmp(rd->word[2], "coordinate") != 0)
		return mtx_fail(rd, "format `%.40s', coordinate is wanted", rd->word[2]);
	rd->integer = strcasecmp(rd->word[3], "integer") == 0;
	if (!rd->integer && strcasecmp(rd->word[3], "real") != 0)
		return mtx_fail(rd, "values are `%.40s', real or integer is wanted", rd->word[3]);
	rd->symmetric = strcasecmp(rd->word[4], "symmetric") == 0;
	if (!rd->symmetric && strcasecmp(rd->word[4], "general") != 0)
		return mtx_fail(rd, "kind `%.40s', symmetric or general is wanted", rd->word[4]);
	return 0;
}

static int
read_sizes(struct reader *rd)
{
	uint64_t rows, cols;
	int got;

	do
		got = next_line(rd);
	while (got > 0 && (rd->words == 0 || rd->word[0][0] == '%'));
	if (got < 0)
		return -1;
	if (got == 0)
		return mtx_fail(rd, "the file ends before the line of sizes");
	if (rd->words != 3 || parse_index(rd->word[0], MAX_ROWS, &rows) != 0 ||
	    parse_index(rd->word[1], MAX_ROWS, &cols) != 0 ||
	    parse_index(rd->word[2], UINT64_MAX / 64, &rd->expected) != 0)
		return mtx_fail(rd, "three sizes are wanted: rows, columns, entries");
	if (rows != cols)
		return mtx_fail(rd, "%" PRIu64 " by %" PRIu64 " is not square", rows, cols);
	if (rows == 0)
		return mtx_fail(rd, "the matrix has no rows");
	if (rd->expected < rows)
		return mtx_fail(rd,
		                "not positive definite: fewer entries than rows, so some diagonal "
		                "entry is zero");
	rd->rows = (uint32_t)rows;
	return 0;
}

/* --------------------------------------------------------------- entries --- */

static int
add_entry(struct reader *rd, uint32_t row, uint32_t col, double val)
{
	struct entry *grown;

	if (rd->entries == rd->room) {
		rd->room = rd->room > 0 ? 2 * rd->room : 4096;
		grown = realloc(rd->entry, rd->room * sizeof *grown);
		if (grown == NULL)
			return mtx_fail(rd, "no memory for %" PRIu64 " entries", rd->room);
		rd->entry = grown;
	}
	rd->entry[rd->entries].row = row;
	rd->entry[rd->entries].col = col;
	rd->entry[rd->entries].val = val;
	rd->entry[rd->entries++].line = rd->error->line;
	return 0;
}

static int
read_place(struct reader *rd, uint64_t *row_out, uint64_t *col_out)
{
	uint64_t row, col;

	if (parse_index(rd->word[0], MAX_ROWS, &row) != 0 || row < 1 || row > rd->rows)
		return mtx_fail(rd, "row `%.40s' is not in 1 to %" PRIu32, rd->word[0], rd->rows);
	if (parse_index(rd->word[1], MAX_ROWS, &col) != 0 || col < 1 || col > rd->rows)
		return mtx_fail(rd, "column `%.40s' is not in 1 to %" PRIu32, rd->word[1],
		                rd->rows);
	if (rd->symmetric && col > row)
		return mtx_fail(rd, "above the diagonal of a symmetric matrix");
	*row_out = row;
	*col_out = col;
	return 0;
}

static int
read_entry(struct reader *rd)
{
	uint64_t row = 0, col = 0;
	double val = 0;
	int status;

	if (rd->word[0][0] == '%')
		return mtx_fail(rd, "a comment among the entries");
	if (rd->words != 3)
		return mtx_fail(rd, "row, column and value are wanted");
	if (read_place(rd, &row, &col) != 0 || parse_value(rd, rd->word[2], &val) != 0)
		return -1;
	if (row == col && val <= 0)
		return mtx_fail(rd, "not positive definite: a diagonal entry is %g", val);
	status = add_entry(rd, (uint32_t)row - 1, (uint32_t)col - 1, val);
	if (status == 0 && rd->symmetric && row != col)
		status = add_entry(rd, (uint32_t)col - 1, (uint32_t)row - 1, val);
	return status;
}

static int
read_body(struct reader *rd)
{
	uint64_t given = 0;
	int got;

	while ((got = next_line(rd)) > 0) {
		if (rd->words == 0)
			continue;
		if (given == rd->expected)
			return mtx_fail(rd,
			                "more than the %" PRIu64 " entries of the line of sizes",
			                rd->expected);
		if (read_entry(rd) != 0)
			return -1;
		given++;
	}
	if (got == 0 && given < rd->expected)
		return mtx_fail(rd, "the file ends after %" PRIu64 " of %" PRIu64 " entries", given,
		                rd->expected);
	return got;
}

int
mtx_read_entries(struct reader *rd)
{
	if (read_header(rd) != 0 || read_sizes(rd) != 0)
		return -1;
	return read_body(rd);
}
