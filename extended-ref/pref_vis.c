/*
 * Vector, indexed and strided transfers by message: who sends the messages, and when.
 *
 * All of them are sent before the operation returns, which waits for room, so that the source of a
 * put is free then.  Only one that may not wait (GEX_FLAG_IMMEDIATE), of which the first message
 * found room and another did not, leaves the rest to progress; its cookies stand for that.
 */
#include "extended-ref/pref_vis.h"

#include "runtime/util/spinlock.h"

#include <stdlib.h>

/* The rest of a transfer that may not wait. */
struct rest {
	struct rest *next;
	struct pref_vis_sender sender;
	struct psi_side side[PSI_SIDES];
	void *buffer;                   /* [pref_vis_message_bytes] */
};

static struct psi_spinlock rests_lock;
static struct rest *_Atomic rests;      /* changed under the lock; looked at without it */

/* -- rests ------------------------------------------------------------------------------------ */

static void
leave_rest(const struct pref_vis_sender *s, const struct psi_vis *vis)
{
	const size_t dst_bytes = pref_vis_side_bytes(&vis->side[PSI_DST]);
	const size_t src_bytes = pref_vis_side_bytes(&vis->side[PSI_SRC]);
	struct rest *rest = malloc(sizeof *rest + dst_bytes + src_bytes);

	if (rest)
		rest->buffer = malloc(pref_vis_message_bytes);
	if (!rest || !rest->buffer)
		psi_fatal("no memory for a transfer");
	rest->sender = *s;
	pref_vis_copy_side(&rest->side[PSI_DST], &vis->side[PSI_DST], rest + 1);
	pref_vis_copy_side(&rest->side[PSI_SRC], &vis->side[PSI_SRC],
	                   (char *)(rest + 1) + dst_bytes);
	rest->sender.remote.side = &rest->side[vis->remote];
	rest->sender.local.side = &rest->side[!vis->remote];
	psi_progress_begins();
	psi_spinlock_lock(&rests_lock);
	rest->next = atomic_load_explicit(&rests, memory_order_relaxed);
	atomic_store_explicit(&rests, rest, memory_order_relaxed);
	psi_spinlock_unlock(&rests_lock);
}

/* Sends what there is room for; true when all is sent. */
static bool
advance_rest(struct rest *rest)
{
	while (rest->sender.left)
		if (!pref_vis_try_send(&rest->sender, rest->buffer))
			return false;
	pref_vis_sent(&rest->sender);
	free(rest->buffer);
	return true;
}

void
pref_vis_advance(void)
{
	struct rest *before = NULL, *next;
	bool over = false;

	if (PSI_LIKELY(!atomic_load_explicit(&rests, memory_order_relaxed)))
		return;
	psi_spinlock_lock(&rests_lock);
	for (struct rest *rest = atomic_load_explicit(&rests, memory_order_relaxed); rest;
	     rest = next) {
		next = rest->next;
		if (!advance_rest(rest)) {
			before = rest;
			continue;
		}
		if (before)
			before->next = next;
		else
			atomic_store_explicit(&rests, next, memory_order_relaxed);
		free(rest);
		psi_progress_ends();
		over = true;
	}
	psi_spinlock_unlock(&rests_lock);
	if (over)
		psi_wake_own();
}

/* -- the initiator ---------------------------------------------------------------------------- */

/* False if there was no room for the first message. */
static bool
start_without_waiting(struct pref_vis_sender *s, const struct psi_vis *vis)
{
	void *buffer = psi_thread_buffer(PSI_REQUESTS, pref_vis_message_bytes);

	if (!pref_vis_try_send(s, buffer))
		return false;
	while (s->left && pref_vis_try_send(s, buffer))
		;
	if (s->left)
		leave_rest(s, vis);
	else
		pref_vis_sent(s);
	return true;
}

int
pref_vis(struct psi_port *port, const struct psi_vis *vis)
{
	struct pref_vis_sender s = pref_vis_sender_of(vis);

	(void)port;
	if (!vis->immediate) {
		while (s.left)
			pref_vis_send(&s);
		pref_vis_sent(&s);
	} else if (!start_without_waiting(&s, vis)) {
		pref_vis_refused(&s);
		return PSI_AGAIN;
	}
	return PSI_OK;
}
