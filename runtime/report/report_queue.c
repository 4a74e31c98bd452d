/*
 * The queues of all ranks of the host, one line per receiving endpoint and network in which
 * something is.  What waits for room of another kind, such as a buffer, shows in the sender's own
 * line.
 */
#include "runtime/report/report.h"

#include "runtime/conduit/conduits.h"

#include <stdlib.h>
#include <string.h>

/* The queue of one receiver, by sender; both by host index. */
struct inbox {
	struct psi_queue_memory memory; /* the conduit's */
	struct psi_queue_state *from;   /* [view->size] */
	bool *told;                     /* [view->size] */
	uint32_t *alike;                /* [view->size]: job ranks of senders of whom one thing is
	                                 * told */
	void (*line)(void *context, uint32_t rank, const char *text);
	void *context;
};

static bool
queue_is_interesting(const struct psi_queue_state *state)
{
	return state->undelivered != 0;
}

static bool
queues_are_alike(const struct psi_queue_state *a, const struct psi_queue_state *b)
{
	return a->undelivered == b->undelivered && a->in_flight == b->in_flight &&
	       a->wants_room == b->wants_room;
}

/* Collects the senders that are like this one.  Returns how many there are. */
static uint32_t
queue_take_alike(const struct psi_report *report, struct inbox *inbox, uint32_t sender)
{
	uint32_t count = 0;

	for (uint32_t other = sender; other < report->view->size; other++) {
		if (!queues_are_alike(&inbox->from[other], &inbox->from[sender]))
			continue;
		inbox->told[other] = true;
		inbox->alike[count++] = report->view->ranks[other].rank;
	}
	return count;
}

static void
queue_tell_senders(const struct psi_report *report, struct inbox *inbox, struct psi_text *line)
{
	const char *separator = ": ";

	for (uint32_t sender = 0; sender < report->view->size; sender++) {
		const struct psi_queue_state *state = &inbox->from[sender];
		uint32_t alike;

		if (inbox->told[sender] || !queue_is_interesting(state))
			continue;
		alike = queue_take_alike(report, inbox, sender);
		psi_text_add(line, "%s%u undelivered, %u of %u slots in use, from ", separator,
		             state->undelivered, state->in_flight, state->slots);
		psi_text_ranks(line, inbox->alike, alike);
		if (state->wants_room)
			psi_text_add(line, ", waiting for room");
		separator = "; ";
	}
}

/* The queues to an endpoint of the receiver. */
static void
queue_tell_inbox(const struct psi_report *report, const struct psi_conduit_ops *ops,
                 struct inbox *inbox, uint32_t receiver, unsigned index)
{
	const uint32_t size = report->view->size;

	for (unsigned network = 0; network < PSI_NETWORKS; network++) {
		struct psi_text line = { .len = 0 };
		bool any = false;

		memset(inbox->from, 0, size * sizeof *inbox->from);
		memset(inbox->told, 0, size * sizeof *inbox->told);
		for (uint32_t sender = 0; sender < size; sender++)
			any |= ops->queue(&inbox->memory, network, sender, receiver,
			                  &inbox->from[sender]) &&
			       queue_is_interesting(&inbox->from[sender]);
		if (!any)
			continue;
		psi_text_add(&line, "%s to ", network == PSI_REPLIES ? "replies" : "requests");
		psi_text_endpoint(&line, index);
		psi_text_add(&line, "rank %u, which %s", report->view->ranks[receiver].rank,
		             inbox->from[0].receiver_sleeps ? "sleeps" : "is awake");
		queue_tell_senders(report, inbox, &line);
		inbox->line(inbox->context, report->view->ranks[receiver].rank, line.at);
	}
}

/* A further endpoint's queues lie in memory of its own. */
static void
queue_tell_further(const struct psi_report *report, const struct psi_conduit_ops *ops,
                   struct inbox *inbox, uint32_t receiver, unsigned index)
{
	const struct psi_further *further =
		psi_shared_further(report->shared, report->view->size, index, receiver);

	if (!psi_further_is_open(further))
		return;
	inbox->memory.further_bytes = (size_t)further->queue_bytes;
	inbox->memory.further = report->view->map_of(receiver, further->queue_key,
	                                             inbox->memory.further_bytes);
	if (!inbox->memory.further)
		return;
	queue_tell_inbox(report, ops, inbox, receiver, index);
	report->view->unmap(inbox->memory.further, inbox->memory.further_bytes);
	inbox->memory.further = NULL;
}

static void
queue_tell_process(const struct psi_report *report, const struct psi_conduit_ops *ops,
                   struct inbox *inbox, uint32_t receiver)
{
	const struct psi_rank_shared *shared =
		psi_shared_rank(report->shared, report->view->size, receiver);
	const unsigned count = atomic_load_explicit(&shared->endpoints, memory_order_relaxed);

	queue_tell_inbox(report, ops, inbox, receiver, 0);
	for (unsigned index = 1; index < count && index < GASNET_MAXEPS; index++)
		queue_tell_further(report, ops, inbox, receiver, index);
}

bool
psi_report_queues(const struct psi_report *report,
                  void (*line)(void *context, uint32_t rank, const char *text), void *context)
{
	const uint32_t size = report->view->size;
	const struct psi_conduit_ops *ops = psi_conduit_named(report->shared->conduit);
	struct inbox inbox = {
		.memory = { .host_bytes = (size_t)report->shared->conduit_bytes },
		.from = calloc(size, sizeof *inbox.from), .told = calloc(size, sizeof *inbox.told),
		.alike = calloc(size, sizeof *inbox.alike), .line = line, .context = context,
	};
	bool seen = false;

	inbox.memory.host = report->view->map(report->shared->conduit_key, inbox.memory.host_bytes);
	if (ops && ops->queue && inbox.memory.host && inbox.from && inbox.told && inbox.alike) {
		for (uint32_t receiver = 0; receiver < size; receiver++)
			queue_tell_process(report, ops, &inbox, receiver);
		seen = true;
	}
	if (inbox.memory.host)
		report->view->unmap(inbox.memory.host, inbox.memory.host_bytes);
	free(inbox.from);
	free(inbox.told);
	free(inbox.alike);
	return seen;
}
