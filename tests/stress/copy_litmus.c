/*
 * Copy and flag: one thread copies and sets a flag, release; the other sees the flag, acquire, and
 * must see all bytes of that round.  For each way to copy and each size, on two CPUs.
 *
 *     copy_litmus [rounds [whole]]     whole: as many for every routine and size
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/util/clock.h"
#include "runtime/util/copy.h"
#include "tests/stress/litmus.h"

enum { PATTERNS = 16, MOST_BYTES = 1 << 20, LINE_BYTES = 64 };

/* Relaxed rounds: `ready' is the flag, `taken' lets the writer go on. */
static struct {
	_Alignas(128) _Atomic long ready;
	_Alignas(128) _Atomic long taken;
	_Alignas(128) _Atomic long stale;
} word;

static unsigned char *pattern[PATTERNS], *target;

struct run {
	const struct psi_copy_way *way;
	size_t len_bytes;
	long rounds;
	int cpu[2];
};

static void
wait_for(const _Atomic long *at, long round)
{
	for (long looks = 1; atomic_load_explicit(at, memory_order_acquire) < round; looks++)
		if (looks % 100000 == 0)
			sched_yield();
}

/* From the end, where the last stores went. */
static bool
is_stale(const unsigned char *bytes, size_t len_bytes, unsigned char value)
{
	for (size_t i = len_bytes; i > 0; i -= i > LINE_BYTES ? LINE_BYTES : i)
		if (*(const volatile unsigned char *)(bytes + i - 1) != value)
			return true;
	return false;
}

static void *
reader(void *argument)
{
	const struct run *run = argument;

	litmus_pin(run->cpu[1]);
	for (long round = 1; round <= run->rounds; round++) {
		wait_for(&word.ready, round);
		if (is_stale(target, run->len_bytes, (unsigned char)(round % PATTERNS)))
			atomic_fetch_add_explicit(&word.stale, 1, memory_order_relaxed);
		atomic_store_explicit(&word.taken, round, memory_order_release);
	}
	return NULL;
}

static long
run_one(const struct run *run)
{
	pthread_t thread;

	atomic_store(&word.ready, 0);
	atomic_store(&word.taken, 0);
	atomic_store(&word.stale, 0);
	memset(target, 0, MOST_BYTES);
	if (pthread_create(&thread, NULL, reader, (void *)(uintptr_t)run)) {
		fprintf(stderr, "copy_litmus: no thread\n");
		exit(99);
	}
	litmus_pin(run->cpu[0]);
	for (long round = 1; round <= run->rounds; round++) {
		run->way->copy(target, pattern[round % PATTERNS], run->len_bytes);
		atomic_store_explicit(&word.ready, round, memory_order_release);
		wait_for(&word.taken, round);
	}
	pthread_join(thread, NULL);
	return atomic_load(&word.stale);
}

static unsigned char *
make_lines(unsigned char value)
{
	unsigned char *bytes = aligned_alloc(LINE_BYTES, MOST_BYTES);

	if (!bytes)
		exit(99);
	return memset(bytes, value, MOST_BYTES);
}

/* Without stores past the caches there is less to see. */
static long
share_of(int kind)
{
	return kind == PSI_COPY_STREAM || kind == PSI_COPY_STREAM_WIDE ? 1 : 10;
}

int
main(int argc, char **argv)
{
	/* The largest take 0.2 ms a round, so that a million of them would be half an hour. */
	static const struct { size_t len_bytes; long divisor, whole_divisor; } classes[] = {
		{ 64, 1, 1 }, { 576, 1, 1 }, { 4096, 4, 1 }, { 65536, 100, 1 },
		{ MOST_BYTES, 2000, 10 },
	};
	struct run run = { .rounds = 0 };
	const long rounds =
		argc > 1 ? strtol(argv[1], NULL, 10) : litmus_rounds(50000, 200000, 1000000);
	const int whole = argc > 2;
	long stale = 0;

	if (!litmus_two_cpus(run.cpu)) {
		printf("needs two CPUs\n");
		return 77;
	}
	target = make_lines(0);
	for (int i = 0; i < PATTERNS; i++)
		pattern[i] = make_lines((unsigned char)i);
	for (int kind = 0; kind < PSI_COPY_KINDS; kind++) {
		run.way = &psi_copy_ways[kind];
		for (unsigned c = 0; run.way->usable() && c < sizeof classes / sizeof *classes;
		     c++) {
			uint64_t from = psi_now_ns();
			long now;

			run.len_bytes = classes[c].len_bytes;
			run.rounds = whole ? rounds / classes[c].whole_divisor
			                   : rounds / classes[c].divisor / share_of(kind) + 1;
			now = run_one(&run);
			printf("%-11s %8zu bytes %8ld rounds %6ld stale %8.1f ns a round\n",
			       run.way->name, run.len_bytes, run.rounds, now,
			       (double)(psi_now_ns() - from) / (double)run.rounds);
			fflush(stdout);
			stale += now;
		}
	}
	return stale ? EXIT_FAILURE : EXIT_SUCCESS;
}
