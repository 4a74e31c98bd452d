/* Copies the bytes of one side of a transfer to the other. */
#include "runtime/vis/vis.h"

#include "runtime/util/bounds.h"
#include "runtime/util/copy.h"
#include "runtime/util/copy_vectors.h"

#include <string.h>

enum {
	VECTOR = 16,
	/* Pieces up to this size are copied by the loop itself. */
	SHORT_BYTES = 256,
};

/* Each copies count pieces of the length in its name.  The steps lead from piece to piece. */
#define FIXED(len)                                                                                \
	static void run_copy_##len(char *dst, ptrdiff_t dst_step, const char *src,                \
	                           ptrdiff_t src_step, size_t count)                              \
	{                                                                                         \
		for (; count; count--, dst += dst_step, src += src_step)                          \
			memcpy(dst, src, len);                                                    \
	}
FIXED(1)
FIXED(2)
FIXED(4)
FIXED(8)
FIXED(16)
FIXED(32)
FIXED(64)

/* Copies one piece of at least VECTOR bytes.  The last vector may overlap the one before. */
static inline void
piece_copy_vectors(char *dst, const char *src, size_t len)
{
	size_t at = 0;

	for (; at + VECTOR < len; at += VECTOR)
		memcpy(dst + at, src + at, VECTOR);
	memcpy(dst + len - VECTOR, src + len - VECTOR, VECTOR);
}

/* Copies one piece of 2 to VECTOR - 1 bytes. */
static inline void
piece_copy_few(char *dst, const char *src, size_t len)
{
	if (len >= 8) {
		memcpy(dst, src, 8);
		memcpy(dst + len - 8, src + len - 8, 8);
	} else if (len >= 4) {
		memcpy(dst, src, 4);
		memcpy(dst + len - 4, src + len - 4, 4);
	} else {
		memcpy(dst, src, 2);
		dst[len - 1] = src[len - 1];
	}
}

static void
run_copy_any(char *dst, ptrdiff_t dst_step, const char *src, ptrdiff_t src_step, size_t count,
             size_t len)
{
	for (; count; count--, dst += dst_step, src += src_step) {
		if (len > SHORT_BYTES)
			psi_copy(dst, src, len);
		else if (len >= VECTOR)
			piece_copy_vectors(dst, src, len);
		else
			piece_copy_few(dst, src, len);
	}
}

/*
 * Copies with vectors of 32 bytes, if the CPU has them, and without a call for each piece.  That is
 * up to 1.5 times as fast as vectors of 16 bytes when both sides lie in a cache.
 */
enum { LINE = 64, WIDE_BYTES = 4096 };

PSI_COPY_WIDE static void
run_copy_wide(char *dst, ptrdiff_t dst_step, const char *src, ptrdiff_t src_step, size_t count,
              size_t len)
{
	if (len == LINE)
		for (; count; count--, dst += dst_step, src += src_step)
			psi_copy_vectors(dst, src, LINE);
	else
		for (; count; count--, dst += dst_step, src += src_step)
			psi_copy_vectors(dst, src, len);
}

/* Copies a run to another.  Both have the same number of pieces, of the same length. */
static void
run_copy(const struct psi_run *to, const struct psi_run *from)
{
	char *dst = (char *)to->addr;
	const char *src = (const char *)from->addr;

	if (to->len > VECTOR && to->len <= WIDE_BYTES && psi_copy_can_vectors()) {
		run_copy_wide(dst, to->stride, src, from->stride, to->count, to->len);
		return;
	}
	switch (to->len) {
#define CASE(bytes)                                                                 \
	case bytes:                                                                 \
		run_copy_##bytes(dst, to->stride, src, from->stride, to->count);    \
		break;
	CASE(1)
	CASE(2)
	CASE(4)
	CASE(8)
	CASE(16)
	CASE(32)
	CASE(64)
#undef CASE
	default:
		run_copy_any(dst, to->stride, src, from->stride, to->count, to->len);
	}
}

/* Divides the first piece of `large' into pieces as long as those of `small'.  Both keep as many as
 * the shorter one has. */
static void
runs_divide(struct psi_run *large, struct psi_run *small)
{
	large->count = small->count = psi_least(large->len / small->len, small->count);
	large->len = small->len;
	large->stride = (ptrdiff_t)small->len;
}

/* Cuts both runs to pieces of the same length and number, at most `most' bytes in all. */
static void
runs_match(struct psi_run *a, struct psi_run *b, size_t most)
{
	if (a->len > b->len)
		runs_divide(a, b);
	else if (b->len > a->len)
		runs_divide(b, a);
	else
		a->count = b->count = psi_least(a->count, b->count);
	if (a->len > most) {
		a->len = b->len = most;
		a->count = b->count = 1;
	} else if (a->len * a->count > most) {
		a->count = b->count = most / a->len;
	}
}

size_t
psi_vis_copy(struct psi_cursor *dst, struct psi_cursor *src, size_t most)
{
	struct psi_run to, from;
	size_t left = most;

	while (left && psi_cursor_look(dst, &to) && psi_cursor_look(src, &from)) {
		runs_match(&to, &from, left);
		run_copy(&to, &from);
		psi_cursor_take(dst, to.len, to.count);
		psi_cursor_take(src, to.len, to.count);
		left -= to.len * to.count;
	}
	return most - left;
}
