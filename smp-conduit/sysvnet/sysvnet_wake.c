/*
 * Wakes sleeping threads: for a message, for room, for a condition that became true.
 * sysvnet_sleep.c states the pairs D1 to D5, runtime/conduit/watch.c D6.
 */
#include "smp-conduit/sysvnet/sysvnet_port.h"

#include "runtime/util/delay.h"
#include "runtime/util/fence.h"
#include "runtime/util/futex.h"

#include <limits.h>

/* Wakes the threads of a process that sleep, or are about to, on this word.  Those that sleep on a
 * descriptor have said so in the same word, which this changes: so either they find it changed, or
 * this finds their bit. */
static void
wake_word(struct sysvnet_port *port, _Atomic uint32_t *wake, uint32_t host_index)
{
	uint32_t value;

	PSI_DELAY_POINT(wake);
	value = atomic_load_explicit(
		wake, memory_order_seq_cst); /* D2_WAKE: seq_cst, after D2_TOP in bitmap_set */
	while (value & SYSVNET_ASLEEP) {
		const uint32_t woken = (value | SYSVNET_ASLEEP | SYSVNET_ON_FD) + 1;

		PSI_DELAY_POINT(wake);
		if (!atomic_compare_exchange_weak_explicit(wake, &value, woken,
		                                           memory_order_relaxed,
		                                           memory_order_relaxed))
			continue;
		PSI_DELAY_POINT(wake);
		psi_futex_wake(wake, INT_MAX);
		if (value & SYSVNET_ON_FD) /* D6_WRITE: fills what D6_DRAIN in fds_await empties */
			port->net->calls.wake_asleep(host_index);
		sysvnet_count(port, SYSVNET_COUNT_WAKEUPS_SENT);
		return;
	}
}

/* Wakes the threads that sleep on this endpoint of a process, and those that sleep on the process's
 * word and watch it.  The process's word is that of the first endpoint. */
static void
wake_endpoint(struct sysvnet_port *port, struct sysvnet_shared *endpoint, uint32_t host_index)
{
	struct sysvnet_shared *process = sysvnet_shared_of(port->net, host_index);

	wake_word(port, &endpoint->wake, host_index);
	if (atomic_load_explicit(
		    &endpoint->far_sleepers,
		    memory_order_seq_cst)) /* D2_WAKE: seq_cst, after D2_TOP in bitmap_set */
		wake_word(port, &process->wake, host_index);
}

static uint32_t
own_index(const struct sysvnet *net)
{
	return net->job.host_index[net->job.place];
}

void
sysvnet_wake_port(struct sysvnet_port *port)
{
	psi_store_load_fence(); /* D4_WAKE: pairs with ARM_FENCE in sysvnet_arm */
	wake_endpoint(port, port->shared, own_index(port->net));
}

void
sysvnet_wake(struct sysvnet_port *port)
{
	struct sysvnet *net = port->net;

	psi_store_load_fence(); /* D4_WAKE: pairs with ARM_FENCE in sysvnet_arm */
	for (unsigned index = 0; index <= SYSVNET_MAX_INDEX; index++) {
		struct sysvnet_port *each = atomic_load_explicit(
			&net->ports[index],
			memory_order_acquire); /* Q2: acquire, from Q1 in sysvnet_port_open */

		if (!each)
			break;
		wake_word(port, &each->shared->wake, own_index(net));
	}
}

/* The first endpoint's word is its process's, so far_sleepers sleep there. */
void
sysvnet_wake_host(struct sysvnet_port *port)
{
	const struct sysvnet *net = port->net;

	psi_store_load_fence(); /* D4_WAKE: pairs with ARM_FENCE in sysvnet_arm */
	for (uint32_t i = 0; i < net->job.host_places; i++)
		wake_word(port, &sysvnet_shared_of(net, i)->wake, i);
}

/* Only first endpoints have a word: threads that wait for others sleep on that. */
const uint32_t *
sysvnet_wake_word(struct sysvnet_port *port, uint32_t peer, bool *fence_out)
{
	const struct sysvnet *net = port->net;
	const struct sysvnet_shared *shared;

	*fence_out = net->senders_fence;
	if (peer >= net->job.places || !net->job.local[peer])
		return NULL;
	shared = sysvnet_shared_of(net, net->job.host_index[peer]);
	return (const uint32_t *)(uintptr_t)&shared->wake;
}

void
sysvnet_wake_peer(struct sysvnet_port *port, uint32_t peer)
{
	const struct sysvnet_out *out = sysvnet_out_of(port, peer, PSI_REQUESTS);

	psi_store_load_fence(); /* D4_WAKE: pairs with ARM_FENCE in sysvnet_arm */
	if (!out)       /* no memory for it: the sleep ends by itself */
		return;
	wake_endpoint(port, sysvnet_receiver_of(out), out->host_index);
}

/* Sets bit number index of a bitmap of two levels; true if it was clear. */
static bool
bitmap_set(_Atomic uint64_t *top, _Atomic uint64_t *words, uint32_t index)
{
	uint32_t w = index / SYSVNET_WORD_BITS;
	uint64_t bit = (uint64_t)1 << index % SYSVNET_WORD_BITS;

	if (atomic_fetch_or_explicit(
		    &words[w], bit,
		    memory_order_release) & bit) /* D2_WORD: release, to D3_TAKE_WORD below */
		return false;
	PSI_DELAY_POINT(mark);
	/* It releases the bit in `words', and is seq_cst for the look at wake (D2_WAKE). */
	atomic_fetch_or_explicit(
		top, (uint64_t)1 << w,
		memory_order_seq_cst); /* D2_TOP: release, to D2_TAKE_TOP and D3_TAKE_TOP */
	return true;
}

/*
 * A message is in the lane, which its receiver does not poll.  If the bit was set
 * already, the thread that set it wakes the receiver afterwards.  Always returns PSI_OK, so that a
 * sender can end in this call.
 */
int
sysvnet_announce(struct sysvnet_port *port, const struct sysvnet_out *out, unsigned network)
{
	struct sysvnet_shared *shared = sysvnet_receiver_of(out);

	sysvnet_count(port, SYSVNET_COUNT_ANNOUNCED);
	PSI_DELAY_POINT(announce);
	if (bitmap_set(&shared->top[network], out->words, out->sender))
		wake_endpoint(port, shared, out->host_index);
	return PSI_OK;
}

static void
wake_requesters(struct sysvnet_port *port, struct sysvnet_shared *receiver)
{
	uint64_t top = atomic_exchange_explicit(
		&receiver->room_top, 0,
		memory_order_acquire); /* D3_TAKE_TOP: acquire, from D2_TOP in bitmap_set */

	for (; top; top &= top - 1) {
		uint32_t w = (uint32_t)__builtin_ctzll(top);
		uint64_t bits;

		PSI_DELAY_POINT(collect);
		bits = atomic_exchange_explicit(
			&receiver->words[w], 0,
			memory_order_acquire); /* D3_TAKE_WORD: acquire, from D2_WORD above */

		for (; bits; bits &= bits - 1) {
			uint32_t process = w * SYSVNET_WORD_BITS + (uint32_t)__builtin_ctzll(bits);

			wake_word(port, &sysvnet_shared_of(port->net, process)->wake, process);
		}
	}
}

/* There is room at `receiver' (this process or, for a cancelled claim, another).  Wakes the senders
 * that wait for it. */
void
sysvnet_room_made(struct sysvnet_port *port, struct sysvnet_shared *receiver)
{
	PSI_DELAY_POINT(room);
	psi_store_load_fence(); /* D3_MADE: pairs with ARM_FENCE and D3_REQUEST */
	if (atomic_load_explicit(&receiver->room_top, memory_order_relaxed))
		wake_requesters(port, receiver);
}

/* Both levels whatever the first had (D3_AGAIN): another thread of this process may have set the
 * bit there and not yet come to the second, while this one goes to sleep on it. */
void
sysvnet_mark_room_request(struct sysvnet_port *port, uint32_t peer)
{
	const struct sysvnet_out *out = sysvnet_out_of(port, peer, PSI_REQUESTS);
	struct sysvnet_shared *shared = out ? sysvnet_receiver_of(out) : NULL;
	const uint32_t w = port->host_index / SYSVNET_WORD_BITS;

	if (!shared)    /* no memory for it: the sleep ends by itself */
		return;
	if (!bitmap_set(&shared->room_top, shared->words, port->host_index))
		atomic_fetch_or_explicit(&shared->room_top, (uint64_t)1 << w, memory_order_relaxed);
}

/* The fence is that of D3: the caller looks for room again. */
void
sysvnet_request_room(struct sysvnet_port *port, uint32_t peer)
{
	sysvnet_mark_room_request(port, peer);
	PSI_DELAY_POINT(request);
	psi_store_load_fence(); /* D3_REQUEST: pairs with D3_MADE in sysvnet_room_made */
}
