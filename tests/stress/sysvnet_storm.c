#include "tests/stress/sysvnet_storm.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/util/clock.h"
#include "runtime/util/fence.h"
#include "tests/stress/sysvnet_traffic.h"

enum { DISTURB_SIGNAL = SIGUSR1 };

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
			sysvnet_poll(worker->rank->port, PSI_BOTH_NETWORKS, 4);
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
		fprintf(stderr, "storm %s hangs: %llu requests sent, %llu handled, %u threads "
		                "left\n",
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
		for (unsigned i = 0; i < 2 * SYSVNET_SIZES; i++)
			if (atomic_load(&storm->rig->rank[place].port->shared
			                ->busy[i / SYSVNET_SIZES][i % SYSVNET_SIZES]))
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
