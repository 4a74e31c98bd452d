/* Starts the job of a cell, under a launcher or by itself, and waits until its ranks have come to
 * the moment. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/job/matrix_cell.h"

enum { START_MS = 20000 };

static int slave;                       /* of the terminal, which the job has */

void
matrix_make_page(void)
{
	int fd = memfd_create("matrix-page", 0);

	if (fd < 0 || ftruncate(fd, sizeof *job.page) < 0 || dup2(fd, PT_MATRIX_FD) < 0)
		matrix_give_up("page");
	close(fd);
	job.page =
		mmap(NULL, sizeof *job.page, PROT_READ | PROT_WRITE, MAP_SHARED, PT_MATRIX_FD, 0);
	if (job.page == MAP_FAILED)
		matrix_give_up("page");
	job.output = memfd_create("matrix-output", MFD_CLOEXEC);
	if (job.output < 0)
		matrix_give_up("output");
}

/* This process takes a shell's part: the terminal is its own, the job in the foreground. */
static void
open_terminal(void)
{
	job.terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
	if (job.terminal < 0 || grantpt(job.terminal) < 0 || unlockpt(job.terminal) < 0)
		matrix_give_up("terminal");
	signal(SIGHUP, SIG_IGN);
	if (setsid() < 0)
		matrix_give_up("setsid");
	slave = open(ptsname(job.terminal), O_RDWR | O_CLOEXEC);
	if (slave < 0)
		matrix_give_up("terminal");
}

static void
job_takes_terminal(void)
{
	setpgid(0, 0);
	signal(SIGTTOU, SIG_IGN);
	tcsetpgrp(slave, getpid());
	signal(SIGTTOU, SIG_DFL);
	dup2(slave, STDIN_FILENO);
}

void
matrix_start_job(const char *program, const char *member)
{
	char size_text[16], delay_text[16];
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), sig;
	sigset_t none;

	if (matrix_is(cell.how, "int"))
		open_terminal();
	fflush(stdout);
	job.launcher = fork();
	if (job.launcher < 0)
		matrix_give_up("fork");
	if (job.launcher > 0)
		return;
	for (sig = 1; sig < 32; sig++)
		signal(sig, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	dup2(null, STDIN_FILENO);
	dup2(job.output, STDOUT_FILENO);
	dup2(job.output, STDERR_FILENO);
	if (job.terminal >= 0)
		job_takes_terminal();
	else
		setsid();
	snprintf(size_text, sizeof size_text, "%u", cell.size);
	snprintf(delay_text, sizeof delay_text, "%u", cell.delay_us);
	if (chdir(job.directory) < 0 || setenv("TMPDIR", job.directory, 1) < 0)
		_exit(98);
	if (cell.direct && setenv("GASNET_PSHM_NODES", size_text, 1) == 0)
		execl(member, member, cell.who, cell.how, cell.when, delay_text, (char *)NULL);
	else
		execl(program, program, "-n", size_text, member, cell.who, cell.how, cell.when,
		      delay_text, (char *)NULL);
	_exit(98);
}

/* Takes up all that has ended. */
void
matrix_reap(void)
{
	pid_t pid;
	int status;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid != job.launcher)
			continue;
		job.end_ns = pt_matrix_now_ns();
		job.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	}
}

/* The first child of a process; 0 if it has none. */
pid_t
matrix_child_of(pid_t parent)
{
	char path[64];
	FILE *file;
	int pid = 0;

	snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)parent, (int)parent);
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (fscanf(file, "%d", &pid) != 1)
		pid = 0;
	fclose(file);
	return pid;
}

int
matrix_wait_moment(void)
{
	uint64_t start = pt_matrix_now_ns();

	while (atomic_load(&job.page->at) < cell.size) {
		matrix_reap();
		if (job.status >= 0 || matrix_ms_since(start) > START_MS) {
			matrix_note("%u of %u ranks came to the moment", atomic_load(&job.page->at),
			     cell.size);
			return 0;
		}
		matrix_sleep_us(500);
	}
	job.keeper = matrix_child_of(matrix_child_of(job.launcher)); /* the guard's */
	return 1;
}
