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
	uint32_t like;                  /* the sender whose equals are listed */
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

static bool
queue_is_like(const void *context, uint32_t sender)
{
	const struct inbox *inbox = context;

	return queues_are_alike(&inbox->from[sender], &inbox->from[inbox->like]);
}

static void
queue_tell_senders(const struct psi_report *report, struct inbox *inbox, struct psi_text *line)
{
	const char *separator = ": ";

	for (uint32_t sender = 0; sender < report->view->size; sender++) {
		const struct psi_queue_state *state = &inbox->from[sender];

		if (inbox->told[sender] || !queue_is_interesting(state))
			continue;
		inbox->like = sender;
		for (uint32_t other = sender; other < report->view->size; other++)
			inbox->told[other] = inbox->told[other] || queue_is_like(inbox, other);
		psi_text_add(line, "%s%u undelivered, %u of %u slots in use, from ", separator,
		             state->undelivered, state->in_flight, state->slots);
		psi_text_ranks(line, report->view, queue_is_like, inbox);
		if (state->wants_room)
			psi_text_add(line, ", waiting for room");
		separator = "; ";
	}
}

/* True if there was something to say of the queues to an endpoint of the receiver. */
static bool
queue_tell_inbox(const struct psi_report *report, const struct psi_conduit_ops *ops,
                 struct inbox *inbox, uint32_t receiver, unsigned index)
{
	const uint32_t size = report->view->size;
	bool told = false;

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
		told = true;
		psi_text_add(&line, "%s to ", network == PSI_REPLIES ? "replies" : "requests");
		psi_text_endpoint(&line, index);
		psi_text_add(&line, "rank %u, which %s", report->view->ranks[receiver].rank,
		             inbox->from[0].receiver_sleeps ? "sleeps" : "is awake");
		queue_tell_senders(report, inbox, &line);
		report->view->say("  %s", line.at);
	}
	return told;
}

/* A further endpoint's queues lie in memory of its own. */
static bool
queue_tell_further(const struct psi_report *report, const struct psi_conduit_ops *ops,
                   struct inbox *inbox, uint32_t receiver, unsigned index)
{
	const struct psi_further *further =
		psi_shared_further(report->shared, report->view->size, index, receiver);
	bool any;

	if (!psi_further_is_open(further))
		return false;
	inbox->memory.further_bytes = (size_t)further->queue_bytes;
	inbox->memory.further = report->view->map_of(receiver, further->queue_key,
	                                             inbox->memory.further_bytes);
	if (!inbox->memory.further)
		return false;
	any = queue_tell_inbox(report, ops, inbox, receiver, index);
	report->view->unmap(inbox->memory.further, inbox->memory.further_bytes);
	inbox->memory.further = NULL;
	return any;
}

static bool
queue_tell_process(const struct psi_report *report, const struct psi_conduit_ops *ops,
                   struct inbox *inbox, uint32_t receiver)
{
	const struct psi_rank_shared *shared =
		psi_shared_rank(report->shared, report->view->size, receiver);
	const unsigned count = atomic_load_explicit(&shared->endpoints, memory_order_relaxed);
	bool any = queue_tell_inbox(report, ops, inbox, receiver, 0);

	for (unsigned index = 1; index < count && index < GASNET_MAXEPS; index++)
		any |= queue_tell_further(report, ops, inbox, receiver, index);
	return any;
}

void
psi_report_queues(const struct psi_report *report)
{
	const uint32_t size = report->view->size;
	const struct psi_conduit_ops *ops = psi_conduit_named(report->shared->conduit);
	struct inbox inbox = {
		.memory = { .host_bytes = (size_t)report->shared->conduit_bytes },
		.from = calloc(size, sizeof *inbox.from), .told = calloc(size, sizeof *inbox.told),
	};
	bool any = false;

	inbox.memory.host = report->view->map(report->shared->conduit_key, inbox.memory.host_bytes);
	if (ops && ops->queue && inbox.memory.host && inbox.from && inbox.told) {
		for (uint32_t receiver = 0; receiver < size; receiver++)
			any |= queue_tell_process(report, ops, &inbox, receiver);
		if (report->shared->network[0])
			report->view->say("  messages on their way by conduit %s are not seen here",
			                  report->shared->network);
		else if (!any)
			report->view->say("  no message is on its way: all queues are empty");
	}
	if (inbox.memory.host)
		report->view->unmap(inbox.memory.host, inbox.memory.host_bytes);
	free(inbox.from);
	free(inbox.told);
}
