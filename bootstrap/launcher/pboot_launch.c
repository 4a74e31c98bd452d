/*
 * The launcher: it passes signals on to the keeper and waits for its word.  In a direct start this
 * is the client's own process, so nothing here allocates, uses stdio, or lets the client's code
 * run: all signals are blocked, and other threads that exist are parked.
 */
#include "bootstrap/launcher/pboot_launch.h"

#include "bootstrap/keeper/pboot_keeper.h"
#include "bootstrap/share/pboot_settings.h"
#include "runtime/util/clock.h"
#include "runtime/util/fence.h"
#include "runtime/util/hostname.h"
#include "runtime/util/lack.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__has_include)
#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#define CAN_ASK_SINGLE_THREADED
#endif
#endif

/* How long the guard of an abandoned job may kill what it left behind, and then the launcher. */
static const uint64_t guard_ns = 1000 * 1000000u;
static const uint64_t kill_ns = 1500 * 1000000u;

struct launcher {
	const struct pboot_plan *plan;
	struct pboot_origin origin;
	struct pboot_spared before;	/* children that are not of this job */
	int sock;			/* to the keeper */
	int signals;
	pid_t child;			/* the guard; where there is none, the keeper */
	bool child_gone, keeper_gone, keeper_silent;
	int keeper_status;
	uint64_t guard_until_ns;	/* when a guard whose keeper is gone must have ended */
	struct pboot_told *told;
	sigset_t unsent;		/* signals for which the socket had no room */
	bool subreaper;
};

static const int passed_on[] = {
	SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT, SIGUSR1, SIGUSR2,
};

/* What was ignored when we started (nohup, a shell's background job) stays ignored. */
static int
open_signals(void)
{
	struct sigaction action;
	sigset_t wanted;
	size_t i;
	int fd;

	sigemptyset(&wanted);
	sigaddset(&wanted, SIGCHLD);
	for (i = 0; i < sizeof passed_on / sizeof *passed_on; i++)
		if (sigaction(passed_on[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
			sigaddset(&wanted, passed_on[i]);
	fd = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? fd : pboot_fd_raise(fd);
}

/*
 * An ignored SIGCHLD would take away the status of children.  Signals of a failure end the launcher
 * and the keeper, unless they would run a handler that the client of a direct start has set.
 */
static void
change_origin(struct pboot_origin *origin_out)
{
	static const int failures[] = { SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP };
	struct sigaction plain = { .sa_handler = SIG_DFL }, set;
	sigset_t most;
	size_t i;

	sigfillset(&most);
	for (i = 0; i < sizeof failures / sizeof *failures; i++) {
		if (sigaction(failures[i], NULL, &set) == 0 && set.sa_handler == SIG_DFL)
			sigdelset(&most, failures[i]);
	}
	sigprocmask(SIG_BLOCK, &most, &origin_out->mask);
	sigaction(SIGCHLD, &plain, &origin_out->child_action);
	getrlimit(RLIMIT_NOFILE, &origin_out->files_limit);
	prctl(PR_GET_NAME, origin_out->task_name, 0, 0, 0);
}

static void
restore_origin(const struct pboot_origin *origin)
{
	sigaction(SIGCHLD, &origin->child_action, NULL);
	sigprocmask(SIG_SETMASK, &origin->mask, NULL);
}

/* A keeper that is stopped takes nothing from the socket: what finds no room is kept, each signal once. */
static void
keeper_tell(struct launcher *self, int sig)
{
	if (pboot_wire_send(self->sock, PBOOT_MSG_SIGNAL, 0, sig, NULL) == EAGAIN)
		sigaddset(&self->unsent, sig);
}

/* Tells the keeper again what found no room; true if something still finds none. */
static bool
keeper_tell_again(struct launcher *self)
{
	sigset_t unsent = self->unsent;
	int sig;

	sigemptyset(&self->unsent);
	for (sig = 1; sig < 32; sig++)
		if (sigismember(&unsent, sig) == 1)
			keeper_tell(self, sig);
	return !sigisemptyset(&self->unsent);
}

/*
 * Stops as the sender wished: by the default action, so that the kernel leaves a process without a
 * shell running.  Returns when continued; the keeper is told, whether or not we were stopped.
 */
static void
stop_self(struct launcher *self)
{
	struct sigaction plain = { .sa_handler = SIG_DFL }, before;
	sigset_t only, blocked;

	sigaction(SIGTSTP, &plain, &before);
	sigemptyset(&only);
	sigaddset(&only, SIGTSTP);
	raise(SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &only, &blocked);
	sigprocmask(SIG_SETMASK, &blocked, NULL);
	sigaction(SIGTSTP, &before, NULL);
	keeper_tell(self, SIGCONT);
}

static void
pass_on(struct launcher *self, int sig)
{
	bool stop = sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU;

	keeper_tell(self, stop ? SIGTSTP : sig);
	if (stop)
		stop_self(self);
	else if (pboot_is_request_to_end(sig) && self->told->keeper && !self->keeper_gone)
		kill(self->told->keeper, SIGCONT); /* one that someone stopped could not pass it on */
}

/* A keeper is the launcher's child only when its guard has gone. */
static void
reap(struct launcher *self)
{
	pid_t pid;
	int status;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid == self->told->keeper || pid == self->child)
			self->keeper_status = status;
		self->keeper_gone |= pid == self->told->keeper;
		self->child_gone |= pid == self->child;
	}
	/* one that has gone before anybody knew its number */
	self->keeper_gone |= self->keeper_silent && self->child_gone && self->told->keeper == 0;
}

static void
serve_signals(struct launcher *self)
{
	struct signalfd_siginfo info;

	while (read(self->signals, &info, sizeof info) == (ssize_t)sizeof info)
		if (info.ssi_signo != SIGCHLD)
			pass_on(self, (int)info.ssi_signo);
	reap(self);
}

/*
 * The keeper has closed its socket: it has ended.  What the guard has to do then is nothing, if the
 * keeper came to its end; else to kill what the keeper left.
 */
static void
keeper_fell_silent(struct launcher *self)
{
	self->keeper_silent = true;
	self->told->launcher_knows = true;
	self->guard_until_ns = psi_now_ns() + (self->told->status ? 0 : guard_ns);
	if (!self->child_gone && self->told->guard)
		kill(self->child, SIGCONT);
}

/* How long to wait, in ms; a guard whose time is over is ended. */
static int
guard_wait_ms(struct launcher *self)
{
	uint64_t now;

	if (!self->keeper_silent || self->child_gone || self->told->guard == 0)
		return -1;
	now = psi_now_ns();
	if (now < self->guard_until_ns)
		return (int)((self->guard_until_ns - now) / 1000000) + 1;
	kill(self->child, SIGKILL);
	return -1;
}

static void
wait_for_end(struct launcher *self)
{
	struct pollfd polls[2] = {
		{ .fd = self->signals, .events = POLLIN },
		{ .fd = self->sock },
	};

	while (!self->keeper_gone) { /* SEE_KEEPER */
		polls[1].events = keeper_tell_again(self) ? POLLOUT : 0;
		pboot_poll(polls, 2, guard_wait_ms(self));
		if (polls[1].revents & POLLHUP) {
			polls[1].fd = -1;
			keeper_fell_silent(self);
		}
		serve_signals(self);
	}
}

/* Without subreaper the ranks are no children of ours now: the keeper told their numbers.  Programs
 * that they started bear the job's name; in a direct start, where forks do not, the ranks are still
 * there to be walked from. */
static size_t
kill_told(const struct launcher *self)
{
	size_t found = 0;
	uint32_t i;

	if (self->subreaper)
		return 0;
	if (self->plan->argv && *self->told->name)
		found = pboot_marked_signal(SIGKILL, self->told->name);
	for (i = 0; i < self->plan->size; i++)
		if (self->told->ranks[i] > 0)
			found += pboot_tree_signal(self->told->ranks[i], 1, SIGKILL);
	return found;
}

static void
kill_abandoned(struct launcher *self)
{
	uint64_t start = psi_now_ns();
	struct pollfd signals = { .fd = self->signals, .events = POLLIN };

	while (psi_now_ns() - start < kill_ns) {
		if (pboot_descend_signal(SIGKILL, &self->before) + kill_told(self) == 0)
			return;
		pboot_poll(&signals, 1, 5);
		serve_signals(self);
	}
}

static void
report_keeper(const struct launcher *self)
{
	const char *host = psi_hostname();
	int status = self->keeper_status, keeper = self->told->keeper;

	if (WIFSIGNALED(status))
		pboot_say("the keeper (pid %d, %s) was killed by signal %d; the job ends",
		    keeper, host, WTERMSIG(status));
	else
		pboot_say("the keeper (pid %d, %s) ended with status %d; the job ends",
		    keeper, host, WEXITSTATUS(status));
}

static int
end_abandoned(struct launcher *self)
{
	report_keeper(self);
	kill_abandoned(self);
	pboot_clean(NULL, NULL);
	return WIFSIGNALED(self->keeper_status) ? 128 + WTERMSIG(self->keeper_status) : 1;
}

/* Clang's no_sanitize leaves what it adds at a function's entry, which needs a thread that
 * ThreadSanitizer knows. */
#if defined(__has_attribute)
#if __has_attribute(disable_sanitizer_instrumentation)
#define NOT_INSTRUMENTED __attribute__((disable_sanitizer_instrumentation))
#endif
#endif
#ifndef NOT_INSTRUMENTED
#define NOT_INSTRUMENTED __attribute__((no_sanitize("thread")))
#endif

/* Also runs on ThreadSanitizer's own thread: no instrumentation, no function that it replaces. */
static void NOT_INSTRUMENTED
park_forever(int sig)
{
	unsigned long all = ~0ul;

	(void)sig;
	for (;;)
		syscall(SYS_rt_sigsuspend, &all, sizeof all);
}

enum { PARK_SIGNAL = 33 };

/*
 * Threads that the client made before init stop where they are.  Signal 33 belongs to the C
 * library's own set-up calls, which this process makes no more; a thread cannot have blocked it.
 * The structure is the kernel's, since the library's sigaction refuses that number.
 */
static void
park_prepare(void)
{
	struct {
		void (*handler)(int);
		unsigned long flags;
		void (*restorer)(void);
		unsigned long mask;
	} action = { .handler = park_forever, .flags = 0x04000000, .mask = ~0ul };

	syscall(SYS_rt_sigaction, PARK_SIGNAL, &action, NULL, sizeof action.mask);
}

/* The main thread does not count: where another thread calls init, it is there in any case. */
static void
park_thread(pid_t thread, void *parked)
{
	thread = pboot_own_number(thread);
	if (thread <= 0 || thread == (pid_t)syscall(SYS_gettid))
		return;
	syscall(SYS_tgkill, getpid(), thread, PARK_SIGNAL);
	*(unsigned *)parked += thread != getpid();
}

/* The program's own: not the one that ThreadSanitizer makes together with the first, and none if the C
 * library never made one, as where an emulator has threads in the process. */
static unsigned
made_by_program(unsigned parked)
{
#ifdef PSI_TSAN
	parked -= parked > 0;
#endif
#ifdef CAN_ASK_SINGLE_THREADED
	if (__libc_single_threaded)
		return 0;
#endif
	return parked;
}

static void
park_others(void)
{
	unsigned parked = 0;

	park_prepare();
	pboot_each_number("/proc/self/task", park_thread, &parked);
	parked = made_by_program(parked);
	if (parked > 0)
		pboot_say("warning: %u thread%s made before init do%s not exist in the ranks",
		    parked, parked > 1 ? "s" : "", parked > 1 ? "" : "es");
}

static int
launch_failed(struct launcher *self, const char *what)
{
	pboot_say("cannot start the job: %s: %s%s", what, strerror(errno), psi_lack(errno));
	pboot_say_settle();
	restore_origin(&self->origin);
	return 1;
}

static int
launcher_run(struct launcher *self)
{
	static const struct pboot_print_limits hurried = {
		.quiet_ns = PBOOT_PRINT_FAILED_NS, .until_ns = UINT64_MAX, .news = -1,
	};
	int status;

	wait_for_end(self);
	pboot_print_limit(&hurried);
	status = self->told->status - 1;
	if (status < 0)
		status = end_abandoned(self);
	else
		pboot_descend_signal(SIGKILL, &self->before);
	pboot_say_settle();
	return status;
}

int
pboot_launch(const struct pboot_plan *plan, struct pboot_seat *seat_out)
{
	static struct launcher self;
	int ends[2], status;

	pboot_settings_check();
	self.plan = plan;
	pboot_clean(NULL, NULL);
	change_origin(&self.origin);
	pboot_children_note(&self.before);
	self.subreaper = pboot_subreaper();
	sigemptyset(&self.unsent);
	self.told = mmap(NULL, pboot_told_bytes(plan->size), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (self.told == MAP_FAILED)
		return launch_failed(&self, "memory");
	self.signals = open_signals();
	if (self.signals < 0)
		return launch_failed(&self, "signalfd");
	errno = pboot_wire_pair(ends);
	if (errno)
		return launch_failed(&self, "socketpair");
	self.sock = ends[0];
	self.told->launcher = getpid();
	self.child = fork();
	if (self.child < 0)
		return launch_failed(&self, "fork");
	if (self.child == 0) {
		close(self.signals);
		close(self.sock);
		pboot_guard_start(self.told, ends[1]);
		pboot_keeper_run(plan, &self.origin, self.told, ends[1], seat_out);
		return -1;
	}
	close(ends[1]);
	if (!plan->argv)
		park_others();
	status = launcher_run(&self);
	if (!plan->argv)
		_exit(status);
	restore_origin(&self.origin);
	return status;
}

int
pboot_launcher_run(const struct pboot_plan *plan)
{
	struct pboot_seat seat;

	return pboot_launch(plan, &seat);
}
