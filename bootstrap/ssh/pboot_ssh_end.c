/* The launcher ends a job that ssh has started here. */
#include "bootstrap/ssh/pboot_ssh_job.h"

#include "runtime/util/clock.h"

#define MS ((uint64_t)1000000)

/* Agents that were told to kill, or whose ranks have all ended, have this long to say that all has
 * ended. */
static const uint64_t give_up_ns = 5000 * MS;
/* Those that keepers cannot reach may hear the launcher all the same.  In this time the word to
 * kill is on its way; when the connection ends behind it, an agent goes on killing. */
static const uint64_t unreachable_ns = 150 * MS;

static void
job_quit(struct pboot_ssh_job *job)
{
	uint32_t i;

	for (i = 0; i < job->plan->size; i++)
		pboot_rules_quit_signal(&job->rules, i);
	if (job->rules.cause.kind == PBOOT_CAUSE_TIMEOUT)
		pboot_ssh_send_all(job, PBOOT_SSH_TIME_OVER, 0);
	pboot_ssh_send_all_number(job, PBOOT_SSH_QUIT, (uint32_t)job->rules.cause.code);
}

static void
job_kill(struct pboot_ssh_job *job, uint64_t now)
{
	if (job->kill_ns != 0)
		return;
	job->kill_ns = now;
	pboot_ssh_send_all(job, PBOOT_SSH_KILL, 0);
}

/* Is there a host of which the ends of ranks are not known? */
static bool
job_misses_ends(const struct pboot_ssh_job *job)
{
	uint32_t i;

	for (i = 0; i < job->host_count; i++)
		if (job->hosts[i].alive > 0)
			return true;
	return false;
}

/* A host that does not say that all has ended there may have lost its connection, so the job has
 * not succeeded.  A keeper has named those that are out of reach.  The keeper of a host whose ranks
 * have all ended may only wait for such a host, and is not blamed. */
static void
host_give_up(struct pboot_ssh_job *job, struct pboot_ssh_host *host, bool misses_ends)
{
	if (!host->unreachable && (host->alive > 0 || !misses_ends))
		pboot_say("host %s has not confirmed that the job has ended there", host->name);
	pboot_ssh_event(job, PBOOT_EV_HOST, 0, (int)(host - job->hosts));
}

/* A keeper that waits in vain for ranks that have all ended is killed too. */
static bool
job_waits_for_unreachable(const struct pboot_ssh_job *job)
{
	uint32_t i;

	for (i = 0; job->rules.alive == 0 && i < job->host_count; i++)
		if (job->hosts[i].unreachable && !job->hosts[i].closed)
			return true;
	return false;
}

static bool
job_has_killed_for(const struct pboot_ssh_job *job, uint64_t limit_ns, uint64_t now)
{
	return job->kill_ns != 0 && now - job->kill_ns >= limit_ns;
}

/* Will nothing more come from this host?  Nothing comes from hosts that have not begun when the job
 * ends, hosts that keepers cannot reach and that do not answer, and hosts that are silent. */
static bool
host_is_over(const struct pboot_ssh_job *job, const struct pboot_ssh_host *host, bool silent,
    uint64_t now)
{
	if (!host->greeted)
		return job->rules.phase >= PBOOT_ENDING;
	return silent || (host->unreachable && job_has_killed_for(job, unreachable_ns, now));
}

static void
job_check_hosts(struct pboot_ssh_job *job, uint64_t now)
{
	const bool silent = job_has_killed_for(job, give_up_ns, now) ||
	    (job->rules.alive == 0 && pboot_ssh_output_is_empty(job) &&
	     now - job->output_ns >= give_up_ns);
	const bool misses_ends = job_misses_ends(job);
	uint32_t i;

	for (i = 0; i < job->host_count; i++) {
		struct pboot_ssh_host *host = &job->hosts[i];

		pboot_ssh_host_check_lost(job, host);
		if (host->closed || !host_is_over(job, host, silent, now))
			continue;
		if (host->greeted)
			host_give_up(job, host, misses_ends);
		pboot_ssh_host_close(job, host);
	}
}

/* Returns why output that waits for its reader is given up now, or NULL if it is not. */
static const char *
output_end_reason(struct pboot_ssh_job *job, uint64_t now)
{
	struct pboot_cause *cause = &job->rules.cause;

	if (job->asked_last) {
		if (cause->code == 0)
			cause->code = 128 + job->asked_last;
		return "the job was told to end";
	}
	if (now >= job->rules.limit_ns && cause->code == 0) {
		cause->kind = PBOOT_CAUSE_TIMEOUT;
		cause->code = 124;
		return "the job's time is over";
	}
	if ((job->asked || cause->code != 0) && now - job->output_ns >= PBOOT_PRINT_FAILED_NS)
		return "the job must end, and nobody reads the output";
	return NULL;
}

static void
job_check_output(struct pboot_ssh_job *job, uint64_t now)
{
	const char *why;

	if (job->rules.alive > 0) {
		job->output_ns = now;
		return;
	}
	if (job->gave_up_output || pboot_ssh_output_is_empty(job))
		return;
	why = output_end_reason(job, now);
	if (!why)
		return;
	job->gave_up_output = true;
	pboot_ssh_output_drop(job);
	pboot_say("the rest of the ranks' output is left out: %s", why);
}

void
pboot_ssh_act(struct pboot_ssh_job *job)
{
	const uint64_t now = psi_now_ns();
	enum pboot_action action = PBOOT_DO_NOTHING;

	if (job->rules.alive > 0)
		action = pboot_rules_due(&job->rules, now);
	pboot_ssh_report(job);
	if (action == PBOOT_DO_QUIT)
		job_quit(job);
	else if (action == PBOOT_DO_KILL || job_waits_for_unreachable(job))
		job_kill(job, now);
	job_check_hosts(job, now);
	job_check_output(job, now);
}

int
pboot_ssh_status(const struct pboot_ssh_job *job)
{
	return job->rules.cause.kind == PBOOT_CAUSE_NONE ? job->first_status
	                                                 : job->rules.cause.code;
}
