#include "bootstrap/ssh/pboot_ssh_job.h"

#include "runtime/util/limit_hint.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { WHO_BYTES = 320, NO_SSH = 253 };

static uint32_t
job_find_joined(const struct pboot_ssh_job *job)
{
	uint32_t rank = 0;

	while (rank + 1 < job->plan->size && !job->rank_rules[rank].joined)
		rank++;
	return rank;
}

/* A keeper prints the causes that it tells, and a rank that has begun to join usually prints its
 * own.  The others are printed here. */
void
pboot_ssh_report(struct pboot_ssh_job *job)
{
	const struct pboot_cause *cause = &job->rules.cause;
	char who[WHO_BYTES];

	if (job->reported == cause->kind)
		return;
	job->reported = cause->kind;
	snprintf(who, sizeof who, "rank %u (%s)", cause->rank,
	    pboot_ssh_host_of(job, cause->rank)->name);
	switch (cause->kind) {
	case PBOOT_CAUSE_PLAIN:
		pboot_say("%s ended with status %d", who, cause->detail);
		break;
	case PBOOT_CAUSE_SIGNAL:
		pboot_say("%s was killed by signal %d (%s)", who, cause->detail,
		    strsignal(cause->detail));
		break;
	case PBOOT_CAUSE_UNSAID:
		pboot_say("%s ended with status %d before all ranks had joined", who,
		    cause->detail);
		break;
	case PBOOT_CAUSE_NO_INIT:
		pboot_say("%s ended with status %d without having called init, while rank %u has",
		    who, cause->detail, job_find_joined(job));
		break;
	case PBOOT_CAUSE_NO_EXEC:
		pboot_say("host %s: cannot run %s: %s%s", pboot_ssh_host_of(job, cause->rank)->name,
		    job->plan->program, strerror(cause->detail), psi_limit_hint(cause->detail));
		break;
	case PBOOT_CAUSE_TIMEOUT:
		pboot_say("the time limit of %.3g s is over; the job ends",
		    (double)job->plan->timeout_ns / 1e9);
		break;
	default:
		break;
	}
}

static void
report_ssh_status(const struct pboot_ssh_job *job, const char *host, int status)
{
	const char *more = getenv("GASNET_SSH_OPTIONS");
	const bool has_more = more && *more;

	if (status == NO_SSH)
		pboot_say("cannot run %s (GASNET_SSH_CMD): no such program", job->ssh);
	else if (status == 255)
		pboot_say("host %s cannot be reached by %s; does \"%s%s%s %s true\" work, without "
		    "a question?", host, job->ssh, job->ssh, has_more ? " " : "",
		    has_more ? more : "", host);
	else if (status == 126 || status == 127)
		pboot_say("host %s has no %s that can be run at the same path as here; "
		    "install Penstock there, or run it from a directory that all hosts have", host,
		    program_invocation_short_name);
	else
		pboot_say("host %s: %s ended with status %d before it had started anything there",
		    host, job->ssh, status);
}

void
pboot_ssh_report_lost(const struct pboot_ssh_job *job, const struct pboot_ssh_host *host)
{
	if (host->pid == 0 && WIFSIGNALED(host->ssh_status))
		pboot_say("%s to host %s was killed by signal %d; the job ends", job->ssh,
		    host->name, WTERMSIG(host->ssh_status));
	else if (host->pid == 0 && !host->greeted)
		report_ssh_status(job, host->name, WEXITSTATUS(host->ssh_status));
	else
		pboot_say("the connection by %s to host %s is lost; the job ends", job->ssh,
		    host->name);
}
