/*
 * Bytes that lie in pieces, as vector, indexed and strided transfers describe them.
 *
 * A *side* of a transfer, its source or its destination, is a sequence of bytes in pieces.  A
 * *cursor* reads a side as *runs*: pieces of one length at one distance, into which neighbours are
 * joined.  So what copies, packs or checks knows of runs alone.  A conduit reads a side so:
 *
 *     struct psi_cursor cursor;
 *     struct psi_run run;
 *
 *     services->cursor_open(&cursor, side, (struct psi_position){ 0, 0 });
 *     while (services->cursor_look(&cursor, &run)) {
 *             take `run', or a part of it;
 *             services->cursor_take(&cursor, run.len, run.count);
 *     }
 *
 * A cursor may be copied, and goes on from the copy; it points to its side.
 */
#ifndef PSI_PIECES_H
#define PSI_PIECES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* count pieces of len bytes, the first at addr, each stride bytes past the one before. */
struct psi_run {
	uintptr_t addr;
	size_t len, count;
	ptrdiff_t stride;       /* any if count is 1 */
};

/* A gex_Memvec_t, or a gasnet_memvec_t. */
struct psi_memvec {
	void *addr;
	size_t len;
} __attribute__((may_alias));

/*
 * Dimensions of 2 points and more; no memory holds the disjoint bytes of more.  Those of one point
 * are dropped.
 */
enum { PSI_LATTICE_DIMS = 64 };

/* Pieces of elem bytes at the points of a lattice. */
struct psi_nest {
	size_t elem;
	unsigned dims;
	uintptr_t base;
	struct psi_dimension {
		size_t count;
		ptrdiff_t stride;
	} dim[PSI_LATTICE_DIMS];        /* of a copy there may be dims alone */
};

enum psi_side_kind { PSI_SIDE_LIST, PSI_SIDE_INDEX, PSI_SIDE_RUNS, PSI_SIDE_NEST };

struct psi_side {
	enum psi_side_kind kind;
	uintptr_t offset;       /* added, modulo the pointer width, to every address */
	size_t entries;         /* of the list; pieces of the nest */
	union {
		const struct psi_memvec *list;
		struct {
			void *const *addr;
			size_t len;
		} index;
		const struct psi_run *runs;
		const struct psi_nest *nest;
	} of;
};

/* Where a cursor stands: at the entry where its run begins, and bytes past that. */
struct psi_position {
	uint64_t entry, past;
};

struct psi_cursor {
	const struct psi_side *side;
	struct psi_position at;
	size_t next;            /* entry behind the run */
	struct psi_run run;     /* what is left of it; count 0: nothing */
	size_t off;             /* bytes of its first piece that are done */
};

/* -- keeping a side --------------------------------------------------------------------------- */

/* Bytes that a copy of a side needs beside the struct itself. */
static inline size_t
psi_side_room_bytes(const struct psi_side *side)
{
	return side->kind == PSI_SIDE_NEST ? offsetof(struct psi_nest, dim) +
	                                             side->of.nest->dims *
	                                                     sizeof side->of.nest->dim[0]
	                                   : 0;
}

/* A copy that outlives the operation that was given the side; room, aligned for any type, has
 * psi_side_room_bytes and lives as long.  Lists are the client's, and live until the cookie. */
static inline struct psi_side
psi_side_copy(const struct psi_side *side, void *room)
{
	struct psi_side copy = *side;

	if (side->kind == PSI_SIDE_NEST)
		copy.of.nest = memcpy(room, side->of.nest, psi_side_room_bytes(side));
	return copy;
}

#endif
