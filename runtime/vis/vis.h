/*
 * Transfers of many pieces.
 *
 * Vector, indexed and strided calls become one description: a *side* for the destination and one
 * for the source, of as many bytes, and byte n of the one goes to byte n of the other.  Sides are
 * read through cursors (runtime/conduit/pieces.h).
 *
 * Strided calls first become a *lattice*, which both sides share: dimensions that are contiguous on
 * both sides are merged, and all are sorted, since their order means nothing.
 *
 * Everything but the calls themselves (vis.c) and their checks (vis_rules.c) is pure.
 */
#ifndef PSI_VIS_H
#define PSI_VIS_H

#include "runtime/conduit/pieces.h"
#include "runtime/segment/reach.h"
#include "runtime/team/team.h"

enum psi_which { PSI_DST, PSI_SRC, PSI_SIDES };

/* Pieces of elem bytes at the points of a lattice. */
struct psi_lattice {
	size_t elem;
	unsigned dims;
	uintptr_t base[PSI_SIDES];
	size_t count[PSI_LATTICE_DIMS];         /* at least 2 each */
	ptrdiff_t stride[PSI_SIDES][PSI_LATTICE_DIMS];
};

/* -- lattices (vis_lattice.c) ----------------------------------------------------------------- */

/* What a strided call says of one side. */
struct psi_strides {
	void *addr;
	const ptrdiff_t *stride;
};

/* Returns false if the pieces have more bytes than memory.  Neither elem nor any count is 0. */
bool psi_lattice_make(struct psi_lattice *out, struct psi_strides dst, struct psi_strides src,
                      size_t elem, const size_t *count, size_t levels);
/* Bytes of each side. */
size_t psi_lattice_bytes(const struct psi_lattice *lattice);
/* One side of the lattice.  The side refers to nest. */
struct psi_side psi_lattice_side(const struct psi_lattice *lattice, enum psi_which which,
                                 struct psi_nest *nest);

/* -- sides (vis_side.c) ----------------------------------------------------------------------- */

static inline struct psi_side
psi_side_list(const gex_Memvec_t *list, size_t count)
{
	return (struct psi_side){ .kind = PSI_SIDE_LIST, .entries = count,
	                          .of.list = (const struct psi_memvec *)list };
}

static inline struct psi_side
psi_side_index(void *const *addr, size_t count, size_t len)
{
	return (struct psi_side){ .kind = PSI_SIDE_INDEX, .entries = len ? count : 0,
	                          .of.index = { addr, len } };
}

static inline struct psi_side
psi_side_runs(const struct psi_run *runs, size_t count)
{
	return (struct psi_side){ .kind = PSI_SIDE_RUNS, .entries = count, .of.runs = runs };
}

/* The bytes of a side, and where they lie: from lo to just below hi. */
struct psi_extent {
	size_t bytes;           /* SIZE_MAX: that many or more */
	uintptr_t lo, hi;       /* lo > hi: past the end of memory; both 0 if bytes is 0 */
};
struct psi_extent psi_side_extent(const struct psi_side *side);

/* The service of the contract.  Opens a cursor at a position: the beginning, or what psi_cursor_at
 * returned. */
void psi_cursor_open(struct psi_cursor *cursor, const struct psi_side *side,
                     struct psi_position at);
static inline struct psi_position psi_cursor_at(const struct psi_cursor *c) { return c->at; }

/* The services of the contract: look shows the next run, take moves past a part of it. */
bool psi_cursor_look(struct psi_cursor *cursor, struct psi_run *run_out);
void psi_cursor_take(struct psi_cursor *cursor, size_t len, size_t count);
/* Moves past that many bytes, at most to the end. */
void psi_cursor_skip(struct psi_cursor *cursor, size_t bytes);

/* -- copies (vis_copy.c) ---------------------------------------------------------------------- */

/* Copies until a side ends, but at most `most' bytes; returns how many it has copied. */
size_t psi_vis_copy(struct psi_cursor *dst, struct psi_cursor *src, size_t most);

/* -- calls (vis.c) and their checks (vis_rules.c) --------------------------------------------- */

/* One call. */
struct psi_vis {
	const char *call;
	enum psi_which remote;          /* PSI_DST: a put */
	unsigned form;                  /* PSI_VIS_ */
	gex_Flags_t flags;
	struct psi_target target;
	struct psi_side side[PSI_SIDES];
	size_t bytes;                   /* of each side */
};

/* Checked in every build: lists that are NULL, sides of different size. */
void psi_vis_need_strides(const struct psi_strides side[PSI_SIDES], const size_t *count,
                          size_t levels, const char *call);
void psi_vis_check_sizes(size_t dst_bytes, size_t src_bytes, const char *call);
/* Ends the job at the first piece of the remote side that does not lie in the peer's segment. */
void psi_vis_check_pieces(const struct psi_vis *vis, enum psi_way way);

/* Checked if psi.checks is set: pieces at NULL, and pieces of the destination that overlap each
 * other or, if the remote side is mapped here, the source. */
void psi_vis_rules(const struct psi_vis *vis, bool mapped);
/* Checks strides if psi.checks is set: points of the destination that coincide, and what only
 * GASNet-1 forbids. */
void psi_vis_rules_strides(const struct psi_strides side[PSI_SIDES], size_t elem,
                           const size_t *count, size_t levels, bool legacy, const char *call);

/* -- by the kernel, where the remote side is another process's memory (vis_vm.c) --------------- */

/* If the pieces of a side are smaller than this on average, messages are quicker: the kernel takes
 * 0.35 us for each piece of the peer's, a message 8 us for each 16 KiB. */
enum { PSI_VIS_VM_BYTES = 1024 };

/* Returns false if the kernel has not copied everything; then the transfer goes by messages. */
bool psi_vis_single_copy(const struct psi_vis *vis);

/* -- peer completion (vis_peer.c) ------------------------------------------------------------- */

/* Has the calling thread armed a handler for its next put? */
bool psi_vis_armed(void);
/* Ends the job if this transfer cannot have the armed handler. */
void psi_vis_check_armed(const struct psi_vis *vis);
/* Called when the data is in place.  Sends the peer the message with the handler, and disarms. */
void psi_vis_tell_peer(struct psi_target target);

#endif
