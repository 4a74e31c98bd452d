/*
 * How a job ends: pure decisions, no system calls.  The keeper feeds events and the time, and does
 * what the rules say.
 *
 *     RUNNING --a rank asks to end--> ASKING --time over, or a failure--> ENDING --grace--> KILLING
 *     RUNNING --a failure-------------------------------------------------^
 *
 * In ASKING the others may ask by themselves; entering ENDING sends SIGQUIT (SIGTERM to processes
 * that never entered init); entering KILLING sends SIGKILL.  The job is over when no rank is alive.
 * The first cause in time gives the status, but 0 loses to any other.
 *
 * tests/model/exit.pml models these rules, keeper, launcher and ranks; in the code of all of them the
 * names in capitals are its switches.
 */
#ifndef PBOOT_EXIT_RULES_H
#define PBOOT_EXIT_RULES_H

#include <stdbool.h>
#include <stdint.h>

enum pboot_phase { PBOOT_RUNNING, PBOOT_ASKING, PBOOT_ENDING, PBOOT_KILLING };

enum pboot_event_kind {
	PBOOT_EV_JOINED,	/* rank entered init */
	PBOOT_EV_LEAVE,		/* value: code of gasnet_exit */
	PBOOT_EV_EXIT,		/* value: code of exit() or of return from main */
	PBOOT_EV_PARTING,	/* value: the same, which ends only this rank */
	PBOOT_EV_DIED,		/* value: status of waitpid */
	PBOOT_EV_VANISHED,	/* the process that joined is gone, its wrapper lives */
	PBOOT_EV_TWICE,		/* a second process of the rank entered init */
	PBOOT_EV_NO_EXEC,	/* value: errno */
	PBOOT_EV_NO_START,	/* value: errno; ranks could not be made */
	PBOOT_EV_LAUNCHER,	/* the launcher is gone */
	PBOOT_EV_GUARD,		/* the guard is gone; value: status of waitpid */
	PBOOT_EV_TIMEOUT,	/* the job's time is over */
};

/* Why the job ended, for the message; the rank means nothing for the last five kinds. */
enum pboot_cause_kind {
	PBOOT_CAUSE_NONE,
	PBOOT_CAUSE_LEAVE,	/* gasnet_exit */
	PBOOT_CAUSE_EXIT,	/* exit() noted */
	PBOOT_CAUSE_PLAIN,	/* ended with a non-zero status, no rank in init */
	PBOOT_CAUSE_SIGNAL,	/* detail: signal */
	PBOOT_CAUSE_UNSAID,	/* in init, ended without a word; detail: its status */
	PBOOT_CAUSE_NO_INIT,	/* ended without init while others are in it; detail: its status */
	PBOOT_CAUSE_VANISHED,
	PBOOT_CAUSE_TWICE,
	PBOOT_CAUSE_NO_EXEC,	/* detail: errno */
	PBOOT_CAUSE_NO_START,	/* detail: errno */
	PBOOT_CAUSE_LAUNCHER,
	PBOOT_CAUSE_GUARD,
	PBOOT_CAUSE_TIMEOUT,
};

enum pboot_action { PBOOT_DO_NOTHING, PBOOT_DO_QUIT, PBOOT_DO_KILL };

struct pboot_cause {
	enum pboot_cause_kind kind;
	uint32_t rank;
	int detail;
	int code;		/* the job's status */
};

struct pboot_rank_rule {
	bool joined, asked, gone;
	bool quit_sent;
	int status;		/* exit status once gone */
};

struct pboot_rules {
	uint32_t size, alive;
	enum pboot_phase phase;
	bool any_joined;
	bool quit_due;		/* ENDING entered, the caller has not been told */
	struct pboot_cause cause;
	uint64_t ask_ns, grace_ns, timeout_ns;	/* lengths; timeout 0: none */
	uint64_t deadline_ns;	/* of the phase; UINT64_MAX: none */
	uint64_t limit_ns;	/* when the job's time is over; UINT64_MAX: none */
	struct pboot_rank_rule *ranks;	/* [size], the caller's memory, zeroed */
};

/* Lengths in ns.  How long the first rank that asks waits for the others: a short while if it brings
 * an error; longer if it brings 0, since all ranks are then most likely on their way to the same
 * call, and one that has lost its CPU for a moment must not lose its buffered output.  Both together
 * with the grace stay under 2 s.  Then, how long all have after that. */
uint64_t pboot_rules_ask_ns(uint32_t size);
uint64_t pboot_rules_ask_ok_ns(uint32_t size, uint64_t grace_ns);
void pboot_rules_init(struct pboot_rules *rules, uint32_t size, struct pboot_rank_rule *ranks,
    uint64_t grace_ns, uint64_t timeout_ns, uint64_t now_ns);

/* Takes an event into account.  True if the job's cause changed. */
bool pboot_rules_event(struct pboot_rules *rules, enum pboot_event_kind kind, uint32_t rank,
    int value, uint64_t now_ns);

/* What is due now; each action is told once, and the caller does it. */
enum pboot_action pboot_rules_due(struct pboot_rules *rules, uint64_t now_ns);

/* The signal that DO_QUIT sends to this rank now, 0 if none; notes that it was sent. */
int pboot_rules_quit_signal(struct pboot_rules *rules, uint32_t rank);

/* The job was stopped for this long: its time limit moves. */
void pboot_rules_stopped(struct pboot_rules *rules, uint64_t length_ns);

/* Whether this rank is at work: alive, and has not asked to end. */
bool pboot_rules_at_work(const struct pboot_rules *rules, uint32_t rank);

#endif
