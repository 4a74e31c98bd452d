/*
 * Kills at a chosen instant: kill-at WHOM CALL NTH COMMAND...
 *
 * Runs the command and follows it and all that descends from it.  When any of these processes is
 * about to make system call CALL ("unlinkat", "shmctl", ..., or "any") for the NTH time, counted
 * over all of them, it is killed with -9 (WHOM "one"), or they all are (WHOM "all").  With WHOM
 * "newborn" and CALL "fork" the NTH process that comes to be is stopped, as by SIGSTOP, before its
 * first step.  Ends with the command's status; 75 if the instant did not come, 77 if nothing can be
 * followed here.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FOLLOWED_MAX = 4096, NOT_REACHED = 75, SKIP = 77 };

static const struct {
	const char *name;
	long number;
} calls[] = {
	{ "any", -1 },
	{ "unlinkat", SYS_unlinkat },
	{ "shmget", SYS_shmget },
	{ "shmat", SYS_shmat },
	{ "shmctl", SYS_shmctl },
	{ "memfd_create", SYS_memfd_create },
	{ "flock", SYS_flock },
	{ "ftruncate", SYS_ftruncate },
	{ "mmap", SYS_mmap },
	{ "sendmsg", SYS_sendmsg },
	{ "futex", SYS_futex },
	{ "fork", -2 },
};

static struct followed {
	pid_t pid;		/* a thread's; 0: free */
	long birth;		/* it is the process number so many that came to be; 0: not told
	                         * yet */
	bool seen, held;	/* it has stopped once; it waits there until its number is told */
} followed[FOLLOWED_MAX];

static struct followed *
find(pid_t pid)
{
	struct followed *free_one = NULL;
	size_t i;

	for (i = 0; i < FOLLOWED_MAX; i++) {
		if (followed[i].pid == pid)
			return &followed[i];
		if (!free_one && followed[i].pid == 0)
			free_one = &followed[i];
	}
	if (!free_one)
		exit(SKIP);
	*free_one = (struct followed) { .pid = pid };
	return free_one;
}

static bool
is_wanted(pid_t pid, long wanted)
{
	struct __ptrace_syscall_info info;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof info, &info) <= 0 ||
	    info.op != PTRACE_SYSCALL_INFO_ENTRY)
		return false;
	return wanted < 0 || (long)info.entry.nr == wanted;
}

static void
kill_all(void)
{
	size_t i;

	for (i = 0; i < FOLLOWED_MAX; i++)
		if (followed[i].pid)
			kill(followed[i].pid, SIGKILL);
}

static void
start(char **command)
{
	pid_t pid = fork();

	if (pid < 0)
		exit(SKIP);
	if (pid == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
			_exit(SKIP);
		raise(SIGSTOP);
		execvp(command[0], command);
		_exit(127);
	}
	find(pid);
}

static long
number_of(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof calls / sizeof *calls; i++)
		if (strcmp(calls[i].name, name) == 0)
			return calls[i].number;
	fprintf(stderr, "kill-at: no call is named %s\n", name);
	exit(99);
}

/* The one to stop is let go as if SIGSTOP had come, the others as they are. */
static void
let_go(struct followed *self, long wanted, bool *stopped_out)
{
	self->held = false;
	if (self->birth != wanted) {
		ptrace(PTRACE_SYSCALL, self->pid, NULL, NULL);
		return;
	}
	ptrace(PTRACE_DETACH, self->pid, NULL, (void *)(long)SIGSTOP);
	self->pid = 0;
	*stopped_out = true;
}

/* Counts births as parents tell of them; a child's own first stop may be seen before or after
 * that. */
static void
note_birth(pid_t parent, long wanted, bool *stopped_out)
{
	static long births;
	struct followed *self;
	unsigned long child;

	if (ptrace(PTRACE_GETEVENTMSG, parent, NULL, &child) != 0)
		return;
	self = find((pid_t)child);
	self->birth = ++births;
	if (self->held)
		let_go(self, wanted, stopped_out);
}

static bool
is_birth(int status)
{
	const int event = status >> 16;

	return event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK ||
	       event == PTRACE_EVENT_CLONE;
}

/* True if the stop has been dealt with. */
static bool
at_birth(struct followed *self, int status, long wanted, bool *stopped_out)
{
	if (is_birth(status))
		note_birth(self->pid, wanted, stopped_out);
	if (self->seen)
		return false;
	self->seen = self->held = true;
	if (self->birth)
		let_go(self, wanted, stopped_out);
	return true;
}

/* What a stopped process gets when it goes on: a real signal, or none. */
static int
signal_of(int status)
{
	int sig = WSTOPSIG(status);

	return status >> 16 || sig == (SIGTRAP | 0x80) || sig == SIGSTOP ? 0 : sig;
}

int
main(int argc, char **argv)
{
	const long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
	    PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
	long wanted, left;
	bool all, newborn, first = true, killed = false;
	int status, code = NOT_REACHED;
	pid_t pid, root = 0;

	if (argc < 5)
		return 99;
	all = strcmp(argv[1], "all") == 0;
	newborn = strcmp(argv[1], "newborn") == 0;
	wanted = number_of(argv[2]);
	left = atol(argv[3]);
	start(argv + 4);
	while ((pid = waitpid(-1, &status, __WALL)) > 0) {
		struct followed *self = find(pid);

		root = root ? root : pid;
		if (!WIFSTOPPED(status)) {
			if (pid == root)
				code = WIFEXITED(status) ? WEXITSTATUS(status)
				                         : 128 + WTERMSIG(status);
			self->pid = 0;
			continue;
		}
		if (first) {
			ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)options);
			self->seen = true;
		}
		first = false;
		if (newborn && at_birth(self, status, left, &killed))
			continue;
		if (!killed && !newborn && WSTOPSIG(status) == (SIGTRAP | 0x80) &&
		    is_wanted(pid, wanted) && --left == 0) {
			killed = true;
			if (all)
				kill_all();
			else
				kill(pid, SIGKILL);
			continue;
		}
		ptrace(PTRACE_SYSCALL, pid, NULL, (void *)(long)signal_of(status));
	}
	return killed ? code : code == 0 ? NOT_REACHED : code;
}
