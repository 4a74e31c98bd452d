/*
 * The building blocks of algorithms.  Each belongs to one operation, is set up once, and is then
 * stepped until it returns true.
 */
#ifndef PCOLL_PARTS_H
#define PCOLL_PARTS_H

#include "coll/coll.h"

enum { PCOLL_TREE_CHILDREN = 32 };

/*
 * Binomial tree over the members in the order root, root + 1, ..., modulo the size.  A member's
 * subtree is a run of that order which it begins; its children come in order, each subtree twice as
 * large as the one before.
 */
struct pcoll_tree {
	bool is_root;
	uint32_t children;
	gex_Rank_t parent;
	gex_Rank_t child[PCOLL_TREE_CHILDREN];
};

void pcoll_tree_make(gex_Rank_t rank, gex_Rank_t size, gex_Rank_t root, struct pcoll_tree *out);

/* A barrier inside an operation: all members arrive before one leaves (pcoll_sync.c). */
bool pcoll_sync_step(struct pcoll_op *op, struct pcoll_sync *sync, enum pcoll_channel channel);

/*
 * A reduction up a tree, piece by piece (pcoll_up.c).  The members' vectors are combined in the
 * order of the tree, so an ordered reduction takes the tree of root 0.
 */
struct pcoll_up;
size_t pcoll_up_bytes(const struct pcoll_call *call, gex_Rank_t root);
/* Sets up the part in `pcoll_up_bytes' bytes of memory, aligned to 64 and zero.  The root writes
 * the result to dst; if dst is NULL it sends the result to the member `heir'.  Other members ignore
 * both. */
struct pcoll_up *pcoll_up_start(struct pcoll_op *op, void *memory, gex_Rank_t root, void *dst,
                                gex_Rank_t heir);
bool pcoll_up_step(struct pcoll_op *op, struct pcoll_up *up);
/* The number of bytes whose reduction has passed this member, which does not read its src below
 * that any more. */
size_t pcoll_up_done(const struct pcoll_up *up);
/* Bytes of one piece, at offset. */
size_t pcoll_up_piece(const struct pcoll_call *call, size_t offset);

/* The same bytes down a tree, sent on as they come (pcoll_down.c). */
struct pcoll_down {
	struct pcoll_tree tree;
	unsigned char *buf;
	size_t len_bytes;
	bool asked;
	struct pcoll_in in;
	struct pcoll_out out[PCOLL_TREE_CHILDREN];
};

void pcoll_down_start(struct pcoll_op *op, struct pcoll_down *down, gex_Rank_t root,
                      const void *buf, size_t len_bytes);
/* The root has `ready' bytes; elsewhere it is ignored. */
bool pcoll_down_step(struct pcoll_op *op, struct pcoll_down *down, size_t ready);

/* Blocks straight between members (pcoll_direct.c). */
size_t pcoll_direct_bytes(const struct pcoll_call *call);
void pcoll_direct_start(struct pcoll_op *op);
/* A block of or for this member itself is copied at once.  A member has at most one of each. */
void pcoll_direct_receive(struct pcoll_op *op, gex_Rank_t from, void *addr);
void pcoll_direct_send(struct pcoll_op *op, gex_Rank_t to, const void *addr);
/* All of it, start included, where each member has a block for each, so far apart in its src, and
 * each begins with the rank above its own. */
void pcoll_direct_all(struct pcoll_op *op, size_t stride_bytes);
bool pcoll_direct_step(struct pcoll_op *op);

#endif
