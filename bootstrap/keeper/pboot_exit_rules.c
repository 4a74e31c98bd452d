#include "bootstrap/keeper/pboot_exit_rules.h"

#include "bootstrap/bootstrap.h"

#include <math.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/wait.h>

#define MS ((uint64_t)1000000)

static const uint64_t never = UINT64_MAX;

uint64_t
pboot_rules_ask_ns(uint32_t size)
{
	uint64_t ask = 200 * MS + size * 5 * MS;

	return ask < 250 * MS ? ask : 250 * MS;
}

uint64_t
pboot_rules_ask_ok_ns(uint32_t size, uint64_t grace_ns)
{
	const uint64_t total = 1750 * MS, least = pboot_rules_ask_ns(size);
	uint64_t ask = grace_ns < total ? total - grace_ns : 0;

	if (ask > 800 * MS)
		ask = 800 * MS;
	return ask > least ? ask : least;
}

void
pboot_rules_init(struct pboot_rules *rules, uint32_t size, struct pboot_rank_rule *ranks,
    uint64_t grace_ns, uint64_t timeout_ns, uint64_t now_ns)
{
	*rules = (struct pboot_rules) {
		.size = size,
		.alive = size,
		.phase = PBOOT_RUNNING,
		.ask_ns = pboot_rules_ask_ns(size),
		.grace_ns = grace_ns,
		.timeout_ns = timeout_ns,
		.deadline_ns = timeout_ns ? now_ns + timeout_ns : never,
		.limit_ns = timeout_ns ? now_ns + timeout_ns : never,
		.ranks = ranks,
	};
}

static bool
cause_set(struct pboot_rules *rules, enum pboot_cause_kind kind, uint32_t rank, int detail,
    int code)
{
	if (rules->cause.kind != PBOOT_CAUSE_NONE && (rules->cause.code != 0 || code == 0))
		return false; /* ZERO_LOSES */
	rules->cause = (struct pboot_cause) { kind, rank, detail, code };
	return true;
}

/* A failure: ENDING begins at once, and no rank has time to ask (FAIL_ENDS). */
static bool
rules_fail(struct pboot_rules *rules, enum pboot_cause_kind kind, uint32_t rank, int detail,
           int code, uint64_t now_ns)
{
	if (rules->phase < PBOOT_ENDING) {
		rules->phase = PBOOT_ENDING;
		rules->quit_due = true;
		rules->deadline_ns = now_ns + rules->grace_ns;
	}
	return cause_set(rules, kind, rank, detail, code);
}

/* A rank asked to end.  The other ranks have a short time to ask too. */
static bool
rules_end_politely(struct pboot_rules *rules, enum pboot_cause_kind kind, uint32_t rank, int code,
    uint64_t now_ns)
{
	if (rules->phase == PBOOT_RUNNING) {
		rules->phase = PBOOT_ASKING;
		rules->deadline_ns = now_ns + (code ? rules->ask_ns :
		    pboot_rules_ask_ok_ns(rules->size, rules->grace_ns));
	}
	return cause_set(rules, kind, rank, code, code);
}

static bool
rules_ask(struct pboot_rules *rules, enum pboot_cause_kind kind, uint32_t rank, int code,
          uint64_t now_ns)
{
	struct pboot_rank_rule *self = &rules->ranks[rank];

	code &= 255;
	if (self->asked && self->status == code)
		return false;
	self->asked = true;
	self->status = code;
	/* The runtime's handler answers the keeper's SIGQUIT with this code; that is no cause. */
	if (self->quit_sent && code == 128 + SIGQUIT)
		return false;
	return rules_end_politely(rules, kind, rank, code, now_ns);
}

static bool
rules_exit_alone(struct pboot_rules *rules, uint32_t rank, int code)
{
	rules->ranks[rank].asked = true;
	rules->ranks[rank].status = code & 255;
	return cause_set(rules, PBOOT_CAUSE_EXIT, rank, code & 255, code & 255);
}

/* Finds a rank that has ended without init; returns `size' if there is none. */
static uint32_t
rules_find_absentee(const struct pboot_rules *rules)
{
	uint32_t rank;

	for (rank = 0; rank < rules->size; rank++)
		if (rules->ranks[rank].gone && !rules->ranks[rank].joined)
			break;
	return rank;
}

static bool
rules_join(struct pboot_rules *rules, uint32_t rank, uint64_t now_ns)
{
	bool first = !rules->any_joined;
	uint32_t absentee;
	int status;

	rules->ranks[rank].joined = true;
	rules->any_joined = true;
	absentee = first ? rules_find_absentee(rules) : rules->size;
	if (absentee == rules->size)
		return false;
	status = rules->ranks[absentee].status;
	return rules_fail(rules, PBOOT_CAUSE_NO_INIT, absentee, status, status ? status : 1,
	                  now_ns);
}

static bool
rules_died_by_signal(struct pboot_rules *rules, uint32_t rank, int sig, uint64_t now_ns)
{
	if (rules->ranks[rank].quit_sent && (sig == SIGQUIT || sig == SIGTERM))
		return false; /* QUIT_SENT */
	if (rules->phase == PBOOT_KILLING && sig == SIGKILL)
		return false; /* KILL_SENT */
	return rules_fail(rules, PBOOT_CAUSE_SIGNAL, rank, sig, 128 + sig, now_ns);
}

static bool
rules_died_by_exit(struct pboot_rules *rules, uint32_t rank, int code, uint64_t now_ns)
{
	struct pboot_rank_rule *self = &rules->ranks[rank];
	bool announced = self->asked && (self->status == code || code == 0);

	self->status = code;
	if (self->quit_sent || announced)
		return false; /* QUIT_SENT */
	if (self->asked)
		return cause_set(rules, PBOOT_CAUSE_PLAIN, rank, code, code);
	if (self->joined)
		return rules_fail(rules, PBOOT_CAUSE_UNSAID, rank, code, code ? code : 1, now_ns);
	if (rules->any_joined)
		return rules_fail(rules, PBOOT_CAUSE_NO_INIT, rank, code, code ? code : 1, now_ns);
	if (code != 0)
		return rules_end_politely(rules, PBOOT_CAUSE_PLAIN, rank, code, now_ns);
	return false;
}

static bool
rules_died(struct pboot_rules *rules, uint32_t rank, int status, uint64_t now_ns)
{
	rules->ranks[rank].gone = true;
	rules->alive--;
	if (WIFSIGNALED(status)) {
		rules->ranks[rank].status = 128 + WTERMSIG(status);
		return rules_died_by_signal(rules, rank, WTERMSIG(status), now_ns);
	}
	return rules_died_by_exit(rules, rank, WEXITSTATUS(status), now_ns);
}

/* A rank that an engine has started has ended.  If it did not ask to end, it was killed or ended by
 * itself; only the engine knows which. */
static bool
rules_ended(struct pboot_rules *rules, uint32_t rank, uint64_t now_ns)
{
	struct pboot_rank_rule *self = &rules->ranks[rank];

	if (self->gone)
		return false;
	self->gone = true;
	rules->alive--;
	if (self->asked || self->quit_sent || rules->phase == PBOOT_KILLING)
		return false;
	self->status = 1;
	return rules_fail(rules, PBOOT_CAUSE_ENDED, rank, 0, 1, now_ns);
}

/* The process that entered init has ended, and the keeper's child, its parent, lives. */
static bool
rules_vanished(struct pboot_rules *rules, uint32_t rank, uint64_t now_ns)
{
	const struct pboot_rank_rule *self = &rules->ranks[rank];

	if (self->gone || self->asked || self->quit_sent)
		return false;
	return rules_fail(rules, PBOOT_CAUSE_VANISHED, rank, 0, 1, now_ns);
}

bool
pboot_rules_event(struct pboot_rules *rules, enum pboot_event_kind kind, uint32_t rank, int value,
    uint64_t now_ns)
{
	switch (kind) {
	case PBOOT_EV_JOINED:
		return rules_join(rules, rank, now_ns);
	case PBOOT_EV_LEAVE:
		return rules_ask(rules, PBOOT_CAUSE_LEAVE, rank, value, now_ns);
	case PBOOT_EV_EXIT:
		return rules_ask(rules, PBOOT_CAUSE_EXIT, rank, value, now_ns);
	case PBOOT_EV_EXIT_ALONE:
		return rules_exit_alone(rules, rank, value);
	case PBOOT_EV_DIED:
		return rules_died(rules, rank, value, now_ns);
	case PBOOT_EV_ENDED:
		return rules_ended(rules, rank, now_ns);
	case PBOOT_EV_VANISHED:
		return rules_vanished(rules, rank, now_ns);
	case PBOOT_EV_TWICE:
		return rules_fail(rules, PBOOT_CAUSE_TWICE, rank, 0, 1, now_ns);
	case PBOOT_EV_NO_EXEC:
		return rules_fail(rules, PBOOT_CAUSE_NO_EXEC, rank, value, 2, now_ns);
	case PBOOT_EV_NO_START:
		return rules_fail(rules, PBOOT_CAUSE_NO_START, rank, value, 1, now_ns);
	case PBOOT_EV_LAUNCHER:
		return rules_fail(rules, PBOOT_CAUSE_LAUNCHER, 0, 0, 1, now_ns);
	case PBOOT_EV_GUARD:
		return rules_fail(rules, PBOOT_CAUSE_GUARD, 0, 0,
		    WIFSIGNALED(value) ? 128 + WTERMSIG(value) : 1, now_ns);
	case PBOOT_EV_TIMEOUT:
		return rules_fail(rules, PBOOT_CAUSE_TIMEOUT, 0, 0, 124, now_ns);
	case PBOOT_EV_ELSEWHERE_ASKED:
		return rules_end_politely(rules, PBOOT_CAUSE_ELSEWHERE, 0, value, now_ns);
	case PBOOT_EV_ELSEWHERE_FAILED:
		return rules_fail(rules, PBOOT_CAUSE_ELSEWHERE, 0, 0, value, now_ns);
	case PBOOT_EV_HOST:
		return rules_fail(rules, PBOOT_CAUSE_HOST, 0, value, 1, now_ns);
	}
	return false;
}

bool
pboot_rules_anyone_at_work(const struct pboot_rules *rules)
{
	uint32_t rank;

	for (rank = 0; rank < rules->size; rank++)
		if (pboot_rules_at_work(rules, rank))
			return true;
	return false;
}

/* The phase's time is over, so the next phase begins. */
static void
rules_advance(struct pboot_rules *rules, uint64_t now_ns)
{
	switch (rules->phase) {
	case PBOOT_RUNNING:
		rules_fail(rules, PBOOT_CAUSE_TIMEOUT, 0, 0, 124, now_ns);
		break;
	case PBOOT_ASKING: /* ASK_OVER */
		rules->phase = PBOOT_ENDING;
		rules->quit_due = pboot_rules_anyone_at_work(rules);
		rules->deadline_ns = now_ns + rules->grace_ns;
		break;
	case PBOOT_ENDING: /* GRACE_OVER */
		rules->phase = PBOOT_KILLING;
		rules->deadline_ns = now_ns;
		break;
	case PBOOT_KILLING:
		break;
	}
}

enum pboot_action
pboot_rules_due(struct pboot_rules *rules, uint64_t now_ns)
{
	if (rules->phase != PBOOT_KILLING && now_ns >= rules->deadline_ns)
		rules_advance(rules, now_ns);
	if (rules->quit_due) {
		rules->quit_due = false;
		return PBOOT_DO_QUIT;
	}
	if (rules->phase == PBOOT_KILLING && now_ns >= rules->deadline_ns) {
		rules->deadline_ns = now_ns + 20 * MS;
		return PBOOT_DO_KILL;
	}
	return PBOOT_DO_NOTHING;
}

int
pboot_rules_quit_signal(struct pboot_rules *rules, uint32_t rank)
{
	if (!pboot_rules_at_work(rules, rank))
		return 0;
	rules->ranks[rank].quit_sent = true;
	return rules->ranks[rank].joined ? SIGQUIT : SIGTERM;
}

void
pboot_rules_stopped(struct pboot_rules *rules, uint64_t length_ns)
{
	if (rules->limit_ns != never)
		rules->limit_ns += length_ns;
	if (rules->phase == PBOOT_RUNNING && rules->deadline_ns != never)
		rules->deadline_ns += length_ns;
}

bool
pboot_rules_at_work(const struct pboot_rules *rules, uint32_t rank)
{
	return !rules->ranks[rank].gone && !rules->ranks[rank].asked;
}
