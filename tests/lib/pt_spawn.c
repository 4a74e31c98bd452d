/* Runs one job at a time: forks, executes it, reads its output, and waits with a limit. */
#include "tests/lib/pt_spawn.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CANNOT_START = 125 };

static void
child(const char *program, const char *which, const char *const *settings, int out)
{
	char *const words[] = { (char *)(uintptr_t)program, (char *)(uintptr_t)which, NULL };

	setpgid(0, 0);
	alarm(0);
	signal(SIGALRM, SIG_DFL);
	dup2(out, 1);
	dup2(out, 2);
	if (out > 2)
		close(out);
	for (; settings && *settings; settings++) {
		if (strchr(*settings, '='))
			putenv((char *)(uintptr_t)*settings);
		else
			unsetenv(*settings);
	}
	execv(program, words);
	_exit(CANNOT_START);
}

/* Read until end of file or limit; false at the limit. */
static int
collect(int fd, uint64_t end_ns, struct pt_outcome *out)
{
	char block[4096];

	for (;;) {
		uint64_t now = pt_now_ns();
		struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
		ssize_t got;

		if (now >= end_ns)
			return 0;
		if (poll(&poll_fd, 1, (int)((end_ns - now) / 1000000) + 1) <= 0)
			continue;
		got = read(fd, block, sizeof(block));
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return 1;
		for (ssize_t i = 0; i < got && out->text_bytes + 1 < sizeof(out->text); i++)
			out->text[out->text_bytes++] = block[i];
		out->text[out->text_bytes] = 0;
	}
}

void
pt_spawn(const char *program, const char *which, const char *const *settings, unsigned limit_ms,
         struct pt_outcome *out)
{
	uint64_t start = pt_now_ns();
	uint64_t limit_ns = (uint64_t)((double)limit_ms * 1e6 * pt.slack);
	int ends[2], status = 0;
	pid_t pid;

	memset(out, 0, sizeof(*out));
	fflush(NULL);
	PT_EQ(pipe(ends), 0);
	pid = fork();
	PT_CHECK(pid >= 0);
	if (pid == 0) {
		close(ends[0]);
		child(program, which, settings, ends[1]);
	}
	setpgid(pid, pid);
	close(ends[1]);
	/* end of file: every process of the job that kept our pipe has ended */
	if (!collect(ends[0], start + limit_ns, out)) {
		kill(-pid, SIGKILL);
		PT_FAIL("case %s still runs after %u ms; it said:\n%s", which, limit_ms, out->text);
	}
	close(ends[0]);
	while (waitpid(pid, &status, 0) < 0)
		PT_EQ(errno, EINTR);
	out->ns = pt_now_ns() - start;
	if (WIFEXITED(status) && WEXITSTATUS(status) == CANNOT_START)
		pt_skip("a program cannot start another one here");
	out->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
