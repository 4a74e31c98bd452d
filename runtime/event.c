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
psi_event_new(bool (*done)(const void *, uint64_t), const void *object, uint64_t number)
{
	gex_Event_t event;

	psi_spinlock_lock(&pool_lock);
	if (!free_events)
		grow_pool();
	event = free_events;
	free_events = event->next;
	psi_spinlock_unlock(&pool_lock);
	*event = (struct gex_Event_s){ .done = done, .object = object, .number = number };
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
		psi_fatal("%s: the event is GEX_EVENT_NO_OP", call);
	if (PSI_UNLIKELY(!event->done))
		psi_fatal("%s: the event was synchronised before", call);
}

static bool
sync_if_done(gex_Event_t event, const char *call)
{
	check_live(event, call);
	psi_rule_call(call);
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

void
psi_event_wait(gex_Event_t event)
{
	struct psi_wait wait = PSI_WAIT_INIT("an event");

	while (!sync_if_done(event, "gex_Event_Wait"))
		psi_wait_step(&wait);
	psi_wait_end(&wait);
}

/* Synchronises those that are done; counts them, and those that are not. */
static void
sync_array(gex_Event_t *events, size_t count, const char *call, size_t *done_out,
           size_t *pending_out)
{
	*done_out = *pending_out = 0;
	for (size_t i = 0; i < count; i++) {
		if (events[i] == GEX_EVENT_INVALID)
			continue;
		if (sync_if_done(events[i], call)) {
			events[i] = GEX_EVENT_INVALID;
			++*done_out;
		} else {
			++*pending_out;
		}
	}
}

int
gex_Event_TestSome(gex_Event_t *pevent, size_t numevents, gex_Flags_t flags)
{
	size_t done, pending;

	(void)flags;
	sync_array(pevent, numevents, "gex_Event_TestSome", &done, &pending);
	return done || !pending ? GASNET_OK : GASNET_ERR_NOT_READY;
}

int
gex_Event_TestAll(gex_Event_t *pevent, size_t numevents, gex_Flags_t flags)
{
	size_t done, pending;

	(void)flags;
	sync_array(pevent, numevents, "gex_Event_TestAll", &done, &pending);
	return pending ? GASNET_ERR_NOT_READY : GASNET_OK;
}

void
gex_Event_WaitSome(gex_Event_t *pevent, size_t numevents, gex_Flags_t flags)
{
	struct psi_wait wait = PSI_WAIT_INIT("some of several events");

	while (gex_Event_TestSome(pevent, numevents, flags) != GASNET_OK)
		psi_wait_step(&wait);
	psi_wait_end(&wait);
}

void
gex_Event_WaitAll(gex_Event_t *pevent, size_t numevents, gex_Flags_t flags)
{
	struct psi_wait wait = PSI_WAIT_INIT("all of several events");

	while (gex_Event_TestAll(pevent, numevents, flags) != GASNET_OK)
		psi_wait_step(&wait);
	psi_wait_end(&wait);
}

/* No operation of this release leaves a stage behind its start, so every leaf has happened. */
gex_Event_t
gex_Event_QueryLeaf(gex_Event_t root, gex_EC_t event_category)
{
	if (event_category == 0 || (event_category & (event_category - 1)) != 0)
		psi_fatal("gex_Event_QueryLeaf: the category must be exactly one, not 0x%x",
		          event_category);
	if (root != GEX_EVENT_INVALID)
		check_live(root, "gex_Event_QueryLeaf");
	return GEX_EVENT_INVALID;
}

/* Members of a thread's implicit set are the local completions of requests with GEX_EVENT_GROUP, and
 * these are complete when the call returns: the set is always empty. */
int
gex_NBI_Test(gex_EC_t event_mask, gex_Flags_t flags)
{
	(void)event_mask, (void)flags;
	return GASNET_OK;
}

void
gex_NBI_Wait(gex_EC_t event_mask, gex_Flags_t flags)
{
	(void)event_mask, (void)flags;
}
