/* Checks the end of a cell's job: it is in time, status and messages are right, and nothing is
 * left. */
#include <fcntl.h>
#include <regex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/job/matrix_cell.h"

static void
note_left(void)
{
	char path[64], command[256] = "";
	pid_t pid = matrix_child_of(getpid());
	int fd;

	snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		ssize_t got = read(fd, command, sizeof command - 1), i;

		for (i = 0; i + 1 < got; i++)
			if (command[i] == '\0')
				command[i] = ' ';
		close(fd);
	}
	matrix_note("still there after %d ms: %d (%s)", MATRIX_BOUND_MS, (int)pid, command);
}

static void
kill_all(void)
{
	uint64_t start = pt_matrix_now_ns();
	pid_t pid;

	while ((pid = matrix_child_of(getpid())) > 0 && matrix_ms_since(start) < 2000) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
}

/* The launcher's end, and that of all its descendants, no later than the bound. */
void
matrix_wait_end(void)
{
	uint64_t start = job.hit_ns ? job.hit_ns : pt_matrix_now_ns(), acted;

	do {
		matrix_sleep_us(500);
		matrix_reap();
		acted = atomic_load(&job.page->acted_ns);
		if (!job.hit_ns && acted)
			start = job.hit_ns = acted;
	} while (matrix_ms_since(start) < MATRIX_BOUND_MS * job.slack &&
	         matrix_child_of(getpid()) > 0);
	if (matrix_child_of(getpid()) > 0)
		note_left();
	else if (job.status < 0)
		matrix_note("the launcher's status is not known");
	kill_all();
}

void
matrix_check_status(void)
{
	char wanted[64], *word, *rest = NULL;

	snprintf(wanted, sizeof wanted, "%s", cell.status);
	for (word = strtok_r(wanted, "|", &rest); word; word = strtok_r(NULL, "|", &rest))
		if (atoi(word) == job.status)
			return;
	matrix_note("status %d, not %s", job.status, cell.status);
}

/* HOST in the pattern is the host's name, in which only a dot means something. */
static void
expand(char *pattern_out, size_t room)
{
	const char *from = cell.pattern;
	char host[65] = "";
	size_t len = 0, i;

	gethostname(host, sizeof host - 1);
	while (*from && len + 4 < room) {
		if (strncmp(from, "HOST", 4) != 0) {
			pattern_out[len++] = *from++;
			continue;
		}
		for (i = 0; host[i] && len + 4 < room; i++)
			pattern_out[len++] = host[i];
		from += 4;
	}
	pattern_out[len] = '\0';
}

void
matrix_check_output(void)
{
	static char text[65536];
	char pattern[512];
	ssize_t got = pread(job.output, text, sizeof text - 1, 0), i;
	unsigned lines = 0;
	regex_t regex;

	for (i = 0; i < got; i++)
		lines += text[i] == '\n';
	if (lines < cell.least || lines > cell.most)
		matrix_note("%u lines of messages, not %u to %u", lines, cell.least, cell.most);
	expand(pattern, sizeof pattern);
	if (regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB) != 0)
		matrix_give_up("pattern");
	text[got > 0 ? strcspn(text, "\n") : 0] = '\0';
	if (*text && regexec(&regex, text, 0, NULL, 0) != 0)
		matrix_note("the first message does not match \"%s\"", pattern);
	regfree(&regex);
}

void
matrix_report(void)
{
	char text[4096];
	ssize_t got = pread(job.output, text, sizeof text - 1, 0);
	unsigned took = job.hit_ns && job.end_ns > job.hit_ns
	                        ? (unsigned)((job.end_ns - job.hit_ns) / 1000000)
	                        : 0;

	if (rmdir(job.directory) < 0)
		matrix_note("files left in %s", job.directory);
	if (!*job.wrong) {
		printf("ok %s %u ms\n", cell.id, took);
		return;
	}
	printf("WRONG %s (seed %s): %sstatus %d after %u ms\n", cell.id, cell.seed, job.wrong,
	       job.status, took);
	if (got > 0) {
		text[got] = '\0';
		printf("%s", text);
	}
}
