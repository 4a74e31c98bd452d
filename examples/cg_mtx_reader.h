/*
 * The reader of Matrix Market files: what its two parts share.
 */
#ifndef CG_MTX_READER_H
#define CG_MTX_READER_H

#include "cg_mtx.h"

#include <stdio.h>

struct entry {
	uint32_t row, col; /* from 0 */
	double val;
	uint64_t line;
};

enum { MTX_WORDS = 6 }; /* one more than any line has */

struct reader {
	FILE *file;
	char *text; /* of the current line, cut into words */
	size_t text_bytes;
	char *word[MTX_WORDS];
	unsigned words;
	int symmetric, integer;
	uint32_t rows;
	uint64_t expected; /* entries, by the line of sizes */
	struct entry *entry;
	uint64_t entries, room;
	struct mtx_error *error; /* its line is the current one */
};

/* Say what is wrong with the current line; always -1. */
int mtx_fail(struct reader *rd, const char *format, ...)
#ifdef __GNUC__
	__attribute__((format(printf, 2, 3)))
#endif
	;

/* 0, or -1 and the error is filled in. */
int mtx_read_entries(struct reader *rd);
int mtx_build(struct reader *rd, struct mtx *mtx_out);
/* mtx_read of an open file; -1 also if `file' is NULL, with errno as the reason. */
int mtx_read_file(struct mtx *mtx_out, FILE *file, struct mtx_error *error_out);

#endif
