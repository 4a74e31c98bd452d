/*
 * The guard is a process between launcher and keeper.  It does nothing until the keeper has ended
 * without having told the job's status.  Then it kills all processes that descend from the keeper.
 * It is a subreaper, so it inherits all of them, whatever their session and environment are, and
 * those of a job within the job too.  The keeper does the same when the guard has ended, and the
 * launcher when both have.  So any one of the three ends the job when the other two are gone.
 *
 * The guard does not wait for the keeper's status.  When the guard ends, the launcher inherits the
 * keeper and gets its status.
 *
 * The guard also tells two cases of a signal apart.  A signal that was sent to the whole process
 * group has reached the guard; a signal that was sent to launcher and keeper has not.
 */
#include "bootstrap/keeper/pboot_keeper.h"

#include "bootstrap/share/pboot_clean.h"
#include "runtime/util/clock.h"
#include "runtime/util/hostname.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

static const uint64_t kill_ns = 1500 * 1000000u;	/* how long the guard kills */
static const uint64_t report_ns = 200 * 1000000u;	/* how long the launcher's end may take */

static bool
keeper_has_ended(pid_t keeper)
{
	siginfo_t info = { .si_pid = 0 };

	return waitid(P_PID, (id_t)keeper, &info, WEXITED | WNOHANG | WNOWAIT) < 0 ||
	       info.si_pid != 0;
}

/* Notes pending signals before it takes them, so that the keeper finds a signal pending or
 * noted. */
static void
guard_note(struct pboot_status_page *page, int signals)
{
	struct signalfd_siginfo info;
	sigset_t pending;
	int sig;

	sigpending(&pending);
	for (sig = 1; sig < PBOOT_SIGNALS; sig++)
		if (sig != SIGCHLD && sigismember(&pending, sig) == 1)
			page->group_ns[sig] = psi_now_ns();
	while (read(signals, &info, sizeof info) == (ssize_t)sizeof info)
		;
}

/* When the launcher has ended, the keeper is continued: a stopped keeper would not learn of it. */
static void
guard_wait(struct pboot_status_page *page, int signals)
{
	struct pollfd wanted = { .fd = signals, .events = POLLIN };

	while (!keeper_has_ended(page->keeper)) {
		if (getppid() != page->launcher)
			kill(page->keeper, SIGCONT);
		pboot_poll(&wanted, 1, -1);
		guard_note(page, signals);
	}
}

/* Stops when two walks in a row find nothing: while children end, a list of them may be
 * incomplete. */
static void
guard_kill(void)
{
	uint64_t start = psi_now_ns();
	int nothing = 0;

	while (nothing < 2 && psi_now_ns() - start < kill_ns) {
		nothing = pboot_descend_signal(SIGKILL, NULL) == 0 ? nothing + 1 : 0;
		pboot_poll(NULL, 0, nothing ? 1 : 5);
	}
}

/* A launcher that lives prints the line itself; if it is stopped, it does so when it is continued.
 * A launcher that was killed together with the keeper may need a moment to end, so the guard waits
 * for report_ns. */
static void
guard_report(const struct pboot_status_page *page)
{
	uint64_t start = psi_now_ns();

	while (getppid() == page->launcher && !page->launcher_knows &&
	       psi_now_ns() - start < report_ns)
		pboot_poll(NULL, 0, 1);
	if (getppid() != page->launcher)
		pboot_say("launcher and keeper are gone (pids %d, %d, %s); the job ends",
		    (int)page->launcher, (int)page->keeper, psi_hostname());
}

static void __attribute__((noreturn))
guard_run(struct pboot_status_page *page, int signals)
{
	pboot_say_forget();
	guard_wait(page, signals);
	if (page->status_plus_1 != 0)
		_exit(0);
	guard_kill(); /* GUARD_KILLS */
	guard_report(page);
	pboot_clean(NULL, NULL);
	pboot_say_settle();
	_exit(0);
}

static int
guard_open_signals(void)
{
	sigset_t wanted;

	pboot_group_signals(&wanted);
	return signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
}

void
pboot_guard_start(struct pboot_status_page *page, int keeper_sock)
{
	int signals;
	pid_t keeper;

	if (!pboot_subreaper())
		return;
	signals = guard_open_signals();
	if (signals < 0)
		return;
	prctl(PR_SET_PDEATHSIG, SIGCHLD, 0, 0, 0);
	page->guard = getpid();
	keeper = fork();
	if (keeper > 0) {
		page->keeper = keeper;
		prctl(PR_SET_NAME, "penstock-guard", 0, 0, 0);
		close(keeper_sock);
		guard_run(page, signals);
	}
	close(signals);
	if (keeper < 0)		/* no guard: this process becomes the keeper */
		page->guard = 0;
}
