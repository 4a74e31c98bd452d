/*
 * The rules by which a job ends.  They are pure functions without system calls.  The keeper passes
 * events and the time to them, and does what they say.
 *
 *     RUNNING --a rank asks to end--> ASKING --time over, or a failure--> ENDING --grace--> KILLING
 *     RUNNING --a failure-------------------------------------------------^
 *
 * In ASKING the other ranks may ask too.  When ENDING begins, they get SIGQUIT (SIGTERM if they
 * never entered init); when KILLING begins, SIGKILL.  The job is over when all ranks have ended.
 * The first cause in time gives the job's status, but status 0 loses to any other.
 *
 * tests/model/exit.pml models these rules, the keeper, the launcher and the ranks.  Names in
 * capitals in the code of these, such as ZERO_LOSES, are switches of the model.
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
	PBOOT_EV_EXIT_ALONE,	/* value: the same, of an exit() that ends only this rank */
	PBOOT_EV_DIED,		/* value: status of waitpid */
	PBOOT_EV_ENDED,		/* a rank that is no child has ended; its status is not known */
	PBOOT_EV_VANISHED,	/* the process that entered init has ended, its parent lives */
	PBOOT_EV_TWICE,		/* a second process of the rank entered init */
	PBOOT_EV_NO_EXEC,	/* value: errno */
	PBOOT_EV_NO_START,	/* value: errno; ranks could not be made */
	PBOOT_EV_LAUNCHER,	/* the launcher is gone */
	PBOOT_EV_GUARD,		/* the guard is gone; value: status of waitpid */
	PBOOT_EV_TIMEOUT,	/* the job's time is over */
	PBOOT_EV_ELSEWHERE_ASKED,	/* a rank of another host asked to end; value: its code */
	PBOOT_EV_ELSEWHERE_FAILED,	/* the job fails on another host; value: its status */
	PBOOT_EV_HOST,		/* a host of the job is lost; value: which */
};

/* Why the job ended, for the message.  The last seven kinds have no rank. */
enum pboot_cause_kind {
	PBOOT_CAUSE_NONE,
	PBOOT_CAUSE_LEAVE,	/* gasnet_exit */
	PBOOT_CAUSE_EXIT,	/* exit(), or return from main */
	PBOOT_CAUSE_PLAIN,	/* ended with a non-zero status, no rank in init */
	PBOOT_CAUSE_SIGNAL,	/* detail: signal */
	PBOOT_CAUSE_UNSAID,	/* entered init, ended without a message; detail: its status */
	PBOOT_CAUSE_ENDED,	/* the same, with a status that is not known */
	PBOOT_CAUSE_NO_INIT,	/* ended without init, others have entered it; detail: status */
	PBOOT_CAUSE_VANISHED,
	PBOOT_CAUSE_TWICE,
	PBOOT_CAUSE_NO_EXEC,	/* detail: errno */
	PBOOT_CAUSE_NO_START,	/* detail: errno */
	PBOOT_CAUSE_LAUNCHER,
	PBOOT_CAUSE_GUARD,
	PBOOT_CAUSE_TIMEOUT,
	PBOOT_CAUSE_ELSEWHERE,	/* another host tells why */
	PBOOT_CAUSE_HOST,	/* detail: the host that is lost */
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
	int status;		/* that it asked for, or ended with */
};

struct pboot_rules {
	uint32_t size, alive;
	enum pboot_phase phase;
	bool any_joined;
	bool quit_due;		/* ENDING has begun, and PBOOT_DO_QUIT has not been returned yet */
	struct pboot_cause cause;
	uint64_t ask_ns, grace_ns, timeout_ns;	/* lengths; timeout 0: none */
	uint64_t deadline_ns;	/* when the phase ends; UINT64_MAX: it has no end */
	uint64_t limit_ns;	/* when the job's time is over; UINT64_MAX: none */
	struct pboot_rank_rule *ranks;	/* [size], the caller's memory, zeroed */
};

/*
 * How long ASKING lasts, in ns: pboot_rules_ask_ns after an error, pboot_rules_ask_ok_ns after
 * status 0.  The latter is longer.  With status 0 all ranks are most likely about to make the same
 * call, and a rank that has lost its CPU for a moment must not lose its buffered output.  Either of
 * them and the grace together stay under 2 s.
 */
uint64_t pboot_rules_ask_ns(uint32_t size);
uint64_t pboot_rules_ask_ok_ns(uint32_t size, uint64_t grace_ns);
void pboot_rules_init(struct pboot_rules *rules, uint32_t size, struct pboot_rank_rule *ranks,
    uint64_t grace_ns, uint64_t timeout_ns, uint64_t now_ns);

/* Takes an event into account.  True if the job's cause changed. */
bool pboot_rules_event(struct pboot_rules *rules, enum pboot_event_kind kind, uint32_t rank,
    int value, uint64_t now_ns);

/* The action that is due now.  Each is returned once, and the caller does it. */
enum pboot_action pboot_rules_due(struct pboot_rules *rules, uint64_t now_ns);

/* The signal that PBOOT_DO_QUIT sends to this rank, 0 if none.  Notes that it was sent. */
int pboot_rules_quit_signal(struct pboot_rules *rules, uint32_t rank);

/* The job was stopped for length_ns: its time limit moves by as much. */
void pboot_rules_stopped(struct pboot_rules *rules, uint64_t length_ns);

/* Is this rank at work?  It is while it lives and has not asked to end. */
bool pboot_rules_at_work(const struct pboot_rules *rules, uint32_t rank);
bool pboot_rules_anyone_at_work(const struct pboot_rules *rules);

#endif
