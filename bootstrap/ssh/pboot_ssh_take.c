/* Takes what an agent sends. */
#include "bootstrap/ssh/pboot_ssh_job.h"

#include "bootstrap/ssh/pboot_pmi1_server.h"
#include "penstock.h"
#include "runtime/util/clock.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define MS ((uint64_t)1000000)

/* When a connection has closed, its ssh has this long to end too, and to tell why. */
static const uint64_t ssh_end_ns = 1000 * MS;
/* An agent has this long to greet.  TCP needs less to find out that a host does not answer. */
static const uint64_t greet_ns = 150000 * MS;

enum { TEXT_BYTES = 512 };

void
pboot_ssh_send_all(struct pboot_ssh_job *job, enum pboot_ssh_kind kind, uint32_t rank)
{
	uint32_t i;

	for (i = 0; i < job->host_count; i++)
		if (job->hosts[i].greeted)
			pboot_ssh_link_send(&job->hosts[i].link, kind, rank, NULL, 0);
}

void
pboot_ssh_send_all_number(struct pboot_ssh_job *job, enum pboot_ssh_kind kind, uint32_t number)
{
	uint32_t i;

	for (i = 0; i < job->host_count; i++)
		if (job->hosts[i].greeted)
			pboot_ssh_link_send_number(&job->hosts[i].link, kind, 0, number);
}

struct pboot_ssh_host *
pboot_ssh_host_of(const struct pboot_ssh_job *job, uint32_t rank)
{
	uint32_t i = 0;

	while (rank - job->hosts[i].ranks.first >= job->hosts[i].ranks.count)
		i++;
	return &job->hosts[i];
}

void
pboot_ssh_event(struct pboot_ssh_job *job, enum pboot_event_kind kind, uint32_t rank, int value)
{
	pboot_rules_event(&job->rules, kind, rank, value, psi_now_ns());
}

/* -- the end of a connection ------------------------------------------------------------------- */

static void
rank_end(struct pboot_ssh_job *job, struct pboot_ssh_host *host, uint32_t rank, int status)
{
	if (job->rank_rules[rank].gone)
		return;
	host->alive--;
	if (job->left[rank])
		pboot_ssh_event(job, PBOOT_EV_ENDED, rank, 0);
	else
		pboot_ssh_event(job, PBOOT_EV_DIED, rank, status);
}

void
pboot_ssh_host_close(struct pboot_ssh_job *job, struct pboot_ssh_host *host)
{
	uint32_t i;

	if (host->closed)
		return;
	host->closed = true;
	host->lost_ns = 0;
	pboot_ssh_link_close(&host->link);
	for (i = 0; i < host->ranks.count; i++) {
		job->rank_rules[host->ranks.first + i].quit_sent = true; /* its end says nothing */
		rank_end(job, host, host->ranks.first + i, 0);
	}
}

/* Ends the connection to a host, and the job.  Only the first host of several is named. */
static void __attribute__((format(printf, 3, 4)))
host_refuse(struct pboot_ssh_job *job, struct pboot_ssh_host *host, const char *format, ...)
{
	char text[TEXT_BYTES];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	if (*text && job->rules.phase < PBOOT_ENDING)
		pboot_say("host %s%s", host->name, text);
	pboot_ssh_event(job, PBOOT_EV_HOST, 0, (int)(host - job->hosts));
	pboot_ssh_host_close(job, host);
}

/* Ends the job if a connection ended before its agent was done.  The job may already be ending for
 * that reason: the keeper of another host can be faster than this ssh. */
void
pboot_ssh_host_check_lost(struct pboot_ssh_job *job, struct pboot_ssh_host *host)
{
	const uint64_t now = psi_now_ns();

	if (!host->closed && !host->greeted && host->lost_ns == 0 &&
	    now - job->begin_ns >= greet_ns)
		host_refuse(job, host, " has not answered for %d s; the job ends",
		    (int)(greet_ns / (1000 * MS)));
	if (host->lost_ns == 0 || (host->pid != 0 && now < host->lost_ns + ssh_end_ns))
		return;
	if (host->greeted || job->rules.phase < PBOOT_ENDING)
		pboot_ssh_report_lost(job, host);
	host_refuse(job, host, "%s", "");
}

/* -- frames ------------------------------------------------------------------------------------ */

static void
host_on_fault(struct pboot_ssh_job *job, struct pboot_ssh_host *host,
    const struct pboot_ssh_frame *frame)
{
	char text[TEXT_BYTES];
	uint32_t i, len = frame->len_bytes < TEXT_BYTES - 1 ? frame->len_bytes : TEXT_BYTES - 1;

	for (i = 0; i < len; i++)
		text[i] = (char)(frame->bytes[i] < ' ' ? '?' : frame->bytes[i]);
	text[len] = '\0';
	if (job->rules.phase < PBOOT_ENDING)
		pboot_say("host %s: %s", host->name, text);
	pboot_ssh_event(job, PBOOT_EV_HOST, 0, (int)(host - job->hosts));
}

static bool
host_add_pairs(struct pboot_ssh_host *host, const struct pboot_ssh_frame *frame)
{
	const size_t most = (size_t)host->ranks.count * PBOOT_PMI1_FRESH_MAX;
	char *larger;

	if (host->fenced || frame->len_bytes > most - host->pairs_len)
		return false;
	larger = realloc(host->pairs, host->pairs_len + frame->len_bytes + 1);
	if (!larger)
		return false;
	memcpy(larger + host->pairs_len, frame->bytes, frame->len_bytes);
	host->pairs = larger;
	host->pairs_len += frame->len_bytes;
	return true;
}

static void
host_send_pairs(struct pboot_ssh_host *to, const struct pboot_ssh_host *from)
{
	size_t at, len;

	for (at = 0; at < from->pairs_len; at += len) {
		len = from->pairs_len - at;
		len = len < PBOOT_SSH_BODY_MAX ? len : PBOOT_SSH_BODY_MAX;
		pboot_ssh_link_send(&to->link, PBOOT_SSH_PAIRS, 0, from->pairs + at,
		    (uint32_t)len);
	}
}

/* All hosts wait.  Sends each of them what the ranks of all have put. */
static void
job_release_fence(struct pboot_ssh_job *job)
{
	uint32_t to, from;

	for (to = 0; to < job->host_count; to++)
		for (from = 0; from < job->host_count; from++)
			host_send_pairs(&job->hosts[to], &job->hosts[from]);
	pboot_ssh_send_all(job, PBOOT_SSH_FENCE, 0);
	for (from = 0; from < job->host_count; from++) {
		free(job->hosts[from].pairs);
		job->hosts[from].pairs = NULL;
		job->hosts[from].pairs_len = 0;
		job->hosts[from].fenced = false;
	}
	job->fenced = 0;
}

static bool
host_on_fence(struct pboot_ssh_job *job, struct pboot_ssh_host *host)
{
	if (host->fenced)
		return false;
	host->fenced = true;
	if (++job->fenced == job->host_count)
		job_release_fence(job);
	return true;
}

/* The rank has joined.  From now on its keeper tells what its end means. */
static void
rank_leave(struct pboot_ssh_job *job, uint32_t rank)
{
	job->left[rank] = true;
	job->rank_rules[rank].asked = true;
}

static void
rank_note_status(struct pboot_ssh_job *job, int status)
{
	const int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);

	if (job->first_status == 0)
		job->first_status = code;
}

static bool
host_on_lost(struct pboot_ssh_job *job, uint32_t rank)
{
	if (rank >= job->plan->size)
		return false;
	pboot_ssh_host_of(job, rank)->unreachable = true;
	return true;
}

static bool
host_on_frame(struct pboot_ssh_job *job, struct pboot_ssh_host *host,
    const struct pboot_ssh_frame *frame)
{
	const int value = (int)(frame->number & 255);

	switch (frame->kind) {
	case PBOOT_SSH_JOINED:
		pboot_ssh_event(job, PBOOT_EV_JOINED, frame->rank, 0);
		return true;
	case PBOOT_SSH_LEFT:
		rank_leave(job, frame->rank);
		return true;
	case PBOOT_SSH_ABORT:
	case PBOOT_SSH_FAILED:
		pboot_ssh_event(job, PBOOT_EV_ELSEWHERE_FAILED, 0, value);
		return true;
	case PBOOT_SSH_ASKED:
		pboot_ssh_event(job, PBOOT_EV_ELSEWHERE_ASKED, 0, value);
		return true;
	case PBOOT_SSH_STDOUT:
	case PBOOT_SSH_STDERR:
		pboot_ssh_output_take(job, host, frame);
		return true;
	case PBOOT_SSH_ENDED:
		rank_note_status(job, (int)frame->number);
		rank_end(job, host, frame->rank, (int)frame->number);
		return true;
	case PBOOT_SSH_NO_EXEC:
		pboot_ssh_event(job, PBOOT_EV_NO_EXEC, frame->rank, (int)frame->number);
		return true;
	case PBOOT_SSH_HOST_LOST:
		return host_on_lost(job, frame->number);
	case PBOOT_SSH_STDIN_READ:
		if (frame->number > PBOOT_SSH_WINDOW - job->input_window)
			return false;
		job->input_window += frame->number;
		return true;
	case PBOOT_SSH_STDIN_GONE:
		job->input_open = false;
		return true;
	case PBOOT_SSH_FAULT:
		host_on_fault(job, host, frame);
		return true;
	case PBOOT_SSH_DONE:
		host->done = true;
		pboot_ssh_host_close(job, host);
		return true;
	case PBOOT_SSH_PAIRS:
		return host_add_pairs(host, frame);
	case PBOOT_SSH_FENCE:
		return host_on_fence(job, host);
	default:
		return false;
	}
}

/* -- the greeting ------------------------------------------------------------------------------ */

/* Tells an agent that has greeted what all others were told before. */
static void
host_tell_earlier(const struct pboot_ssh_job *job, struct pboot_ssh_host *host)
{
	uint32_t i;

	for (i = 0; i < 2; i++)
		if (job->streams[i].no_reader)
			pboot_ssh_link_send(&host->link, PBOOT_SSH_NO_READER, i, NULL, 0);
}

static void
host_on_greeting(struct pboot_ssh_job *job, struct pboot_ssh_host *host, const char *release)
{
	host->greeted = true;
	if (strcmp(release, pst_version()) != 0)
		host_refuse(job, host, " has %s of Penstock %.31s, this is %s; install "
		    "one version on all hosts", program_invocation_short_name, release,
		    pst_version());
	else if (job->rules.phase >= PBOOT_ENDING || job->asked)
		pboot_ssh_host_close(job, host);
	else if (!pboot_ssh_host_order(job, host))
		host_refuse(job, host, ": the environment and the command line are too long");
	else
		host_tell_earlier(job, host);
}

/* Takes the greeting.  Returns how many bytes it has; 0: it is not complete; -1: it is not that of
 * an agent. */
static int
host_greet(struct pboot_ssh_job *job, struct pboot_ssh_host *host)
{
	const struct pboot_ssh_link *link = &host->link;
	char release[PBOOT_SSH_RELEASE_BYTES];
	const int len = pboot_ssh_greeting_read(link->got + link->got_from,
	    link->got_to - link->got_from, release);

	if (len > 0)
		host_on_greeting(job, host, release);
	return len;
}

static int
host_take_one(struct pboot_ssh_job *job, struct pboot_ssh_host *host)
{
	struct pboot_ssh_link *link = &host->link;
	struct pboot_ssh_frame frame;
	int len;

	if (!host->greeted) {
		len = host_greet(job, host);
	} else {
		len = pboot_ssh_frame_read(link->got + link->got_from,
		    link->got_to - link->got_from, PBOOT_SSH_AGENT, &host->ranks, &frame);
		if (len > 0 && !host_on_frame(job, host, &frame))
			len = -1;
	}
	if (len > 0 && link->got)
		link->got_from += (size_t)len;
	return len;
}

void
pboot_ssh_host_take(struct pboot_ssh_job *job, struct pboot_ssh_host *host)
{
	const bool open = pboot_ssh_link_receive(&host->link);
	int len;

	do
		len = host_take_one(job, host);
	while (len > 0 && !host->closed);
	if (host->closed)
		return;
	if (len < 0) {
		host_refuse(job, host, ": what comes through %s is not from an agent of Penstock%s",
		    job->ssh, host->greeted ? "" :
		    "; does a shell print something there when it starts?");
	} else if (!open && host->lost_ns == 0) {
		host->lost_ns = psi_now_ns();
	}
}
