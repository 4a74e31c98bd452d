/*
 * The launcher passes signals on to the keeper and waits for the job's status.  In a direct start
 * the launcher is the client's own process.  Therefore nothing here allocates or uses stdio, and
 * none of the client's code runs: all signals are blocked, and the client's other threads are
 * stopped for good (park_others).
 */
#include "bootstrap/launcher/pboot_launch.h"

#include "bootstrap/keeper/pboot_keeper.h"
#include "bootstrap/share/pboot_settings.h"
#include "bootstrap/share/pboot_state.h"
#include "runtime/util/clock.h"
#include "runtime/util/fence.h"
#include "runtime/util/hostname.h"
#include "runtime/util/limit_hint.h"

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

/* The keeper has died.  The guard has guard_ns to kill the processes of the job; after that the
 * launcher kills for kill_ns. */
static const uint64_t guard_ns = 1000 * 1000000u;
static const uint64_t kill_ns = 1500 * 1000000u;

struct launcher {
	const struct pboot_plan *plan;
	struct pboot_saved_state saved;
	struct pboot_spared before;	/* children that are not of this job */
	int sock;			/* to the keeper */
	int signals;
	pid_t child;			/* the guard, or the keeper where there is no guard */
	bool child_gone, keeper_gone, keeper_has_closed;
	int keeper_status;
	uint64_t guard_until_ns;	/* when a guard whose keeper is gone must have ended */
	struct pboot_status_page *page;
	sigset_t unsent;		/* signals for which the socket had no room */
	bool subreaper;
};

static const int passed_on[] = {
	SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT, SIGUSR1, SIGUSR2,
};

int
pboot_launch_open_signals(void)
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

/* A stopped keeper reads nothing from the socket.  A signal for which the socket has no room is
 * kept in `unsent', once for each number. */
static void
keeper_send(struct launcher *self, int sig)
{
	if (pboot_wire_send(self->sock, PBOOT_MSG_SIGNAL, 0, sig, NULL) == EAGAIN)
		sigaddset(&self->unsent, sig);
}

/* Sends the unsent signals again; true if some are still unsent. */
static bool
keeper_send_unsent(struct launcher *self)
{
	sigset_t unsent = self->unsent;
	int sig;

	sigemptyset(&self->unsent);
	for (sig = 1; sig < 32; sig++)
		if (sigismember(&unsent, sig) == 1)
			keeper_send(self, sig);
	return !sigisemptyset(&self->unsent);
}

void
pboot_launch_stop_self(void)
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
}

static void
launcher_pass_on(struct launcher *self, int sig)
{
	bool stop = sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU;

	keeper_send(self, stop ? SIGTSTP : sig);
	if (stop) {
		pboot_launch_stop_self();
		keeper_send(self, SIGCONT);	/* whether or not this process was stopped */
	} else if (pboot_is_request_to_end(sig) && self->page->keeper && !self->keeper_gone) {
		kill(self->page->keeper, SIGCONT); /* a stopped keeper could not pass it on */
	}
}

/* The keeper becomes the launcher's child when the guard has ended. */
static void
launcher_reap(struct launcher *self)
{
	pid_t pid;
	int status;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid == self->page->keeper || pid == self->child)
			self->keeper_status = status;
		self->keeper_gone |= pid == self->page->keeper;
		self->child_gone |= pid == self->child;
	}
	/* The keeper ended before the launcher knew its process number. */
	self->keeper_gone |= self->keeper_has_closed && self->child_gone && self->page->keeper == 0;
}

static void
launcher_take_signals(struct launcher *self)
{
	struct signalfd_siginfo info;

	while (read(self->signals, &info, sizeof info) == (ssize_t)sizeof info)
		if (info.ssi_signo != SIGCHLD)
			launcher_pass_on(self, (int)info.ssi_signo);
	launcher_reap(self);
}

/*
 * The keeper has closed its socket, so it has ended.  If it told the job's status, the guard has
 * nothing to do.  Otherwise the guard kills the processes of the job.
 */
static void
keeper_closed(struct launcher *self)
{
	self->keeper_has_closed = true;
	self->page->launcher_knows = true;
	self->guard_until_ns = psi_now_ns() + (self->page->status_plus_1 ? 0 : guard_ns);
	if (!self->child_gone && self->page->guard)
		kill(self->child, SIGCONT);
}

/* Returns how long to wait for the guard, in ms.  Kills it when its time is over. */
static int
guard_wait_ms(struct launcher *self)
{
	uint64_t now;

	if (!self->keeper_has_closed || self->child_gone || self->page->guard == 0)
		return -1;
	now = psi_now_ns();
	if (now < self->guard_until_ns)
		return (int)((self->guard_until_ns - now) / 1000000) + 1;
	kill(self->child, SIGKILL);
	return -1;
}

static void
launcher_wait(struct launcher *self)
{
	struct pollfd polls[2] = {
		{ .fd = self->signals, .events = POLLIN },
		{ .fd = self->sock },
	};

	while (!self->keeper_gone) { /* SEE_KEEPER */
		polls[1].events = keeper_send_unsent(self) ? POLLOUT : 0;
		pboot_poll(polls, 2, guard_wait_ms(self));
		if (polls[1].revents & POLLHUP) {
			polls[1].fd = -1;
			keeper_closed(self);
		}
		launcher_take_signals(self);
	}
}

/*
 * Kills what the keeper has noted.  Without subreaper the ranks are not the launcher's children
 * now, but the keeper has noted their numbers.  Programs that ranks of penstock-run started have
 * the job's name in their environment.  Programs of a direct start do not; there the ranks still
 * live, and their descendants are found from them.
 */
static size_t
ranks_kill_noted(const struct launcher *self)
{
	size_t found = 0;
	uint32_t i;

	if (self->subreaper)
		return 0;
	if (self->plan->argv && *self->page->name)
		found = pboot_marked_signal(SIGKILL, self->page->name);
	for (i = 0; i < self->plan->size; i++)
		if (self->page->ranks[i] > 0)
			found += pboot_tree_signal(self->page->ranks[i], 1, SIGKILL);
	return found;
}

static void
job_kill_abandoned(struct launcher *self)
{
	uint64_t start = psi_now_ns();
	struct pollfd signals = { .fd = self->signals, .events = POLLIN };

	while (psi_now_ns() - start < kill_ns) {
		if (pboot_descend_signal(SIGKILL, &self->before) + ranks_kill_noted(self) == 0)
			return;
		pboot_poll(&signals, 1, 5);
		launcher_take_signals(self);
	}
}

static void
launch_report_keeper(const struct launcher *self)
{
	const char *host = psi_hostname();
	int status = self->keeper_status, keeper = self->page->keeper;

	if (WIFSIGNALED(status))
		pboot_say("the keeper (pid %d, %s) was killed by signal %d; the job ends",
		    keeper, host, WTERMSIG(status));
	else
		pboot_say("the keeper (pid %d, %s) ended with status %d; the job ends",
		    keeper, host, WEXITSTATUS(status));
}

static int
job_end_abandoned(struct launcher *self)
{
	launch_report_keeper(self);
	job_kill_abandoned(self);
	pboot_clean(NULL, NULL);
	return WIFSIGNALED(self->keeper_status) ? 128 + WTERMSIG(self->keeper_status) : 1;
}

/* With clang's no_sanitize a function's entry is still instrumented.  That code needs a thread that
 * ThreadSanitizer knows, so a stronger attribute is used where there is one. */
#if defined(__has_attribute)
#if __has_attribute(disable_sanitizer_instrumentation)
#define NOT_INSTRUMENTED __attribute__((disable_sanitizer_instrumentation))
#endif
#endif
#ifndef NOT_INSTRUMENTED
#define NOT_INSTRUMENTED __attribute__((no_sanitize("thread")))
#endif

/* This also runs on ThreadSanitizer's own thread, so it has no instrumentation and calls no
 * function that ThreadSanitizer replaces. */
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
 * Installs the handler that stops the threads which the client made before init.  Signal 33 is the
 * C library's own (setuid and the like); this process makes no such call any more, and a thread
 * cannot block that signal.  The structure is the kernel's, since the C library's sigaction refuses
 * that number.
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

/* The main thread is not counted: it exists in any case, also where another thread calls init. */
static void
park_thread(pid_t thread, void *parked)
{
	thread = pboot_own_number(thread);
	if (thread <= 0 || thread == (pid_t)syscall(SYS_gettid))
		return;
	syscall(SYS_tgkill, getpid(), thread, PARK_SIGNAL);
	*(unsigned *)parked += thread != getpid();
}

/* Returns how many of the parked threads the program made.  ThreadSanitizer makes one together with
 * the program's first.  If the C library never made a thread, none is the program's: an emulator
 * made them, say. */
static unsigned
threads_of_program(unsigned parked)
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
	parked = threads_of_program(parked);
	if (parked > 0)
		pboot_say("warning: %u thread%s made before init do%s not exist in the ranks",
		    parked, parked > 1 ? "s" : "", parked > 1 ? "" : "es");
}

static int
launch_report_failure(struct launcher *self, const char *what)
{
	pboot_say("cannot start the job: %s: %s%s", what, strerror(errno), psi_limit_hint(errno));
	pboot_say_settle();
	pboot_state_restore(&self->saved);
	return 1;
}

static int
launcher_run(struct launcher *self)
{
	static const struct pboot_print_limits hurried = {
		.quiet_ns = PBOOT_PRINT_FAILED_NS, .until_ns = UINT64_MAX, .wake_fd = -1,
	};
	int status;

	launcher_wait(self);
	pboot_print_limit(&hurried);
	status = self->page->status_plus_1 - 1;
	if (status < 0)
		status = job_end_abandoned(self);
	else
		pboot_descend_signal(SIGKILL, &self->before);
	pboot_say_settle();
	return status;
}

int __attribute__((cold))
pboot_launch(const struct pboot_plan *plan, struct pboot_startup *startup_out)
{
	static struct launcher self;
	int ends[2], status;

	pboot_settings_check();
	self.plan = plan;
	pboot_clean(NULL, NULL);
	pboot_state_change(&self.saved);
	pboot_children_note(&self.before);
	self.subreaper = pboot_subreaper();
	sigemptyset(&self.unsent);
	self.page = mmap(NULL, pboot_status_page_bytes(plan->size), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (self.page == MAP_FAILED)
		return launch_report_failure(&self, "memory");
	self.signals = pboot_launch_open_signals();
	if (self.signals < 0)
		return launch_report_failure(&self, "signalfd");
	errno = pboot_wire_pair(ends);
	if (errno)
		return launch_report_failure(&self, "socketpair");
	self.sock = ends[0];
	self.page->launcher = getpid();
	self.child = fork();
	if (self.child < 0)
		return launch_report_failure(&self, "fork");
	if (self.child == 0) {
		close(self.signals);
		close(self.sock);
		pboot_guard_start(self.page, ends[1]);
		pboot_keeper_run(plan, &self.saved, self.page, ends[1], startup_out);
		return -1;
	}
	close(ends[1]);
	if (!plan->argv)
		park_others();
	status = launcher_run(&self);
	if (!plan->argv)
		_exit(status);
	pboot_state_restore(&self.saved);
	return status;
}

int
pboot_launcher_run(const struct pboot_plan *plan)
{
	struct pboot_startup startup;

	return pboot_launch(plan, &startup);
}
