/*
 * Runs an engine.  Without a time limit it takes the place of this process.  With one this process
 * stays beside it, in its process group: signals that come to this process alone go on to the
 * engine.  The keepers of the job know the limit too (PST_JOB_TIMEOUT), and end their ranks with a
 * report; an engine that is left after that is ended.
 */
#include "engine.h"

#include "program_find.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MS ((uint64_t)1000000)

/* The keepers have the first of these times after the limit to end the job, and the engine then has
 * the second one. */
static const uint64_t keepers_ns = 3000 * MS, engine_ns = 3000 * MS;

enum { TIME_OVER = 124 };

static uint64_t
now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 * MS + (uint64_t)now.tv_nsec;
}

static void __attribute__((noreturn))
engine_exec(char **words)
{
	execvp(words[0], words);
	program_refuse("cannot run %s: %s", words[0], strerror(errno));
}

/* Not every engine can be told that no rank reads. */
static void
input_close(void)
{
	const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (null < 0 || dup2(null, STDIN_FILENO) < 0)
		program_refuse("cannot open /dev/null: %s", strerror(errno));
	close(null);
}

struct limited {
	pid_t engine;
	sigset_t signals, before;
	uint64_t next_ns;	/* when there is something to do */
	double limit_s;
	int sent;		/* the last signal by which the engine was ended; 0: none */
	bool over;
};

static void
limited_signals(struct limited *self)
{
	static const int taken[] = { SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGCONT,
		SIGUSR1, SIGUSR2 };
	size_t i;

	sigemptyset(&self->signals);
	for (i = 0; i < sizeof taken / sizeof *taken; i++)
		sigaddset(&self->signals, taken[i]);
	signal(SIGCHLD, SIG_DFL);
	sigprocmask(SIG_BLOCK, &self->signals, &self->before);
}

static void
limited_fork(struct limited *self, char **words)
{
	const pid_t parent = getpid();

	self->engine = fork();
	if (self->engine < 0)
		program_refuse("cannot start %s: %s", words[0], strerror(errno));
	if (self->engine > 0)
		return;
	prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
	if (getppid() != parent)
		_exit(1);
	sigprocmask(SIG_SETMASK, &self->before, NULL);
	engine_exec(words);
}

/* What a terminal sends comes to the engine as well.  Time in which the job is stopped does not
 * count. */
static void
limited_take_signal(struct limited *self, const siginfo_t *info)
{
	const uint64_t from = now_ns();

	if (info->si_signo == SIGCHLD)
		return;
	if (info->si_code != SI_KERNEL)
		kill(self->engine, info->si_signo);
	if (info->si_signo == SIGTSTP) {
		raise(SIGSTOP);
		kill(self->engine, SIGCONT);
		self->next_ns += now_ns() - from;
	}
}

static void
limited_take_time(struct limited *self)
{
	if (now_ns() < self->next_ns)
		return;
	if (!self->over) {
		self->over = true;
		self->next_ns += keepers_ns;
		fprintf(stderr, "%s: the time limit of %.3g s is over; the job ends\n",
		    program_name, self->limit_s);
		return;
	}
	self->sent = self->sent ? SIGKILL : SIGTERM;
	self->next_ns += engine_ns;
	kill(self->engine, self->sent);
	kill(self->engine, SIGCONT);
}

/* A limit of a century is as good as none, and the kernel takes no longer one. */
static void
limited_wait(struct limited *self)
{
	const uint64_t now = now_ns();
	const uint64_t left = self->next_ns > now ? self->next_ns - now : 0;
	const struct timespec time = {
		.tv_sec = (time_t)(left / (1000 * MS)), .tv_nsec = (long)(left % (1000 * MS)),
	};
	siginfo_t info;

	if (sigtimedwait(&self->signals, &info, &time) > 0)
		limited_take_signal(self, &info);
	limited_take_time(self);
}

static int
run_limited(char **words, uint64_t limit_ns)
{
	struct limited self = { .limit_s = (double)limit_ns / 1e9 };
	int status = 0;

	limited_signals(&self);
	self.next_ns = now_ns() + limit_ns;
	limited_fork(&self, words);
	while (waitpid(self.engine, &status, WNOHANG) == 0)
		limited_wait(&self);
	if (self.over)
		return TIME_OVER;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int
engine_run(char **words, const struct pboot_plan *plan)
{
	fflush(NULL);
	if (plan->stdin_rank < 0)
		input_close();
	if (plan->timeout_ns)
		return run_limited(words, plan->timeout_ns);
	engine_exec(words);
}
