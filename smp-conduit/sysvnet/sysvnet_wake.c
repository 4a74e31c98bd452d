/*
 * Ringing: of a message, of room, of what somebody made true.  The pairs D1 to D5 are stated in
 * sysvnet_sleep.c.
 */
#include "smp-conduit/sysvnet/sysvnet_port.h"

#include "runtime/util/delay.h"
#include "runtime/util/fence.h"
#include "runtime/util/futex.h"

#include <limits.h>

/* Wakes the threads that sleep, or are about to, on this word. */
static bool
ring_word(_Atomic uint32_t *wake)
{
	uint32_t value;

	PSI_DELAY_POINT(ring);
	value = atomic_load_explicit(wake, memory_order_seq_cst); /* D2_WAKE */
	while (value & 1) {
		PSI_DELAY_POINT(ring);
		if (atomic_compare_exchange_weak_explicit(wake, &value, value + 1,
		                                          memory_order_relaxed,
		                                          memory_order_relaxed)) {
			PSI_DELAY_POINT(ring);
			psi_futex_wake(wake, INT_MAX);
			return true;
		}
	}
	return false;
}

/* Wakes those who sleep on this endpoint, and those who sleep on its process and watch it.  The process's
 * word is that of the first endpoint. */
static void
ring_endpoint(struct psi_port *port, struct psmp_shared *endpoint, struct psmp_shared *process)
{
	if (ring_word(&endpoint->wake))
		psmp_count(port, PSI_COUNT_WAKEUPS_SENT);
	if (atomic_load_explicit(&endpoint->watchers, memory_order_seq_cst) && /* D2_WAKE */
	    ring_word(&process->wake))
		psmp_count(port, PSI_COUNT_WAKEUPS_SENT);
}

void
psmp_ring_port(struct psi_port *port)
{
	psi_store_load_fence(); /* D4_RING */
	ring_endpoint(port, port->shared, port->conduit->port->shared);
}

void
psmp_ring(struct psi_port *port)
{
	struct psi_conduit *conduit = port->conduit;

	psi_store_load_fence(); /* D4_RING */
	for (unsigned index = 0; index <= PSMP_MAX_INDEX; index++) {
		struct psi_port *each = atomic_load_explicit(&conduit->ports[index],
		                                             memory_order_acquire); /* Q2 */

		if (!each)
			break;
		if (ring_word(&each->shared->wake))
			psmp_count(port, PSI_COUNT_WAKEUPS_SENT);
	}
}

/* The first endpoint's word is its process's, so watchers sleep there. */
void
psmp_ring_host(struct psi_port *port)
{
	const struct psi_conduit *conduit = port->conduit;

	psi_store_load_fence(); /* D4_RING */
	for (uint32_t i = 0; i < conduit->job.host_places; i++)
		if (ring_word(&psmp_shared_of(conduit, i)->wake))
			psmp_count(port, PSI_COUNT_WAKEUPS_SENT);
}

/* Of first endpoints, which nobody watches. */
const uint32_t *
psmp_sleep_word(struct psi_port *port, uint32_t peer, bool *fence_out)
{
	const struct psi_conduit *conduit = port->conduit;

	*fence_out = conduit->senders_fence;
	if (peer >= conduit->job.places || !conduit->job.local[peer])
		return NULL;
	return (const uint32_t *)(uintptr_t)&psmp_shared_of(conduit, conduit->job.host_index[peer])->wake;
}

void
psmp_ring_peer(struct psi_port *port, uint32_t peer)
{
	const struct psmp_out *out = psmp_out_of(port, peer, PSI_REQUESTS);

	psi_store_load_fence(); /* D4_RING */
	ring_endpoint(port, psmp_receiver_of(out), psmp_shared_of(port->conduit, out->place));
}

/* Sets the bit of `place' in a bitmap of two levels; true if it was clear. */
static bool
set_bit(_Atomic uint64_t *top, _Atomic uint64_t *words, uint32_t place)
{
	uint32_t w = place / PSMP_WORD_BITS;
	uint64_t bit = (uint64_t)1 << place % PSMP_WORD_BITS;

	if (atomic_fetch_or_explicit(&words[w], bit, memory_order_release) & bit) /* D2_WORD */
		return false;
	PSI_DELAY_POINT(mark);
	atomic_fetch_or_explicit(top, (uint64_t)1 << w, memory_order_seq_cst); /* D2_TOP */
	return true;
}

/*
 * A message lies in the lane to `receiver', who does not look there.  If the bit was set already,
 * whoever set it rings, or has rung, after it.  Always PSI_OK, so that who sends may end in this call.
 */
int
psmp_announce(struct psi_port *port, const struct psmp_out *out, unsigned network)
{
	struct psmp_shared *shared = psmp_receiver_of(out);

	psmp_count(port, PSI_COUNT_ANNOUNCED);
	PSI_DELAY_POINT(announce);
	if (set_bit(&shared->top[network], out->words, out->sender))
		ring_endpoint(port, shared, psmp_shared_of(port->conduit, out->place));
	return PSI_OK;
}

static void
ring_those_who_want(struct psi_port *port, struct psmp_shared *receiver)
{
	uint64_t top = atomic_exchange_explicit(&receiver->want_top, 0,
	                                        memory_order_acquire); /* D3_TAKE_TOP */

	for (; top; top &= top - 1) {
		uint32_t w = (uint32_t)__builtin_ctzll(top);
		uint64_t bits;

		PSI_DELAY_POINT(collect);
		bits = atomic_exchange_explicit(&receiver->words[w], 0,
		                                memory_order_acquire); /* D3_TAKE_WORD */

		for (; bits; bits &= bits - 1) {
			uint32_t place = w * PSMP_WORD_BITS + (uint32_t)__builtin_ctzll(bits);

			if (ring_word(&psmp_shared_of(port->conduit, place)->wake))
				psmp_count(port, PSI_COUNT_WAKEUPS_SENT);
		}
	}
}

/* Room appeared at `receiver' (this process or, for a cancelled claim, another): ring who waits. */
void
psmp_room_made(struct psi_port *port, struct psmp_shared *receiver)
{
	PSI_DELAY_POINT(room);
	psi_store_load_fence(); /* D3_MADE */
	if (atomic_load_explicit(&receiver->want_top, memory_order_relaxed))
		ring_those_who_want(port, receiver);
}

/* Both levels whatever the first had (D3_AGAIN): another thread of this process may have set the bit
 * there and not yet come to the second, while this one goes to sleep on it. */
void
psmp_want_mark(struct psi_port *port, uint32_t peer)
{
	struct psmp_shared *shared = psmp_receiver_of(psmp_out_of(port, peer, PSI_REQUESTS));
	const uint32_t w = port->place / PSMP_WORD_BITS;

	if (!set_bit(&shared->want_top, shared->words, port->place))
		atomic_fetch_or_explicit(&shared->want_top, (uint64_t)1 << w, memory_order_relaxed);
}

/* The fence is that of D3: the caller looks for room again. */
void
psmp_want(struct psi_port *port, uint32_t peer)
{
	psmp_want_mark(port, peer);
	PSI_DELAY_POINT(want);
	psi_store_load_fence(); /* D3_WANT */
}
