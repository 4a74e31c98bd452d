/* Clocks, counters, teams, random numbers, memory patterns, words and threads of the tests. */
#include "tests/lib/pt.h"

#include <errno.h>
#include <penstock.h>
#include <pthread.h>
#include <sys/resource.h>
#include <time.h>

uint64_t
pt_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

double
pt_cpu_seconds(void)
{
	struct rusage used;

	getrusage(RUSAGE_SELF, &used);
	return (double)used.ru_utime.tv_sec + (double)used.ru_stime.tv_sec +
	       1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

uint64_t
pt_counter(uint32_t rank, const char *name)
{
	enum { MOST = 200 };
	uint64_t values[MOST];
	const unsigned count = pst_counters_read(rank, values, MOST);

	PT_CHECK(count);
	for (unsigned i = 0; i < count; i++)
		if (strcmp(pst_counter_at(i)->name, name) == 0)
			return values[i];
	PT_FAIL("no counter named %s", name);
}

gex_TM_t
pt_split(gex_TM_t parent, int color, int key)
{
	gex_TM_t tm = GEX_TM_INVALID;

	gex_TM_Split(&tm, parent, color, key, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
	PT_CHECK(tm != GEX_TM_INVALID);
	return tm;
}

void
pt_sleep_ms(unsigned ms)
{
	struct timespec rest = { (time_t)(ms / 1000), (long)(ms % 1000) * 1000000 };

	while (nanosleep(&rest, &rest) != 0 && errno == EINTR)
		;
}

void
pt_spin_ms(unsigned ms)
{
	uint64_t end = pt_now_ns() + (uint64_t)ms * 1000000u;

	while (pt_now_ns() < end)
		;
}

/* splitmix64 */
static uint64_t
mix(uint64_t z)
{
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

struct pt_rng
pt_rng_make(uint64_t stream)
{
	struct pt_rng rng = { mix(pt.seed) ^ mix(stream + 0x9e3779b97f4a7c15u) };

	return rng;
}

uint64_t
pt_rand(struct pt_rng *rng)
{
	rng->state += 0x9e3779b97f4a7c15u;
	return mix(rng->state);
}

uint64_t
pt_rand_below(struct pt_rng *rng, uint64_t bound)
{
	return bound ? pt_rand(rng) % bound : 0;
}

/*
 * A pattern is a piece of one long random text, begun at a place that the key
 * gives.  The text's period is a prime, so that what lands a page, a word or
 * any power of two too far differs.
 */
enum { PERIOD = 4093 };

static unsigned char text[2 * PERIOD];
static pthread_once_t text_once = PTHREAD_ONCE_INIT;

static void
make_text(void)
{
	for (uint64_t i = 0; i < PERIOD; i++)
		text[i] = text[PERIOD + i] = (unsigned char)mix((i + 1) * 0x9e3779b97f4a7c15u);
}

/* PERIOD bytes of the pattern, from byte i on. */
static const unsigned char *
text_at(uint64_t key, size_t i)
{
	pthread_once(&text_once, make_text);
	return text + (key % PERIOD * 1327 + i % PERIOD) % PERIOD;
}

unsigned char
pt_byte(uint64_t key, size_t i)
{
	return *text_at(key, i);
}

void
pt_fill(void *buf, size_t nbytes, uint64_t key)
{
	for (size_t i = 0; i < nbytes; i += PERIOD)
		memcpy((char *)buf + i, text_at(key, i), nbytes - i < PERIOD ? nbytes - i : PERIOD);
}

static void
report_difference(const unsigned char *at, size_t nbytes, uint64_t key, const char *file, int line,
                  const char *name)
{
	size_t i = 0;

	while (i < nbytes && at[i] == pt_byte(key, i))
		i++;
	pt_fail(file, line, "%s: byte %zu of %zu at %p is 0x%02x, want 0x%02x (pattern %llu)", name,
	        i, nbytes, (const void *)(at + i), at[i], pt_byte(key, i), (unsigned long long)key);
}

void
pt_check_mem(const void *buf, size_t nbytes, uint64_t key, const char *file, int line,
             const char *name)
{
	const unsigned char *at = (const unsigned char *)buf;

	pt_check(1, file, line, name);
	for (size_t i = 0; i < nbytes; i += PERIOD)
		if (memcmp(at + i, text_at(key, i), nbytes - i < PERIOD ? nbytes - i : PERIOD) != 0)
			report_difference(at, nbytes, key, file, line, name);
}

int
pt_on_this_host(gex_Rank_t jobrank)
{
	gex_RankInfo_t *infos;
	gex_Rank_t count, i = 0;

	gex_System_QueryHostInfo(&infos, &count, NULL);
	while (i < count && infos[i].gex_jobrank != jobrank)
		i++;
	return i < count;
}

void
pt_word_put(gex_Rank_t rank, size_t offset, uint32_t value)
{
	if (pt.peers[rank].local)
		__atomic_store_n((uint32_t *)(void *)(pt.peers[rank].local + offset), value,
		                 __ATOMIC_RELEASE);
	else
		PT_OK(gex_RMA_PutBlockingVal(pt.tm, rank, pt.peers[rank].owner + offset, value, 4,
		                             0));
}

uint32_t
pt_word_get(gex_Rank_t rank, size_t offset)
{
	if (pt.peers[rank].local)
		return __atomic_load_n((uint32_t *)(void *)(pt.peers[rank].local + offset),
		                       __ATOMIC_ACQUIRE);
	return (uint32_t)gex_RMA_GetBlockingVal(pt.tm, rank, pt.peers[rank].owner + offset, 4, 0);
}

struct thread_job {
	void (*fn)(unsigned index, void *arg);
	void *arg;
	unsigned index;
#ifdef GASNET_PAR
	struct pt_job *rank; /* whose threads they are */
#endif
	pthread_t id;
};

static void *
thread_main(void *arg)
{
	struct thread_job *job = (struct thread_job *)arg;

#ifdef GASNET_PAR
	pt_own = job->rank;
#endif
	job->fn(job->index, job->arg);
	return NULL;
}

void
pt_threads(unsigned count, void (*fn)(unsigned index, void *arg), void *arg)
{
	struct thread_job *jobs = (struct thread_job *)calloc(count, sizeof(*jobs));

	PT_CHECK(jobs != NULL);
	for (unsigned i = 0; i < count; i++) {
		jobs[i].fn = fn;
		jobs[i].arg = arg;
		jobs[i].index = i;
#ifdef GASNET_PAR
		jobs[i].rank = pt_own;
#endif
		PT_EQ(pthread_create(&jobs[i].id, NULL, thread_main, &jobs[i]), 0);
	}
	for (unsigned i = 0; i < count; i++)
		PT_EQ(pthread_join(jobs[i].id, NULL), 0);
	free(jobs);
}
