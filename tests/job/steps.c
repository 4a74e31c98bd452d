/* A rank that does what its arguments say, one word after the other; "R@WORD" is for rank R alone.
 * Before init a rank knows its number from PST_JOB_RANK.  The program stands in for a client, and
 * uses the bootstrap alone. */
#include "tests/job/steps_ranges.h"
#include "tests/job/touch.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct pboot_job job;
static bool joined;
static const char *progress = "start";

static void __attribute__((noreturn))
fail(const char *what)
{
	fprintf(stderr, "steps: rank %u: %s (at %s)\n", job.rank, what, progress);
	_exit(99);
}

static uint32_t
own_rank(void)
{
	const char *text = getenv("PST_JOB_RANK");

	return joined ? job.rank : text ? (uint32_t)atoi(text) : 0;
}

static void
note_exit(int code, void *arg)
{
	(void)arg;
	pboot_note_exit(code);
}

/* Before init: the handler runs after the one that init makes, once the rank may end.  Only rank 0
 * says it: the keeper has that rank's stderr, and what comes through one pipe keeps its order. */
static void
say_end(void)
{
	if (job.rank == 0)
		fputs("the rank ends\n", stderr);
}

static void
do_say_end(const char *arg)
{
	(void)arg;
	atexit(say_end);
}

static void
on_quit(int sig)
{
	(void)sig;
	pboot_leave(131);
}

static void
do_init(const char *arg)
{
	(void)arg;
	if (pboot_open(&job) != 0)
		_exit(1);
	joined = true;
	on_exit(note_exit, NULL);
	signal(SIGQUIT, on_quit);
	if (job.rank >= job.size || job.host_index >= job.host_count ||
	    job.host_of[job.rank] != job.host_index || job.local_rank >= job.local_size)
		fail("wrong job");
}

static void *
init_in_thread(void *arg)
{
	do_init(arg);
	return arg;
}

static void
do_thread_init(const char *arg)
{
	pthread_t thread;

	(void)arg;
	if (pthread_create(&thread, NULL, init_in_thread, NULL) != 0)
		fail("no thread");
	pthread_join(thread, NULL);
}

static void
do_barrier(const char *arg)
{
	int i, count = arg ? atoi(arg) : 1;

	for (i = 0; i < count; i++)
		pboot_barrier();
}

/* A knock may be lost, so who knocks does so more than once. */
static void
do_knock(const char *arg)
{
	for (int i = 0; i < 5; i++) {
		pboot_knock((uint32_t)atoi(arg));
		usleep(1000);
	}
}

/* Waits until that rank knocks, which no other does. */
static void
do_knocked(const char *arg)
{
	uint32_t who = PBOOT_NOBODY;

	for (int i = 0; i < 10000 && who == PBOOT_NOBODY; i++) {
		who = pboot_knocker();
		usleep(1000);
	}
	if (who != (uint32_t)atoi(arg))
		fail("no knock, or another rank's");
}

/* Nobody has knocked. */
static void
do_quiet(const char *arg)
{
	(void)arg;
	if (pboot_knocker() != PBOOT_NOBODY)
		fail("a knock at another rank was heard here");
}

static void
do_exchange(const char *arg)
{
	size_t len = arg ? (size_t)atoi(arg) : 8, i;
	unsigned char *mine = malloc(len), *all = malloc(len * job.size);
	uint32_t rank;
	int round;

	for (round = 0; round < 5; round++) {
		for (i = 0; i < len; i++)
			mine[i] = (unsigned char)(job.rank * 7 + i + (size_t)round);
		pboot_exchange(mine, len, all);
		for (rank = 0; rank < job.size; rank++)
			for (i = 0; i < len; i++)
				if (all[rank * len + i] !=
				    (unsigned char)(rank * 7 + i + (size_t)round))
					fail("exchange brought something else");
	}
	free(mine);
	free(all);
}

static void
do_memory(const char *arg)
{
	const char *wrong = steps_ranges_check(&job);

	(void)arg;
	if (wrong)
		fail(wrong);
}

static void
do_leave(const char *arg)
{
	pboot_leave(arg ? atoi(arg) : 0);
}

static void
do_exit(const char *arg)
{
	exit(arg ? atoi(arg) : 0);
}

static void
do_quick_exit(const char *arg)
{
	_exit(arg ? atoi(arg) : 0);
}

static void
do_kill(const char *arg)
{
	kill(getpid(), atoi(arg));
}

static void
do_sleep(const char *arg)
{
	double seconds = atof(arg);
	struct timespec left = {
		(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9),
	};

	while (nanosleep(&left, &left) < 0 && errno == EINTR)
		;
}

static void
do_spin(const char *arg)
{
	struct timespec now, end;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += atoi(arg);
	do {
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec < end.tv_sec);
}

static void
do_print(const char *arg)
{
	printf("%s\n", arg);
}

static void
do_flush(const char *arg)
{
	(void)arg;
	fflush(stdout);
}

/* A child that outlives the step, in the job's group or in a session of its own. */
static void
do_child(const char *arg)
{
	if (fork() == 0) {
		do_sleep(arg);
		_exit(0);
	}
}

static void
do_daemon(const char *arg)
{
	if (fork() == 0) {
		setsid();
		do_child(arg);
		_exit(0);
	}
}

/* The fork ends by exit(), through the handler that notes exits: it is not the rank. */
static void
do_fork_exit(const char *arg)
{
	pid_t pid = fork();

	if (pid == 0)
		exit(atoi(arg));
	waitpid(pid, NULL, 0);
}

static void
do_system(const char *arg)
{
	if (system(arg) != 0)
		fail("system");
}

/* This process goes on as another program. */
static void
do_exec(const char *arg)
{
	fflush(stdout);
	execl("/bin/sh", "sh", "-c", arg, (char *)NULL);
	fail("exec");
}

/* Lines of 1 to 200 bytes, in pieces as they come. */
static void
do_burst(const char *arg)
{
	int i, count = atoi(arg);
	char line[256];

	for (i = 0; i < count; i++) {
		int dots = (i * 37 + (int)job.rank) % 180, cut = (i * 13) % (dots + 1);
		int len = snprintf(line, sizeof line, "%d %.*s.\n", i, dots,
		    "................................................................"
		    "................................................................"
		    "................................................................");
		int fd = i % 3 == 0 ? STDERR_FILENO : STDOUT_FILENO;

		if (write(fd, line, (size_t)cut) != cut ||
		    write(fd, line + cut, (size_t)(len - cut)) != len - cut)
			fail("write");
	}
}

static void
do_close_all(const char *arg)
{
	int fd;

	(void)arg;
	for (fd = 3; fd < 1024; fd++)
		close(fd);
}

static void
do_ignore(const char *arg)
{
	signal(atoi(arg), SIG_IGN);
}

static void
do_block_all(const char *arg)
{
	sigset_t all;

	(void)arg;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
}

static void *
idle_forever(void *arg)
{
	do_block_all(NULL);
	for (;;) {
		do_sleep("0.01");
		if (write(*(int *)arg, "t", 1) < 0)
			return NULL;
	}
}

/* A thread made before init: what it writes to file descriptor 2 shows whether it still runs. */
static void
do_thread(const char *arg)
{
	static int fd;
	pthread_t thread;

	fd = open(arg, O_WRONLY | O_CREAT | O_APPEND, 0600);
	if (fd < 0 || pthread_create(&thread, NULL, idle_forever, &fd) != 0)
		fail("no thread");
}

static void
do_note(const char *arg)
{
	fprintf(stderr, "steps: rank %u: %s\n", job.rank, arg);
	pboot_note_cause(arg, true);
}

static void
do_part(const char *arg)
{
	pboot_note_exit_alone(atoi(arg));
	_exit(atoi(arg));
}

static void
do_dump(const char *arg)
{
	(void)arg;
	pboot_dump(stdout);
	fflush(stdout);
}

static void
do_read(const char *arg)
{
	char line[256];

	(void)arg;
	printf("%u:%s", job.rank, fgets(line, sizeof line, stdin) ? line : "end\n");
	fflush(stdout);
}

/* The test knows by the file that the rank came here. */
static void
do_touch(const char *arg)
{
	if (!pt_touch_at(arg, own_rank()))
		fail("cannot write a file");
}

static volatile sig_atomic_t lost;

static void
on_lost(int sig)
{
	(void)sig;
	lost = 1;
}

/* lose=SIGNAL:PATH touches, waits for a signal and forgets it, as a shell's child does that
 * has not come to its program yet. */
static void
do_lose(const char *arg)
{
	const char *after = strchr(arg, ':');

	signal(atoi(arg), on_lost);
	do_touch(after + 1);
	while (!lost)
		do_sleep("0.001");
	signal(atoi(arg), SIG_DFL);
}

/* Goes on when the file is there, which the test or another rank makes. */
static void
do_until(const char *arg)
{
	while (access(arg, F_OK) != 0)
		do_sleep("0.005");
}

static const struct step {
	const char *name;
	void (*run)(const char *arg);
} steps[] = {
	{ "init", do_init }, { "thread-init", do_thread_init }, { "thread", do_thread },
	{ "barrier", do_barrier }, { "exchange", do_exchange }, { "memory", do_memory },
	{ "knock", do_knock }, { "knocked", do_knocked }, { "quiet", do_quiet },
	{ "leave", do_leave }, { "exit", do_exit }, { "quick-exit", do_quick_exit },
	{ "kill", do_kill }, { "sleep", do_sleep }, { "spin", do_spin }, { "print", do_print },
	{ "flush", do_flush }, { "child", do_child }, { "daemon", do_daemon },
	{ "fork-exit", do_fork_exit }, { "system", do_system }, { "close-all", do_close_all },
	{ "exec", do_exec }, { "burst", do_burst },
	{ "ignore", do_ignore }, { "lose", do_lose }, { "block-all", do_block_all },
	{ "note", do_note }, { "part", do_part }, { "dump", do_dump }, { "read", do_read },
	{ "touch", do_touch }, { "until", do_until }, { "say-end", do_say_end },
};

static void
run_word(const char *word)
{
	const char *arg = strchr(word, '=');
	size_t len = arg ? (size_t)(arg - word) : strlen(word), i;

	progress = word;
	for (i = 0; i < sizeof steps / sizeof *steps; i++) {
		if (strlen(steps[i].name) == len && memcmp(steps[i].name, word, len) == 0) {
			steps[i].run(arg ? arg + 1 : NULL);
			return;
		}
	}
	fail("no such step");
}

int
main(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++) {
		char *after;
		unsigned long rank = strtoul(argv[i], &after, 10);

		if (after == argv[i] || *after != '@')
			run_word(argv[i]);
		else if (rank == own_rank())
			run_word(after + 1);
	}
	return 0;
}
