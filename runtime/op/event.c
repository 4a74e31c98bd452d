/* The calls on events.  An event has a function that tells whether it has happened (event.h). */
#include "runtime/op/op.h"

#include "runtime/process/rules.h"

#include <stdio.h>
#include <string.h>

static void
event_check_live(gex_Event_t event, const char *call)
{
	if (PSI_UNLIKELY(event == GEX_EVENT_NO_OP))
		psi_fatal("%s: the event is GEX_EVENT_NO_OP, which says that nothing was started; "
		          "try that call again", call);
	if (PSI_UNLIKELY(!event->done))
		psi_fatal("%s: the event was synchronised before; an event that is done may be "
		          "another's, set the variable to GEX_EVENT_INVALID", call);
}

static bool
event_sync_if_done(gex_Event_t event, const char *call)
{
	psi_rule_call(call);
	event_check_live(event, call);
	if (!event->done(event->object, event->number))
		return false;
	psi_op_retire(event);
	return true;
}

int
psi_event_test(gex_Event_t event)
{
	return event_sync_if_done(event, "gex_Event_Test") ? GASNET_OK : GASNET_ERR_NOT_READY;
}

/* The event is live, and was not done when it was tested. */
static void
event_wait_pending(gex_Event_t event)
{
	const struct psi_reason reason = { .kind = event->kind, .number = event->number,
	                                  .describe = event->describe, .object = event->object,
	                                  .ep = event->ep };
	struct psi_wait wait = PSI_WAIT_FOR_ALL("gex_Event_Wait", &reason);

	do
		psi_wait_step(&wait);
	while (!event_sync_if_done(event, "gex_Event_Wait"));
	psi_wait_end(&wait);
}

void
psi_event_wait(gex_Event_t event)
{
	if (!event_sync_if_done(event, "gex_Event_Wait"))
		event_wait_pending(event);
}

struct tally {
	size_t done, pending;
};

/* Synchronises those events of the array that are done.  A leaf may stand behind its root, and ends
 * with it; so roots are tested first, and retired last. */
static struct tally
events_sync(gex_Event_t *events, size_t count, gex_Flags_t flags, const char *call)
{
	struct tally tally = { 0, 0 };
	bool leaves = false;

	psi_rule_call(call);
	psi_check_flags(flags, 0, call);
	psi_check_list(events, count, sizeof *events, "pevent", call);
	for (size_t i = 0; i < count; i++) {
		if (events[i] == GEX_EVENT_INVALID)
			continue;
		event_check_live(events[i], call);
		leaves = leaves || events[i]->leaf;
		if (!events[i]->leaf)
			events[i]->found = events[i]->done(events[i]->object, events[i]->number);
	}
	for (size_t i = 0; leaves && i < count; i++) {
		if (events[i] == GEX_EVENT_INVALID || !events[i]->leaf ||
		    !events[i]->done(events[i]->object, events[i]->number))
			continue;
		events[i] = GEX_EVENT_INVALID;
		tally.done++;
	}
	for (size_t i = 0; i < count; i++) {
		if (events[i] == GEX_EVENT_INVALID)
			continue;
		if (events[i]->found) {
			events[i]->found = false;
			psi_op_retire(events[i]);
			events[i] = GEX_EVENT_INVALID;
			tally.done++;
		} else {
			tally.pending++;
		}
	}
	return tally;
}

static bool
events_some_done(gex_Event_t *events, size_t count, gex_Flags_t flags, const char *call)
{
	struct tally tally = events_sync(events, count, flags, call);

	return tally.done || !tally.pending;
}

static bool
events_all_done(gex_Event_t *events, size_t count, gex_Flags_t flags, const char *call)
{
	return events_sync(events, count, flags, call).pending == 0;
}

int
gex_Event_TestSome(gex_Event_t *pevent, size_t numevents, gex_Flags_t flags)
{
	return events_some_done(pevent, numevents, flags, "gex_Event_TestSome") ? GASNET_OK
	                                                                  : GASNET_ERR_NOT_READY;
}

int
gex_Event_TestAll(gex_Event_t *pevent, size_t numevents, gex_Flags_t flags)
{
	return events_all_done(pevent, numevents, flags, "gex_Event_TestAll") ? GASNET_OK
	                                                                : GASNET_ERR_NOT_READY;
}

/* The endpoint at which the pending events complete.  NULL if none of them names one;
 * PSI_EP_SEVERAL if they name several. */
static gex_EP_t
events_endpoint(gex_Event_t *events, size_t count)
{
	gex_EP_t ep = NULL;

	for (size_t i = 0; i < count; i++) {
		if (events[i] == GEX_EVENT_INVALID || !events[i]->ep || events[i]->ep == ep)
			continue;
		if (ep)
			return PSI_EP_SEVERAL;
		ep = events[i]->ep;
	}
	return ep;
}

/* What a thread waits for that waits for several events; lives as long. */
struct events {
	gex_Event_t *at;
	size_t count;
	const char *call;
};

/* Describes the first event that is not over.  Those before number `from' are. */
static void
events_describe(const void *object, uint64_t from, char text_out[PSI_WHERE_BYTES])
{
	const struct events *events = object;
	gex_Event_t event;
	size_t i = from, len;

	text_out[0] = '\0';
	while (i < events->count && events->at[i] == GEX_EVENT_INVALID)
		i++;
	if (i == events->count)
		return;
	event = events->at[i];
	if (event->describe)
		event->describe(event->object, event->number, text_out);
	if (event->kind == PSI_FOR_BARRIER) {
		len = strlen(text_out);
		snprintf(text_out + len, PSI_WHERE_BYTES - len,
		         "%sbarrier %llu on the team of all ranks", len ? ", " : "unnamed ",
		         (unsigned long long)event->number);
	}
	len = strlen(text_out);
	if (len)
		snprintf(text_out + len, PSI_WHERE_BYTES - len, ", among the events of %s",
		         events->call);
}

static struct psi_reason
events_reason(const struct events *events)
{
	return (struct psi_reason){ .kind = PSI_FOR_EVENTS, .describe = events_describe,
		                    .object = events,
		                    .ep = events_endpoint(events->at, events->count) };
}

void
gex_Event_WaitSome(gex_Event_t *pevent, size_t numevents, gex_Flags_t flags)
{
	struct psi_reason reason;
	struct psi_wait wait = PSI_WAIT_FOR_ALL("gex_Event_WaitSome", &reason);
	const struct events events = { pevent, numevents, wait.where };

	if (events_some_done(pevent, numevents, flags, wait.where))
		return;
	reason = events_reason(&events);
	do
		psi_wait_step(&wait);
	while (!events_some_done(pevent, numevents, flags, wait.where));
	psi_wait_end(&wait);
}

/* Drops the events that have happened, of the leaves or of the roots, from number *at on.  It stops
 * at the first that has not happened, and returns true if there is none.  So a wait looks at each
 * event once, and at one event per poll, however many there are. */
static bool
events_drop_happened(gex_Event_t *events, size_t count, bool leaves, size_t *at, const char *call)
{
	for (; *at < count; ++*at) {
		const gex_Event_t event = events[*at];

		if (event == GEX_EVENT_INVALID)
			continue;
		event_check_live(event, call);
		if (event->leaf != leaves)
			continue;
		if (!event->done(event->object, event->number))
			return false;
		if (!leaves)
			psi_op_retire(event);
		events[*at] = GEX_EVENT_INVALID;
	}
	return true;
}

void
gex_Event_WaitAll(gex_Event_t *pevent, size_t numevents, gex_Flags_t flags)
{
	struct psi_reason reason;
	struct psi_wait wait = PSI_WAIT_FOR_ALL("gex_Event_WaitAll", &reason);
	const struct events events = { pevent, numevents, wait.where };

	if (events_all_done(pevent, numevents, flags, wait.where))
		return;
	reason = events_reason(&events);
	psi_wait_step(&wait);
	/* leaves first: a root that ends takes its leaf along */
	for (unsigned leaves = 2; leaves-- > 0;)
		for (size_t at = 0; !events_drop_happened(pevent, numevents, leaves, &at,
		                                        wait.where);) {
			reason.number = at;
			psi_wait_step(&wait);
		}
	psi_wait_end(&wait);
}

gex_Event_t
gex_Event_QueryLeaf(gex_Event_t root, gex_EC_t event_category)
{
	const char *call = "gex_Event_QueryLeaf";
	struct psi_op *op = (struct psi_op *)root;

	psi_rule_context(call);
	if (event_category == 0 || (event_category & (event_category - 1)) != 0)
		psi_fatal("%s: the category is 0x%x; pass exactly one of GEX_EC_*", call,
		          event_category);
	if (root == GEX_EVENT_INVALID)
		return GEX_EVENT_INVALID;
	event_check_live(root, call);
	if (PSI_UNLIKELY(root->leaf))
		psi_fatal("%s: the event is a leaf itself; pass the root event of its operation",
		          call);
	/* Only operations of parts can have a pending leaf: messages complete locally before their
	 * call returns. */
	if (event_category != GEX_EC_LC || !psi_event_is_op(root) ||
	    psi_op_has_done(op, PSI_PART_LC))
		return GEX_EVENT_INVALID;
	return &op->leaf;
}
