/*
 * Events.  An event asks its owner whether it has happened, so nobody has to tell it.  Objects come
 * from a pool that grows and is never given back.
 */
#include "runtime/psi.h"

#include "runtime/rules.h"

#include "runtime/util/spinlock.h"

#include <stdlib.h>

enum { POOL_CHUNK = 64 };

static struct psi_spinlock pool_lock;
static gex_Event_t free_events;         /* under pool_lock */

static void
grow_pool(void)
{
	gex_Event_t chunk = calloc(POOL_CHUNK, sizeof *chunk);

	if (!chunk)
		psi_fatal("no memory for events");
	for (unsigned i = 0; i < POOL_CHUNK; i++) {
		chunk[i].next = free_events;
		free_events = &chunk[i];
	}
}

gex_Event_t
psi_event_new(bool (*done)(const void *, uint64_t), const void *object, uint64_t number,
              enum psi_wait_kind kind)
{
	gex_Event_t event;

	psi_spinlock_lock(&pool_lock);
	if (!free_events)
		grow_pool();
	event = free_events;
	free_events = event->next;
	psi_spinlock_unlock(&pool_lock);
	*event = (struct gex_Event_s){ .done = done, .object = object, .number = number,
	                               .kind = kind };
	return event;
}

static void
retire(gex_Event_t event)
{
	psi_spinlock_lock(&pool_lock);
	event->done = NULL;
	event->next = free_events;
	free_events = event;
	psi_spinlock_unlock(&pool_lock);
}

static void
check_live(gex_Event_t event, const char *call)
{
	if (PSI_UNLIKELY(event == GEX_EVENT_NO_OP))
		psi_fatal("%s: the event is GEX_EVENT_NO_OP, which says that nothing was started; try "
		          "that call again", call);
	if (PSI_UNLIKELY(!event->done))
		psi_fatal("%s: the event was synchronised before; an event that is done may be another's, "
		          "set the variable to GEX_EVENT_INVALID", call);
}

static bool
sync_if_done(gex_Event_t event, const char *call)
{
	psi_rule_call(call);
	check_live(event, call);
	if (!event->done(event->object, event->number))
		return false;
	retire(event);
	return true;
}

int
psi_event_test(gex_Event_t event)
{
	return sync_if_done(event, "gex_Event_Test") ? GASNET_OK : GASNET_ERR_NOT_READY;
}

/* It is a live event, and not done. */
static void
wait_for(gex_Event_t event)
{
	const struct psi_reason reason = { .kind = event->kind, .number = event->number };
	struct psi_wait wait = PSI_WAIT_FOR_ALL("gex_Event_Wait", &reason);

	do
		psi_wait_step(&wait);
	while (!sync_if_done(event, "gex_Event_Wait"));
	psi_wait_end(&wait);
}

void
psi_event_wait(gex_Event_t event)
{
	if (!sync_if_done(event, "gex_Event_Wait"))
		wait_for(event);
}

struct tally {
	size_t done, pending;
};

/* Synchronises those that are done. */
static struct tally
sync_array(gex_Event_t *events, size_t count, gex_Flags_t flags, const char *call)
{
	struct tally tally = { 0, 0 };

	psi_rule_call(call);
	psi_check_flags(flags, 0, call);
	for (size_t i = 0; i < count; i++) {
		if (events[i] == GEX_EVENT_INVALID)
			continue;
		if (sync_if_done(events[i], call)) {
			events[i] = GEX_EVENT_INVALID;
			tally.done++;
		} else {
			tally.pending++;
		}
	}
	return tally;
}

static bool
some_done(gex_Event_t *events, size_t count, gex_Flags_t flags, const char *call)
{
	struct tally tally = sync_array(events, count, flags, call);

	return tally.done || !tally.pending;
}

static bool
all_done(gex_Event_t *events, size_t count, gex_Flags_t flags, const char *call)
{
	return sync_array(events, count, flags, call).pending == 0;
}

int
gex_Event_TestSome(gex_Event_t *pevent, size_t numevents, gex_Flags_t flags)
{
	return some_done(pevent, numevents, flags, "gex_Event_TestSome") ? GASNET_OK
	                                                                  : GASNET_ERR_NOT_READY;
}

int
gex_Event_TestAll(gex_Event_t *pevent, size_t numevents, gex_Flags_t flags)
{
	return all_done(pevent, numevents, flags, "gex_Event_TestAll") ? GASNET_OK
	                                                                : GASNET_ERR_NOT_READY;
}

void
gex_Event_WaitSome(gex_Event_t *pevent, size_t numevents, gex_Flags_t flags)
{
	static const struct psi_reason reason = { .kind = PSI_FOR_EVENTS };
	struct psi_wait wait = PSI_WAIT_FOR_ALL("gex_Event_WaitSome", &reason);

	while (!some_done(pevent, numevents, flags, "gex_Event_WaitSome"))
		psi_wait_step(&wait);
	psi_wait_end(&wait);
}

void
gex_Event_WaitAll(gex_Event_t *pevent, size_t numevents, gex_Flags_t flags)
{
	static const struct psi_reason reason = { .kind = PSI_FOR_EVENTS };
	struct psi_wait wait = PSI_WAIT_FOR_ALL("gex_Event_WaitAll", &reason);

	while (!all_done(pevent, numevents, flags, "gex_Event_WaitAll"))
		psi_wait_step(&wait);
	psi_wait_end(&wait);
}

/* No operation of this release leaves a stage behind its start, so every leaf has happened. */
gex_Event_t
gex_Event_QueryLeaf(gex_Event_t root, gex_EC_t event_category)
{
	psi_rule_context("gex_Event_QueryLeaf");
	if (event_category == 0 || (event_category & (event_category - 1)) != 0)
		psi_fatal("gex_Event_QueryLeaf: the category is 0x%x; pass exactly one of GEX_EC_*",
		          event_category);
	if (root != GEX_EVENT_INVALID)
		check_live(root, "gex_Event_QueryLeaf");
	return GEX_EVENT_INVALID;
}

static void
check_implicit(gex_EC_t event_mask, gex_Flags_t flags, const char *call)
{
	psi_rule_call(call);
	psi_check_flags(flags, 0, call);
	if (PSI_UNLIKELY(event_mask & ~GEX_EC_ALL))
		psi_fatal("%s: categories 0x%x are none; pass some of GEX_EC_*, or GEX_EC_ALL", call,
		          event_mask & ~GEX_EC_ALL);
}

/* Members of a thread's implicit set are the local completions of requests with GEX_EVENT_GROUP, and
 * these are complete when the call returns: the set is always empty. */
int
gex_NBI_Test(gex_EC_t event_mask, gex_Flags_t flags)
{
	check_implicit(event_mask, flags, "gex_NBI_Test");
	return GASNET_OK;
}

void
gex_NBI_Wait(gex_EC_t event_mask, gex_Flags_t flags)
{
	check_implicit(event_mask, flags, "gex_NBI_Wait");
}
