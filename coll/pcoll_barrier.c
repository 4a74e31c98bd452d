/*
 * Barriers of teams whose members share memory (pcoll_barrier_shared.h).  A member has a gate, on
 * which any number of phases may be under way; it enters them one after the other.
 *
 * Who asks whether a phase is over looks for itself, so polls have nothing to do for a gate on
 * which the last phase that was started is entered.  Others are in the list `behind'.
 *
 * Gates are never given back to the system, so that an event may ask at any time, and their phases
 * go on counting when another team takes one.
 */
#include "coll/pcoll_barrier_shared.h"
#include "coll/pcoll_barrier_phases.h"

#include "runtime/util/spinlock.h"

#include <stdlib.h>

struct pcoll_gate {
	struct psi_spinlock lock;       /* the hall, `entered' and changes of the phases */
	struct pcoll_hall hall;
	gex_TM_t tm;
	bool entered;                   /* the phase after those that are finished */
	uint64_t before;                /* phases of teams that had it earlier */
	struct pcoll_phases phases;
	bool is_behind;                 /* in that list; under its lock, as is next */
	struct pcoll_gate *next;         /* there, or among the free ones */
};

static struct {
	struct psi_spinlock lock;
	struct pcoll_gate *free, *behind;
	_Atomic uint32_t behind_count;
} gates;

static uint64_t
finished(const struct pcoll_gate *gate)
{
	return pcoll_phases_finished(&gate->phases);
}

/* Under its lock. */
static void
advance(struct pcoll_gate *gate)
{
	struct pcoll_names names = { .named = false };
	uint64_t phase;

	while ((phase = pcoll_phases_next(&gate->phases)) != 0) {
		const uint64_t of_team = phase - gate->before;

		if (!gate->entered)
			pcoll_hall_enter(&gate->hall, of_team, names);
		gate->entered = true;
		if (!pcoll_hall_complete(&gate->hall, of_team, &names))
			return;
		gate->entered = false;
		psi_team_let_go(gate->tm);
		pcoll_phases_finish(&gate->phases, phase);
	}
}

static bool
is_over(const void *object, uint64_t phase)
{
	struct pcoll_gate *gate = (struct pcoll_gate *)(uintptr_t)object;

	if (finished(gate) >= phase)
		return true;
	psi_spinlock_lock(&gate->lock);
	advance(gate);
	psi_spinlock_unlock(&gate->lock);
	return finished(gate) >= phase;
}

/* -- those behind ------------------------------------------------------------------------------ */

static void
note_behind(struct pcoll_gate *gate)
{
	psi_spinlock_lock(&gates.lock);
	if (!gate->is_behind) {
		psi_progress_begins();
		gate->is_behind = true;
		gate->next = gates.behind;
		gates.behind = gate;
		atomic_fetch_add_explicit(&gates.behind_count, 1, memory_order_relaxed);
	}
	psi_spinlock_unlock(&gates.lock);
}

/* Under the lock of the list. */
static void
drop_behind(struct pcoll_gate **at)
{
	struct pcoll_gate *gate = *at;

	*at = gate->next;
	gate->is_behind = false;
	atomic_fetch_sub_explicit(&gates.behind_count, 1, memory_order_relaxed);
	psi_progress_ends();
}

/* True if its last phase is entered now. */
static bool
catch_up(struct pcoll_gate *gate)
{
	bool caught_up;

	psi_spinlock_lock(&gate->lock);
	advance(gate);
	caught_up = pcoll_phases_started(&gate->phases) <= finished(gate) + 1;
	psi_spinlock_unlock(&gate->lock);
	return caught_up;
}

/* Called by polls while anything is under way, so it costs a load when nobody is behind. */
static void
advance_behind(void)
{
	if (PSI_LIKELY(!atomic_load_explicit(&gates.behind_count, memory_order_relaxed)))
		return;
	psi_spinlock_lock(&gates.lock);
	for (struct pcoll_gate **at = &gates.behind; *at; )
		if (catch_up(*at))
			drop_behind(at);
		else
			at = &(*at)->next;
	psi_spinlock_unlock(&gates.lock);
}

void
pcoll_gates_open(void)
{
	psi_progress_add(advance_behind);
}

/* -- a team's ---------------------------------------------------------------------------------- */

static struct pcoll_hall
hall_of(gex_TM_t tm)
{
	return (struct pcoll_hall){
		.words = tm->group->hall, .tm = tm, .size = tm->size, .rank = tm->rank,
	};
}

static struct pcoll_gate *
open_gate(gex_TM_t tm)
{
	struct pcoll_gate *gate;

	psi_spinlock_lock(&gates.lock);
	gate = gates.free;
	if (gate)
		gates.free = gate->next;
	psi_spinlock_unlock(&gates.lock);
	if (!gate)
		gate = calloc(1, sizeof *gate);
	if (!gate)
		psi_fatal("no memory for the barriers of a team");
	gate->tm = tm;
	gate->hall = hall_of(tm);
	gate->before = pcoll_phases_started(&gate->phases);
	return gate;
}

gex_Event_t
pcoll_gate_start(gex_TM_t tm)
{
	struct pcoll_gate *gate;
	uint64_t phase;
	bool is_behind;

	if (PSI_UNLIKELY(psi.checks) &&
	    atomic_load_explicit(&tm->group->hall->left, memory_order_relaxed))
		psi_fatal("gex_Coll_BarrierNB: another member has destroyed the team; let all "
		          "members finish their calls before gex_TM_Destroy");
	if (!tm->gate)
		tm->gate = open_gate(tm);
	gate = tm->gate;
	psi_count(psi_block()->count, PSI_COUNT_COLLECTIVES);
	psi_team_hold(tm);
	psi_spinlock_lock(&gate->lock);
	phase = pcoll_phases_start(&gate->phases);
	advance(gate);
	is_behind = finished(gate) + 1 < phase;
	psi_spinlock_unlock(&gate->lock);
	if (is_behind)
		note_behind(gate);
	return finished(gate) >= phase
	               ? GEX_EVENT_INVALID
	               : psi_event_new(is_over, gate, phase, PSI_FOR_COLLECTIVE, tm->ep);
}

static bool
has_begun_one_more(gex_TM_t tm)
{
	const struct pcoll_gate *gate = tm->gate;
	const uint64_t phases = gate ? finished(gate) - gate->before : 0;
	const struct pcoll_hall hall = hall_of(tm);

	return hall.words && pcoll_hall_is_entered(&hall, phases + 1);
}

static void
give_back_gate(struct pcoll_gate *gate)
{
	struct pcoll_gate **at;

	psi_spinlock_lock(&gates.lock);
	for (at = &gates.behind; gate->is_behind; at = &(*at)->next)
		if (*at == gate) {
			drop_behind(at);
			break;
		}
	gate->next = gates.free;
	gates.free = gate;
	psi_spinlock_unlock(&gates.lock);
}

/* No phase is under way. */
void
pcoll_gate_close(gex_TM_t tm, const char *call)
{
	if (PSI_UNLIKELY(has_begun_one_more(tm)))
		psi_team_in_use(call);
	if (tm->gate)
		give_back_gate(tm->gate);
	if (tm->group->hall)
		pcoll_hall_leave(tm->group->hall);
}
