/*
 * The report of what ranks do, in a job of several hosts.  Host 0 prints one for all hosts:
 *
 *     WANT    to host 0: a report is due here; the kind, and what made it due
 *     ASK     from host 0 to all: its number and kind
 *     LOOK    to host 0: its number, then a part of what this host has seen of its ranks; a LOOK
 *             without a part says that all of it has come
 *
 * Host 0 prints when all looks have come, or when it gives up those that are missing, which the
 * report then names.  A host whose WANT has no effect for too long prints its own ranks alone.
 * Nobody waits for a report but the end of the overlay, and that for a bounded time.
 */
#include "bootstrap/keeper/pboot_peers.h"

#include "runtime/util/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS ((uint64_t)1000000)

enum { HEAD_BYTES = 4, ASK_BYTES = 8 };

/* How long host 0 waits for looks: while the job runs, and when it ends.  The others wait for its
 * ASK a little longer. */
static const uint64_t limit_ns = 2000 * MS, limit_at_end_ns = 1000 * MS, longer_ns = 500 * MS;
/* A launcher sends SIGUSR1 to all hosts.  Host 0 has got it too, mostly. */
static const uint64_t signal_ns = 300 * MS, signals_are_one_ns = 1000 * MS;

static uint64_t
report_limit_ns(const struct pboot_keeper *keeper)
{
	return keeper->rules.phase == PBOOT_RUNNING ? limit_ns : limit_at_end_ns;
}

/* When the time is over the ranks will be ended, so the look is taken at once and kept. */
static struct pboot_pack
look_take(struct pboot_keeper *keeper, enum pboot_report_kind kind)
{
	struct pboot_peers_report *report = &keeper->peers->report;
	struct pboot_pack look = report->kept;

	if (kind != PBOOT_REPORT_TIMEOUT || !look.bytes)
		return pboot_report_look(keeper);
	report->kept = (struct pboot_pack) { .bytes = NULL };
	return look;
}

/* -- host 0 ------------------------------------------------------------------------------------ */

static void
looks_name(struct pboot_peers *peers, struct pboot_pack *looks)
{
	uint32_t host;

	for (host = 0; host < peers->host_count; host++)
		looks[host].host = pboot_overlay_name(peers->net, host);
}

static void
looks_free(struct pboot_pack *looks, uint32_t count)
{
	uint32_t host;

	for (host = 0; looks && host < count; host++)
		free(looks[host].bytes);
	free(looks);
}

static void
report_begin(struct pboot_keeper *keeper, enum pboot_report_kind kind, const char *why)
{
	struct pboot_peers *peers = keeper->peers;
	struct pboot_peers_report *report = &peers->report;

	report->looks = calloc(peers->host_count, sizeof *report->looks);
	if (!report->looks) {
		pboot_report_alone(keeper, why);
		return;
	}
	looks_name(peers, report->looks);
	report->looks[0] = look_take(keeper, kind);
	report->looks[0].host = keeper->host;
	if (!report->looks[0].bytes)
		report->looks[0].missing = "no memory for it";
	snprintf(report->why, sizeof report->why, "%s", why);
	report->kind = kind;
	report->number++;
	report->ask_due = true;
	report->deadline_ns = psi_now_ns() + report_limit_ns(keeper);
}

static void
report_end(struct pboot_keeper *keeper)
{
	struct pboot_peers *peers = keeper->peers;
	struct pboot_peers_report *report = &peers->report;
	struct pboot_pack *looks = report->looks;
	uint32_t host;

	for (host = 0; host < peers->host_count; host++)
		if (!looks[host].complete && !looks[host].missing)
			looks[host].missing = pboot_overlay_reaches(peers->net, host) ?
			    "its keeper does not answer" : "it is lost";
	pboot_report_print(keeper, report->why, looks, peers->host_count);
	looks_free(looks, peers->host_count);
	report->looks = NULL;
	report->ask_due = false;
}

/* Is there a look that may still come? */
static bool
report_lacks_looks(const struct pboot_peers *peers)
{
	const struct pboot_pack *looks = peers->report.looks;
	uint32_t host;

	for (host = 1; host < peers->host_count; host++)
		if (!looks[host].complete && !looks[host].missing &&
		    pboot_overlay_reaches(peers->net, host))
			return true;
	return false;
}

static void
report_ask(struct pboot_peers *peers)
{
	struct pboot_peers_report *report = &peers->report;
	uint8_t bytes[ASK_BYTES];

	pboot_store_32(bytes, report->number);
	pboot_store_32(bytes + 4, report->kind);
	if (pboot_overlay_send(peers->net, PBOOT_FRAME_ALL, PBOOT_FRAME_ASK, bytes,
	    sizeof bytes) == PBOOT_OVERLAY_OK)
		report->ask_due = false;
}

static void
first_tell(struct pboot_keeper *keeper)
{
	struct pboot_peers_report *report = &keeper->peers->report;
	enum pboot_report_kind next = report->wanted;

	if (!report->looks && next != PBOOT_REPORT_NONE) {
		report->wanted = PBOOT_REPORT_NONE;
		report_begin(keeper, next, report->wanted_why);
	}
	if (report->looks && report->ask_due)
		report_ask(keeper->peers);
	if (report->looks && (psi_now_ns() >= report->deadline_ns ||
	    !report_lacks_looks(keeper->peers)))
		report_end(keeper);
}

/* What a rank says has already been checked; a host may say anything. */
void
pboot_peers_wanted(struct pboot_keeper *keeper, const struct pboot_overlay_event *event)
{
	char why[PBOOT_WHY_BYTES];
	uint32_t kind;

	if (event->len_bytes < HEAD_BYTES || keeper->peers->host_index != 0)
		return;
	kind = pboot_load_32(event->bytes);
	if (kind == PBOOT_REPORT_NONE || kind > PBOOT_REPORT_TIMEOUT)
		return;
	snprintf(why, sizeof why, "%.*s", (int)(event->len_bytes - HEAD_BYTES),
	    (const char *)event->bytes + HEAD_BYTES);
	pboot_report_ranks(keeper, (enum pboot_report_kind)kind, why);
}

void
pboot_peers_looked(struct pboot_peers *peers, const struct pboot_overlay_event *event)
{
	struct pboot_peers_report *report = &peers->report;

	if (report->looks && event->len_bytes >= HEAD_BYTES &&
	    pboot_load_32(event->bytes) == report->number)
		pboot_pack_add(&report->looks[event->host], event->bytes + HEAD_BYTES,
		    event->len_bytes - HEAD_BYTES);
}

/* -- the other hosts --------------------------------------------------------------------------- */

/* Does an ASK of one kind answer a WANT of the other? */
static bool
kind_answers(enum pboot_report_kind asked, enum pboot_report_kind wanted)
{
	return asked == wanted ||
	    (asked == PBOOT_REPORT_HANG && wanted == PBOOT_REPORT_LONG_WAIT);
}

void
pboot_peers_asked(struct pboot_keeper *keeper, const struct pboot_overlay_event *event)
{
	struct pboot_peers_report *report = &keeper->peers->report;
	uint32_t kind;

	if (event->len_bytes != ASK_BYTES || event->host != 0)
		return;
	kind = pboot_load_32(event->bytes + 4);
	if (kind == PBOOT_REPORT_NONE || kind > PBOOT_REPORT_TIMEOUT)
		return;
	pboot_report_is_first(keeper, (enum pboot_report_kind)kind);
	if (kind == PBOOT_REPORT_ASKED)
		report->signal_ns = psi_now_ns();
	if (kind_answers((enum pboot_report_kind)kind, report->wanted))
		report->wanted = PBOOT_REPORT_NONE;
	free(report->own.bytes);
	report->own = look_take(keeper, (enum pboot_report_kind)kind);
	report->own_sent = 0;
	report->own_due = report->own.bytes != NULL;
	report->number = pboot_load_32(event->bytes);
}

/* Sends the next part, or the empty one. */
static enum pboot_overlay_result
look_send(struct pboot_peers *peers)
{
	struct pboot_peers_report *report = &peers->report;
	const size_t left = report->own.len_bytes - report->own_sent;
	const size_t len = left < sizeof report->part - HEAD_BYTES ?
	    left : sizeof report->part - HEAD_BYTES;
	enum pboot_overlay_result result;

	pboot_store_32(report->part, report->number);
	memcpy(report->part + HEAD_BYTES, report->own.bytes + report->own_sent, len);
	result = pboot_overlay_send(peers->net, 0, PBOOT_FRAME_LOOK, report->part,
	    (uint32_t)(HEAD_BYTES + len));
	if (result == PBOOT_OVERLAY_OK) {
		report->own_sent += len;
		report->own_due = len != 0;
	}
	return result;
}

static void
looks_send(struct pboot_peers *peers)
{
	enum pboot_overlay_result result = PBOOT_OVERLAY_OK;

	while (peers->report.own_due && result == PBOOT_OVERLAY_OK)
		result = look_send(peers);
	if (result != PBOOT_OVERLAY_OK && result != PBOOT_OVERLAY_AGAIN)
		peers->report.own_due = false;
}

static void
want_send(struct pboot_peers *peers)
{
	struct pboot_peers_report *report = &peers->report;
	const size_t len = strlen(report->wanted_why);
	uint8_t bytes[HEAD_BYTES + PBOOT_WHY_BYTES];

	pboot_store_32(bytes, report->wanted);
	memcpy(bytes + HEAD_BYTES, report->wanted_why, len);
	report->want_told = pboot_overlay_send(peers->net, 0, PBOOT_FRAME_WANT, bytes,
	    (uint32_t)(HEAD_BYTES + len)) == PBOOT_OVERLAY_OK;
}

/* Host 0 does not print for this host, so it prints what it sees itself. */
static void
want_give_up(struct pboot_keeper *keeper)
{
	struct pboot_peers *peers = keeper->peers;
	struct pboot_pack looks[2] = {
		{ .host = pboot_overlay_name(peers->net, 0),
		  .missing = pboot_overlay_reaches(peers->net, 0) ?
		      "its keeper, which prints for all, does not answer" :
		      "it is lost, and prints for nobody" },
		look_take(keeper, peers->report.wanted),
	};

	peers->report.wanted = PBOOT_REPORT_NONE;
	looks[1].host = keeper->host;
	if (!looks[1].bytes)
		looks[1].missing = "no memory for it";
	pboot_report_print(keeper, peers->report.wanted_why, looks, 2);
	free(looks[1].bytes);
}

static void
other_tell(struct pboot_keeper *keeper)
{
	struct pboot_peers *peers = keeper->peers;
	struct pboot_peers_report *report = &peers->report;
	const uint64_t now = psi_now_ns();

	looks_send(peers);
	if (report->wanted == PBOOT_REPORT_NONE)
		return;
	if (now >= report->deadline_ns || !pboot_overlay_reaches(peers->net, 0))
		want_give_up(keeper);
	else if (!report->want_told && now >= report->want_from_ns)
		want_send(peers);
}

/* -- both -------------------------------------------------------------------------------------- */

static bool
signal_is_answered(const struct pboot_peers_report *report, enum pboot_report_kind kind)
{
	return kind == PBOOT_REPORT_ASKED && report->signal_ns &&
	    psi_now_ns() - report->signal_ns < signals_are_one_ns;
}

bool
pboot_peers_report(struct pboot_keeper *keeper, enum pboot_report_kind kind, const char *why)
{
	struct pboot_peers *peers = keeper->peers;
	struct pboot_peers_report *report;
	uint64_t now = psi_now_ns();

	if (!peers || peers->closing || peers->closed)
		return false;
	report = &peers->report;
	if (kind == PBOOT_REPORT_TIMEOUT && !report->kept.bytes)
		report->kept = pboot_report_look(keeper);
	if (kind <= report->wanted || signal_is_answered(report, kind))
		return true;
	snprintf(report->wanted_why, sizeof report->wanted_why, "%s", why);
	report->wanted = kind;
	report->want_told = false;
	report->want_from_ns = now + (kind == PBOOT_REPORT_ASKED ? signal_ns : 0);
	if (peers->host_index != 0)
		report->deadline_ns = now + report_limit_ns(keeper) + longer_ns;
	return true;
}

bool
pboot_peers_report_tell(struct pboot_keeper *keeper)
{
	struct pboot_peers_report *report = &keeper->peers->report;

	if (keeper->peers->host_index == 0)
		first_tell(keeper);
	else
		other_tell(keeper);
	return !report->looks && !report->own_due && report->wanted == PBOOT_REPORT_NONE;
}

uint64_t
pboot_peers_report_deadline(const struct pboot_peers *peers)
{
	const struct pboot_peers_report *report = &peers->report;

	if (peers->host_index == 0)
		return report->looks ? report->deadline_ns : UINT64_MAX;
	if (report->wanted == PBOOT_REPORT_NONE)
		return UINT64_MAX;
	return !report->want_told && report->want_from_ns > psi_now_ns() ? report->want_from_ns
									 : report->deadline_ns;
}
