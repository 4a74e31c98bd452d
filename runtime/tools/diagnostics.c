/* The library's own checks, to be run in the client's job: clock, atomics, locks, messages. */
#include "runtime/process/process.h"

#include <pthread.h>
#include <string.h>

#include "gasnet_tools.h"
#include "runtime/util/clock.h"

enum { THREADS_MAX = 64, ECHO_WORDS = 16 };

/* Data that the threads of one check share. */
struct shared {
	int iterations, threads;
	gasnett_strongatomic64_t sum;
	pthread_mutex_t lock;
	uint64_t guarded;
};

typedef void work_fn(struct shared *shared);

struct job {
	struct shared *shared;
	work_fn *work;
};

static int
diagnostics_fail(const char *what)
{
	psi_log("diagnostics: %s", what);
	return 1;
}

static void *
diagnostics_run_job(void *arg)
{
	struct job *job = arg;

	job->work(job->shared);
	return NULL;
}

/* All threads at once; false if one could not be made, the others then being done as well. */
static bool
diagnostics_run_threads(struct shared *shared, work_fn *work)
{
	struct job job = { shared, work };
	pthread_t ids[THREADS_MAX];
	int i, made = 0;

	while (made < shared->threads &&
	       pthread_create(&ids[made], NULL, diagnostics_run_job, &job) == 0)
		made++;
	for (i = 0; i < made; i++)
		pthread_join(ids[i], NULL);
	return made == shared->threads;
}

/* The thread may lose its CPU between two looks at clocks, so the system's clock is read before and
 * behind the ticks, at both ends. */
static int
diagnostics_check_time(int iterations)
{
	const uint64_t before_begin = psi_now_ns();
	gasnett_tick_t last = gasnett_ticks_now(), begin = last, end;
	const uint64_t behind_begin = psi_now_ns();
	uint64_t most, least, ticked;
	int i, failures = 0;

	for (i = 0; i < iterations && !failures; i++) {
		gasnett_tick_t now = gasnett_ticks_now();

		if (now < last)
			failures += diagnostics_fail("the clock went backwards");
		last = now;
	}
	gasnett_nsleep(1000000);
	least = psi_now_ns() - behind_begin;
	end = gasnett_ticks_now();
	most = psi_now_ns() - before_begin;
	ticked = gasnett_ticks_to_ns(end - begin);
	if (ticked > most + most / 100 || ticked < least - least / 10)
		failures += diagnostics_fail("ticks and the system's clock disagree");
	return failures;
}

static void
diagnostics_count_up(struct shared *shared)
{
	int i;

	for (i = 0; i < shared->iterations; i++)
		gasnett_strongatomic64_add(&shared->sum, 3, GASNETT_ATOMIC_NONE);
}

static int
diagnostics_check_atomics(struct shared *shared)
{
	uint64_t expected = 3 * (uint64_t)shared->iterations * (uint64_t)shared->threads;

	gasnett_strongatomic64_set(&shared->sum, 0, 0);
	if (!diagnostics_run_threads(shared, diagnostics_count_up))
		return diagnostics_fail("no thread could be made");
	return gasnett_strongatomic64_read(&shared->sum, 0) == expected
	               ? 0
	               : diagnostics_fail("atomic additions got lost");
}

static void
diagnostics_count_guarded(struct shared *shared)
{
	int i;

	for (i = 0; i < shared->iterations; i++) {
		pthread_mutex_lock(&shared->lock);
		shared->guarded++;
		pthread_mutex_unlock(&shared->lock);
	}
}

static int
diagnostics_check_locks(struct shared *shared)
{
	uint64_t expected = (uint64_t)shared->iterations * (uint64_t)shared->threads;

	if (!diagnostics_run_threads(shared, diagnostics_count_guarded))
		return diagnostics_fail("no thread could be made");
	return shared->guarded == expected ? 0 : diagnostics_fail("a lock let two threads in");
}

/* Echoes: each reply says what the request said, plus one. */
static struct {
	gasnett_strongatomic32_t replies, wrong;
} echo;

static void request_handler(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t salt);
static void long_handler(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t salt);
static void reply_handler(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t salt);

static gex_AM_Entry_t handlers[] = {
	{ 0, (gex_AM_Fn_t)request_handler, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 1, NULL,
	  "diagnostics request" },
	{ 0, (gex_AM_Fn_t)long_handler, GEX_FLAG_AM_LONG | GEX_FLAG_AM_REQUEST, 1, NULL,
	  "diagnostics long request" },
	{ 0, (gex_AM_Fn_t)reply_handler, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REPLY, 1, NULL,
	  "diagnostics reply" },
};

enum { REQUEST, LONG_REQUEST, REPLY };

static void
diagnostics_send_back(gex_Token_t token, const void *buf, size_t nbytes, gex_AM_Arg_t salt)
{
	uint32_t words[ECHO_WORDS];

	memcpy(words, buf, nbytes < sizeof words ? nbytes : sizeof words);
	for (size_t i = 0; i < ECHO_WORDS; i++)
		words[i]++;
	gex_AM_ReplyMedium1(token, handlers[REPLY].gex_index, words, sizeof words, GEX_EVENT_NOW, 0,
	                    salt);
}

static void
request_handler(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t salt)
{
	diagnostics_send_back(token, buf, nbytes, salt);
}

static void
long_handler(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t salt)
{
	diagnostics_send_back(token, buf, nbytes, salt);
}

static void
reply_handler(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t salt)
{
	uint32_t words[ECHO_WORDS];
	uint32_t i, wrong = nbytes != sizeof words;

	(void)token;
	memcpy(words, buf, sizeof words);
	for (i = 0; i < ECHO_WORDS; i++)
		wrong += words[i] != (uint32_t)salt + i + 1;
	if (wrong)
		gasnett_strongatomic32_increment(&echo.wrong, GASNETT_ATOMIC_NONE);
	gasnett_strongatomic32_increment(&echo.replies, GASNETT_ATOMIC_REL);
}

/* The target of the messages. */
struct partner {
	gex_TM_t tm;
	gex_Rank_t rank;
	void *segment;  /* NULL: no Longs */
	uint32_t seed;
};

/* Sends one round; returns how many replies will come.  Every rank's Longs say the same. */
static uint32_t
diagnostics_send_round(const struct partner *peer, uint32_t round)
{
	enum { LONG_SALT = 1 };
	uint32_t words[ECHO_WORDS];

	for (uint32_t i = 0; i < ECHO_WORDS; i++)
		words[i] = peer->seed + round + i;
	gex_AM_RequestMedium1(peer->tm, peer->rank, handlers[REQUEST].gex_index, words,
	                      sizeof words, GEX_EVENT_NOW, 0, (gex_AM_Arg_t)words[0]);
	if (!peer->segment)
		return 1;
	for (uint32_t i = 0; i < ECHO_WORDS; i++)
		words[i] = LONG_SALT + i;
	gex_AM_RequestLong1(peer->tm, peer->rank, handlers[LONG_REQUEST].gex_index, words,
	                    sizeof words, peer->segment, GEX_EVENT_NOW, 0, LONG_SALT);
	return 2;
}

static int
diagnostics_check_messages(const struct partner *peer, int iterations)
{
	uint32_t expected = 0;

	if (handlers[REQUEST].gex_index == 0)
		return diagnostics_fail("the handlers of gasnett_diagnostic_gethandlers are not "
		                        "registered");
	gasnett_strongatomic32_set(&echo.replies, 0, 0);
	gasnett_strongatomic32_set(&echo.wrong, 0, 0);
	for (int round = 0; round < iterations; round++)
		expected += diagnostics_send_round(peer, (uint32_t)round);
	GASNET_BLOCKUNTIL(gasnett_strongatomic32_read(&echo.replies, GASNETT_ATOMIC_ACQ) ==
	                  expected);
	gex_Event_Wait(psi.barrier(peer->tm, 0));
	return gasnett_strongatomic32_read(&echo.wrong, 0) ? diagnostics_fail("a reply had other "
	                                                                      "contents") : 0;
}

void
gasnett_diagnostic_gethandlers(gex_AM_Entry_t **table_out, int *count_out)
{
	*table_out = handlers;
	*count_out = sizeof handlers / sizeof handlers[0];
}

static bool
diagnostics_wanted(const char *sections, char letter)
{
	return !sections || !*sections || strchr(sections, letter);
}

int __attribute__((cold))
gasnett_run_diagnostics(int iterations, int threads, const char *sections, gex_TM_t team,
                        void *segment, gex_Rank_t peer, void *peer_segment, unsigned int seed)
{
	const struct partner partner = { team, peer, peer_segment, seed };
	struct shared shared = { .iterations = iterations > 0 ? iterations : 1 };
	int failures = 0;

	(void)segment;
	psi_need_init("gasnett_run_diagnostics");
	shared.threads = threads < 1 ? 1 : threads > THREADS_MAX ? THREADS_MAX : threads;
	pthread_mutex_init(&shared.lock, NULL);
	if (diagnostics_wanted(sections, 't'))
		failures += diagnostics_check_time(shared.iterations);
	if (diagnostics_wanted(sections, 'a'))
		failures += diagnostics_check_atomics(&shared);
	if (diagnostics_wanted(sections, 'l'))
		failures += diagnostics_check_locks(&shared);
	if (diagnostics_wanted(sections, 'm'))
		failures += diagnostics_check_messages(&partner, shared.iterations);
	pthread_mutex_destroy(&shared.lock);
	return failures;
}
