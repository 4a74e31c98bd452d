/*
 * Ends that cross each other: gasnet_exit from an atexit function, from a handler of SIGQUIT, from
 * a signal handler in a wait, from two threads, past a held stream; and children that a rank forks.
 */
#include "tests/lib/pt_spawn.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { UNREGISTERED = 222 };

static void
leave_9(void)
{
	gasnet_exit(9);
}

static void
on_signal(int number)
{
	(void)number;
	gasnet_exit(33);
}

static void *
hold_stdout(void *arg)
{
	(void)arg;
	flockfile(stdout);
	while (pause())
		;
	return NULL;
}

static void *
leave_too(void *arg)
{
	(void)arg;
	gasnet_exit(34);
	return NULL;
}

static void
in_thread(void *(*fn)(void *))
{
	pthread_t id;

	PT_EQ(pthread_create(&id, NULL, fn, NULL), 0);
	pt_sleep_ms(20);
}

/* What a forked child does; gives its status as a shell would. */
static int
child(const char *which)
{
	pid_t pid = fork();
	int status;

	PT_CHECK(pid >= 0);
	if (pid == 0) {
		if (!strcmp(which, "poll"))
			gasnet_AMPoll();
		else if (!strcmp(which, "send"))
			(void)gex_AM_RequestShort0(pt.tm, 0, UNREGISTERED, 0);
		else if (!strcmp(which, "put"))
			(void)gex_RMA_PutBlockingVal(pt.tm, 0, pt.peers[0].owner, 1, 8, 0);
		else if (!strcmp(which, "exit"))
			exit(35);
		else if (!strcmp(which, "gasnet_exit"))
			gasnet_exit(36);
		_exit(0);
	}
	PT_EQ(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void
children(void)
{
	PT_EQ(child("nothing"), 0);
	PT_EQ(child("exit"), 35);
	PT_EQ(child("gasnet_exit"), 36);
	PT_EQ(child("poll"), 128 + SIGABRT);
	PT_EQ(child("send"), 128 + SIGABRT);
	PT_EQ(child("put"), 128 + SIGABRT);
	pt_finish();
}

static void
end_as(const char *which)
{
	int first = pt.rank == 0;

	if (!strcmp(which, "atexit") && first)
		exit(31);
	if (!strcmp(which, "quit")) {
		signal(SIGQUIT, on_signal);
		pt_barrier();
		if (first) {
			pt_sleep_ms(20);
			gasnet_exit(32);
		}
	}
	if (!strcmp(which, "alarm")) {
		signal(SIGALRM, on_signal);
		if (first)
			ualarm(50000, 0);
	}
	if (!strcmp(which, "held_leave") && first) {
		in_thread(hold_stdout);
		gasnet_exit(37);
	}
	if (!strcmp(which, "held_exit") && first) {
		in_thread(hold_stdout);
		exit(38);
	}
	if (!strcmp(which, "threads") && first) {
		in_thread(leave_too);
		gasnet_exit(34);
	}
	if (!strcmp(which, "children"))
		children();
	gasnet_barrier_notify(0, 0);
	if (first)
		GASNET_BLOCKUNTIL(0);
	gasnet_barrier_wait(0, 0);
	for (;;)
		pt_barrier();
}

/* A rank that hangs in its end is killed when 500 ms are over, and that is all one can see of
 * it. */
static void
ends_by_itself(void)
{
	static const char *const settings[] = { "GASNET_BACKTRACE=0", NULL };
	struct pt_outcome out;
	unsigned tries = 0;

	pt_phase("time of atexit");
	do {
		if (++tries > 10)
			PT_FAIL("case atexit took %llu ms",
			        (unsigned long long)(out.ns / 1000000u));
		pt_spawn("/proc/self/exe", "atexit", settings, 4000, &out);
	} while (out.ns > 450000000u);
}

int
main(int argc, char **argv)
{
	static const struct {
		const char *which;
		int status;
	} cases[] = {
		{ "atexit", 31 },     { "quit", 32 },    { "alarm", 33 },   { "held_leave", 37 },
		{ "held_exit", 38 },  { "threads", 34 }, { "children", 0 },
	};
	static const char *const settings[] = { "GASNET_BACKTRACE=0", NULL };
	struct pt_outcome out;

	pt_prepare(argv);
	if (argc > 1) {
		if (!strcmp(argv[1], "atexit"))
			atexit(leave_9); /* before the library's own: runs after it */
		pt_start(&argc, &argv, NULL, 0, 4096);
		end_as(argv[1]);
	}
	for (size_t i = 0; i < PT_COUNT(cases); i++) {
		pt_phase(cases[i].which);
		pt_spawn("/proc/self/exe", cases[i].which, settings, 4000, &out);
		if (out.status != cases[i].status)
			PT_FAIL("case %s ended with %d, not %d; it said:\n%s", cases[i].which,
			        out.status, cases[i].status, out.text);
	}
	ends_by_itself();
	return 0;
}
