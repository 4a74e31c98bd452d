/*
 * fi-loops: the leader says how many calls of which pattern the ranks make, times them, and prints
 *
 *     pattern fi-loops size ranks placement median ns min p99 samples
 *
 * in the columns of the harness of docs/performance.md: times are ns for each operation, of batches
 * that last as long as the harness's.
 */
#define _GNU_SOURCE 1
#include "fi_loops.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	BATCHES = 512, SAMPLES = 1 << 16, MOST_CALLS = 1 << 20,
	ROOTED_CALLS = 64, STREAM_CALLS = 1024,
	PROBES = 8, BOUNCES = 32,
};

/* How long a batch lasts, and so many of them between two orders. */
static const double calm_ns = 4e3, uneven_ns = 250e3, crowded_ns = 10e6;
static const double turn_calm_ns = 2e6, turn_crowded_ns = 20e6;

static double secs = 0.3;
static const char *provider = "tcp;ofi_rxm";

static double
now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* -- where ranks 0 and 1 are ------------------------------------------------------------------- */

static double
bounce_ns(unsigned *at)
{
	const double start = now_ns();

	for (unsigned i = 0; i < BOUNCES; i++, *at += 2) {
		const unsigned mine = *at + (fl_rank == 0 ? 1 : 2);

		while (fl_rank == 1 && atomic_load(&fl_shared->line) != mine - 1)
			;
		atomic_store(&fl_shared->line, mine);
		while (fl_rank == 0 && atomic_load(&fl_shared->line) != mine + 1)
			;
	}
	return (now_ns() - start) / (2 * BOUNCES);
}

/* How long a cache line takes from one to the other, in the harness's classes. */
static const char *
placement_probe(void)
{
	static unsigned at;
	double best = 1e9;

	if (fl_ranks != 2)
		return fl_crowded ? "crowded" : "unknown";
	for (unsigned i = 0; i < PROBES; i++) {
		const double ns = bounce_ns(&at);

		best = ns < best ? ns : best;
	}
	return best < 36 ? "smt" : best < 100 ? "near" : "far";
}

/* -- turns ------------------------------------------------------------------------------------- */

static void
turn_calls(const struct fl_pattern *pattern, double *each_ns)
{
	double last = now_ns();

	for (unsigned i = 0; i < fl_shared->batches; i++) {
		for (unsigned k = 0; k < fl_shared->batch; k++)
			pattern->call(fl_shared->size);
		if (each_ns) {
			const double now = now_ns();

			each_ns[i] = (now - last) / (fl_shared->batch * pattern->ways);
			last = now;
		}
	}
}

/* Orders a turn, makes its calls, and waits until all have ended theirs.  Without batches ranks 0
 * and 1 probe where they are. */
static const char *
turn_lead(const struct fl_pattern *pattern, unsigned batch, unsigned batches, double *each_ns)
{
	const char *place = NULL;

	static unsigned turn;

	turn++;
	fl_shared->pattern = (unsigned)(pattern - fl_patterns);
	fl_shared->batch = batch;
	fl_shared->batches = batches;
	/* R1, pairs with A1 in turn_follow */
	atomic_store_explicit(&fl_shared->turn, turn, memory_order_release);
	if (batches)
		turn_calls(pattern, each_ns);
	else
		place = placement_probe();
	atomic_store_explicit(&fl_shared->served, turn, memory_order_release);
	while (atomic_load_explicit(&fl_shared->ended, memory_order_acquire) <
	       turn * (fl_ranks - 1))
		fl_step();
	return place;
}

static void
turn_serve(const struct fl_pattern *pattern, unsigned turn)
{
	while (atomic_load_explicit(&fl_shared->served, memory_order_acquire) != turn) {
		fl_step();
		if (pattern->serve)
			pattern->serve(fl_shared->size);
	}
}

static void
turn_follow(unsigned turn)
{
	const struct fl_pattern *pattern;

	while (atomic_load_explicit(&fl_shared->turn, memory_order_acquire) != turn) /* A1 */
		fl_step();
	pattern = &fl_patterns[fl_shared->pattern];
	if (!pattern->name)
		exit(0);
	if (!fl_shared->batches)
		(void)placement_probe();
	else if (pattern->origin)
		turn_serve(pattern, turn);
	else
		turn_calls(pattern, NULL);
	atomic_fetch_add_explicit(&fl_shared->ended, 1, memory_order_release);
}

/* -- points ------------------------------------------------------------------------------------ */

static double
batch_least_ns(const struct fl_pattern *pattern)
{
	return fl_ranks > 2 ? crowded_ns : pattern->stream || pattern->rooted ? uneven_ns : calm_ns;
}

/* Calls of a batch: as many as it takes, and some windows, or roots. */
static unsigned
batch_choose(const struct fl_pattern *pattern)
{
	const unsigned least = pattern->stream ? STREAM_CALLS : pattern->rooted ? ROOTED_CALLS : 1;
	const double enough_ns = batch_least_ns(pattern);
	unsigned calls = 1;
	double wanted, ns = 0;

	for (turn_lead(pattern, calls, 1, &ns); ns * calls < enough_ns / 2 && calls < MOST_CALLS;) {
		calls *= 2;
		turn_lead(pattern, calls, 1, &ns);
	}
	wanted = enough_ns / (ns * pattern->ways);
	return wanted < least ? least : (unsigned)wanted;
}

static int
ascending(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Turns between two probes that differ are not counted. */
static void
point_run(const struct fl_pattern *pattern, size_t size)
{
	static double samples[SAMPLES];
	const double turn_ns = fl_ranks > 2 ? turn_crowded_ns : turn_calm_ns, start = now_ns();
	const char *place = NULL;
	unsigned batch, batches, count = 0;

	fl_shared->size = size;
	batch = batch_choose(pattern);
	batches = (unsigned)(turn_ns / batch_least_ns(pattern));
	batches = batches > BATCHES ? BATCHES : batches < 2 ? 2 : batches;
	while (now_ns() - start < secs * 1e9 && count + batches <= SAMPLES) {
		const char *before = turn_lead(pattern, 0, 0, NULL), *after;

		turn_lead(pattern, batch, batches, samples + count);
		after = turn_lead(pattern, 0, 0, NULL);
		if (!place)
			place = after;
		if (before == after && after == place)
			count += batches;
	}
	if (!count)
		return;
	qsort(samples, count, sizeof *samples, ascending);
	printf("%s fi-loops %zu %u %s %.1f ns %.1f %.1f %u\n", pattern->name, size, fl_ranks, place,
	       samples[count / 2], samples[0], samples[count - 1 - count / 100], count);
	fflush(stdout);
}

static void
usage(void)
{
	fprintf(stderr, "usage: fi-loops [-n RANKS] [-s SECONDS] [-p PROVIDER] "
	                "PATTERN[:BYTES,...]...\npatterns:");
	for (const struct fl_pattern *pattern = fl_patterns; pattern->name; pattern++)
		fprintf(stderr, " %s%s", pattern->name, pattern->sized ? ":BYTES" : "");
	fprintf(stderr, "\n");
	exit(2);
}

static const struct fl_pattern *
pattern_of(const char *word)
{
	const struct fl_pattern *pattern = fl_patterns;
	const size_t len = strcspn(word, ":");

	while (pattern->name && (strlen(pattern->name) != len || strncmp(pattern->name, word, len)))
		pattern++;
	if (!pattern->name || pattern->sized != (word[len] == ':'))
		usage();
	return pattern;
}

static void
word_run(const char *word)
{
	const struct fl_pattern *pattern = pattern_of(word);
	const char *sizes = strchr(word, ':');

	if (!sizes)
		point_run(pattern, 0);
	while (sizes && *sizes) {
		char *end;

		point_run(pattern, strtoul(sizes + 1, &end, 0));
		sizes = end;
	}
}

/* -- ranks ------------------------------------------------------------------------------------- */

/* Ranks stay on the CPUs in turn. */
static void
rank_pin(void)
{
	cpu_set_t allowed, one;
	unsigned left, cpu = 0;

	sched_getaffinity(0, sizeof allowed, &allowed);
	left = fl_rank % (unsigned)CPU_COUNT(&allowed);
	fl_crowded = fl_ranks > (unsigned)CPU_COUNT(&allowed);
	while (!CPU_ISSET(cpu, &allowed) || left-- > 0)
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof one, &one);
}

static void
rank_run(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	rank_pin();
	fl_net_open(provider);
	for (unsigned turn = 1;; turn++)
		turn_follow(turn);
}

static void
options_read(int argc, char **argv)
{
	int option;

	while ((option = getopt(argc, argv, "n:s:p:")) != -1) {
		if (option == 'n')
			fl_ranks = (unsigned)atoi(optarg);
		else if (option == 's')
			secs = atof(optarg);
		else if (option == 'p')
			provider = optarg;
		else
			usage();
	}
	if (fl_ranks < 2 || fl_ranks > FL_RANKS || fl_ranks & (fl_ranks - 1) || optind == argc)
		usage();
	for (int i = optind; i < argc; i++)
		(void)pattern_of(argv[i]);
}

/* A rank that dies leaves the leader waiting. */
static void
on_child(int signal_number)
{
	static const char text[] = "fi-loops: a rank has died\n";

	(void)signal_number;
	(void)!write(STDERR_FILENO, text, sizeof text - 1);
	_exit(1);
}

int
main(int argc, char **argv)
{
	options_read(argc, argv);
	fl_shared = mmap(NULL, sizeof *fl_shared, PROT_READ | PROT_WRITE,
	                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (fl_shared == MAP_FAILED)
		fl_die("mmap", errno);
	signal(SIGCHLD, on_child);
	for (unsigned rank = 1; rank < fl_ranks; rank++) {
		const pid_t pid = fork();

		if (pid < 0)
			fl_die("fork", errno);
		fl_rank = pid ? 0 : rank;
		if (!pid) {
			signal(SIGCHLD, SIG_DFL);
			rank_run();
		}
	}
	rank_pin();
	fl_net_open(provider);
	for (int i = optind; i < argc; i++)
		word_run(argv[i]);
	signal(SIGCHLD, SIG_DFL);
	for (fl_shared->pattern = 0; fl_patterns[fl_shared->pattern].name;)
		fl_shared->pattern++;
	atomic_fetch_add_explicit(&fl_shared->turn, 1, memory_order_release); /* R1 */
	while (wait(NULL) > 0)
		;
	return 0;
}
