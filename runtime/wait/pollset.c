#include "runtime/wait/pollset.h"

#include "runtime/process/rules.h"
#include "runtime/wait/waiting.h"

#include "runtime/util/fence.h"

#include "penstock_threads.h"

__thread gex_EP_t psi_pollset_bound __attribute__((tls_model("initial-exec")));

enum { POLLS_PER_TURN = 16 };   /* of its own endpoint, before a busy thread looks at the others */

/*
 * Number of threads that sleep, or are about to, and wait for something that this process does.  A
 * thread that has done something looks here, and not at the word of each endpoint.  The order is
 * that of D4: a sleeper counts itself, fences (in arm) and looks; the other side fences and looks
 * here.
 */
static _Atomic uint32_t sleepers;

/* Number of endpoints that all threads serve.  The primordial one is among them until a thread
 * counts itself there.  A thread that raises the number wakes the others; a sleeper looks at it
 * after it has armed. */
static _Atomic uint32_t unserved = 1;

/*
 * Some progress function lacks room.  The owner of the room wakes the process's first endpoint, so
 * no thread may sleep on another endpoint alone.  A thread that sets this wakes the others if one
 * of them does.  A thread that sleeps so counts itself in `alone', fences (in arm) and looks here.
 */
_Atomic bool psi_room_is_missing;
static _Atomic uint32_t alone;

static bool
pollset_some_unserved(void)
{
	return atomic_load_explicit(&unserved, memory_order_relaxed) != 0;
}

static bool
pollset_is_unserved(gex_EP_t ep)
{
	return !ep->serial && atomic_load_explicit(&ep->threads, memory_order_relaxed) == 0;
}

static gex_EP_t
pollset_own_of(const struct psi_thread *thread)
{
	return thread->bound ? thread->bound : psi.ep;
}

unsigned
psi_pollset_index(void)
{
	const gex_EP_t own = pollset_own_of(psi_thread_self());

	return own ? own->index : 0;
}

bool
psi_pollset_sleepers(void)
{
	psi_store_load_fence(); /* D4_WAKE: pairs with ARM_FENCE in sysvnet_arm */
	return atomic_load_explicit(&sleepers, memory_order_relaxed) != 0;
}

/* -- binding --------------------------------------------------------------------------------- */

static void
pollset_leave(gex_EP_t ep)
{
	if (atomic_fetch_sub_explicit(&ep->threads, 1, memory_order_relaxed) != 1 || ep->serial)
		return;
	atomic_fetch_add_explicit(&unserved, 1, memory_order_relaxed);
	psi.ops->wake(psi.ep->port);
}

static void
pollset_join(gex_EP_t ep)
{
	if (atomic_fetch_add_explicit(&ep->threads, 1, memory_order_relaxed) == 0 && !ep->serial)
		atomic_fetch_sub_explicit(&unserved, 1, memory_order_relaxed);
}

void
psi_pollset_hold(gex_EP_t ep)
{
	atomic_store_explicit(&ep->held, true, memory_order_relaxed);
	atomic_fetch_add_explicit(&ep->threads, 1, memory_order_relaxed);
}

void
psi_pollset_release(gex_EP_t ep)
{
	if (atomic_exchange_explicit(&ep->held, false, memory_order_relaxed))
		pollset_leave(ep);
}

/* Wakes all threads: one may have announced its sleep before there was a second endpoint, and then
 * it is counted nowhere. */
void
psi_pollset_add(gex_EP_t ep)
{
	if (pollset_is_unserved(ep))
		atomic_fetch_add_explicit(&unserved, 1, memory_order_relaxed);
	psi.ops->wake(psi.ep->port);
}

void
psi_pollset_remove(gex_EP_t ep)
{
	psi_pollset_release(ep);
	if (pollset_is_unserved(ep))
		atomic_fetch_sub_explicit(&unserved, 1, memory_order_relaxed);
}

void
psi_pollset_thread_begins(struct psi_thread *thread)
{
	thread->bound = psi_pollset_bound = psi.ep;
	if (psi.ep)
		pollset_join(psi.ep);
}

void
psi_pollset_thread_ends(struct psi_thread *thread)
{
	if (thread->bound)
		pollset_leave(thread->bound);
	psi_pollset_bound = NULL;
}

void
pst_thread_bind(gex_EP_t ep)
{
	struct psi_thread *thread;

	psi_need_init("pst_thread_bind");
	if (!ep)
		psi_invalid("pst_thread_bind", "GEX_EP_INVALID");
	thread = psi_thread_self();
	pollset_join(ep);
	psi_pollset_thread_ends(thread);
	thread->bound = psi_pollset_bound = ep;
}

/* -- polling --------------------------------------------------------------------------------- */

static unsigned
pollset_poll_unserved(gex_EP_t own, unsigned first, unsigned networks, unsigned budget)
{
	const unsigned count = psi_ep_count();
	unsigned delivered = 0;

	for (unsigned i = 0; i < count; i++) {
		gex_EP_t ep = psi_ep_of((gex_EP_Index_t)((first + i) % count));

		if (ep && ep != own && pollset_is_unserved(ep))
			delivered += psi.ops->poll(ep->port, networks, budget);
	}
	return delivered;
}

/* If the endpoint is serial, the calling thread is the one that may use it. */
static unsigned
pollset_poll_one(gex_EP_t ep, unsigned networks, unsigned budget)
{
	const bool outermost = psi_rule_serial_enter(ep, "a poll");
	const unsigned delivered = psi.ops->poll(ep->port, networks, budget);

	if (PSI_UNLIKELY(outermost))
		psi_rule_serial_leave(ep);
	return delivered;
}

unsigned
psi_pollset_poll(unsigned networks, unsigned budget)
{
	struct psi_thread *thread = psi_thread_self();
	gex_EP_t own = pollset_own_of(thread);
	unsigned delivered = pollset_poll_one(own, networks, budget);

	thread->polls++;
	if (pollset_some_unserved() && (!delivered || thread->polls % POLLS_PER_TURN == 0))
		delivered += pollset_poll_unserved(own, thread->polls, networks, budget);
	return delivered;
}

/* NULL if there is none but the thread's own. */
static gex_EP_t
pollset_concerned(const struct psi_wait *wait, gex_EP_t own)
{
	const struct psi_reason *reason = wait->reason;

	return reason && reason->ep != own ? reason->ep : NULL;
}

static bool
pollset_has(gex_EP_t ep, gex_EP_t concerned)
{
	return ep == concerned || (concerned == PSI_EP_SEVERAL && !ep->serial);
}

unsigned
psi_pollset_poll_for(const struct psi_wait *wait, unsigned networks, unsigned budget)
{
	gex_EP_t own = pollset_own_of(psi_thread_self()), also = pollset_concerned(wait, own);
	unsigned delivered = 0;

	if (!also)
		return 0;
	for (unsigned i = 0; i < psi_ep_count(); i++) {
		gex_EP_t ep = psi_ep_of((gex_EP_Index_t)i);

		if (ep && ep != own && pollset_has(ep, also))
			delivered += pollset_poll_one(ep, networks, budget);
	}
	return delivered;
}

/* -- room -------------------------------------------------------------------------------------- */

void
psi_room_still_missing(void)
{
	if (!atomic_load_explicit(&psi.several, memory_order_relaxed))
		return;
	atomic_store_explicit(&psi_room_is_missing, true, memory_order_relaxed);
	psi_store_load_fence(); /* D4_WAKE: pairs with ARM_FENCE in sysvnet_arm */
	if (atomic_load_explicit(&alone, memory_order_relaxed))
		psi.ops->wake(psi.ep->port);
}

void
psi_request_room(gex_EP_t ep, uint32_t place)
{
	ep->ops->request_room(ep->port, place);
	psi_room_still_missing();
}

void
psi_room_retry(void)
{
	if (PSI_UNLIKELY(psi_is_room_missing()))
		atomic_store_explicit(&psi_room_is_missing, false, memory_order_relaxed);
}

static bool
pollset_may_sleep_alone(void)
{
	return !pollset_some_unserved() && !psi_is_room_missing();
}

/* -- sleeping -------------------------------------------------------------------------------- */

/* The announcement of one wait of the thread.  An entry without a wait is free. */
static struct psi_armed *
pollset_armed_by(struct psi_thread *thread, const struct psi_wait *wait)
{
	for (unsigned i = 0; i < PSI_ARMED_WAITS; i++)
		if (thread->armed[i].wait == wait)
			return &thread->armed[i];
	return NULL;
}

static bool
pollset_watch(struct psi_armed *armed, gex_EP_t ep, unsigned networks)
{
	if (psi.ops->arm_more(ep->port, networks) != PSI_OK)
		return false;
	armed->watched[ep->index / 64] |= (uint64_t)1 << ep->index % 64;
	return true;
}

/* All that the thread polls, but the one that it sleeps on. */
static bool
pollset_watch_all(struct psi_armed *armed, gex_EP_t own, gex_EP_t also, unsigned networks)
{
	for (unsigned i = 0; i < psi_ep_count(); i++) {
		gex_EP_t ep = psi_ep_of((gex_EP_Index_t)i);

		if (ep && ep != armed->on &&
		    (ep == own || pollset_has(ep, also) || pollset_is_unserved(ep)) &&
		    !pollset_watch(armed, ep, networks))
			return false;
	}
	return true;
}

/* A wait for threads to end is not counted: those threads wake it themselves. */
static bool
sleeper_is_counted(const struct psi_wait *wait)
{
	const struct psi_reason *reason = wait->reason;

	return !reason || reason->kind != PSI_FOR_THREADS;
}

static void
sleeper_count(const struct psi_wait *wait, gex_EP_t on, uint32_t by)
{
	if (sleeper_is_counted(wait))
		atomic_fetch_add_explicit(&sleepers, by, memory_order_relaxed);
	if (on != psi.ep)
		atomic_fetch_add_explicit(&alone, by, memory_order_relaxed);
}

bool
psi_pollset_arm(struct psi_wait *wait, unsigned networks, uint32_t room_peer)
{
	struct psi_thread *thread = psi_thread_self();
	struct psi_armed *armed = pollset_armed_by(thread, NULL);
	gex_EP_t own = pollset_own_of(thread), also = pollset_concerned(wait, own);
	const bool by_itself = room_peer == PSI_NO_PEER && !also && pollset_may_sleep_alone();
	gex_EP_t on = by_itself ? own : psi.ep;
	const bool polled = on == own || pollset_has(on, also) || pollset_is_unserved(on);

	if (!armed)
		return false;
	sleeper_count(wait, on, 1);
	if (psi.ops->arm(on->port, polled ? networks : 0, room_peer, &wait->seq) != PSI_OK) {
		sleeper_count(wait, on, (uint32_t)-1);
		return false;
	}
	*armed = (struct psi_armed){ .wait = wait, .on = on };
	if (by_itself ? pollset_may_sleep_alone() : pollset_watch_all(armed, own, also, networks))
		return true;
	psi_pollset_disarm(wait);
	return false;
}

/* A wait that announced itself before there was a second endpoint does so again, and does not
 * sleep. */
void
psi_pollset_sleep(struct psi_wait *wait, uint64_t timeout_ns)
{
	const struct psi_armed *armed = pollset_armed_by(psi_thread_self(), wait);

	if (armed)
		psi.ops->sleep(armed->on->port, wait->seq, timeout_ns);
}

/* The endpoints that it watched may be gone by now. */
void
psi_pollset_disarm(struct psi_wait *wait)
{
	struct psi_armed *armed = pollset_armed_by(psi_thread_self(), wait);

	psi.ops->disarm((armed ? armed->on : psi.ep)->port);
	if (!armed)
		return;
	sleeper_count(wait, armed->on, (uint32_t)-1);
	for (unsigned i = 0; i < GASNET_MAXEPS; i++)
		if (armed->watched[i / 64] >> i % 64 & 1)
			psi.ops->disarm_more(psi_ep_kept((gex_EP_Index_t)i)->port);
	armed->wait = NULL;
}

const struct psi_module psi_serve_module = {
	.name = "polling",
	.thread_begins = psi_pollset_thread_begins,
	.thread_ends = psi_pollset_thread_ends,
};
