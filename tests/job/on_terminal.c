/*
 * on-terminal [ACT@WHEN]... -- COMMAND...: runs a command as a shell runs a job on a terminal, and
 * acts in this order.  ACT is ^C or ^Z typed, "line" for a line typed, a signal's number, "fg" to
 * put the job into the foreground and continue it, or "file=PATH" to make a file.  WHEN is a number
 * of ms after the act before, "stopped" for when the job has been seen to stop, or PATH:N for when
 * the files PATH.0 to PATH.<N-1> are there.  Prints the terminal's output, a line for each change
 * of the job's state, and its status last.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

static int master, slave;
static pid_t job;
static int stopped;
static long acted_ms;

static void __attribute__((noreturn))
fail(const char *what)
{
	fprintf(stderr, "on-terminal: %s: %s\n", what, strerror(errno));
	exit(99);
}

static void
open_terminal(void)
{
	const char *name;
	struct termios mode;

	master = posix_openpt(O_RDWR | O_NOCTTY);
	if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0)
		fail("no terminal");
	name = ptsname(master);
	setsid();
	slave = open(name, O_RDWR);
	if (slave < 0 || ioctl(slave, TIOCSCTTY, 0) < 0)
		fail("no controlling terminal");
	tcgetattr(slave, &mode);
	mode.c_oflag &= (tcflag_t)~(tcflag_t)OPOST;
	mode.c_lflag &= (tcflag_t)~(tcflag_t)ECHO;
	tcsetattr(slave, TCSANOW, &mode);
	fcntl(master, F_SETFL, O_NONBLOCK);
}

static void
start_job(char **command)
{
	job = fork();
	if (job < 0)
		fail("fork");
	if (job == 0) {
		setpgid(0, 0);
		signal(SIGTTOU, SIG_IGN);
		tcsetpgrp(slave, getpid());
		signal(SIGTTOU, SIG_DFL);
		dup2(slave, 0);
		dup2(slave, 1);
		dup2(slave, 2);
		close(master);
		close(slave);
		execvp(command[0], command);
		_exit(127);
	}
	setpgid(job, job);
	signal(SIGTTOU, SIG_IGN);
}

static void
type_key(char key)
{
	if (write(master, &key, 1) != 1)
		fail("cannot type");
}

static void
act(const char *what)
{
	if (strncmp(what, "^C", 2) == 0) {
		type_key(3);
	} else if (strncmp(what, "^Z", 2) == 0) {
		type_key(26);
	} else if (strncmp(what, "fg", 2) == 0) {
		tcsetpgrp(slave, job);
		kill(-job, SIGCONT);
	} else if (strncmp(what, "line", 4) == 0) {
		if (write(master, "a line\n", 7) != 7)
			fail("cannot type");
	} else if (strncmp(what, "file=", 5) == 0) {
		char path[4096];
		int fd;

		snprintf(path, sizeof path, "%.*s", (int)strcspn(what + 5, "@"), what + 5);
		fd = open(path, O_CREAT | O_WRONLY, 0600);
		if (fd < 0)
			fail(path);
		close(fd);
	} else if (atoi(what) > 0) {
		kill(job, atoi(what));
	} else {
		fail(what);
	}
}

static long
now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int
files_there(const char *prefix, int prefix_len, int count)
{
	char path[4096];
	int i;

	for (i = 0; i < count; i++) {
		snprintf(path, sizeof path, "%.*s.%d", prefix_len, prefix, i);
		if (access(path, F_OK) != 0)
			return 0;
	}
	return 1;
}

/* Is it time for this? */
static int
is_due(const char *act)
{
	const char *when = strchr(act, '@'), *colon;

	if (!when)
		fail(act);
	when++;
	if (strcmp(when, "stopped") == 0)
		return stopped;
	colon = strrchr(when, ':');
	if (colon)
		return files_there(when, (int)(colon - when), atoi(colon + 1));
	return now_ms() - acted_ms >= atol(when);
}

static void
copy_output(void)
{
	char text[4096];
	ssize_t got;

	while ((got = read(master, text, sizeof text)) > 0)
		fwrite(text, 1, (size_t)got, stdout);
	fflush(stdout);
}

/* False when the job has ended; *status_out is its status then. */
static int
watch_job(int *status_out)
{
	int status;

	if (waitpid(job, &status, WNOHANG | WUNTRACED | WCONTINUED) != job)
		return 1;
	if (WIFSTOPPED(status)) {
		printf("stopped\n");
		stopped = 1;
		tcsetpgrp(slave, getpgrp());
		return 1;
	}
	if (WIFCONTINUED(status)) {
		stopped = 0;
		printf("continued\n");
		return 1;
	}
	*status_out = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	return 0;
}

int
main(int argc, char **argv)
{
	int next = 1, end = 1, status = 0;

	while (end < argc && strcmp(argv[end], "--") != 0)
		end++;
	if (end + 1 >= argc)
		fail("usage");
	open_terminal();
	acted_ms = now_ms();
	start_job(argv + end + 1);
	while (watch_job(&status)) {
		struct pollfd news = { .fd = master, .events = POLLIN };

		poll(&news, 1, 10);
		copy_output();
		if (next < end && is_due(argv[next])) {
			act(argv[next++]);
			acted_ms = now_ms();
		}
	}
	copy_output();
	printf("status %d\n", status);
	return 0;
}
