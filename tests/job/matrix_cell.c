/*
 * One cell of the failure matrix: starts the job, makes what the cell's id says happen when all
 * ranks are at the moment, and checks how the job ends.
 *
 *     matrix-cell SEED LAUNCHER MEMBER ID STATUS MOST LEAST PATTERN
 *
 * (see matrix_cells).  Everything of the job descends from this process, which is a subreaper, so
 * what is left of a job is its children.  Prints one line, and what the job said if that was wrong.
 */
#include <errno.h>
#include <fcntl.h>
#include <regex.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/job/matrix_page.h"

enum { BOUND_MS = 2000, START_MS = 20000, STOP_MS = 300 };

static struct {
	const char *id, *seed, *status, *pattern;
	unsigned size, most, least;
	char who[32], how[32], when[32];
	unsigned delay_us;
	int direct;			/* the program is its own launcher */
} cell;

static struct pt_matrix_page *page;
static pid_t launcher, keeper;
static int job_status = -1;	/* -1: the launcher lives */
static uint64_t hit_ns, end_ns;
static int output, terminal = -1, slave;
static char directory[] = "/tmp/penstock-cell.XXXXXX";
static char wrong[2048];
static unsigned slack = 1;

static void __attribute__((noreturn))
give_up(const char *what)
{
	printf("ERROR %s: %s: %s\n", cell.id, what, strerror(errno));
	exit(99);
}

static void __attribute__((format(printf, 1, 2)))
note(const char *format, ...)
{
	size_t len = strlen(wrong);
	va_list args;

	va_start(args, format);
	vsnprintf(wrong + len, sizeof wrong - len, format, args);
	va_end(args);
	len = strlen(wrong);
	snprintf(wrong + len, sizeof wrong - len, "; ");
}

static int
is(const char *text, const char *word)
{
	return strcmp(text, word) == 0;
}

static void
sleep_us(unsigned us)
{
	struct timespec pause = { us / 1000000, (long)(us % 1000000) * 1000 };

	nanosleep(&pause, NULL);
}

static unsigned
ms_since(uint64_t then)
{
	return (unsigned)((pt_matrix_now_ns() - then) / 1000000);
}

/* -- the job --------------------------------------------------------------------------------- */

/* A seed and an id always give the same delay, 0 to 20 ms. */
static unsigned
delay_of(const char *seed, const char *id)
{
	uint64_t hash = strtoull(seed, NULL, 10) + 14695981039346656037u;

	while (*id)
		hash = (hash ^ (unsigned char)*id++) * 1099511628211u;
	return (unsigned)(hash >> 20) % 20000;
}

static void
make_page(void)
{
	int fd = memfd_create("matrix-page", 0);

	if (fd < 0 || ftruncate(fd, sizeof *page) < 0 || dup2(fd, PT_MATRIX_FD) < 0)
		give_up("page");
	close(fd);
	page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, PT_MATRIX_FD, 0);
	if (page == MAP_FAILED)
		give_up("page");
	output = memfd_create("matrix-output", MFD_CLOEXEC);
	if (output < 0)
		give_up("output");
}

/* This process takes a shell's part: the terminal is its own, the job in the foreground. */
static void
open_terminal(void)
{
	terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
	if (terminal < 0 || grantpt(terminal) < 0 || unlockpt(terminal) < 0)
		give_up("terminal");
	signal(SIGHUP, SIG_IGN);
	if (setsid() < 0)
		give_up("setsid");
	slave = open(ptsname(terminal), O_RDWR | O_CLOEXEC);
	if (slave < 0)
		give_up("terminal");
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

static void
start_job(const char *program, const char *member)
{
	char size_text[16], delay_text[16];
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), sig;
	sigset_t none;

	if (is(cell.how, "int"))
		open_terminal();
	fflush(stdout);
	launcher = fork();
	if (launcher < 0)
		give_up("fork");
	if (launcher > 0)
		return;
	for (sig = 1; sig < 32; sig++)
		signal(sig, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	dup2(null, STDIN_FILENO);
	dup2(output, STDOUT_FILENO);
	dup2(output, STDERR_FILENO);
	if (terminal >= 0)
		job_takes_terminal();
	else
		setsid();
	snprintf(size_text, sizeof size_text, "%u", cell.size);
	snprintf(delay_text, sizeof delay_text, "%u", cell.delay_us);
	if (chdir(directory) < 0 || setenv("TMPDIR", directory, 1) < 0)
		_exit(98);
	if (cell.direct && setenv("GASNET_PSHM_NODES", size_text, 1) == 0)
		execl(member, member, cell.who, cell.how, cell.when, delay_text, (char *)NULL);
	else
		execl(program, program, "-n", size_text, member, cell.who, cell.how, cell.when,
		      delay_text, (char *)NULL);
	_exit(98);
}

/* Takes up all that has ended. */
static void
reap(void)
{
	pid_t pid;
	int status;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid != launcher)
			continue;
		end_ns = pt_matrix_now_ns();
		job_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	}
}

/* The first child of a process; 0 if it has none. */
static pid_t
child_of(pid_t parent)
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

static int
wait_moment(void)
{
	uint64_t start = pt_matrix_now_ns();

	while (atomic_load(&page->at) < cell.size) {
		reap();
		if (job_status >= 0 || ms_since(start) > START_MS) {
			note("%u of %u ranks came to the moment", atomic_load(&page->at),
			     cell.size);
			return 0;
		}
		sleep_us(500);
	}
	keeper = child_of(child_of(launcher)); /* the guard's */
	return 1;
}

/* -- how ------------------------------------------------------------------------------------- */

static void
hit(void)
{
	hit_ns = pt_matrix_now_ns();
}

static void
signal_chosen(int sig)
{
	unsigned rank;

	if (is(cell.who, "launcher"))
		kill(launcher, sig);
	else if (is(cell.who, "keeper") && keeper > 0)
		kill(keeper, sig);
	for (rank = 0; rank < cell.size; rank++)
		if ((is(cell.who, "rank0") && rank == 0) ||
		    (is(cell.who, "other") && rank == cell.size - 1) ||
		    (is(cell.who, "half") && rank % 2 == 1))
			kill(atomic_load(&page->pids[rank]), sig);
}

static void
let_go(void)
{
	hit();
	atomic_store(&page->go, 1);
}

static void
stop(void)
{
	int going = is(cell.when, "exit");

	hit();
	signal_chosen(SIGSTOP);
	sleep_us(STOP_MS * 1000);
	reap();
	if (job_status >= 0 && !going)
		note("a stopped process ended the job");
	if (is(cell.how, "stop-while"))
		signal_chosen(SIGCONT);
	if (is(cell.how, "stop-good") &&
	    (is(cell.who, "keeper") || !(going || is(cell.who, "launcher")))) {
		hit();
		kill(launcher, SIGTERM);
	} else if (!going) {
		let_go();
	}
}

static void
make_it_happen(void)
{
	sleep_us(cell.delay_us + (is(cell.when, "exit") ? 5000 : 0));
	if (is(cell.how, "term")) {
		hit();
		kill(-launcher, SIGTERM);
	} else if (is(cell.how, "int")) {
		hit();
		if (write(terminal, "\003", 1) != 1)
			note("cannot type");
	} else if (strncmp(cell.how, "stop", 4) == 0) {
		stop();
	} else if (is(cell.how, "kill")) {
		hit();
		signal_chosen(SIGKILL);
	} else if (is(cell.how, "segv") && (is(cell.who, "launcher") || is(cell.who, "keeper"))) {
		hit();
		signal_chosen(SIGSEGV);
	}
}

/* -- the end --------------------------------------------------------------------------------- */

static void
note_left(void)
{
	char path[64], command[256] = "";
	pid_t pid = child_of(getpid());
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
	note("still there after %d ms: %d (%s)", BOUND_MS, (int)pid, command);
}

static void
kill_all(void)
{
	uint64_t start = pt_matrix_now_ns();
	pid_t pid;

	while ((pid = child_of(getpid())) > 0 && ms_since(start) < 2000) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
}

/* The launcher's end, and that of all its descendants, no later than the bound. */
static void
wait_end(void)
{
	uint64_t start = hit_ns ? hit_ns : pt_matrix_now_ns(), acted;

	do {
		sleep_us(500);
		reap();
		acted = atomic_load(&page->acted_ns);
		if (!hit_ns && acted)
			start = hit_ns = acted;
	} while (ms_since(start) < BOUND_MS * slack && child_of(getpid()) > 0);
	if (child_of(getpid()) > 0)
		note_left();
	else if (job_status < 0)
		note("the launcher's status is not known");
	kill_all();
}

static void
check_status(void)
{
	char wanted[64], *word, *rest = NULL;

	snprintf(wanted, sizeof wanted, "%s", cell.status);
	for (word = strtok_r(wanted, "|", &rest); word; word = strtok_r(NULL, "|", &rest))
		if (atoi(word) == job_status)
			return;
	note("status %d, not %s", job_status, cell.status);
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

static void
check_output(void)
{
	static char text[65536];
	char pattern[512];
	ssize_t got = pread(output, text, sizeof text - 1, 0), i;
	unsigned lines = 0;
	regex_t regex;

	for (i = 0; i < got; i++)
		lines += text[i] == '\n';
	if (lines < cell.least || lines > cell.most)
		note("%u lines of messages, not %u to %u", lines, cell.least, cell.most);
	expand(pattern, sizeof pattern);
	if (regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB) != 0)
		give_up("pattern");
	text[got > 0 ? strcspn(text, "\n") : 0] = '\0';
	if (*text && regexec(&regex, text, 0, NULL, 0) != 0)
		note("the first message does not match \"%s\"", pattern);
	regfree(&regex);
}

static void
report(void)
{
	char text[4096];
	ssize_t got = pread(output, text, sizeof text - 1, 0);
	unsigned took = hit_ns && end_ns > hit_ns ? (unsigned)((end_ns - hit_ns) / 1000000) : 0;

	if (rmdir(directory) < 0)
		note("files left in %s", directory);
	if (!*wrong) {
		printf("ok %s %u ms\n", cell.id, took);
		return;
	}
	printf("WRONG %s (seed %s): %sstatus %d after %u ms\n", cell.id, cell.seed, wrong,
	       job_status, took);
	if (got > 0) {
		text[got] = '\0';
		printf("%s", text);
	}
}

static void
read_cell(char **argv)
{
	cell.id = argv[4];
	cell.seed = argv[1];
	cell.status = argv[5];
	cell.most = (unsigned)atoi(argv[6]);
	cell.least = (unsigned)atoi(argv[7]);
	cell.pattern = argv[8];
	cell.delay_us = delay_of(argv[1], argv[4]);
	cell.direct = cell.id[0] == 'd';
	if (sscanf(cell.id + 1, "%u/%31[^/]/%31[^/]/%31[^/]", &cell.size, cell.who, cell.how,
	           cell.when) != 4 || cell.size > PT_MATRIX_RANKS_MAX)
		give_up("no such id");
	if (getenv("PT_SLACK") && atoi(getenv("PT_SLACK")) > 0)
		slack = (unsigned)atoi(getenv("PT_SLACK"));
}

int
main(int argc, char **argv)
{
	if (argc != 9) {
		fprintf(stderr, "usage: matrix-cell SEED LAUNCHER MEMBER and a line of "
		        "matrix_cells\n");
		return 99;
	}
	read_cell(argv);
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	if (!mkdtemp(directory))
		give_up(directory);
	make_page();
	start_job(argv[2], argv[3]);
	if (wait_moment())
		make_it_happen();
	wait_end();
	check_status();
	check_output();
	report();
	return *wrong ? 1 : 0;
}
