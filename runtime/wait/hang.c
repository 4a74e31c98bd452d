/*
 * Waits that last.  A wait that goes well never comes here: it ends before its second sleep, or its
 * 128th poll that finds messages.  One that lasts looks at the clock after each sleep, and now and
 * then while messages keep it awake.  It counts as waiting only time in which this process could
 * run, leaves a note of what it is for in memory that the keeper maps, and after PST_HANG_REPORT
 * tells the keeper, which prints what all ranks are doing (report.c).
 *
 * The start of a handler is not recorded, since that would cost each message a look at the clock.
 * A thread that waits for long looks which handlers run in the ranks of this host, and records for
 * each when it was first seen.
 */
#include "runtime/wait/pollset.h"
#include "runtime/wait/waiting.h"
#include "runtime/wait/handler_age.h"

#include "runtime/util/clock.h"

#include <string.h>

/* A wait leaves a note after this time, or after half of PST_HANG_REPORT if that is less. */
static const uint64_t note_after_ns = 100000000;
/* Where CPUs are busy a sleep may end this much later than its bound.  Time beyond that counts as
 * time in which the process was stopped. */
static const uint64_t late_ns = 200000000;

/* The wait of the calling thread that was looked at last, which is its innermost. */
static _Thread_local struct {
	const struct psi_wait *wait;
	uint64_t looked_ns;
	uint64_t quiet_ns;      /* nothing has arrived since */
	uint64_t arrived;       /* messages at the last look */
	uint64_t number;        /* of the reason, as noted */
	bool noted, told;
} looking;

void (*psi_hang_tell_alone)(uint64_t waited_ns, bool quiet);

static uint64_t
hang_messages_arrived(void)
{
	const unsigned blocks = psi_blocks_in_use(psi_shared_of(psi.boot.rank));
	uint64_t sum = 0, others[PSI_COUNTERS] = { 0 };

	for (unsigned b = 0; b < blocks; b++)
		for (unsigned i = PSI_COUNT_RECEIVED; i <= PSI_COUNT_RECEIVED_INTERNAL; i++)
			sum += __atomic_load_n(&psi.blocks[b].count[i], __ATOMIC_RELAXED);
	psi_blocks_join_private(others);
	for (unsigned i = PSI_COUNT_RECEIVED; i <= PSI_COUNT_RECEIVED_INTERNAL; i++)
		sum += others[i];
	return sum;
}

/* -- the note -------------------------------------------------------------------------------- */

/* Each store stays behind the one that makes turn odd, and before the one that makes it even. */
static void
record_put(_Atomic uint64_t *word, uint64_t value)
{
	atomic_store_explicit(word, value,
	                      memory_order_release); /* H1: release, to H2 in record_take */
}

/* The part of a path that people look for, its end. */
static void
record_put_where(struct psi_wait_record *note, const char *where)
{
	uint64_t words[PSI_WHERE_WORDS] = { 0 };
	const size_t most = sizeof words - 1;
	size_t len = strlen(where);

	memcpy(words, where + (len > most ? len - most : 0), len > most ? most : len);
	for (unsigned i = 0; i < PSI_WHERE_WORDS; i++)
		record_put(&note->where[i], words[i]);
}

static void
record_write(const struct psi_wait *wait)
{
	struct psi_wait_record *note = &psi_block()->note;
	const struct psi_reason *reason = wait->reason;
	const uint64_t turn = atomic_load_explicit(&note->turn, memory_order_relaxed);
	enum psi_wait_kind kind = reason ? reason->kind : PSI_FOR_CONDITION;
	char text[PSI_WHERE_BYTES] = "";

	if (reason && reason->describe)
		reason->describe(reason->object, reason->number, text);
	if (text[0] && kind != PSI_FOR_BARRIER)
		kind = PSI_FOR_DESCRIBED;
	record_put(&note->turn, turn + 1);
	record_put(&note->since_ns, wait->first);
	record_put_where(note, text[0] ? text : wait->where);
	record_put(&note->kind_peer,
	           (uint64_t)kind | (uint64_t)psi_pollset_index() << 24 |
	                   (reason ? (uint64_t)reason->category << 8 |
	                                     (uint64_t)reason->network << 16 |
	                                     (uint64_t)reason->peer << 32
	                           : 0));
	record_put(&note->number, reason ? reason->number : 0);
	record_put(&note->turn, turn + 2);
	looking.number = reason ? reason->number : 0;
	looking.noted = true;
}

/* The first note comes after a while; what a wait for several events waits for may change then. */
static bool
record_is_due(const struct psi_wait *wait, uint64_t waited_ns)
{
	const uint64_t half = psi.hang_report_ns / 2;
	const struct psi_reason *reason = wait->reason;

	if (looking.noted)
		return reason && reason->number != looking.number;
	return waited_ns >= (half && half < note_after_ns ? half : note_after_ns);
}

static void
record_erase(void)
{
	if (looking.noted)
		record_put(&psi_block()->note.since_ns, 0);
	looking.noted = false;
}

/* -- looking --------------------------------------------------------------------------------- */

static void
hang_look_first(struct psi_wait *wait, uint64_t now)
{
	record_erase();
	looking.wait = wait;
	looking.looked_ns = looking.quiet_ns = now;
	looking.arrived = hang_messages_arrived();
	looking.told = false;
	if (wait->first <= PSI_SLEPT_ONCE)
		wait->first = now;
}

static void
hang_tell(uint64_t waited_ns, bool quiet)
{
	if (!pboot_note_hang(waited_ns, quiet) && psi_hang_tell_alone)
		psi_hang_tell_alone(waited_ns, quiet);
	looking.told = true;
}

/* Time in which this process was stopped is no waiting.  What is between two looks may be long
 * where messages came: handlers take their time. */
static void
hang_count_time(struct psi_wait *wait, uint64_t now, uint64_t limit_ns)
{
	const uint64_t arrived = hang_messages_arrived(), gap = now - looking.looked_ns;

	if (arrived != looking.arrived) {
		looking.arrived = arrived;
		looking.quiet_ns = now;
		limit_ns = psi.hang_report_ns ? psi.hang_report_ns / 2 : UINT64_MAX - late_ns;
	} else if (gap > limit_ns + late_ns) {
		looking.quiet_ns += gap - limit_ns;
	}
	if (gap > limit_ns + late_ns)
		wait->first += gap - limit_ns;
	looking.looked_ns = now;
}

/* One that is quiet for long is told of as that, even if it was told of before; the keeper prints
 * either once. */
static void
hang_tell_if_long(const struct psi_wait *wait, uint64_t now)
{
	const uint64_t report = psi.hang_report_ns, waited = now - wait->first;

	if (!report)
		return;
	if (now - looking.quiet_ns >= report) {
		hang_tell(waited, true);
		looking.quiet_ns = now;
	} else if (waited >= report && now - looking.quiet_ns < report / 2 && !looking.told) {
		hang_tell(waited, false);
	}
}

void
psi_hang_look(struct psi_wait *wait, uint64_t limit_ns)
{
	const uint64_t now = psi_now_ns();
	const struct psi_reason *reason = wait->reason;

	if (reason && reason->kind == PSI_FOR_THREADS)
		return;         /* each of them tells of its own waits */
	if (looking.wait != wait) {
		hang_look_first(wait, now);
		return;
	}
	hang_count_time(wait, now, limit_ns);
	if (record_is_due(wait, now - wait->first))
		record_write(wait);
	if (looking.noted)
		psi_handler_ages_update(psi.shared, psi.host_places, now);
	hang_tell_if_long(wait, now);
}

void
psi_hang_over(struct psi_wait *wait)
{
	const uint64_t lasted = psi_now_ns() - wait->first;
	uint64_t *counts = psi_block()->count;

	psi_count(counts, PSI_COUNT_LONG_WAITS);
	psi_count_add(counts, PSI_COUNT_WAITED_NS, lasted);
	if (lasted > __atomic_load_n(&counts[PSI_COUNT_LONGEST_WAIT_NS], __ATOMIC_RELAXED))
		__atomic_store_n(&counts[PSI_COUNT_LONGEST_WAIT_NS], lasted, __ATOMIC_RELAXED);
	if (looking.wait == wait)
		record_erase();
	looking.wait = NULL;
}
