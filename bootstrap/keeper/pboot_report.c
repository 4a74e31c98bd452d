/* Prints why the job ended, in one line that names rank and host. */
#include "bootstrap/keeper/pboot_peers.h"

#include "runtime/util/clock.h"
#include "runtime/util/limit_hint.h"
#include "runtime/util/oom.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LIST_SHOWN = 8, LIST_BYTES = 160, WHO_BYTES = 128 };

/* Writes the ranks for which `is_listed' is true, as "0, 1, 5 and 20 more", and returns how many
 * there are. */
static uint32_t
report_list_ranks(const struct pboot_keeper *keeper,
    bool (*is_listed)(const struct pboot_rules *rules, uint32_t rank), char text[LIST_BYTES])
{
	uint32_t rank, count = 0;
	size_t len = 0;

	text[0] = '\0';
	for (rank = 0; rank < keeper->plan->size; rank++) {
		if (!is_listed(&keeper->rules, rank))
			continue;
		if (count++ < LIST_SHOWN)
			len += (size_t)snprintf(text + len, LIST_BYTES - len, "%s%u",
			    count > 1 ? ", " : "", pboot_keeper_job_rank(keeper, rank));
	}
	if (count > LIST_SHOWN)
		snprintf(text + len, LIST_BYTES - len, " and %u more", count - LIST_SHOWN);
	return count;
}

static uint32_t
report_list_at_work(const struct pboot_keeper *keeper, char text[LIST_BYTES])
{
	return report_list_ranks(keeper, pboot_rules_at_work, text);
}

/* Writes the ranks at work as "rank 3", "ranks 0, 1" or "ranks of other hosts"; returns false if
 * there are none. */
static bool
report_name_at_work(const struct pboot_keeper *keeper, char text[LIST_BYTES])
{
	char list[LIST_BYTES];
	const uint32_t count = report_list_at_work(keeper, list);

	if (count > 0)
		snprintf(text, LIST_BYTES, "rank%s %.*s", count > 1 ? "s" : "", LIST_BYTES - 8,
		    list);
	else
		snprintf(text, LIST_BYTES, "ranks of other hosts");
	return count > 0 || !pboot_peers_all_idle(keeper);
}

/* If the kernel's count of out-of-memory kills has grown, the kernel sent the SIGKILL. */
static const char *
report_why_killed(const struct pboot_keeper *keeper, int sig)
{
	return sig == SIGKILL && psi_oom_kills("") > keeper->oom_kills ?
	    " by the kernel: no memory left on the host or in the control group" : "";
}

static bool
report_is_unasked(const struct pboot_rules *rules, uint32_t rank)
{
	const struct pboot_rank_rule *self = &rules->ranks[rank];

	return self->gone && !self->asked && !self->quit_sent;
}

/* Prints that ranks have ended.  An engine may kill all ranks when one has ended, before this
 * process gets the CPU.  Then this process cannot tell which was first. */
static void
report_ended(const struct pboot_keeper *keeper, const char *who, const char *note)
{
	char ranks[LIST_BYTES];

	if (report_list_ranks(keeper, report_is_unasked, ranks) > 1)
		pboot_say(
			"ranks %s (%s) were killed, or ended neither by gasnet_exit nor by exit%s",
			ranks, keeper->host, report_why_killed(keeper, SIGKILL));
	else
		pboot_say("%s was killed, or ended neither by gasnet_exit nor by exit%s%s", who,
		    report_why_killed(keeper, SIGKILL), note);
}

/* A program that calls gasnet_exit prints its reason itself.  So a line is printed only if other
 * ranks were still at work. */
static void
report_leave(const struct pboot_keeper *keeper, const char *who, const char *note)
{
	const struct pboot_cause *cause = &keeper->rules.cause;
	char others[LIST_BYTES];

	if (report_name_at_work(keeper, others) && cause->code != 0)
		pboot_say("%s ended the job by gasnet_exit(%d) while %s had not asked to end%s",
		    who, cause->detail, others, note);
}

static void
report_exit(const struct pboot_keeper *keeper, const char *who, const char *note)
{
	const struct pboot_cause *cause = &keeper->rules.cause;
	char others[LIST_BYTES];

	if (report_name_at_work(keeper, others))
		pboot_say("%s ended by exit(%d) while %s had not asked to end%s", who,
		    cause->detail, others, note);
	else if (cause->code != 0)
		pboot_say("%s ended by exit(%d)%s", who, cause->detail, note);
}

/* Finds a rank that has entered init. */
static uint32_t
report_find_joined(const struct pboot_keeper *keeper)
{
	uint32_t rank;

	for (rank = 0; rank + 1 < keeper->plan->size; rank++)
		if (keeper->rules.ranks[rank].joined)
			break;
	return rank;
}

static void
report_rank(const struct pboot_keeper *keeper, const char *who, const char *note)
{
	const struct pboot_cause *cause = &keeper->rules.cause;

	switch (cause->kind) {
	case PBOOT_CAUSE_LEAVE:
		report_leave(keeper, who, note);
		break;
	case PBOOT_CAUSE_EXIT:
		report_exit(keeper, who, note);
		break;
	case PBOOT_CAUSE_PLAIN:
		pboot_say("%s ended with status %d%s", who, cause->detail, note);
		break;
	case PBOOT_CAUSE_SIGNAL:
		pboot_say("%s was killed by signal %d (%s)%s%s", who, cause->detail,
		          strsignal(cause->detail), report_why_killed(keeper, cause->detail), note);
		break;
	case PBOOT_CAUSE_UNSAID:
		pboot_say("%s ended with status %d, neither by gasnet_exit nor by exit%s", who,
		    cause->detail, note);
		break;
	case PBOOT_CAUSE_ENDED:
		report_ended(keeper, who, note);
		break;
	case PBOOT_CAUSE_NO_INIT:
		pboot_say("%s ended with status %d without having called init, while rank %u has%s",
		    who, cause->detail,
		    pboot_keeper_job_rank(keeper, report_find_joined(keeper)), note);
		break;
	case PBOOT_CAUSE_VANISHED:
		pboot_say("%s has ended, but the process that started it still runs%s", who, note);
		break;
	case PBOOT_CAUSE_TWICE:
		pboot_say("%s: a second process of this rank called init; start each program of a "
		          "rank as a job of its own", who);
		break;
	default:
		break;
	}
}

static void
report_job(struct pboot_keeper *keeper)
{
	const struct pboot_cause *cause = &keeper->rules.cause;

	switch (cause->kind) {
	case PBOOT_CAUSE_NO_EXEC:
		pboot_say("cannot run %s: %s%s", keeper->plan->program, strerror(cause->detail),
		    psi_limit_hint(cause->detail));
		break;
	case PBOOT_CAUSE_NO_START:
		if (cause->detail == EPROTO) {	/* of pboot_peers_gathered */
			pboot_say("the ranks of %s start in another way than those of another "
			          "host; do all hosts have the same program, release and "
			          "PST_CONDUIT?", keeper->host);
			break;
		}
		pboot_say("cannot start rank %u of %u: %s%s",
		    pboot_keeper_job_rank(keeper, cause->rank), keeper->plan->size,
		    strerror(cause->detail), psi_limit_hint(cause->detail));
		break;
	case PBOOT_CAUSE_LAUNCHER:
		pboot_say("the launcher (pid %d, %s) is gone; the job ends", (int)keeper->launcher,
		    keeper->host);
		break;
	case PBOOT_CAUSE_GUARD:
		pboot_say("the guard of the job (%s) is gone; the job ends", keeper->host);
		break;
	case PBOOT_CAUSE_TIMEOUT:
		pboot_report_ranks(keeper, PBOOT_REPORT_TIMEOUT, PBOOT_TIME_IS_OVER);
		if (keeper->adopts)	/* the launcher says it */
			break;
		pboot_say("the time limit of %.3g s is over; the job ends",
		    (double)keeper->plan->timeout_ns / 1e9);
		break;
	case PBOOT_CAUSE_HOST:	/* the host that saw the loss says it */
		if (keeper->peers->is_witness)
			pboot_say("%s; the job ends", keeper->peers->why);
		break;
	default:
		break;
	}
}

void
pboot_report_cause(struct pboot_keeper *keeper)
{
	const struct pboot_cause *cause = &keeper->rules.cause;
	const struct pboot_keeper_rank *rank = &keeper->ranks[cause->rank];
	pid_t pid = rank->init_pid ? rank->init_pid : rank->pid;
	char who[WHO_BYTES], note[PBOOT_CAUSE_MAX];

	if (keeper->cause_reported || cause->kind == PBOOT_CAUSE_NONE)
		return;
	keeper->cause_reported = true;
	if (rank->said)
		return;
	snprintf(who, sizeof who, "rank %u (%s, pid %d)",
	    pboot_keeper_job_rank(keeper, cause->rank), keeper->host, (int)pid);
	snprintf(note, sizeof note, "%s%.600s", rank->note && *rank->note ? ": " : "",
	    rank->note ? rank->note : "");
	report_rank(keeper, who, note);
	report_job(keeper);
}

/* Prints which processes were started, and the kind of memory, if GASNET_SPAWN_VERBOSE is set. */
void
pboot_report_start(const struct pboot_keeper *keeper)
{
	const char *verbose = getenv("GASNET_SPAWN_VERBOSE");
	uint32_t rank;

	if (!verbose || !*verbose || !strchr("1yY", *verbose))
		return;
	pboot_say("the keeper is pid %d on %s; shared memory is %s, %s", (int)getpid(),
	    keeper->host,
	    keeper->file_kind, keeper->inherit ? "inherited" : "handed over by socket");
	for (rank = 0; rank < keeper->plan->size; rank++)
		pboot_say("rank %u is pid %d", pboot_keeper_job_rank(keeper, rank),
		    (int)keeper->ranks[rank].pid);
}

void
pboot_report_state(struct pboot_keeper *keeper)
{
	static const char *const phases[] = {
		"runs", "waits for the other ranks to end", "ends", "is being killed",
	};
	char others[LIST_BYTES];
	uint32_t count = report_list_at_work(keeper, others);

	pboot_say("the job of %u ranks on %s %s; at work: %s", keeper->plan->size, keeper->host,
	    phases[keeper->rules.phase], count ? others : "none");
	pboot_report_ranks(keeper, PBOOT_REPORT_ASKED, "asked for by SIGUSR1");
}
