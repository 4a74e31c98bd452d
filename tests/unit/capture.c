#include "tests/unit/capture.h"

#include <check.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LIMIT_MS = 10000 };

void
pt_child_start(struct pt_child *child, void (*body)(void))
{
	const struct rlimit no_core = { 0, 0 };
	int ends[2], number;

	memset(child, 0, sizeof *child);
	ck_assert_int_eq(pipe(ends), 0);
	child->pid = fork();
	ck_assert_int_ge(child->pid, 0);
	if (child->pid == 0) {
		setrlimit(RLIMIT_CORE, &no_core);
		for (number = 1; number < 64; number++)
			signal(number, SIG_DFL);
		dup2(ends[1], STDERR_FILENO);
		close(ends[0]);
		close(ends[1]);
		body();
		_exit(0);
	}
	close(ends[1]);
	child->fd = ends[0];
}

/* One read; 0 at the end of the text. */
static ssize_t
read_some(struct pt_child *child)
{
	struct pollfd ready = { .fd = child->fd, .events = POLLIN };
	size_t len = strlen(child->text);
	ssize_t got;

	if (poll(&ready, 1, LIMIT_MS) != 1) {
		kill(child->pid, SIGKILL);
		ck_abort_msg("nothing for 10 s after: %s", child->text);
	}
	got = read(child->fd, child->text + len, sizeof child->text - 1 - len);
	ck_assert_int_ge(got, 0);
	child->text[len + (size_t)got] = '\0';
	return got;
}

void
pt_child_expect(struct pt_child *child, const char *word)
{
	while (!strstr(child->text, word)) {
		if (read_some(child) == 0)
			ck_abort_msg("no `%s' in: %s", word, child->text);
	}
}

void
pt_child_end(struct pt_child *child)
{
	while (read_some(child) > 0)
		continue;
	close(child->fd);
	ck_assert_int_eq(waitpid(child->pid, &child->status, 0), child->pid);
}
