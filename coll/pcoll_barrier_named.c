/*
 * The job's barriers: in memory that all ranks share where there is some
 * (pcoll_barrier_shared.h), else by
 * dissemination over active messages: in round r a rank tells the one 2^r above it, modulo
 * the size, what it has gathered so far, and hears from the one 2^r below; after ceil(log2 n)
 * rounds it has heard of all.
 *
 * There are two independent sequences of phases: gex_Coll_BarrierNB, of which any number may be
 * under way, and the named split-phase barrier.  A rank executes phases of a sequence one after the
 * other.  A peer can be at most one phase ahead, since finishing a phase needs everybody's start of
 * it; so what it sends is kept by the parity of its phase.
 *
 * Source: D. Hensgen, R. Finkel, U. Manber, "Two algorithms for barrier synchronization", 1988.
 */
#include "coll/pcoll_barrier_shared.h"
#include "coll/pcoll_barrier_phases.h"

#include "runtime/process/rules.h"
#include "runtime/wait/serve.h"

#include "runtime/util/fence.h"
#include "runtime/util/spinlock.h"

enum { MAX_ROUNDS = 32 };

struct note {
	/* Phase this was sent for, as the lower 32 bits; written last, by the handler.
	 * Pairs: N1 (on_note) -> N2 (advance)   names before the phase */
	_Atomic uint32_t phase;
	struct pcoll_names names;
};

struct sequence {
	struct psi_spinlock lock;       /* everything but notes */
	unsigned number;                /* which of the two */
	struct pcoll_phases phases;
	unsigned round;
	bool sent;                      /* this round's note; or this rank has entered the hall */
	struct pcoll_hall hall;
	struct pcoll_names own[2];       /* by parity of phase: as started here, then gathered */
	struct pcoll_names result;       /* of the last finished phase */
	struct note notes[2][MAX_ROUNDS];
};

enum { PLAIN, NAMED, SEQUENCES };
static struct sequence sequences[SEQUENCES];
static unsigned rounds;
static bool in_hall;                    /* and not by messages */

/* -- on the wire: phase, round and sequence, flags, id --------------------------------------- */

static void
on_note(gex_Token_t token, gex_AM_Arg_t phase, gex_AM_Arg_t place, gex_AM_Arg_t flags,
        gex_AM_Arg_t id)
{
	struct sequence *seq = &sequences[(uint32_t)place >> 8];
	struct note *note = &seq->notes[phase & 1][place & 0xff];

	psi_count_internal(token);
	psi_back_from_process(note);
	note->names = (struct pcoll_names){ .mismatch = flags & 2, .named = flags & 1, .id = id };
	atomic_store_explicit(&note->phase, (uint32_t)phase, memory_order_release); /* N1 */
}

/* Without room the peer is asked to ring this process when there is some: no wait may be under
 * way. */
static bool
send_note(struct sequence *seq, uint64_t phase)
{
	struct pcoll_names names = seq->own[phase & 1];
	const gex_AM_Arg_t args[] = {
		(gex_AM_Arg_t)(uint32_t)phase,
		(gex_AM_Arg_t)(seq->number << 8 | seq->round),
		(gex_AM_Arg_t)(names.mismatch << 1 | names.named),
		names.id,
	};
	struct psi_am am = {
		.peer = (psi.boot.rank + (1u << seq->round)) % psi.boot.size,
		.handler = PSI_HANDLER_BARRIER, .category = PSI_SHORT, .network = PSI_REQUESTS,
		.nargs = 4, .args = args,
	};

	if (psi_am_try(psi.ep, &am) == PSI_OK)
		return true;
	psi_want_room(psi.ep, am.peer);
	return psi_am_try(psi.ep, &am) == PSI_OK;
}

/* -- one phase ------------------------------------------------------------------------------- */

static void
finish(struct sequence *seq, uint64_t phase)
{
	seq->result = seq->own[phase & 1];
	seq->round = 0;
	seq->sent = false;
	pcoll_phases_finish(&seq->phases, phase);
	psi_progress_ends();
}

/* One round; false if it has to wait. */
static bool
advance_round(struct sequence *seq, uint64_t phase)
{
	struct note *note = &seq->notes[phase & 1][seq->round];

	if (!seq->sent && !send_note(seq, phase))
		return false;
	seq->sent = true;
	if (atomic_load_explicit(&note->phase, memory_order_acquire) != (uint32_t)phase) /* N2 */
		return false;
	seq->own[phase & 1] = pcoll_names_combine(seq->own[phase & 1], note->names);
	psi_handed_to_process(note);    /* the peer fills it again when it has had our next phase */
	seq->round++;
	seq->sent = false;
	return true;
}

/* True if all have entered the phase. */
static bool
pass(struct sequence *seq, uint64_t phase)
{
	struct pcoll_names *own = &seq->own[phase & 1];

	if (!in_hall) {
		while (seq->round < rounds)
			if (!advance_round(seq, phase))
				return false;
		return true;
	}
	if (!seq->sent)
		pcoll_hall_enter(&seq->hall, phase, *own);
	seq->sent = true;
	return pcoll_hall_complete(&seq->hall, phase, own);
}

/*
 * Called by polls while a phase is under way.  It waits for a thread that is at it: that one may
 * have looked for a note before the caller ran its handler.
 */
static void
advance(struct sequence *seq)
{
	bool any = false;
	uint64_t phase;

	if (PSI_LIKELY(!pcoll_phases_next(&seq->phases)))
		return;
	psi_spinlock_lock(&seq->lock);
	while ((phase = pcoll_phases_next(&seq->phases)) != 0 && pass(seq, phase)) {
		finish(seq, phase);
		any = true;
	}
	psi_spinlock_unlock(&seq->lock);
	if (any)
		psi_wake_own();
}

static void
advance_all(void)
{
	advance(&sequences[PLAIN]);
	advance(&sequences[NAMED]);
}

/* Starts the next phase; returns its number. */
static uint64_t
start(struct sequence *seq, struct pcoll_names names)
{
	uint64_t phase;

	psi_progress_begins();
	psi_spinlock_lock(&seq->lock);
	phase = pcoll_phases_start(&seq->phases);
	seq->own[phase & 1] = names;
	psi_count(psi_block()->count, seq->number == NAMED ? PSI_COUNT_BARRIERS_NAMED
	                                                   : PSI_COUNT_BARRIERS);
	psi_spinlock_unlock(&seq->lock);
	advance(seq);
	return phase;
}

static bool
phase_done(const void *object, uint64_t phase)
{
	return pcoll_phases_finished(&((const struct sequence *)object)->phases) >= phase;
}

static void
barriers_open(void)
{
	while ((1u << rounds) < psi.boot.size)
		rounds++;
	in_hall = pcoll_hall_is_there();
	for (unsigned i = 0; i < SEQUENCES; i++) {
		sequences[i].number = i;
		sequences[i].hall = (struct pcoll_hall){
			.words = &psi.shared->halls[i],
			.size = psi.boot.size,
			.rank = psi.boot.rank,
		};
	}
	psi.hall_lender = &pcoll_hall_lender;
	psi.barrier = gex_Coll_BarrierNB;
	psi_progress_add(advance_all);
	pcoll_gates_open();
}

static void
barriers_register(gex_EP_t ep)
{
	psi_handler_set_internal(ep, PSI_HANDLER_BARRIER, (gex_AM_Fn_t)on_note);
}

const struct psi_part pcoll_barrier_part = {
	.name = "barriers", .open = barriers_open, .register_handlers = barriers_register,
	.team_ends = pcoll_gate_close,
};

/* -- the unnamed barrier ----------------------------------------------------------------------- */

gex_Event_t
pcoll_barrier_start(void)
{
	struct sequence *seq = &sequences[PLAIN];
	const uint64_t phase = start(seq, (struct pcoll_names){ .named = false });

	if (phase_done(seq, phase))
		return GEX_EVENT_INVALID;
	return psi_event_new(phase_done, seq, phase, PSI_FOR_BARRIER, psi.ep);
}

/* -- the named barrier ----------------------------------------------------------------------- */

/* Of the phase between notify and wait; one thread at a time is in these calls. */
static struct {
	bool notified;
	uint64_t phase;
	struct pcoll_names own;
} named;

static void
check_flags(int flags, const char *call)
{
	psi_check_flags((gex_Flags_t)flags,
	                GASNET_BARRIERFLAG_UNNAMED | GASNET_BARRIERFLAG_MISMATCH, call);
}

void
gasnet_barrier_notify(int id, int flags)
{
	psi_need_init("gasnet_barrier_notify");
	psi_rule_call("gasnet_barrier_notify");
	if (named.notified)
		psi_fatal("gasnet_barrier_notify: called twice; call gasnet_barrier_wait, or try "
		          "until it succeeds, between");
	check_flags(flags, "gasnet_barrier_notify");
	named.own = (struct pcoll_names){
		.mismatch = flags & GASNET_BARRIERFLAG_MISMATCH,
		.named = !(flags & (GASNET_BARRIERFLAG_ANONYMOUS | GASNET_BARRIERFLAG_MISMATCH)),
		.id = id,
	};
	named.notified = true;
	named.phase = start(&sequences[NAMED], named.own);
}

/* What wait returns for its own arguments, given what all notified. */
static int
judge(int id, int flags)
{
	const struct pcoll_names all = sequences[NAMED].result;

	named.notified = false;
	if (all.mismatch || (flags & GASNET_BARRIERFLAG_MISMATCH))
		return GASNET_ERR_BARRIER_MISMATCH;
	if (flags & GASNET_BARRIERFLAG_ANONYMOUS || !all.named)
		return GASNET_OK;
	return all.id == id ? GASNET_OK : GASNET_ERR_BARRIER_MISMATCH;
}

static void
need_notify(int flags, const char *call)
{
	psi_need_init(call);
	psi_rule_call(call);
	check_flags(flags, call);
	if (!named.notified)
		psi_fatal("%s: called without gasnet_barrier_notify before it; notify first", call);
}

int
gasnet_barrier_wait(int id, int flags)
{
	const struct psi_reason reason = { .kind = PSI_FOR_BARRIER_NAMED, .number = named.phase,
	                                  .ep = psi.ep };
	struct psi_wait wait = PSI_WAIT_FOR_ALL("gasnet_barrier_wait", &reason);

	need_notify(flags, "gasnet_barrier_wait");
	while (!phase_done(&sequences[NAMED], named.phase))
		psi_wait_step(&wait);
	psi_wait_end(&wait);
	return judge(id, flags);
}

int
gasnet_barrier_try(int id, int flags)
{
	need_notify(flags, "gasnet_barrier_try");
	if (!phase_done(&sequences[NAMED], named.phase))
		gasnet_AMPoll();
	if (!phase_done(&sequences[NAMED], named.phase))
		return GASNET_ERR_NOT_READY;
	return judge(id, flags);
}

int
gasnet_barrier(int id, int flags)
{
	gasnet_barrier_notify(id, flags);
	return gasnet_barrier_wait(id, flags);
}

int
gasnet_barrier_result(int *id)
{
	const struct pcoll_names all = sequences[NAMED].result;

	psi_rule_context("gasnet_barrier_result");
	if (!all.named)
		return 1;
	*id = all.id;
	return 0;
}
