/*
 * A barrier whose phases are counted.  The thread that asks whether a phase is over advances the
 * barrier itself.  So polls have nothing to do for a barrier whose last started phase is entered;
 * others are in the list `behind'.
 *
 * Barriers of teams are never given back to the system, so that an event may ask at any time, and
 * their phases go on counting when another team takes one.
 *
 * Pairs:  N1 (phase_finish) -> N2 (phases_finished)   the result of a phase, and what others wrote
 *                                                     before they entered
 */
#include "coll/pcoll_barrier.h"
#include "coll/coll.h"
#include "coll/pcoll_barrier_shared.h"
#include "coll/pcoll_lend.h"
#include "coll/select.h"
#include "coll/tuning.h"

#include "runtime/op/event.h"
#include "runtime/wait/pollset.h"
#include "runtime/wait/waiting.h"

#include "runtime/util/spinlock.h"

#include <stdio.h>
#include <stdlib.h>

struct pcoll_barrier {
	struct psi_spinlock lock;       /* all but tm, the constants and the list */
	gex_TM_t tm;
	enum psi_counter counter;       /* of phases started */
	enum psi_wait_kind kind;        /* of waits for a phase */
	struct pcoll_shm_barrier shm_barrier;         /* area NULL: by operations of the engine */
	struct pcoll_phase phase;       /* what such an operation is for */
	struct pcoll_op *op;            /* of the phase that is entered; and its use */
	uint64_t use;
	struct pcoll_names own, result; /* of the phase that is started last, and finished last */
	bool entered;                   /* this rank has entered the phase after the last finished
	                                 * one */
	uint64_t before;                /* phases of teams that had it earlier */
	_Atomic uint64_t started, finished;     /* phases; any thread reads these */
	bool is_behind;                 /* in that list; under its lock, as is next */
	struct pcoll_barrier *next;     /* there, or among the free ones */
};

enum { PLAIN, NAMED };
static struct pcoll_barrier of_job[PSI_BARRIER_AREAS];

static struct {
	struct psi_spinlock lock;
	struct pcoll_barrier *free, *behind;
	_Atomic uint32_t behind_count;
} barriers;

static void
barrier_lock(struct pcoll_barrier *barrier)
{
	if (psi.threaded)
		psi_spinlock_lock(&barrier->lock);
}

static void
barrier_unlock(struct pcoll_barrier *barrier)
{
	if (psi.threaded)
		psi_spinlock_unlock(&barrier->lock);
}

/* -- phases ------------------------------------------------------------------------------------ */

static uint64_t
phases_started(const struct pcoll_barrier *barrier)
{
	return atomic_load_explicit(&barrier->started, memory_order_relaxed);
}

static uint64_t
phases_finished(const struct pcoll_barrier *barrier)
{
	return atomic_load_explicit(
		&barrier->finished,
		memory_order_acquire); /* N2: acquire, from N1 in phase_finish */
}

/* The caller of this and of the next three functions holds the lock. */
static void
phase_enter(struct pcoll_barrier *barrier, uint64_t phase)
{
	barrier->phase.names = barrier->own;
	barrier->entered = true;
	if (barrier->shm_barrier.area) {
		pcoll_shm_barrier_enter(&barrier->shm_barrier, phase, barrier->own);
		return;
	}
	barrier->phase.number = (uint32_t)phase;
	pcoll_op_start(&(struct pcoll_call){ .what = { PCOLL_BARRIER, PCOLL_GEX },
	                                     .tm = barrier->tm, .phase = &barrier->phase },
	               &barrier->op, &barrier->use);
}

static bool
phase_is_complete(struct pcoll_barrier *barrier, uint64_t phase)
{
	if (barrier->shm_barrier.area)
		return !pcoll_shm_barrier_is_awaited(&barrier->shm_barrier, phase) &&
		       pcoll_shm_barrier_complete(&barrier->shm_barrier, phase,
		                                  &barrier->phase.names);
	return pcoll_op_is_finished(barrier->op, barrier->use);
}

static void
phase_finish(struct pcoll_barrier *barrier, uint64_t phase)
{
	barrier->entered = false;
	barrier->result = barrier->phase.names;
	psi_team_release(barrier->tm);
	atomic_store_explicit(&barrier->finished, phase,
	                      memory_order_release); /* N1: release, to N2 in phases_finished */
	psi_wake_own();
}

static void
barrier_advance(struct pcoll_barrier *barrier)
{
	for (uint64_t phase = phases_finished(barrier) + 1; phase <= phases_started(barrier);
	     phase++) {
		const uint64_t of_team = phase - barrier->before;

		if (!barrier->entered)
			phase_enter(barrier, of_team);
		if (!phase_is_complete(barrier, of_team))
			return;
		phase_finish(barrier, phase);
	}
}

bool
pcoll_barrier_is_over(const void *object, uint64_t phase)
{
	struct pcoll_barrier *barrier = (struct pcoll_barrier *)(uintptr_t)object;
	const uint64_t finished = phases_finished(barrier);

	if (finished >= phase)
		return true;
	if (finished + 1 == phase &&
	    pcoll_shm_barrier_is_awaited(&barrier->shm_barrier, phase - barrier->before))
		return false;
	barrier_lock(barrier);
	barrier_advance(barrier);
	barrier_unlock(barrier);
	return phases_finished(barrier) >= phase;
}

struct pcoll_names
pcoll_barrier_result(const struct pcoll_barrier *barrier)
{
	return barrier->result;
}

/* -- those behind ------------------------------------------------------------------------------ */

static void
behind_add(struct pcoll_barrier *barrier)
{
	psi_spinlock_lock(&barriers.lock);
	if (!barrier->is_behind) {
		psi_progress_begins();
		barrier->is_behind = true;
		barrier->next = barriers.behind;
		barriers.behind = barrier;
		atomic_fetch_add_explicit(&barriers.behind_count, 1, memory_order_relaxed);
	}
	psi_spinlock_unlock(&barriers.lock);
}

/* The caller holds the lock of the list. */
static void
behind_drop(struct pcoll_barrier **at)
{
	struct pcoll_barrier *barrier = *at;

	*at = barrier->next;
	barrier->is_behind = false;
	atomic_fetch_sub_explicit(&barriers.behind_count, 1, memory_order_relaxed);
	psi_progress_ends();
}

/* True if its last phase is entered now. */
static bool
barrier_catches_up(struct pcoll_barrier *barrier)
{
	bool caught_up;

	barrier_lock(barrier);
	barrier_advance(barrier);
	caught_up = phases_started(barrier) <= phases_finished(barrier) + 1;
	barrier_unlock(barrier);
	return caught_up;
}

/* Polls call this while an operation is under way, so it costs one load if no barrier is behind. */
static void
behind_advance(void)
{
	if (PSI_LIKELY(!atomic_load_explicit(&barriers.behind_count, memory_order_relaxed)))
		return;
	psi_spinlock_lock(&barriers.lock);
	for (struct pcoll_barrier **at = &barriers.behind; *at; )
		if (barrier_catches_up(*at))
			behind_drop(at);
		else
			at = &(*at)->next;
	psi_spinlock_unlock(&barriers.lock);
}

uint64_t
pcoll_barrier_begin(struct pcoll_barrier *barrier, struct pcoll_names names)
{
	uint64_t phase;
	bool is_behind;

	psi_count(psi_block()->count, barrier->counter);
	psi_team_hold(barrier->tm);
	barrier_lock(barrier);
	phase = phases_started(barrier) + 1;
	atomic_store_explicit(&barrier->started, phase, memory_order_relaxed);
	barrier->own = names;
	barrier_advance(barrier);
	is_behind = phases_finished(barrier) + 1 < phase;
	barrier_unlock(barrier);
	if (is_behind)
		behind_add(barrier);
	return phase;
}

/* -- the job's --------------------------------------------------------------------------------- */

struct pcoll_barrier *
pcoll_barrier_named(void)
{
	return &of_job[NAMED];
}

/* A job whose ranks do not share memory has no flags anyway. */
bool
pcoll_barrier_is_for_messages(uint32_t size)
{
	return pcoll_tuning_has_users(PCOLL_BARRIER) &&
	       pcoll_select_is_for_messages(&(struct pcoll_shape){
		       .operation = PCOLL_BARRIER, .size = size, .hosts = 1, .mode = "smp" });
}

static void
barrier_of_job_open(unsigned number, enum psi_counter counter, enum psi_wait_kind kind)
{
	const bool has_flags = pcoll_shm_barrier_is_available() &&
	                       !pcoll_barrier_is_for_messages(psi.boot.size);

	of_job[number] = (struct pcoll_barrier){
		.tm = psi.tm, .counter = counter, .kind = kind,
		.shm_barrier = pcoll_shm_barrier_make(
			NULL, has_flags ? &psi.shared->barriers[number] : NULL),
		.phase = { .series = PCOLL_SERIES + number },
	};
}

/* The rules are those of all collectives, and barriers need them first. */
static void
barriers_open(void)
{
	pcoll_tuning_open();
	barrier_of_job_open(PLAIN, PSI_COUNT_BARRIERS, PSI_FOR_BARRIER);
	barrier_of_job_open(NAMED, PSI_COUNT_BARRIERS_NAMED, PSI_FOR_BARRIER_NAMED);
	psi.team_lender = &pcoll_lender;
	psi.barrier = gex_Coll_BarrierNB;
}

bool
pcoll_barrier_of_job_is_shared(void)
{
	return of_job[PLAIN].shm_barrier.area;
}

/* -- a team's ---------------------------------------------------------------------------------- */

static struct pcoll_barrier *
barrier_take(gex_TM_t tm)
{
	struct pcoll_barrier *barrier;

	psi_spinlock_lock(&barriers.lock);
	barrier = barriers.free;
	if (barrier)
		barriers.free = barrier->next;
	psi_spinlock_unlock(&barriers.lock);
	if (!barrier)
		barrier = calloc(1, sizeof *barrier);
	if (!barrier)
		psi_fatal("no memory for the barriers of a team");
	barrier->tm = tm;
	barrier->counter = PSI_COUNT_COLLECTIVES;
	barrier->kind = PSI_FOR_COLLECTIVE;
	barrier->shm_barrier = pcoll_shm_barrier_make(tm, tm->group->barrier_area);
	barrier->before = phases_started(barrier);
	return barrier;
}

static struct pcoll_barrier *
barrier_of(gex_TM_t tm, enum pcoll_api api)
{
	if (tm == psi.tm)
		return &of_job[PLAIN];
	if (PSI_UNLIKELY(psi.checks) &&
	    atomic_load_explicit(&tm->group->barrier_area->left, memory_order_relaxed))
		psi_fatal("%s: another member has destroyed the team; let all members finish "
		          "their calls before gex_TM_Destroy",
		          pcoll_call_name((struct pcoll_what){ PCOLL_BARRIER, api }));
	if (!tm->barrier)
		tm->barrier = barrier_take(tm);
	return tm->barrier;
}

/* What a thread waits for that waits for a phase of a team, which lives as long. */
static void
barrier_describe(const struct pcoll_barrier *barrier, uint64_t phase, enum pcoll_api api,
                 char text_out[PSI_WHERE_BYTES])
{
	char team[PSI_WHERE_BYTES / 2];

	psi_team_describe(barrier->tm, team, sizeof team);
	snprintf(text_out, PSI_WHERE_BYTES, "%s, barrier %llu on %s",
	         pcoll_call_name((struct pcoll_what){ PCOLL_BARRIER, api }),
	         (unsigned long long)(phase - barrier->before), team);
}

static void
barrier_describe_gex(const void *object, uint64_t phase, char text_out[PSI_WHERE_BYTES])
{
	barrier_describe(object, phase, PCOLL_GEX, text_out);
}

static void
barrier_describe_pst(const void *object, uint64_t phase, char text_out[PSI_WHERE_BYTES])
{
	barrier_describe(object, phase, PCOLL_PST, text_out);
}

/* One of the job is named by its call; the report says the rest. */
static void
barrier_describe_job(const void *object, uint64_t phase, char text_out[PSI_WHERE_BYTES])
{
	(void)object, (void)phase;
	snprintf(text_out, PSI_WHERE_BYTES, "%s",
	         pcoll_call_name((struct pcoll_what){ PCOLL_BARRIER, PCOLL_PST }));
}

gex_Event_t
pcoll_barrier_start(gex_TM_t tm, enum pcoll_api api)
{
	struct pcoll_barrier *barrier = barrier_of(tm, api);
	const uint64_t phase = pcoll_barrier_begin(barrier, (struct pcoll_names){ .named = false });
	gex_Event_t event;

	if (phases_finished(barrier) >= phase)
		return GEX_EVENT_INVALID;
	event = psi_event_new(pcoll_barrier_is_over, barrier, phase, barrier->kind, tm->ep);
	if (tm != psi.tm)
		event->describe = api == PCOLL_PST ? barrier_describe_pst : barrier_describe_gex;
	else if (api == PCOLL_PST)
		event->describe = barrier_describe_job;
	return event;
}

static bool
barrier_has_begun_one_more(gex_TM_t tm)
{
	const struct pcoll_barrier *barrier = tm->barrier;
	const uint64_t phases = barrier ? phases_finished(barrier) - barrier->before : 0;
	const struct pcoll_shm_barrier shm_barrier =
		pcoll_shm_barrier_make(tm, tm->group->barrier_area);

	return shm_barrier.area && pcoll_shm_barrier_is_entered(&shm_barrier, phases + 1);
}

static void
barrier_give_back(struct pcoll_barrier *barrier)
{
	struct pcoll_barrier **at;

	psi_spinlock_lock(&barriers.lock);
	for (at = &barriers.behind; barrier->is_behind; at = &(*at)->next)
		if (*at == barrier) {
			behind_drop(at);
			break;
		}
	barrier->next = barriers.free;
	barriers.free = barrier;
	psi_spinlock_unlock(&barriers.lock);
}

/* Does the work of `team_ends' of the module.  No phase is under way. */
static void
barrier_team_ends(gex_TM_t tm, const char *call)
{
	if (PSI_UNLIKELY(barrier_has_begun_one_more(tm)))
		psi_team_in_use(call);
	if (tm->barrier)
		barrier_give_back(tm->barrier);
	if (tm->group->barrier_area)
		pcoll_barrier_area_leave(tm->group->barrier_area);
}

const struct psi_module pcoll_barrier_module = {
	.name = "barriers",
	.open = barriers_open,
	.progress = behind_advance,
	.team_ends = barrier_team_ends,
};
