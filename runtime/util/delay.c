#include "runtime/util/delay.h"

#include "gasnet_ex_port.h"
#include "runtime/util/clock.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	EVERY = 16,             /* passages per delay, unless told otherwise */
	/* Of 64 delays: so many sleep, so many yield; the others spin. */
	SLEEPS = 1, YIELDS = 12, KINDS = 64,
	MOST_SPINS = 400,
	MOST_SLEEP_NS = 100000,
};

static const char *const names[PSI_DELAYS_COUNT] = {
#define NAME(name, text) #name,
	PSI_DELAY_POINTS(NAME)
#undef NAME
};

/* Everything here is relaxed, so that ThreadSanitizer sees no order that the protocols do not
 * make. */
static _Atomic uint64_t passages[PSI_DELAYS_COUNT];
static _Atomic uint32_t threads;        /* that have come by: each draws numbers of its own */
static _Thread_local uint64_t random_state;

/* Whether NAME is one of a list with commas. */
static bool
delay_is_listed(const char *list, const char *name)
{
	const size_t len = strlen(name);

	for (const char *at = list; (at = strstr(at, name)); at += len)
		if ((at == list || at[-1] == ',') && (at[len] == ',' || !at[len]))
			return true;
	return false;
}

static uint64_t
delay_number_from(const char *variable, uint64_t otherwise)
{
	const char *text = getenv(variable);

	return text ? strtoull(text, NULL, 10) : otherwise;
}

/* Read by each thread once: the settings are few, the threads as well. */
static _Thread_local struct {
	bool read;
	uint32_t every;
	uint64_t points;        /* bit p: point p may delay */
} chosen;

static void
delay_choose(void)
{
	const char *list = getenv("PT_DELAY_AT");
	const uint64_t seed = delay_number_from("PT_DELAY_SEED", 1);
	uint32_t thread = atomic_fetch_add_explicit(&threads, 1, memory_order_relaxed);

	chosen.read = true;
	chosen.every = (uint32_t)delay_number_from("PT_DELAY_EVERY", EVERY);
	for (unsigned point = 0; point < PSI_DELAYS_COUNT; point++)
		if (!list || delay_is_listed(list, names[point]))
			chosen.points |= (uint64_t)1 << point;
	random_state = (seed * 0x9e3779b97f4a7c15u) ^ (thread + 1) * 0xbf58476d1ce4e5b9u;
}

static uint32_t
delay_random_below(uint32_t bound)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((random_state >> 33) * bound >> 31);
}

static void
delay_linger(void)
{
	const uint32_t kind = delay_random_below(KINDS);

	if (kind < SLEEPS) {
		nanosleep(&(struct timespec){ 0, (long)delay_random_below(MOST_SLEEP_NS) }, NULL);
	} else if (kind < SLEEPS + YIELDS) {
		sched_yield();
	} else {
		for (uint32_t i = delay_random_below(MOST_SPINS); i; i--)
			psi_pause();
	}
}

void
psi_delay(enum psi_delay_point point)
{
	uint64_t count = atomic_load_explicit(&passages[point], memory_order_relaxed);

	atomic_store_explicit(&passages[point], count + 1, memory_order_relaxed);
	if (!chosen.read)
		delay_choose();
	if (chosen.every && chosen.points >> point & 1 && !delay_random_below(chosen.every))
		delay_linger();
}

const char *
psi_delay_name(enum psi_delay_point point)
{
	return names[point];
}

uint64_t
psi_delay_passages(enum psi_delay_point point)
{
	return atomic_load_explicit(&passages[point], memory_order_relaxed);
}
