/*
 * Collectives by active messages: one engine for all operations.  Those in shared memory are in
 * cells.h and pcoll_barrier_shared.h.
 *
 * A call becomes an operation in flight (struct pcoll_op), which is advanced from its start and
 * from every poll until this member has done its part.  Members know an operation by team and
 * number: the k-th call on a team is number k everywhere.
 *
 * Two kinds of messages.  A *note* is a Short that names team, operation, both members and an
 * index, and carries two words.  It may come before its receiver has called, and is then kept until
 * it has.  *Data* is sent only to a member that has asked for it by a note, which carries where it
 * goes; so data never comes early, no payload is ever kept, and what is kept is bounded by what the
 * peers have in flight.
 *
 * Locks.  engine.lock guards the list of operations, the notes and `busy'.  An operation is stepped
 * by the one thread that made it busy, with no lock held, so that functions of clients may run
 * there.
 *
 * Pairs:  X1 (data_on_message) -> X2 (pcoll_in_prefix, pcoll_direct_step)   payload before its
 *                                                                           count
 *         X3 (pcoll_op_changed) -> X4 (op_run)           a change before the step that follows
 *         X5 (op_retire) -> X6 (pcoll_op_is_finished)    the results, and what peers wrote before
 */
#ifndef PCOLL_H
#define PCOLL_H

#include "coll/operation.h"
#include "coll/pcoll_names.h"

#include "runtime/process/module.h"
#include "runtime/process/shared.h"

#include "gasnet_coll.h"

struct pcoll_reduction {
	size_t elem_bytes;
	gex_Coll_ReduceFn_t combine;    /* of this member */
	const void *cdata;
	bool ordered;                   /* associative only */
};

/*
 * A phase of a barrier of the job (pcoll_barrier.c).  Such phases are operations with numbers of
 * their own.  The series stands in notes where a team's id does, and is no such id.
 */
#define PCOLL_SERIES (UINT64_MAX - PSI_BARRIER_AREAS)

struct pcoll_phase {
	uint64_t series;
	uint32_t number;
	struct pcoll_names names;       /* this member's; when the operation is finished, all
	                                 * members' */
};

/* The arguments of a member's call.  Addresses, combine and cdata are its own; the rest is the same
 * on all members. */
struct pcoll_call {
	enum pcoll_operation operation;
	gex_TM_t tm;
	gex_Rank_t root;
	void *dst;
	const void *src;
	size_t len_bytes;               /* scatter and the like: of one block */
	struct pcoll_reduction reduction;
	struct pcoll_phase *phase;      /* of a barrier; NULL: the next call on the team */
	bool in_all, out_all;           /* nothing moves before all called; done when all is
	                                 * moved */
};

/* The purpose of a note: the upper bits of its index. */
enum pcoll_channel {
	PCOLL_ENTER = 1 << 28, PCOLL_LEAVE = 2 << 28,
	PCOLL_UP = 3 << 28, PCOLL_DOWN = 4 << 28, PCOLL_RESULT = 5 << 28, PCOLL_DIRECT = 6 << 28,
};

struct pcoll_note {
	struct pcoll_note *next;
	uint64_t team;                  /* its id, or a series of phases */
	uint32_t number, operation, index;
	gex_Rank_t from, to;            /* in the team */
	uint64_t words[2];
};

/* A barrier by dissemination inside an operation; names are gathered on the way. */
struct pcoll_sync {
	struct pcoll_names names;
	uint32_t round;
	bool sent;
};

struct pcoll_op;

/*
 * One way to do an operation.  start computes what the arguments determine, in op->scratch; step
 * advances and returns true when this member's part is done, and is called again after every
 * change.
 */
struct pcoll_algorithm {
	enum pcoll_operation operation;
	const char *name, *summary;
	bool (*serves)(const struct pcoll_call *call);  /* NULL: all calls */
	size_t (*scratch_bytes)(const struct pcoll_call *call);
	void (*start)(struct pcoll_op *op);
	bool (*step)(struct pcoll_op *op);
};

enum pcoll_stage { PCOLL_ENTERING, PCOLL_MOVING, PCOLL_LEAVING };

/* Never given back to the system, so that an event may ask at any time. */
struct pcoll_op {
	struct pcoll_op *next, *before;         /* in flight; or free, next only */
	struct pcoll_note *notes;               /* that no caller has taken */
	bool busy;
	_Atomic bool stirred;           /* something has changed since it was stepped */
	_Atomic uint64_t finished;      /* the use of this memory that ended last */
	/* The rest belongs to whoever has it busy; constant but for stage, blocked and syncs. */
	uint64_t use;
	struct pcoll_call call;
	const struct pcoll_algorithm *algorithm;
	uint64_t team;
	uint32_t number;
	enum pcoll_stage stage;
	bool blocked;                   /* some message found no room: step it at every poll */
	struct pcoll_sync enter, leave;
	void *scratch;                  /* 64-aligned, zeroed; until the end */
};

/* -- the engine (pcoll_engine.c) --------------------------------------------------------------- */

/* The event is GEX_EVENT_INVALID if the call is complete already. */
gex_Event_t pcoll_start(const struct pcoll_call *call);
/* The same without counting and without an event: the operation, and which use of it this is. */
void pcoll_op_start(const struct pcoll_call *call, struct pcoll_op **op_out, uint64_t *use_out);
/* Has that use ended?  `object' is a struct pcoll_op. */
bool pcoll_op_is_finished(const void *object, uint64_t use);

void pcoll_lock(void);
void pcoll_unlock(void);
/* Returns NULL if this member has not called yet.  The caller holds the lock. */
struct pcoll_op *pcoll_find(uint64_t team, uint32_t number, gex_Rank_t rank);
/* Any thread. */
void pcoll_op_changed(struct pcoll_op *op);

/* -- notes (pcoll_note.c) ---------------------------------------------------------------------- */

void pcoll_notes_register(gex_EP_t ep);
/* Does the work of `team_ends' of the module. */
void pcoll_notes_team_ends(gex_TM_t tm, const char *call);

extern const struct psi_module pcoll_module;
/* False if there is no room; then the operation is blocked. */
bool pcoll_note_send(struct pcoll_op *op, gex_Rank_t to, uint32_t index, uint64_t word0,
                     uint64_t word1);
/* Takes the note of that member and index, if it is there. */
bool pcoll_note_take(struct pcoll_op *op, gex_Rank_t from, uint32_t index, uint64_t words_out[2]);
/* The same of whichever member. */
bool pcoll_note_take_any(struct pcoll_op *op, uint32_t index, gex_Rank_t *from_out,
                         uint64_t words_out[2]);
/* Gives the operation its notes that came early.  The caller holds the lock. */
void pcoll_notes_claim(struct pcoll_op *op);
/* Counts a call of this member that needs no notes: a barrier by flags. */
void pcoll_pass(gex_TM_t tm);
/* Sends a message or asks for room; for notes and data. */
bool pcoll_send(struct pcoll_op *op, gex_Rank_t to, struct psi_am *am, const char *what);

/* -- transfers (pcoll_transfer.c) -------------------------------------------------------------- */

/* Incoming bytes are counted in this many parts, so that a part can be sent on before all have
 * come. */
enum { PCOLL_SEGMENTS = 16 };

/* The bytes that one peer sends to this member. */
struct pcoll_in {
	struct pcoll_op *op;
	unsigned char *addr;
	size_t len_bytes, segment_bytes;
	gex_Rank_t from;
	uint32_t index;
	uint32_t full;                          /* segments known to be here */
	_Atomic size_t got[PCOLL_SEGMENTS];     /* bytes, by segment; added to by handlers */
	_Atomic size_t *sum;                    /* of several; set before asking: it is added to
	                                         * instead */
};

/* The bytes that this member sends to one peer. */
struct pcoll_out {
	const unsigned char *addr;
	size_t len_bytes, sent_bytes;
	gex_Rank_t to;
	uint32_t index;
	bool asked;
	uint64_t cookie;                        /* the peer's struct pcoll_in */
};

void pcoll_transfers_register(gex_EP_t ep);
/* Asks the peer for len_bytes, more than 0, to addr; false if there was no room to ask. */
bool pcoll_in_ask(struct pcoll_op *op, struct pcoll_in *in, gex_Rank_t from, uint32_t index,
                  void *addr, size_t len_bytes);
/* The number of bytes that have come without a gap, from the first on. */
size_t pcoll_in_prefix(struct pcoll_in *in);
static inline bool
pcoll_in_whole(struct pcoll_in *in)
{
	return pcoll_in_prefix(in) == in->len_bytes;
}

/* The peer has asked, by a note with these words. */
void pcoll_out_asked(struct pcoll_op *op, struct pcoll_out *out, const uint64_t words[2]);
/* Looks whether it has, if need be, and sends what may be sent of the first `ready' bytes; true
 * when all of len_bytes has gone. */
bool pcoll_out_push(struct pcoll_op *op, struct pcoll_out *out, size_t ready);

/* -- the choice (pcoll_registry.c) ------------------------------------------------------------- */

const struct pcoll_algorithm *pcoll_choose(const struct pcoll_call *call);

/* -- built-in reductions (pcoll_reduction.c) --------------------------------------------------- */

/* NULL if the type does not have the operation. */
gex_Coll_ReduceFn_t pcoll_builtin(gex_DT_t dt, gex_OP_t op);
/* 0 if it is no built-in type. */
size_t pcoll_type_bytes(gex_DT_t dt);

#endif
