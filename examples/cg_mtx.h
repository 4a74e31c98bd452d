/*
 * Matrices from Matrix Market files.
 */
#ifndef CG_MTX_H
#define CG_MTX_H

#include <stddef.h>
#include <stdint.h>

/* A symmetric matrix by rows, columns ascending; both triangles are stored. */
struct mtx {
	uint32_t rows;
	uint64_t *start; /* rows + 1 indices into col and val */
	uint32_t *col;
	double *val;
};

struct mtx_error {
	size_t line; /* 0: the file as a whole */
	char text[160];
};

/* 0, or -1 with the reason; only then is there nothing to free. */
int mtx_read(struct mtx *mtx_out, const char *path, struct mtx_error *error_out);
void mtx_free(struct mtx *mtx);

#endif
