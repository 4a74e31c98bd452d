/*
 * Collectives by active messages: one engine for all operations.  Those in shared memory are in
 * cells.h and pcoll_barrier_shared.h.
 *
 * A call becomes an operation in flight (struct pcoll_op): the executor (executor.h) carries out
 * this member's schedule from the start and from every poll until its end.  Members know an
 * operation by team and number: the k-th call on a team is number k everywhere.
 *
 * Two kinds of messages.  A *note* names team, operation, both members and an index.  It carries
 * two words, and perhaps a short payload.  It may come before its receiver has called or needs it,
 * and is then kept.  *Data* is sent only to a member that has asked for it by a note, which carries
 * where it goes; so data never comes early.  Where the sender has that memory mapped, it stores
 * there, and then says so.  What is kept is bounded, since members meet: in calls that nobody ends
 * before all have begun them, and where these do not come soon enough, in a barrier with which a
 * call begins (schedule_cache.c).
 *
 * Locks.  engine.lock guards the list of operations, the notes and `busy'.  An operation is stepped
 * by the one thread that made it busy, with no lock held, so that functions of clients may run
 * there.  schedule_cache.c has a lock of its own, under which no other is taken.
 *
 * Pairs:  X1 (data_on_message) -> X2 (slot_receiving)    payload before its count
 *         X3 (pcoll_op_changed) -> X4 (op_run)           a change before the step that follows
 *         X5 (op_retire) -> X6 (pcoll_op_is_finished)    the results, and what peers wrote before
 */
#ifndef PCOLL_H
#define PCOLL_H

#include "coll/executor.h"
#include "coll/kernels.h"
#include "coll/operation.h"
#include "coll/pcoll_names.h"

#include "runtime/process/module.h"
#include "runtime/process/shared.h"

#include "penstock_coll.h"

#include <string.h>

struct pcoll_reduction {
	size_t elem_bytes;              /* 0: no reduction */
	pcoll_kernel_fn kernel;         /* of this member; NULL: `combine' */
	gex_Coll_ReduceFn_t combine;    /* of this member; not used with a kernel */
	const void *cdata;
	bool ordered;                   /* associative only */
	uint32_t key;                   /* of type and operator, which all members agree on */
};

/* The lower bits of a key are the operator, the others the type. */
enum { PCOLL_KEY_OP_BITS = 14 };

static inline gex_DT_t
pcoll_reduction_type(const struct pcoll_reduction *reduction)
{
	return (gex_DT_t)(reduction->key >> PCOLL_KEY_OP_BITS);
}

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

/* The lengths of members' blocks, as clients give them: counts of units, and offsets in bytes.
 * displs NULL: one block after the other. */
struct pcoll_counts {
	const size_t *counts, *displs;
	size_t unit_bytes;
};

static inline size_t
pcoll_counts_bytes(const struct pcoll_counts *counts, gex_Rank_t rank)
{
	return counts->counts[rank] * counts->unit_bytes;
}

/* Where the block of the next rank begins.  *end_io: where the block before ends, and then where
 * this one does; at first 0. */
static inline size_t
pcoll_counts_at(const struct pcoll_counts *counts, gex_Rank_t rank, size_t *end_io)
{
	const size_t at = counts->displs ? counts->displs[rank] : *end_io;

	*end_io = at + pcoll_counts_bytes(counts, rank);
	return at;
}

struct pcoll_call;

/* A call that takes and gives values, not addresses, keeps them here: its src is `in', its dst
 * `out'. */
struct pcoll_scalar {
	uint64_t in[2], out[2];
	void *result_out;
	void (*finish)(const struct pcoll_scalar *scalar);      /* writes the result */
};

/* The arguments of a member's call.  Addresses, counts, target, kernel, combine and cdata are its
 * own, and with counts len_bytes; the rest is the same on all members. */
struct pcoll_call {
	struct pcoll_what what;
	gex_TM_t tm;
	gex_Rank_t root;
	void *dst;
	const void *src;
	size_t len_bytes;               /* scatter and the like: of this member's block */
	gex_Rank_t target;              /* of a permutation */
	struct pcoll_reduction reduction;
	struct pcoll_phase *phase;      /* of a barrier; NULL: the next call on the team */
	bool is_remainder;              /* it carries the long blocks of a call by cells ... */
	uint32_t remainder_of;          /* ... which has that number */
	struct pcoll_attempt *attempt;  /* of a device, at a call by cells (device.h); or NULL */
	gex_Flags_t flags;              /* with PST_CHECK: the client's; else 0 */
	bool in_all, out_all;           /* nothing moves before all called; done when all is
	                                 * moved */
	bool reproducible;              /* what is combined with what does not depend on where
	                                 * members are */
	union {                         /* what.api says which */
		struct {
			struct pcoll_counts src_counts, dst_counts;
		};
		struct pcoll_scalar scalar;
	};
};

/* What a member waits for that waits for the call with that number on its team; the same words at
 * all members that have made the same call. */
void pcoll_call_describe(const struct pcoll_call *call, uint32_t number,
                         char text_out[PSI_WHERE_BYTES]);

static inline bool
pcoll_call_has_lists(const struct pcoll_call *call)
{
	return call->what.api == PCOLL_PST_LISTS;
}

static inline bool
pcoll_call_has_scalar(const struct pcoll_call *call)
{
	return call->what.api >= PCOLL_PST_VALUE;
}

/* The first copies a call into its record, which must not move afterwards, and points src and dst
 * of a call on values there.  The second writes the result. */
static inline void
pcoll_call_copy(struct pcoll_call *to, const struct pcoll_call *from)
{
	const bool has_scalar = pcoll_call_has_scalar(from);

	/* few calls have the union, and small ones feel each copy */
	memcpy(to, from,
	       has_scalar || pcoll_call_has_lists(from) ? sizeof *to
	                                                : offsetof(struct pcoll_call, scalar));
	if (!has_scalar)
		return;
	to->src = to->scalar.in;
	to->dst = to->scalar.out;
}

static inline void
pcoll_call_finish(const struct pcoll_call *call)
{
	if (PSI_UNLIKELY(pcoll_call_has_scalar(call)))
		call->scalar.finish(&call->scalar);
}

/* Never given back to the system, so that an event may ask at any time. */
struct pcoll_op {
	struct pcoll_op *next, *before;         /* in flight; or free, next only */
	struct pcoll_note *notes;       /* that the executor has not looked at */
	bool busy;
	_Atomic bool stirred;           /* something has changed since it was stepped */
	_Atomic uint64_t finished;      /* the use of this memory that ended last */
	/* The rest belongs to whoever has it busy; constant but for blocked and executor. */
	uint64_t use;
	struct pcoll_call call;
	uint64_t team;
	uint32_t number;
	bool blocked;                   /* some message found no room: step it at every poll */
	struct pcoll_executor executor;
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

extern const struct psi_module pcoll_module;

/* -- notes (pcoll_note.c) ---------------------------------------------------------------------- */

enum { PCOLL_EAGER_BYTES = 4096 };

/* The index of a note is the tag of its message; with this bit, the receiver asks for that message
 * as data. */
#define PCOLL_ASKS ((uint32_t)1 << 31)

struct pcoll_note {
	struct pcoll_note *next;
	uint64_t team;                  /* its id, or a series of phases */
	uint32_t number, what, index;
	gex_Rank_t from, to;            /* in the team */
	gex_Rank_t root;                /* of the sender's call, as in struct pcoll_signature */
	uint64_t call_bytes;
	uint32_t form, key;
	uint64_t words[2];
	size_t len_bytes;
	unsigned char payload[];        /* has room for what its length is rounded up to */
};

void pcoll_notes_register(gex_EP_t ep);
/* Does the work of `team_ends' of the module. */
void pcoll_notes_team_ends(gex_TM_t tm, const char *call);
/* False if there is no room; then the operation is blocked. */
bool pcoll_note_send(struct pcoll_op *op, gex_Rank_t to, uint32_t index, uint64_t word0,
                     uint64_t word1, const void *payload, size_t len_bytes);
/* Largest payload of a note between this member and that one; the same seen from both. */
size_t pcoll_note_most_bytes(const struct pcoll_op *op, gex_Rank_t peer);
/* Gives the operation its notes that came early.  The caller holds the lock. */
void pcoll_notes_claim(struct pcoll_op *op);
/* Puts the notes that have come since the last call in front of `list', and returns that. */
struct pcoll_note *pcoll_notes_collect(struct pcoll_op *op, struct pcoll_note *list);
/* Ends the note's life. */
void pcoll_note_give_back(struct pcoll_note *note);
/* Counts a call of this member that needs no notes: a barrier by flags, called by `api'. */
void pcoll_pass(gex_TM_t tm, enum pcoll_api api);
/* Sends a message or asks for room; for notes and data. */
bool pcoll_send(struct pcoll_op *op, gex_Rank_t to, struct psi_am *am);

/* -- data (pcoll_data.c) ----------------------------------------------------------------------- */

void pcoll_data_register(gex_EP_t ep);
/* Asks the peer for len_bytes, more than 0, to addr; false if there was no room to ask. */
bool pcoll_data_ask(struct pcoll_op *op, struct pcoll_in *in, gex_Rank_t from, uint32_t tag);
/* All its bytes have come. */
void pcoll_data_received(struct pcoll_in *in);
/* Takes from that note where the peer wants the bytes. */
void pcoll_data_asked(struct pcoll_out *out, const struct pcoll_note *note);
/* Stores it there, or sends what finds room, of what the peer has asked for by that cookie; true
 * when all has gone. */
bool pcoll_data_push(struct pcoll_op *op, struct pcoll_out *out, gex_Rank_t to);

/* -- barriers of teams (pcoll_ex.c) ------------------------------------------------------------ */

/* Starts one, by flags or by the engine.  The arguments have passed. */
gex_Event_t pcoll_team_barrier(gex_TM_t tm, enum pcoll_api api);

/* -- built-in reductions (pcoll_reduction.c) --------------------------------------------------- */

/* NULL if the type does not have the operation. */
pcoll_kernel_fn pcoll_builtin(gex_DT_t dt, gex_OP_t op);
/* 0 if it is no built-in type. */
size_t pcoll_type_bytes(gex_DT_t dt);

#endif
