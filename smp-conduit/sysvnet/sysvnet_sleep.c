/*
 * Sleeping, and the protocols of sleeping and waking.  sysvnet_wake.c has the other side.
 *
 * In each protocol each side writes one word and then looks at another.  At least one of the two
 * sides must see the other's write (a store, then a load, on both sides):
 *
 *   D1  lane       sender: publish message,      look at control->polled
 *                  receiver: polled = 0,         look at the lane
 *   D2  endpoint   sender: set bit in top,       look at wake
 *                  receiver: set bit 0 of wake,  look at top
 *   D3  room       receiver: tell consumed / give buffer,  look at room_top
 *                  sender: set bit in room_top,  look for room again
 *   D4  wake       waker: any memory,            look at wake
 *                  sleeper: set bit 0 of wake,   look at that memory
 *   D5  signal     poster: a count or word,      look at wake
 *                  sleeper: set bit 0 of wake,   look at the count or word
 *
 * The sleeper fences between the two (ARM_FENCE in sysvnet_arm).  In D2 the sender's two are
 * sequentially consistent, in D3 and D4 the other side fences.  In D1 the receiver fences, or makes
 * all processes fence at once (membarrier); in the first case the sender fences too, in the second
 * its two accesses need only stay in program order, which the interrupt turns into the same.  D5
 * has the same two forms.  The poster's side, D5_POST or D5_ORDER, is psi_sem_asleep in
 * include/penstock_sem.h; runtime/signal/threshold.c writes the sleeper's threshold.
 *
 * Bits are set in `words' first, then in `top', and taken in the other order, with release and
 * acquire: D2_TOP -> D2_TAKE_TOP, D3_TAKE_TOP; so no bit is left in `words' of which `top' knows
 * nothing.  In D3 the mark also announces the sleep: D2_WORD -> D3_TAKE_WORD, bit 0 of wake before
 * the mark.
 *
 * Threads that sleep on one endpoint share its word; a wake-up ends the sleep of all.  A thread
 * that waits for several endpoints, or for room, sleeps on the word of its process's first endpoint
 * and counts itself among the far_sleepers of the others (sysvnet_arm_more).  A thread that wakes
 * one of these also looks at its far_sleepers, which are in the line of its wake word, after the
 * same order: so D2 and D4 hold with `far_sleepers' in the place of wake.  Such a sleeper sets
 * bit 0 of the process's word before it counts itself, with a fence between, so a thread that finds
 * it counted finds the bit.
 *
 * Senders are threads of any process, the sleeper's own included.  membarrier (D1_ALL) reaches all
 * of them: the kernel interrupts every CPU that runs a registered process, except the caller's own,
 * which fences in the call.
 *
 * Names in capitals are switches of the models in tests/model: wake.pml (D1, D2), room.pml (D3),
 * wake_own.pml (D4), post.pml and threshold.pml (D5).
 */
#include "smp-conduit/sysvnet/sysvnet_port.h"

#include "runtime/util/delay.h"
#include "runtime/util/fence.h"
#include "runtime/util/futex.h"

/* --------------------------------------------------------------- lanes no longer polled --- */

static void
lanes_fence_senders(const struct sysvnet *net)
{
	if (net->senders_fence)
		psi_store_load_fence(); /* D1_FENCE: pairs with D1_SEND in sysvnet_notify */
	else
		sysvnet_fence_others(); /* D1_ALL: pairs with D1_ORDER in sysvnet_notify */
}

static void
lanes_set_polled(struct sysvnet_port *port, unsigned network, uint32_t value)
{
	for (uint32_t i = 0; i < sysvnet_active_count(port, network); i++) {
		struct sysvnet_in *in = sysvnet_active_lane(port, network, i);

		atomic_store_explicit(&in->control->polled, value, memory_order_relaxed);
	}
}

/* Drops the active lanes that had no message since the last two sweeps.  The caller holds
 * poll_lock. */
void
sysvnet_unpoll_quiet(struct sysvnet_port *port, unsigned network)
{
	uint32_t kept = 0, dropped = 0;
	uint64_t header;

	for (uint32_t i = 0; i < sysvnet_active_count(port, network); i++) {
		struct sysvnet_in *in = sysvnet_active_lane(port, network, i);

		if (++in->quiet >= 2) {
			atomic_store_explicit(&in->control->polled, 0, memory_order_relaxed);
			dropped++;
		}
	}
	if (dropped)
		lanes_fence_senders(port->net);
	PSI_DELAY_POINT(unpoll);
	for (uint32_t i = 0; i < sysvnet_active_count(port, network); i++) {
		struct sysvnet_in *in = sysvnet_active_lane(port, network, i);

		if (in->quiet >= 2 && !sysvnet_in_peek(in, &header)) {
			in->active = 0;
			sysvnet_count(port, SYSVNET_COUNT_UNPOLLED);
			continue;
		}
		atomic_store_explicit(&in->control->polled, 1, memory_order_relaxed);
		sysvnet_set_active(port, network, kept++, (uint32_t)(in - port->in[network]));
	}
	sysvnet_set_active_count(port, network, kept);
}

/* ------------------------------------------------------------------------------- sleep --- */

static void
port_lock(struct sysvnet_port *port, unsigned networks)
{
	for (unsigned network = 0; port->needs_lock && network < PSI_NETWORKS; network++)
		if (networks & 1u << network)
			psi_spinlock_lock(&port->poll_lock[network]);
}

static void
port_unlock(struct sysvnet_port *port, unsigned networks)
{
	for (unsigned network = 0; port->needs_lock && network < PSI_NETWORKS; network++)
		if (networks & 1u << network)
			psi_spinlock_unlock(&port->poll_lock[network]);
}

static void
lanes_forget(struct sysvnet_port *port, unsigned network)
{
	for (uint32_t i = 0; i < sysvnet_active_count(port, network); i++)
		sysvnet_active_lane(port, network, i)->active = 0;
	sysvnet_set_active_count(port, network, 0);
}

/* Takes the lanes off the list, and looks at them once more.  From then on senders wake a thread
 * that set bit 0 of wake, or counted itself among the far_sleepers, before the fence ahead of this
 * call.  Returns false if there is a message, and has then changed nothing.  The caller holds
 * poll_lock. */
static bool
lanes_stop_polling(struct sysvnet_port *port, unsigned networks)
{
	uint32_t active = 0;
	bool found = false;

	for (unsigned network = 0; network < PSI_NETWORKS; network++) {
		if (!(networks & 1u << network))
			continue;
		lanes_set_polled(port, network, 0);
		active += sysvnet_active_count(port, network);
	}
	if (active || networks & PSI_PEERS_MEMORY)
		lanes_fence_senders(port->net); /* D5_ALL, too: pairs with D5_ORDER */
	PSI_DELAY_POINT(unpoll);
	/* D1_LOOK: behind D1_FENCE or D1_ALL */
	for (unsigned network = 0; network < PSI_NETWORKS; network++)
		found = found || (networks & 1u << network && sysvnet_has_any(port, network));
	for (unsigned network = 0; network < PSI_NETWORKS; network++) {
		if (!(networks & 1u << network))
			continue;
		if (found)
			lanes_set_polled(port, network, 1);
		else
			lanes_forget(port, network);
	}
	return !found;
}

int
sysvnet_arm(struct sysvnet_port *port, unsigned networks, uint32_t room_peer, uint32_t *ticket_out)
{
	uint32_t ticket;
	bool quiet;

	port_lock(port, networks);
	sysvnet_count(port, SYSVNET_COUNT_ARMED);
	ticket = atomic_fetch_or_explicit(&port->shared->wake, SYSVNET_ASLEEP,
	                                  memory_order_relaxed) | SYSVNET_ASLEEP;
	PSI_DELAY_POINT(arm);
	if (room_peer != PSI_NO_PEER)
		sysvnet_mark_room_request(port, room_peer);
	PSI_DELAY_POINT(request);
	psi_store_load_fence(); /* ARM_FENCE: pairs with D2_WAKE, D3_MADE, D4_WAKE, D5_POST */
	quiet = lanes_stop_polling(port, networks);
	port_unlock(port, networks);
	if (!quiet) {
		sysvnet_disarm(port);
		return PSI_AGAIN;
	}
	*ticket_out = ticket;
	PSI_DELAY_POINT(recheck);
	return PSI_OK;
}

int
sysvnet_arm_more(struct sysvnet_port *port, unsigned networks)
{
	bool quiet;

	port_lock(port, networks);
	atomic_fetch_add_explicit(&port->shared->far_sleepers, 1, memory_order_relaxed);
	PSI_DELAY_POINT(arm);
	psi_store_load_fence(); /* ARM_FENCE: pairs with D2_WAKE in wake_endpoint, D4_WAKE */
	quiet = lanes_stop_polling(port, networks);
	port_unlock(port, networks);
	if (!quiet)
		sysvnet_disarm_more(port);
	return quiet ? PSI_OK : PSI_AGAIN;
}

void
sysvnet_disarm_more(struct sysvnet_port *port)
{
	atomic_fetch_sub_explicit(&port->shared->far_sleepers, 1, memory_order_relaxed);
}

void
sysvnet_sleep(struct sysvnet_port *port, uint32_t ticket, uint64_t timeout_ns)
{
	sysvnet_count(port, SYSVNET_COUNT_SLEEPS);
	PSI_DELAY_POINT(sleep);
	psi_futex_wait(&port->shared->wake, ticket, timeout_ns); /* TICKET */
	if (atomic_load_explicit(&port->shared->wake, memory_order_relaxed) != ticket)
		sysvnet_count(port, SYSVNET_COUNT_WAKEUPS_RECEIVED);
}

int
sysvnet_fd_sleep_begin(struct sysvnet_port *port, uint32_t ticket)
{
	uint32_t value = ticket;

	PSI_DELAY_POINT(sleep);
	if (atomic_compare_exchange_strong_explicit(&port->shared->wake, &value,
	                                            ticket | SYSVNET_ON_FD, memory_order_relaxed,
	                                            memory_order_relaxed))
		return PSI_OK;
	return value == (ticket | SYSVNET_ON_FD) ? PSI_OK : PSI_AGAIN; /* TICKET */
}

void
sysvnet_fd_sleep_end(struct sysvnet_port *port)
{
	atomic_fetch_and_explicit(&port->shared->wake, ~(uint32_t)SYSVNET_ON_FD,
	                          memory_order_relaxed);
	PSI_DELAY_POINT(sleep);
}

/* With one thread only this one can have set the bit, so it is cleared and senders need not wake.
 * With several the bit may be another thread's, and stays; at worst a thread wakes for nothing. */
void
sysvnet_disarm(struct sysvnet_port *port)
{
	PSI_DELAY_POINT(disarm);
	if (!port->net->job.threaded)
		atomic_fetch_and_explicit(&port->shared->wake, ~(uint32_t)SYSVNET_ASLEEP,
		                          memory_order_relaxed);
}
