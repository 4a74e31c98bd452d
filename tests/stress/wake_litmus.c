/*
 * Sleeping against waking, at close quarters: two threads, each on a CPU of its own, meet round
 * after round within some tens of nanoseconds, one about to sleep without a time bound, the other
 * with what it waits for.  One race for each pair of smp-conduit/sysvnet/sysvnet_sleep.c (D1 to
 * D4).  A wake-up that is lost ends in a dump.
 *
 *     wake_litmus [race...]
 *
 * PST_LITMUS_MS  for each race (default 400; at level quick 100, long 5000)
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/util/clock.h"
#include "tests/unit/sysvnet_rig.h"

enum { SLEEPER = 0, WAKER = 1, LOST_MS = 10000 };

struct race {
	const char *name;
	bool crowded;                           /* senders fence */
	void (*before)(struct rig *rig);        /* by the sleeper, before a round */
	bool (*look)(struct rig *rig, uint32_t round);  /* by the sleeper: is it there? */
	uint32_t want;
	void (*give)(struct rig *rig, uint32_t round);  /* by the waker */
};

/* Each in lines of its own: a round's start, what it tells in plain memory, its end. */
static struct {
	_Alignas(128) _Atomic uint32_t start;
	_Alignas(128) _Atomic uint32_t news;
	_Alignas(128) _Atomic uint32_t end;
	_Alignas(128) _Atomic uint32_t ready;   /* the sleeper may begin */
	_Alignas(128) _Atomic bool stop;
} at;

struct run {
	const struct race *race;
	struct rig *rig;
	int cpu;                                /* the sleeper's */
	bool on_fd;                             /* it sleeps on a descriptor */
};

/* -------------------------------------------------------------------------- the races --- */

static void
nothing(struct rig *rig)
{
	(void)rig;
}

static int
send_short(struct rig *rig, uint32_t from, uint32_t to)
{
	const struct psi_am am = { .peer = to, .category = PSI_SHORT };

	return sysvnet_send(rig->rank[from].port, &am);
}

static bool
message_is_there(struct rig *rig, uint32_t round)
{
	(void)round;
	return sysvnet_poll(rig->rank[SLEEPER].port, PSI_BOTH_NETWORKS, 8) > 0;
}

static void
give_message(struct rig *rig, uint32_t round)
{
	(void)round;
	while (send_short(rig, WAKER, SLEEPER) != PSI_OK)
		psi_pause();
}

/* The lane is no longer looked at when the round begins, so the sender has to announce. */
static void
stop_looking(struct rig *rig)
{
	uint32_t ticket;

	if (sysvnet_arm(rig->rank[SLEEPER].port, PSI_BOTH_NETWORKS, PSI_NO_PEER, &ticket) ==
	    PSI_OK)
		sysvnet_disarm(rig->rank[SLEEPER].port);
}

static void
fill_lane(struct rig *rig)
{
	while (send_short(rig, SLEEPER, WAKER) == PSI_OK)
		;
}

static bool
room_is_there(struct rig *rig, uint32_t round)
{
	(void)round;
	return send_short(rig, SLEEPER, WAKER) == PSI_OK;
}

/* A quarter of the lane, after which the sender is told once. */
static void
give_room(struct rig *rig, uint32_t round)
{
	(void)round;
	sysvnet_poll(rig->rank[WAKER].port, PSI_BOTH_NETWORKS,
	             rig->rank[WAKER].net->layout.slots / 4);
}

static bool
news_are_there(struct rig *rig, uint32_t round)
{
	(void)rig;
	return atomic_load_explicit(&at.news, memory_order_relaxed) >= round;
}

static void
give_news(struct rig *rig, uint32_t round)
{
	atomic_store_explicit(&at.news, round, memory_order_relaxed);
	sysvnet_wake(rig->rank[SLEEPER].port);
}

static const struct race races[] = {
	{ "D1_message", true, nothing, message_is_there, PSI_NO_PEER, give_message },
	{ "D1_membarrier", false, nothing, message_is_there, PSI_NO_PEER, give_message },
	{ "D2_announced", true, stop_looking, message_is_there, PSI_NO_PEER, give_message },
	{ "D3_room", true, fill_lane, room_is_there, WAKER, give_room },
	{ "D4_ring", true, nothing, news_are_there, PSI_NO_PEER, give_news },
};
enum { RACES = sizeof races / sizeof *races };

/* ----------------------------------------------------------------------------- a round --- */

static void
pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((unsigned)cpu, &set);
	sched_setaffinity(0, sizeof set, &set);
}

static void
spin_until(const _Atomic uint32_t *word, uint32_t round)
{
	for (uint32_t looks = 1; atomic_load(word) < round && !atomic_load(&at.stop); looks++)
		if (looks % 4096 == 0)
			sched_yield();
}

/* Up to so many times round a loop, so that the two meet at every moment of each other. */
static void
dither(uint32_t round, uint32_t most)
{
	for (volatile uint32_t i = ((round + most) * 2654435761u >> 16) % most; i; i--)
		;
}

static void
sleep_for_it(const struct run *run, uint32_t round)
{
	struct sysvnet_port *port = run->rig->rank[SLEEPER].port;
	uint32_t ticket;

	while (!run->race->look(run->rig, round)) {
		if (sysvnet_arm(port, PSI_BOTH_NETWORKS, run->race->want, &ticket) != PSI_OK)
			continue;
		/* a message found by arm's own look needs no other */
		if (run->race->look == message_is_there || !run->race->look(run->rig, round)) {
			if (run->on_fd)
				rig_sleep_on_fd(&run->rig->rank[SLEEPER], ticket);
			else
				sysvnet_sleep(port, ticket, 0);
			sysvnet_disarm(port);
			continue;
		}
		sysvnet_disarm(port);
		return;
	}
}

static void *
sleeper(void *argument)
{
	const struct run *run = argument;

	pin(run->cpu);
	for (uint32_t round = 1;; round++) {
		run->race->before(run->rig);
		atomic_store(&at.ready, round);
		spin_until(&at.start, round);
		if (atomic_load(&at.stop))
			return NULL;
		dither(round, 64);
		sleep_for_it(run, round);
		atomic_store(&at.end, round);
	}
}

static void
ignore(struct rig_rank *rank, const struct psi_arrival *arrival)
{
	(void)rank, (void)arrival;
}

/* The end of a round; false if it does not come. */
static bool
ended(uint32_t round)
{
	uint64_t until = 0;

	for (uint32_t looks = 1; atomic_load(&at.end) < round; looks++) {
		if (looks % 4096)
			continue;
		sched_yield();
		if (!until)
			until = psi_now_ns() + LOST_MS * (uint64_t)1000000;
		if (psi_now_ns() > until)
			return false;
	}
	return true;
}

static bool
run_race(const struct race *race, bool on_fd, const int cpu[2], uint32_t run_ms)
{
	const struct rig_options options = { 2, false, race->crowded, ignore };
	struct run run = {
		.race = race, .rig = rig_open(&options), .cpu = cpu[0], .on_fd = on_fd,
	};
	uint64_t sleeps;
	const uint64_t until = psi_now_ns() + (uint64_t)run_ms * 1000000;
	uint32_t round = 1;
	pthread_t thread;

	memset(&at, 0, sizeof at);
	if (pthread_create(&thread, NULL, sleeper, &run))
		exit(99);
	pin(cpu[1]);
	for (; psi_now_ns() < until; round++) {
		spin_until(&at.ready, round);
		atomic_store(&at.start, round);
		dither(round, 300);
		race->give(run.rig, round);
		if (!ended(round)) {
			fprintf(stderr, "storm of wake-ups: %s%s was lost in round %u\n",
			        race->name, on_fd ? " on a descriptor" : "", round);
			rig_dump(run.rig);
			return false;
		}
	}
	spin_until(&at.ready, round);
	atomic_store(&at.stop, true);
	pthread_join(thread, NULL);
	sleeps = rig_count(&run.rig->rank[SLEEPER], SYSVNET_COUNT_SLEEPS);
	printf("passed %s%s: %u rounds, %llu sleeps\n", race->name,
	       on_fd ? " on a descriptor" : "", round - 1, (unsigned long long)sleeps);
	rig_close(run.rig);
	return true;
}

/* Two CPUs that this process may use. */
static bool
two_cpus(int cpu[2])
{
	cpu_set_t set;
	int found = 0;

	sched_getaffinity(0, sizeof set, &set);
	for (int i = 0; i < CPU_SETSIZE && found < 2; i++)
		if (CPU_ISSET((unsigned)i, &set))
			cpu[found++] = i;
	return found == 2;
}

static uint32_t
time_of_a_race(void)
{
	const char *level = getenv("CHECK_LEVEL"), *text = getenv("PST_LITMUS_MS");

	if (text)
		return (uint32_t)strtoul(text, NULL, 10);
	if (level && strcmp(level, "quick") == 0)
		return 100;
	return level && strcmp(level, "long") == 0 ? 5000 : 400;
}

int
main(int argc, char **argv)
{
	const uint32_t run_ms = time_of_a_race();
	bool passed = true;
	int cpu[2];

	if (!two_cpus(cpu)) {
		printf("needs two CPUs\n");
		return 77;
	}
	for (int i = 0; i < RACES && passed; i++) {
		bool wanted = argc < 2;

		for (int k = 1; k < argc; k++)
			wanted = wanted || strcmp(argv[k], races[i].name) == 0;
		if (wanted)
			passed = run_race(&races[i], false, cpu, run_ms) &&
			         run_race(&races[i], true, cpu, run_ms);
	}
	return passed ? EXIT_SUCCESS : EXIT_FAILURE;
}
