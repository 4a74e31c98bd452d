/*
 * Matrix Market files: the entries of a file become rows, once they are known
 * to be those of a symmetric matrix with a full diagonal.
 */
#include "cg_mtx_reader.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int
by_place(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	return (x->col > y->col) - (x->col < y->col);
}

static int
by_place_and_line(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int order = by_place(a, b);

	return order != 0 ? order : (x->line > y->line) - (x->line < y->line);
}

static int
check_single(struct reader *rd)
{
	uint64_t i;

	for (i = 1; i < rd->entries; i++) {
		const struct entry *e = &rd->entry[i];

		if (by_place(e - 1, e) != 0)
			continue;
		rd->error->line = e->line;
		return mtx_fail(rd, "this entry was given on line %" PRIu64 " already", e[-1].line);
	}
	return 0;
}

static int
check_diagonal(struct reader *rd)
{
	uint64_t i, found = 0;

	for (i = 0; i < rd->entries; i++)
		found += rd->entry[i].row == rd->entry[i].col;
	if (found == rd->rows)
		return 0;
	rd->error->line = 0;
	return mtx_fail(rd, "not positive definite: %" PRIu64 " diagonal entries are missing",
	                rd->rows - found);
}

/* Files hold decimals: mirrored entries may differ by a rounding of the last digits. */
static int
check_mirrored(struct reader *rd, const struct entry *e)
{
	struct entry key = { e->col, e->row, 0, 0 };
	const struct entry *twin =
		bsearch(&key, rd->entry, rd->entries, sizeof *rd->entry, by_place);
	double other = twin != NULL ? twin->val : 0;

	if (fabs(e->val - other) <= 1e-12 * fabs(e->val))
		return 0;
	rd->error->line = e->line;
	return mtx_fail(rd,
	                "not symmetric: (%" PRIu32 ", %" PRIu32 ") is %g, its mirror image is %g",
	                e->row + 1, e->col + 1, e->val, other);
}

static int
check_symmetric(struct reader *rd)
{
	uint64_t i;

	if (rd->symmetric) /* made so while reading */
		return 0;
	for (i = 0; i < rd->entries; i++)
		if (check_mirrored(rd, &rd->entry[i]) != 0)
			return -1;
	return 0;
}

static int
to_rows(struct reader *rd, struct mtx *mtx_out)
{
	struct mtx mtx = { .rows = rd->rows };
	uint64_t i;

	mtx.start = calloc((size_t)mtx.rows + 1, sizeof *mtx.start);
	mtx.col = malloc(rd->entries * sizeof *mtx.col);
	mtx.val = malloc(rd->entries * sizeof *mtx.val);
	if (mtx.start == NULL || mtx.col == NULL || mtx.val == NULL) {
		mtx_free(&mtx);
		return mtx_fail(rd, "no memory for %" PRIu64 " entries", rd->entries);
	}
	for (i = 0; i < rd->entries; i++) {
		mtx.start[rd->entry[i].row + 1]++;
		mtx.col[i] = rd->entry[i].col;
		mtx.val[i] = rd->entry[i].val;
	}
	for (i = 0; i < mtx.rows; i++)
		mtx.start[i + 1] += mtx.start[i];
	*mtx_out = mtx;
	return 0;
}

int
mtx_build(struct reader *rd, struct mtx *mtx_out)
{
	qsort(rd->entry, rd->entries, sizeof *rd->entry, by_place_and_line);
	if (check_single(rd) != 0 || check_diagonal(rd) != 0 || check_symmetric(rd) != 0)
		return -1;
	return to_rows(rd, mtx_out);
}

int
mtx_read_file(struct mtx *mtx_out, FILE *file, struct mtx_error *error_out)
{
	struct reader rd = { .file = file, .error = error_out };
	int status;

	error_out->line = 0;
	if (rd.file == NULL)
		return mtx_fail(&rd, "%s", strerror(errno));
	status = mtx_read_entries(&rd);
	if (status == 0)
		status = mtx_build(&rd, mtx_out);
	free(rd.entry);
	free(rd.text);
	return status;
}

int
mtx_read(struct mtx *mtx_out, const char *path, struct mtx_error *error_out)
{
	FILE *file = fopen(path, "r");
	const int status = mtx_read_file(mtx_out, file, error_out);

	if (file != NULL)
		fclose(file);
	return status;
}

void
mtx_free(struct mtx *mtx)
{
	free(mtx->start);
	free(mtx->col);
	free(mtx->val);
}
