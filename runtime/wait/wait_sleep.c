/* Announcing a sleep, and sleeping: on the conduit's word, by one endpoint or several, and within
 * bounds. */
#include "runtime/wait/wait.h"

#include "runtime/wait/pollset.h"
#include "runtime/wait/waiting.h"

#include "runtime/util/clock.h"

/* -- limits ---------------------------------------------------------------------------------- */

uint64_t
psi_wait_limit_ns(const struct psi_wait *wait)
{
	const struct psi_reason *reason = wait->reason;
	uint64_t limit = psi_limit_shorter(psi.max_sleep_ns, psi.hang_report_ns), now;

	if (!psi.networked)
		limit = psi_limit_shorter(limit, atomic_load_explicit(&psi.device_sleep_ns,
		                                                      memory_order_relaxed));
	if (!reason)
		return limit;
	limit = psi_limit_shorter(limit, reason->most_ns);
	if (!reason->until_ns)
		return limit;
	now = psi_now_ns();
	return psi_limit_shorter(limit, reason->until_ns > now ? reason->until_ns - now : 1);
}

/* A wait that sleeps once, and not without limit, goes well and does not look at the clock. */
static void
wait_after_sleep(struct psi_wait *wait)
{
	if (wait->first || !psi.max_sleep_ns)
		psi_hang_look(wait, psi_wait_limit_ns(wait));
	else
		wait->first = PSI_SLEPT_ONCE;
}

/* -- announcing and sleeping ----------------------------------------------------------------- */

/* Does it wait for memory that peers write without a message? */
static bool
wait_is_for_signal(const struct psi_wait *wait)
{
	const struct psi_reason *reason = wait->reason;

	return reason && reason->kind >= PSI_FOR_POST;
}

static struct psi_wait_threshold *
wait_threshold_of(const struct psi_wait *wait)
{
	const struct psi_reason *reason = wait->reason;

	return reason ? reason->lack : NULL;
}

static void
wait_threshold_announce(const struct psi_wait *wait, bool asleep)
{
	struct psi_wait_threshold *lack = wait_threshold_of(wait);

	if (lack)
		lack->tell(lack, asleep);
}

/* The threshold is told before the conduit's arm fences (D5_THRESHOLD), so that a thread that posts
 * after the last look sees it. */
bool
psi_wait_arm(struct psi_wait *wait, unsigned networks, uint32_t room_peer)
{
	bool quiet;

	if (wait_is_for_signal(wait))
		networks |= PSI_PEERS_MEMORY;
	wait_threshold_announce(wait, true);
	if (psi_are_several())
		quiet = psi_pollset_arm(wait, networks, room_peer);
	else
		quiet = psi.ops->arm(psi.ep->port, networks, room_peer, &wait->seq) == PSI_OK;
	if (!quiet)
		wait_threshold_announce(wait, false);
	return quiet;
}

void
psi_wait_disarm(struct psi_wait *wait)
{
	if (psi_are_several())
		psi_pollset_disarm(wait);
	else
		psi.ops->disarm(psi.ep->port);
	wait_threshold_announce(wait, false);
}

void
psi_wait_sleep(struct psi_wait *wait)
{
	const struct psi_wait_threshold *lack = wait_threshold_of(wait);

	if (lack && lack->found) {
		psi_wait_disarm(wait);
		return;
	}
	if (psi_are_several())
		psi_pollset_sleep(wait, psi_wait_limit_ns(wait));
	else
		psi.ops->sleep(psi.ep->port, wait->seq, psi_wait_limit_ns(wait));
	psi_wait_disarm(wait);
	wait_after_sleep(wait);
}
