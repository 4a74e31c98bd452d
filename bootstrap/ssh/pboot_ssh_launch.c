#include "bootstrap/ssh/pboot_ssh_job.h"

#include "bootstrap/keeper/pboot_keeper.h"
#include "bootstrap/launcher/pboot_launch.h"
#include "bootstrap/share/pboot_settings.h"
#include "runtime/util/clock.h"
#include "runtime/util/limit_hint.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define MS ((uint64_t)1000000)

/* An ssh has ssh_ns to end when its agent is done.  The launcher tries for stop_ns at most to send
 * a signal that stops the job, before it stops itself.  While the job ends, the loop looks again
 * after LOOK_MS. */
static const uint64_t ssh_ns = 1000 * MS, stop_ns = 300 * MS;
enum { LOOK_MS = 20, DRY_MS = 10, TERMINAL_MS = 200 };

/* -- signals ----------------------------------------------------------------------------------- */

static void
job_reap(struct pboot_ssh_job *job)
{
	int status;
	uint32_t i;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		for (i = 0; i < job->host_count; i++)
			if (job->hosts[i].pid == pid) {
				job->hosts[i].pid = 0;
				job->hosts[i].ssh_status = status;
			}
}

static bool
job_is_started(const struct pboot_ssh_job *job)
{
	uint32_t i;

	for (i = 0; i < job->host_count; i++)
		if (!job->hosts[i].greeted)
			return false;
	return true;
}

static void
job_flush(struct pboot_ssh_job *job)
{
	uint32_t i;

	for (i = 0; i < job->host_count; i++)
		pboot_ssh_link_flush(&job->hosts[i].link);
}

/* Sends what is due, so that the signal to stop is on its way before this process stops. */
static void
job_flush_now(struct pboot_ssh_job *job)
{
	const uint64_t until = psi_now_ns() + stop_ns;
	size_t due = 1;
	uint32_t i;

	while (due > 0 && psi_now_ns() < until) {
		job_flush(job);
		for (due = 0, i = 0; i < job->host_count; i++)
			due += pboot_ssh_link_due(&job->hosts[i].link);
		if (due > 0)
			pboot_poll(NULL, 0, DRY_MS);
	}
}

static void
job_stop(struct pboot_ssh_job *job)
{
	const uint64_t from = psi_now_ns();

	pboot_ssh_send_all_number(job, PBOOT_SSH_SIGNAL, SIGTSTP);
	job_flush_now(job);
	pboot_launch_stop_self();
	pboot_rules_stopped(&job->rules, psi_now_ns() - from);
	pboot_ssh_send_all_number(job, PBOOT_SSH_SIGNAL, SIGCONT);
}

/* Passes a request to end on to the ranks, if all hosts have begun.  Otherwise there are not yet
 * ranks everywhere that could take it, and the launcher ends the job. */
static void
job_ask_to_end(struct pboot_ssh_job *job, int sig)
{
	job->asked = true;
	if (job->rules.alive == 0)
		job->asked_last = sig;
	else if (!job_is_started(job))
		pboot_ssh_event(job, PBOOT_EV_ELSEWHERE_FAILED, 0, 128 + sig);
	else
		pboot_ssh_send_all_number(job, PBOOT_SSH_SIGNAL, (uint32_t)sig);
}

static void
job_take_signals(struct pboot_ssh_job *job)
{
	struct signalfd_siginfo info;

	while (read(job->signals, &info, sizeof info) == (ssize_t)sizeof info) {
		const int sig = (int)info.ssi_signo;

		if (pboot_is_request_to_end(sig))
			job_ask_to_end(job, sig);
		else if (sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU)
			job_stop(job);
		else if (sig != SIGCHLD)
			pboot_ssh_send_all_number(job, PBOOT_SSH_SIGNAL, (uint32_t)sig);
	}
	job_reap(job);
}

/* -- the loop ---------------------------------------------------------------------------------- */

enum { SIGNALS, INPUT, OUTPUT, HOSTS = OUTPUT + 2 };

static int
job_wait_ms(const struct pboot_ssh_job *job, bool input_later)
{
	const uint64_t now = psi_now_ns();
	int ms = TERMINAL_MS;

	if (job->streams[0].is_dry || job->streams[1].is_dry)
		return DRY_MS;
	if (job->rules.phase != PBOOT_RUNNING || job->rules.alive == 0)
		return LOOK_MS;
	if (!input_later && job_is_started(job) && !pboot_say_pending())
		ms = 3600000;
	if (job->rules.deadline_ns <= now)
		return 0;
	if ((job->rules.deadline_ns - now) / MS < (uint64_t)ms)
		ms = (int)((job->rules.deadline_ns - now) / MS) + 1;
	return ms;
}

static void
poll_set(struct pollfd *poll, int fd, bool wanted, short events)
{
	*poll = (struct pollfd) { .fd = wanted ? fd : -1, .events = events };
}

/* A dry stream is not polled: poll would say that there is room, but there is none. */
static void
poll_set_stream(struct pollfd *poll, const struct pboot_ssh_stream *stream)
{
	poll_set(poll, stream->fd, stream->first && !stream->is_dry, POLLOUT);
}

static void
job_wait(struct pboot_ssh_job *job, struct pollfd *polls)
{
	bool later, any_lost = false;
	uint32_t i;

	poll_set(&polls[SIGNALS], job->signals, true, POLLIN);
	poll_set(&polls[INPUT], STDIN_FILENO, pboot_ssh_input_is_wanted(job, &later), POLLIN);
	poll_set_stream(&polls[OUTPUT], &job->streams[0]);
	poll_set_stream(&polls[OUTPUT + 1], &job->streams[1]);
	for (i = 0; i < job->host_count; i++) {
		const struct pboot_ssh_host *host = &job->hosts[i];
		const size_t due = pboot_ssh_link_due(&host->link);

		poll_set(&polls[HOSTS + 2 * i], host->link.in,
		    !host->closed && host->lost_ns == 0, POLLIN);
		poll_set(&polls[HOSTS + 2 * i + 1], host->link.out, due > 0, POLLOUT);
		any_lost |= host->lost_ns != 0;
	}
	pboot_poll(polls, HOSTS + 2 * job->host_count,
	    any_lost ? LOOK_MS : job_wait_ms(job, later));
}

static void
job_take_turn(struct pboot_ssh_job *job, struct pollfd *polls)
{
	uint32_t i;

	job_wait(job, polls);
	if (polls[SIGNALS].revents)
		job_take_signals(job);
	if (polls[INPUT].revents)
		pboot_ssh_input_read(job);
	for (i = 0; i < 2; i++) {
		job->streams[i].is_dry = false;
		pboot_ssh_output_write(job, &job->streams[i]);
	}
	for (i = 0; i < job->host_count; i++)
		if (polls[HOSTS + 2 * i].revents && !job->hosts[i].closed)
			pboot_ssh_host_take(job, &job->hosts[i]);
	pboot_ssh_act(job);
	job_flush(job);
	pboot_say_flush();
}

static bool
job_is_over(const struct pboot_ssh_job *job)
{
	uint32_t i;

	for (i = 0; i < job->host_count; i++)
		if (!job->hosts[i].closed)
			return false;
	return pboot_ssh_output_is_empty(job);
}

/* Ends each ssh that does not end by itself. */
static void
job_end_ssh(struct pboot_ssh_job *job)
{
	const uint64_t until = psi_now_ns() + ssh_ns;
	struct pollfd signals = { .fd = job->signals, .events = POLLIN };
	bool any = true;
	uint32_t i;

	while (any) {
		job_take_signals(job);
		any = false;
		for (i = 0; i < job->host_count; i++) {
			const struct pboot_ssh_host *host = &job->hosts[i];

			any |= host->pid != 0;
			if (host->pid != 0 && (!host->done || psi_now_ns() >= until))
				kill(host->pid, SIGKILL);
		}
		if (any)
			pboot_poll(&signals, 1, LOOK_MS);
	}
}

/* -- beginning --------------------------------------------------------------------------------- */

static const char *
ssh_command(void)
{
	const char *command = getenv("GASNET_SSH_CMD");

	return command && *command ? command : "ssh";
}

static bool
job_prepare(struct pboot_ssh_job *job, const struct pboot_plan *plan,
    const struct pboot_places *places)
{
	const uint32_t host_count = places->count;
	uint32_t i, first = 0;

	job->plan = plan;
	job->ssh = ssh_command();
	job->host_count = host_count;
	job->begin_ns = job->output_ns = psi_now_ns();
	job->hosts = calloc(host_count, sizeof *job->hosts);
	job->rank_rules = calloc(plan->size, sizeof *job->rank_rules);
	job->left = calloc(plan->size, sizeof *job->left);
	if (!job->hosts || !job->rank_rules || !job->left || !pboot_ssh_output_open(job))
		return false;
	for (i = 0; i < host_count; i++) {
		struct pboot_ssh_host *host = &job->hosts[i];

		host->name = places->names[i];
		host->ranks = (struct pboot_ssh_ranks) { first, places->ranks[i] };
		first += places->ranks[i];
		host->alive = host->ranks.count;
		host->link.in = host->link.out = -1;
	}
	pboot_rules_init(&job->rules, plan->size, job->rank_rules,
	    pboot_settings_grace_ns(plan->size), plan->timeout_ns, job->begin_ns);
	pboot_ssh_input_open(job);
	job->signals = pboot_launch_open_signals();
	return job->signals >= 0;
}

static void
job_start_hosts(struct pboot_ssh_job *job)
{
	uint32_t i;

	for (i = 0; i < job->host_count; i++)
		if (job->rules.phase < PBOOT_ENDING &&
		    !pboot_ssh_host_start(job, &job->hosts[i])) {
			pboot_ssh_event(job, PBOOT_EV_HOST, 0, (int)i);
			pboot_ssh_host_close(job, &job->hosts[i]);
		}
}

static int
job_run(struct pboot_ssh_job *job)
{
	static const struct pboot_print_limits hurried = {
		.quiet_ns = PBOOT_PRINT_FAILED_NS, .until_ns = UINT64_MAX, .wake_fd = -1,
	};
	struct pollfd *polls = calloc(HOSTS + 2 * (size_t)job->host_count, sizeof *polls);

	if (!polls) {
		pboot_say("no memory for %u hosts", job->host_count);
		return 1;
	}
	job_start_hosts(job);
	while (!job_is_over(job))
		job_take_turn(job, polls);
	job_end_ssh(job);
	free(polls);
	if (pboot_ssh_status(job) != 0)
		pboot_print_limit(&hurried);
	pboot_say_settle();
	return pboot_ssh_status(job);
}

int
pboot_launcher_run_ssh(const struct pboot_plan *plan, const struct pboot_places *places)
{
	static struct pboot_ssh_job job;
	int status;

	pboot_settings_check();
	pboot_state_change(&job.saved);
	if (job_prepare(&job, plan, places)) {
		status = job_run(&job);
	} else {
		pboot_say("cannot start the job: %s%s", strerror(errno), psi_limit_hint(errno));
		status = 1;
	}
	pboot_state_restore(&job.saved);
	pboot_say_settle();
	return status;
}
