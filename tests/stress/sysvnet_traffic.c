#include "tests/stress/sysvnet_traffic.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "runtime/util/clock.h"

enum { WINDOW = 100 };          /* requests of a thread that wait for their replies */

/* What a message says of itself, as arguments. */
enum { A_NUMBER, A_SEED, A_THREAD, A_LONG, A_COUNT };

_Thread_local struct worker *self;

uint32_t
random_below(uint32_t bound)
{
	self->random = self->random * 1664525u + 1013904223u;
	return (uint32_t)((uint64_t)(self->random >> 4) * bound >> 28);
}

void
fail(struct storm *storm, const char *what, uint32_t a, uint32_t b)
{
	if (!atomic_exchange(&storm->failed, true))
		fprintf(stderr, "storm: %s: %u %u\n", what, a, b);
}

/* Mostly nothing; else some hundred nanoseconds, a yield, or a short sleep. */
void
maybe_delay(void)
{
	uint32_t which = self ? random_below(256) : 255;

	if (which < 24) {
		for (uint32_t i = random_below(300); i; i--)
			psi_pause();
	} else if (which < 32) {
		sched_yield();
	} else if (which == 32) {
		usleep(random_below(60));
	}
}

/* ----------------------------------------------------------------------------- waiting --- */

void
wait_until(unsigned networks, uint32_t room_peer, condition *holds, uint32_t argument)
{
	struct sysvnet_port *port = self->rank->port;
	uint32_t polls = random_below(4) ? random_below(20) : random_below(600), ticket;

	while (!holds(self, argument)) {
		if (sysvnet_poll(port, networks, 1 + random_below(8)))
			continue;
		if (polls-- > 0)
			continue;
		polls = random_below(20);
		maybe_delay();
		if (sysvnet_arm(port, networks, room_peer, &ticket) != PSI_OK)
			continue;
		maybe_delay();
		if (!holds(self, argument)) {
			maybe_delay();
			sysvnet_sleep(port, ticket, 0);
		}
		maybe_delay();
		sysvnet_disarm(port);
	}
}

/* After news for other threads of the own rank: they may sleep. */
static void
tell_own_rank(void)
{
	if (self->storm->plan->threads > 1)
		sysvnet_wake(self->rank->port);
}

void
tell_all_ranks(struct storm *storm)
{
	for (uint32_t place = 0; place < storm->plan->ranks; place++)
		sysvnet_wake(storm->rig->rank[place].port);
}

/* ----------------------------------------------------------------------------- sending --- */

struct sending {
	struct psi_am am;
	int32_t args[PSI_MAX_ARGS];
	bool sent;
};

static _Thread_local struct sending *current;

static bool
try_to_send(struct worker *worker, uint32_t argument)
{
	(void)argument;
	if (!current->sent)
		current->sent = sysvnet_send(worker->rank->port, &current->am) == PSI_OK;
	return current->sent;
}

/* The message may be sent from within a handler while another is on its way below it. */
static void
send(struct sending *sending, unsigned networks)
{
	struct sending *outer = current;

	current = sending;
	wait_until(networks, sending->am.peer, try_to_send, 0);
	current = outer;
}

/* Through a claim if one is to be had; some are given back unused. */
static bool
send_claimed(struct sending *sending)
{
	struct sysvnet_port *port = self->rank->port;
	struct psi_claim claim = {
		.peer = sending->am.peer, .network = sending->am.network,
		.least_bytes = sending->am.len_bytes,
		.most_bytes = sending->am.len_bytes + random_below(100),
	};

	if (claim.most_bytes > SYSVNET_LARGE_BYTES)
		claim.most_bytes = SYSVNET_LARGE_BYTES;
	if (sysvnet_claim(port, &claim) != PSI_OK)
		return false;
	memcpy(claim.buffer, sending->am.payload, sending->am.len_bytes);
	maybe_delay();
	if (random_below(4) && sysvnet_publish(port, &claim, &sending->am) == PSI_OK)
		return true;
	sysvnet_cancel(port, &claim);
	return false;
}

static uint32_t
random_length(const struct storm_plan *plan)
{
	const uint32_t kinds[] = { 8, 200, 200, 3000, plan->largest_bytes, plan->largest_bytes };
	uint32_t bound = kinds[random_below(6)];

	return random_below((bound < plan->largest_bytes ? bound : plan->largest_bytes) + 1);
}

static unsigned char *
block_at(struct storm *storm, uint32_t peer, uint32_t sender, uint32_t thread)
{
	return storm->node[peer].segment +
	       ((size_t)sender * storm->plan->threads + thread) * LONG_BYTES;
}

static void
describe(struct sending *sending, uint32_t peer, unsigned network)
{
	const uint32_t seed = random_below(4096);

	*sending = (struct sending){
		.am = { .peer = peer, .handler = (uint8_t)seed, .network = (uint8_t)network,
		        .category = random_below(3) ? PSI_MEDIUM : PSI_SHORT,
		        .nargs = (uint8_t)(A_COUNT + random_below(PSI_MAX_ARGS - A_COUNT + 1)),
		        .args = sending->args, .payload = rig_pattern(seed) },
		.args = { [A_SEED] = (int32_t)seed, [A_THREAD] = (int32_t)self->index },
	};
	for (unsigned i = A_COUNT; i < sending->am.nargs; i++)
		sending->args[i] = (int32_t)(seed + i);
	if (sending->am.category == PSI_MEDIUM)
		sending->am.len_bytes = random_length(self->storm->plan);
}

/* Makes a Long of the message, if this thread's block at the peer is free. */
static void
maybe_long(struct sending *sending)
{
	struct storm *storm = self->storm;
	const uint32_t peer = sending->am.peer;

	if (self->long_busy[peer] &&
	    atomic_load_explicit(&self->long_done[peer].set, memory_order_acquire)) {
		self->long_busy[peer] = false;
		atomic_store_explicit(&self->long_done[peer].set, 0, memory_order_relaxed);
	}
	if (!storm->plan->answered || self->long_busy[peer] || random_below(8))
		return;
	self->long_busy[peer] = true;
	sending->args[A_LONG] = 1;
	sending->am.category = PSI_LONG;
	sending->am.len_bytes = random_below(LONG_BYTES + 1);
	sending->am.dest = block_at(storm, peer, self->rank->place, self->index);
	sending->am.dest_here = sending->am.dest;
}

bool
few_replies_missing(struct worker *worker, uint32_t most)
{
	return atomic_load_explicit(&worker->waiting_for, memory_order_relaxed) <= most;
}

void
send_request(uint32_t peer)
{
	struct storm *storm = self->storm;
	struct sending sending;

	describe(&sending, peer, PSI_REQUESTS);
	sending.args[A_NUMBER] = (int32_t)self->next_out[peer]++;
	maybe_long(&sending);
	if (storm->plan->answered)
		atomic_fetch_add_explicit(&self->waiting_for, 1, memory_order_relaxed);
	if (sending.am.category != PSI_MEDIUM || random_below(4) || !send_claimed(&sending))
		send(&sending, PSI_BOTH_NETWORKS);
	count(&storm->sent);
	if (storm->plan->answered)
		wait_until(PSI_BOTH_NETWORKS, PSI_NO_PEER, few_replies_missing,
		           storm->plan->lockstep ? 0 : WINDOW);
}

/* --------------------------------------------------------------------------- receiving --- */

static void
check(struct storm *storm, const struct psi_arrival *got)
{
	const uint32_t seed = (uint32_t)got->args[A_SEED];

	if (got->handler != (uint8_t)seed || got->nargs < A_COUNT)
		fail(storm, "a header is wrong", got->handler, seed);
	for (unsigned i = A_COUNT; i < got->nargs; i++)
		if (got->args[i] != (int32_t)(seed + i))
			fail(storm, "an argument is wrong", i, seed);
	if (got->category == PSI_SHORT)
		return;
	if (got->len_bytes && memcmp(got->payload, rig_pattern(seed), got->len_bytes) != 0)
		fail(storm, "a payload is wrong", (uint32_t)got->len_bytes, seed);
	if (got->len_bytes && got->category == PSI_MEDIUM)
		memset(got->payload, 0, got->len_bytes < 64 ? got->len_bytes : 64);
}

/* With one thread on either side, messages of one network come in order. */
static void
check_order(struct node *node, const struct psi_arrival *got)
{
	if (node->storm->plan->threads > 1)
		return;
	if ((uint32_t)got->args[A_NUMBER] != node->next_in[got->source]++)
		fail(node->storm, "out of order", got->source, (uint32_t)got->args[A_NUMBER]);
}

static void
send_reply(const struct psi_arrival *got)
{
	struct sending sending;

	describe(&sending, got->source, PSI_REPLIES);
	sending.args[A_THREAD] = got->args[A_THREAD];
	sending.args[A_LONG] = got->args[A_LONG];
	if (sending.am.category != PSI_MEDIUM || random_below(4) || !send_claimed(&sending))
		send(&sending, 1u << PSI_REPLIES);
	count(&self->storm->replies);
}

static void
take_reply(struct node *node, const struct psi_arrival *got)
{
	struct worker *worker = &node->worker[got->args[A_THREAD]];

	if (got->args[A_LONG])
		atomic_store_explicit(&worker->long_done[got->source].set, 1, memory_order_release);
	atomic_fetch_sub_explicit(&worker->waiting_for, 1, memory_order_relaxed);
	tell_own_rank();
}

void
on_message(struct rig_rank *rank, const struct psi_arrival *got)
{
	struct node *node = rank->data;
	struct storm *storm = node->storm;

	maybe_delay();
	if (got->network == PSI_REPLIES) {
		check(storm, got);
		take_reply(node, got);
		return;
	}
	check_order(node, got);
	check(storm, got);
	if (storm->plan->answered)
		send_reply(got);
	count(&storm->handled);
	if (!atomic_load_explicit(&storm->senders, memory_order_relaxed))
		tell_all_ranks(storm);
}
