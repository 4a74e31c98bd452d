#include "tests/stress/psmp_storm.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/util/clock.h"
#include "runtime/util/fence.h"
#include "tests/unit/psmp_rig.h"

enum {
	MAX_THREADS = 8,
	LONG_BYTES = 24 * 1024,         /* of each thread's block at each rank */
	WINDOW = 100,                   /* requests of a thread that wait for their replies */
	DISTURB_SIGNAL = SIGUSR1,
};

struct flag {
	_Atomic uint32_t set;
};

struct worker {
	struct storm *storm;
	struct rig_rank *rank;
	uint32_t index;                 /* among the threads of its rank */
	uint32_t random;
	uint32_t *next_out;             /* [ranks]: number of the next request to each */
	bool *long_busy;                /* [ranks]: a Long of this thread is not yet answered */
	struct flag *long_done;         /* [ranks]: answered; set by whichever thread got the reply */
	_Atomic uint32_t waiting_for;   /* replies that have not come */
	pthread_t thread;
};

/* One rank. */
struct node {
	struct storm *storm;
	struct rig_rank *rank;
	struct worker worker[MAX_THREADS];
	uint32_t *next_in;              /* [ranks]: number expected from each, where order holds */
	unsigned char *segment;         /* [ranks][threads][LONG_BYTES]: where Longs land */
};

struct storm {
	const struct storm_plan *plan;
	struct rig *rig;
	struct node *node;
	_Atomic bool stop;              /* send no more */
	_Atomic uint32_t senders;       /* threads that still send or wait for replies */
	_Atomic uint64_t sent, handled, replies;
	_Atomic uint32_t running;       /* threads that have not ended */
	_Atomic bool failed;
};

/* What a message says of itself, as arguments. */
enum { A_NUMBER, A_SEED, A_THREAD, A_LONG, A_COUNT };

static _Thread_local struct worker *self;

static void
count(_Atomic uint64_t *counter)
{
	atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

static uint64_t
look(const _Atomic uint64_t *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

static uint32_t
random_below(uint32_t bound)
{
	self->random = self->random * 1664525u + 1013904223u;
	return (uint32_t)((uint64_t)(self->random >> 4) * bound >> 28);
}

static void
fail(struct storm *storm, const char *what, uint32_t a, uint32_t b)
{
	if (!atomic_exchange(&storm->failed, true))
		fprintf(stderr, "storm: %s: %u %u\n", what, a, b);
}

/* ------------------------------------------------------------------------------ delays --- */

/* Mostly nothing; else some hundred nanoseconds, a yield, or a short sleep. */
static void
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

/* Between any two instructions: what a signal interrupts. */
static void
disturb(int signal)
{
	(void)signal;
	for (int i = 0; i < 3; i++)
		sched_yield();
}

static void *
disturber(void *argument)
{
	struct storm *storm = argument;
	uint32_t at = 1;

	while (!atomic_load_explicit(&storm->stop, memory_order_relaxed)) {
		at = at * 1664525u + 1013904223u;
		pthread_kill(storm->node[(at >> 8) % storm->plan->ranks]
		             .worker[(at >> 24) % storm->plan->threads].thread, DISTURB_SIGNAL);
		usleep(at >> 26);
	}
	return NULL;
}

/* ----------------------------------------------------------------------------- waiting --- */

typedef bool condition(struct worker *worker, uint32_t argument);

/* Polls, and sometimes soon, sometimes late, sleeps until the condition holds. */
static void
wait_until(unsigned networks, uint32_t want_peer, condition *holds, uint32_t argument)
{
	const struct psi_conduit_ops *ops = self->storm->rig->ops;
	struct psi_port *port = self->rank->port;
	uint32_t polls = random_below(4) ? random_below(20) : random_below(600), ticket;

	while (!holds(self, argument)) {
		if (ops->poll(port, networks, 1 + random_below(8)))
			continue;
		if (polls-- > 0)
			continue;
		polls = random_below(20);
		maybe_delay();
		if (ops->arm(port, networks, want_peer, &ticket) != PSI_OK)
			continue;
		maybe_delay();
		if (!holds(self, argument)) {
			maybe_delay();
			ops->sleep(port, ticket, 0);
		}
		maybe_delay();
		ops->disarm(port);
	}
}

/* After news for other threads of the own rank: they may sleep. */
static void
tell_own_rank(void)
{
	if (self->storm->plan->threads > 1)
		self->storm->rig->ops->ring(self->rank->port);
}

static void
tell_all_ranks(struct storm *storm)
{
	for (uint32_t place = 0; place < storm->plan->ranks; place++)
		storm->rig->ops->ring(storm->rig->rank[place].port);
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
		current->sent = worker->storm->rig->ops->am_send(worker->rank->port,
		                                                &current->am) == PSI_OK;
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
	const struct psi_conduit_ops *ops = self->storm->rig->ops;
	struct psi_port *port = self->rank->port;
	struct psi_claim claim = {
		.peer = sending->am.peer, .network = sending->am.network,
		.least_bytes = sending->am.len_bytes,
		.most_bytes = sending->am.len_bytes + random_below(100),
	};

	if (claim.most_bytes > PSMP_LARGE_BYTES)
		claim.most_bytes = PSMP_LARGE_BYTES;
	if (ops->am_claim(port, &claim) != PSI_OK)
		return false;
	memcpy(claim.buffer, sending->am.payload, sending->am.len_bytes);
	maybe_delay();
	if (random_below(4) && ops->am_publish(port, &claim, &sending->am) == PSI_OK)
		return true;
	ops->am_cancel(port, &claim);
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

static bool
few_replies_missing(struct worker *worker, uint32_t most)
{
	return atomic_load_explicit(&worker->waiting_for, memory_order_relaxed) <= most;
}

static void
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

static void
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

/* ----------------------------------------------------------------------------- threads --- */

static bool
all_is_done(struct worker *worker, uint32_t argument)
{
	struct storm *storm = worker->storm;

	(void)argument;
	return !atomic_load_explicit(&storm->senders, memory_order_relaxed) &&
	       look(&storm->handled) == look(&storm->sent);
}

static void *
worker_main(void *argument)
{
	struct worker *worker = argument;
	struct storm *storm = worker->storm;
	const struct storm_plan *plan = storm->plan;
	const uint32_t peers = plan->receivers ? plan->receivers : plan->ranks;

	self = worker;
	while (!atomic_load_explicit(&storm->stop, memory_order_relaxed)) {
		uint32_t peer = random_below(peers);

		if (plan->receivers && worker->rank->place < plan->receivers)
			break;
		send_request(peer);
		if (random_below(3) == 0)
			storm->rig->ops->poll(worker->rank->port, PSI_BOTH_NETWORKS, 4);
		maybe_delay();
	}
	wait_until(PSI_BOTH_NETWORKS, PSI_NO_PEER, few_replies_missing, 0);
	atomic_fetch_sub_explicit(&storm->senders, 1, memory_order_relaxed);
	psi_store_load_fence();
	tell_all_ranks(storm);
	wait_until(PSI_BOTH_NETWORKS, PSI_NO_PEER, all_is_done, 0);
	self = NULL;
	atomic_fetch_sub(&storm->running, 1);
	return NULL;
}

/* ------------------------------------------------------------------------------ set-up --- */

static void *
zeroes(size_t count, size_t bytes)
{
	void *memory = calloc(count, bytes);

	if (!memory) {
		fprintf(stderr, "storm: no memory\n");
		exit(99);
	}
	return memory;
}

static void
open_node(struct storm *storm, uint32_t place, uint32_t seed)
{
	const struct storm_plan *plan = storm->plan;
	struct node *node = &storm->node[place];

	node->storm = storm;
	node->rank = &storm->rig->rank[place];
	node->rank->data = node;
	node->next_in = zeroes(plan->ranks, sizeof *node->next_in);
	node->segment = zeroes((size_t)plan->ranks * plan->threads, LONG_BYTES);
	for (uint32_t t = 0; t < plan->threads; t++) {
		struct worker *worker = &node->worker[t];

		worker->storm = storm;
		worker->rank = node->rank;
		worker->index = t;
		worker->random = (seed + place * MAX_THREADS + t) * 2654435761u;
		worker->next_out = zeroes(plan->ranks, sizeof *worker->next_out);
		worker->long_busy = zeroes(plan->ranks, sizeof *worker->long_busy);
		worker->long_done = zeroes(plan->ranks, sizeof *worker->long_done);
	}
}

static void
close_node(struct storm *storm, uint32_t place)
{
	struct node *node = &storm->node[place];

	for (uint32_t t = 0; t < storm->plan->threads; t++) {
		free(node->worker[t].next_out);
		free(node->worker[t].long_busy);
		free(node->worker[t].long_done);
	}
	free(node->segment);
	free(node->next_in);
}

static void
start(void *(*routine)(void *), void *argument, pthread_t *thread_out)
{
	if (pthread_create(thread_out, NULL, routine, argument)) {
		fprintf(stderr, "storm: no thread\n");
		exit(99);
	}
}

static void
wait_or_dump(struct storm *storm, uint32_t limit_ms)
{
	const uint64_t until = psi_now_ns() + (uint64_t)limit_ms * 1000000;

	while (atomic_load(&storm->running)) {
		usleep(1000);
		if (psi_now_ns() < until)
			continue;
		fprintf(stderr, "storm %s hangs: %llu requests sent, %llu handled, %u threads left\n",
		        storm->plan->name, (unsigned long long)look(&storm->sent),
		        (unsigned long long)look(&storm->handled), atomic_load(&storm->running));
		rig_dump(storm->rig);
		abort();
	}
}

/* All was given back: no buffer is taken. */
static void
check_buffers(struct storm *storm)
{
	for (uint32_t place = 0; place < storm->plan->ranks; place++)
		for (unsigned i = 0; i < 2 * PSMP_SIZES; i++)
			if (atomic_load(&storm->rig->rank[place].port->shared
			                ->busy[i / PSMP_SIZES][i % PSMP_SIZES]))
				fail(storm, "a buffer was not given back", place, i);
}

static void
run_threads(struct storm *storm, uint32_t run_ms, uint32_t limit_ms)
{
	const struct storm_plan *plan = storm->plan;
	struct sigaction action = { .sa_handler = disturb, .sa_flags = SA_RESTART };
	pthread_t disturbing;

	sigaction(DISTURB_SIGNAL, &action, NULL);
	for (uint32_t i = 0; i < plan->ranks * plan->threads; i++) {
		struct worker *worker = &storm->node[i / plan->threads].worker[i % plan->threads];

		start(worker_main, worker, &worker->thread);
	}
	start(disturber, storm, &disturbing);
	usleep(run_ms * 1000);
	atomic_store(&storm->stop, true);
	pthread_join(disturbing, NULL);
	wait_or_dump(storm, limit_ms);
	for (uint32_t i = 0; i < plan->ranks * plan->threads; i++)
		pthread_join(storm->node[i / plan->threads].worker[i % plan->threads].thread, NULL);
}

struct storm_result
storm_run(const struct storm_plan *plan, uint32_t run_ms, uint32_t limit_ms, uint32_t seed)
{
	const struct rig_options options = { plan->ranks, plan->threads > 1, plan->crowded,
	                                     on_message };
	struct storm storm = { .plan = plan };
	struct storm_result result;

	rig_pattern(0);
	rig_before_copy = maybe_delay;
	storm.rig = rig_open(&options);
	storm.node = zeroes(plan->ranks, sizeof *storm.node);
	atomic_store(&storm.senders, plan->ranks * plan->threads);
	atomic_store(&storm.running, plan->ranks * plan->threads);
	for (uint32_t place = 0; place < plan->ranks; place++)
		open_node(&storm, place, seed);
	run_threads(&storm, run_ms, limit_ms);
	check_buffers(&storm);
	result.requests = look(&storm.sent);
	result.replies = look(&storm.replies);
	if (look(&storm.handled) != result.requests)
		fail(&storm, "requests were lost", (uint32_t)look(&storm.handled),
		     (uint32_t)result.requests);
	result.passed = !atomic_load(&storm.failed) && result.requests > 0;
	for (uint32_t place = 0; place < plan->ranks; place++)
		close_node(&storm, place);
	rig_close(storm.rig);
	free(storm.node);
	return result;
}
