/* Prints what one rank does, from its shared memory, the keeper and the kernel. */
#include "runtime/report/report.h"

#include "runtime/util/clock.h"
#include "runtime/wait/handler_age.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct psi_rank_shared *
rank_shared_of(const struct psi_report *report, uint32_t host_index)
{
	return psi_shared_rank(report->shared, report->view->size, host_index);
}

uint64_t
psi_report_count(const struct psi_report *report, uint32_t host_index, enum psi_counter which)
{
	const struct psi_rank_shared *shared = rank_shared_of(report, host_index);
	uint64_t sum = 0;

	for (unsigned b = 0; b < psi_blocks_in_use(shared); b++)
		sum = psi_counter_join(which, sum, psi_block_count(&shared->block[b], which));
	return sum;
}

enum { LONG_CALL_NS = 100000000 };

/* -- what a thread does ---------------------------------------------------------------------- */

/* A note as it was at one moment. */
struct note {
	uint64_t since_ns, number;
	enum psi_wait_kind kind;
	unsigned category, network, endpoint;
	uint32_t peer;
	char where[PSI_WHERE_WORDS * 8];
};

/* Each load stays behind the one of turn that begins, and before the one that ends. */
static uint64_t
record_take(const _Atomic uint64_t *word)
{
	return atomic_load_explicit(word,
	                            memory_order_acquire); /* H2: acquire, from H1 in record_put */
}

static bool
record_read(const struct psi_wait_record *from, struct note *note_out)
{
	enum { TRIES = 1000 };
	uint64_t turn, words[PSI_WHERE_WORDS], kind;

	for (unsigned i = 0; i < TRIES; i++) {
		turn = record_take(&from->turn);
		note_out->since_ns = record_take(&from->since_ns);
		kind = record_take(&from->kind_peer);
		note_out->number = record_take(&from->number);
		for (unsigned w = 0; w < PSI_WHERE_WORDS; w++)
			words[w] = record_take(&from->where[w]);
		if (turn % 2 == 0 &&
		    atomic_load_explicit(&from->turn, memory_order_relaxed) == turn)
			break;
	}
	note_out->kind = kind & 0xff;
	note_out->category = kind >> 8 & 0xff;
	note_out->network = kind >> 16 & 0xff;
	note_out->endpoint = kind >> 24 & 0xff;
	note_out->peer = (uint32_t)(kind >> 32);
	memcpy(note_out->where, words, sizeof words);
	note_out->where[sizeof words - 1] = '\0';
	return note_out->since_ns != 0;
}

static const char *
record_name_of(unsigned category, unsigned network)
{
	static const char *const names[PSI_NETWORKS][3] = {
		{ "Short request", "Medium request", "Long request" },
		{ "Short reply", "Medium reply", "Long reply" },
	};

	return network < PSI_NETWORKS && category < 3 ? names[network][category] : "message";
}

static void
tell_barrier(const struct note *note, struct psi_report_entry *entry)
{
	const bool named = note->kind == PSI_FOR_BARRIER_NAMED;

	psi_text_add(&entry->text, "in %s, %s barrier %llu", note->where,
	             named && !note->category ? "named" : "unnamed",
	             (unsigned long long)note->number);
	entry->barrier = named ? PSI_BARRIER_NAMED : PSI_BARRIER_UNNAMED;
	entry->phase = note->number;
}

/* The rank that owns the endpoint with this place.  A process without ranks calls this too. */
static void
tell_place(const struct psi_report *report, uint32_t place, struct psi_text *text)
{
	psi_text_endpoint(text, place / report->shared->job_size);
	psi_text_add(text, "rank %u", place % report->shared->job_size);
}

/* A barrier is the last that is told of an entry: the report adds for whom it waits. */
static void
tell_wait(const struct psi_report *report, const struct note *note, struct psi_report_entry *entry)
{
	struct psi_text *text = &entry->text;

	switch (note->kind) {
	case PSI_FOR_ROOM:
		psi_text_add(text, "waiting for room to send a %s to ",
		             record_name_of(note->category, note->network));
		tell_place(report, note->peer, text);
		break;
	case PSI_FOR_BUFFER:
		psi_text_add(text, "waiting for a buffer of ");
		tell_place(report, note->peer, text);
		psi_text_add(text, " to prepare a %s",
		             record_name_of(note->category, note->network));
		break;
	case PSI_FOR_BARRIER:
	case PSI_FOR_BARRIER_NAMED:
		tell_barrier(note, entry);
		break;
	case PSI_FOR_TEAM:
		psi_text_add(text, "in %s", note->where);
		if (note->number)
			psi_text_add(text, " over team %u.%u", (unsigned)(note->number >> 32),
			             (unsigned)note->number);
		psi_text_add(text, ", waiting to hear from ");
		tell_place(report, note->peer, text);
		break;
	case PSI_FOR_COLLECTIVE:
		psi_text_add(text, "in %s, for a collective over a team", note->where);
		break;
	case PSI_FOR_DESCRIBED:
		psi_text_add(text, "waiting for %s", note->where);
		break;
	case PSI_FOR_POST:
		psi_text_add(text, "in %s, waiting until semaphore %llu of this rank has %u more",
		             note->where, (unsigned long long)note->number, note->peer);
		break;
	case PSI_FOR_POSTS:
		psi_text_add(text, "in %s, waiting for posts to some of %llu semaphores",
		             note->where, (unsigned long long)note->number);
		break;
	case PSI_FOR_WORD:
		psi_text_add(text, "in %s, waiting for a signal to the word at 0x%llx", note->where,
		             (unsigned long long)note->number);
		break;
	case PSI_FOR_WORDS:
		psi_text_add(text, "in %s, waiting for signals to some of %llu words", note->where,
		             (unsigned long long)note->number);
		break;
	case PSI_FOR_EVENTS:
		psi_text_add(text, "in %s", note->where);
		break;
	default:
		psi_text_add(text, "waiting at %s until a condition of the program holds",
		             note->where);
	}
}

static struct psi_report_entry *
entry_new(struct psi_report_entries *entries, uint32_t host_index)
{
	if (entries->count == entries->room) {
		uint32_t room = entries->room ? 2 * entries->room : 64;
		struct psi_report_entry *at = realloc(entries->at, room * sizeof *at);

		if (!at)
			return NULL;
		entries->at = at;
		entries->room = room;
	}
	entries->at[entries->count] = (struct psi_report_entry){ .host_index = host_index };
	return &entries->at[entries->count++];
}

/* False if the thread neither waits nor runs a handler. */
static bool
tell_block(const struct psi_report *report, const struct psi_block *block, const char *prefix,
           struct psi_report_entries *entries, uint32_t host_index)
{
	const uint64_t word = atomic_load_explicit(&block->handler, memory_order_relaxed);
	struct psi_arrival arrival;
	struct note note;
	bool waits = record_read(&block->note, &note);
	struct psi_report_entry *entry;
	uint64_t since;

	if ((!waits && !word) || !(entry = entry_new(entries, host_index)))
		return false;
	psi_text_add(&entry->text, "%s", prefix);
	if (waits && note.endpoint)
		psi_text_add(&entry->text, "endpoint %u: ", note.endpoint);
	if (word) {
		arrival.word = word;
		psi_text_add(&entry->text, "running handler %u of a %s from ", arrival.handler,
		             record_name_of(arrival.category, arrival.network));
		tell_place(report, arrival.source, &entry->text);
		psi_text_add(&entry->text, "%s", waits ? ", " : "");
		since = psi_handler_start_ns(block, psi_now_ns());
		entry->since_ns = since;
		entry->or_more = since != 0;
	}
	if (waits) {
		entry->or_more = false;
		entry->endpoint = note.endpoint;
		tell_wait(report, &note, entry);
		entry->since_ns = note.since_ns;
	}
	return true;
}

/* -- what a rank does ------------------------------------------------------------------------ */

uint64_t
psi_report_progress(const struct psi_report *report, uint32_t host_index)
{
	uint64_t sum = psi_report_count(report, host_index, PSI_COUNT_POLLS);

	for (unsigned i = PSI_COUNT_RECEIVED; i <= PSI_COUNT_RECEIVED_INTERNAL; i++)
		sum += psi_report_count(report, host_index, (enum psi_counter)i);
	return sum;
}

/* The letter of its state in /proc; ' ' if there is none. */
static char
rank_state_of(pid_t pid)
{
	char path[40], text[512];
	const char *end;
	FILE *file;
	size_t got;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return ' ';
	got = fread(text, 1, sizeof text - 1, file);
	fclose(file);
	text[got] = '\0';
	end = strrchr(text, ')');
	return end && end[1] == ' ' ? end[2] : ' ';
}

static void
tell_plainly(struct psi_report_entries *entries, uint32_t host_index, const char *prefix,
             const char *what)
{
	struct psi_report_entry *entry = entry_new(entries, host_index);

	if (entry)
		psi_text_add(&entry->text, "%s%s", prefix, what);
}

/* Blocks that were made for more threads than have one in the arena. */
static bool
tell_more(const struct psi_report *report, uint32_t host_index, const char *prefix,
          struct psi_report_entries *entries)
{
	const struct psi_rank_shared *shared = rank_shared_of(report, host_index);
	const uint32_t used = psi_more_in_use(shared);
	bool any = false;

	for (unsigned range = 0; range < PSI_MORE_RANGES && psi_more_before(range) < used;
	     range++) {
		const uint32_t left = used - psi_more_before(range), count = psi_more_count(range);
		const size_t len_bytes = count * sizeof(struct psi_block);
		const struct psi_block *blocks =
			report->view->map_of(host_index, shared->more_key[range], len_bytes);

		for (uint32_t b = 0; blocks && b < count && b < left; b++)
			any |= tell_block(report, &blocks[b], prefix, entries, host_index);
		if (blocks)
			report->view->unmap(blocks, len_bytes);
	}
	return any;
}

/* True if the rank is in a call of a provider of offload for long. */
static bool
tell_device_call(const struct psi_report *report, uint32_t host_index, const char *prefix,
                 struct psi_report_entries *entries)
{
	const struct psi_device_call *call = &rank_shared_of(report, host_index)->device_call;
	const uint64_t since_ns = atomic_load_explicit(&call->since_ns, memory_order_relaxed);
	uint64_t words[PSI_CALL_WORDS + 1] = { 0 };
	struct psi_report_entry *entry;

	if (!since_ns || psi_now_ns() - since_ns < LONG_CALL_NS ||
	    !(entry = entry_new(entries, host_index)))
		return false;
	for (unsigned i = 0; i < PSI_CALL_WORDS; i++)
		words[i] = atomic_load_explicit(&call->function[i], memory_order_relaxed);
	psi_text_add(&entry->text, "%sin function `%s' of a provider of offload", prefix,
	             (const char *)words);
	entry->since_ns = since_ns;
	return true;
}

/* Describes each endpoint of a process that has several.  If ranks are threads, this shows which
 * rank is missing. */
static void
tell_silent(const struct psi_report *report, uint32_t host_index, const char *prefix,
            uint32_t first, struct psi_report_entries *entries)
{
	const uint32_t count = atomic_load_explicit(&rank_shared_of(report, host_index)->endpoints,
	                                            memory_order_relaxed);
	const uint32_t end = entries->count;
	struct psi_report_entry *entry;

	for (unsigned index = 1; index < count; index++) {
		uint32_t i = first;

		while (i < end && entries->at[i].endpoint != index)
			i++;
		if (i == end && (entry = entry_new(entries, host_index)))
			psi_text_add(&entry->text, "%sendpoint %u: no thread waits for long",
			             prefix, index);
	}
}

void __attribute__((cold))
psi_report_rank(const struct psi_report *report, uint32_t host_index,
                struct psi_report_entries *entries)
{
	const struct pboot_rank_view *view = &report->view->ranks[host_index];
	const char state = view->gone ? ' ' : rank_state_of(view->pid);
	const char *prefix = state == 'T' || state == 't' ? "stopped: " : "";
	const struct psi_rank_shared *shared =
		report->shared ? rank_shared_of(report, host_index) : NULL;
	const uint32_t first = entries->count;
	bool any = false;

	if (view->gone || view->asked) {
		tell_plainly(entries, host_index, view->gone ? "" : prefix,
		             view->gone ? "ended" : "asked to end");
	} else if (!view->joined) {
		tell_plainly(entries, host_index, prefix, "not in init yet");
	} else if (!shared || atomic_load_explicit(&shared->joined, memory_order_relaxed) < 2) {
		tell_plainly(entries, host_index, prefix, "in init");
	} else {
		for (unsigned b = 0; b < psi_blocks_in_use(shared); b++)
			any |= tell_block(report, &shared->block[b], prefix, entries, host_index);
		any |= tell_more(report, host_index, prefix, entries);
		any |= tell_device_call(report, host_index, prefix, entries);
		if (!any)
			tell_plainly(entries, host_index, prefix,
			             psi_report_progress(report, host_index) !=
			             report->progress[host_index] ?
			             "polling, and not waiting for long" :
			             "not polling: computing, or waiting outside the library");
		tell_silent(report, host_index, prefix, first, entries);
	}
}
