/*
 * The guard: a process between launcher and keeper, which does nothing until the keeper has gone without
 * having told how the job ended.  As a subreaper it then inherits whatever descends from the keeper, in a
 * session of its own or not, of whatever environment, a job within the job too, and kills it.  The
 * keeper does the same when the guard is gone, the launcher when both are: the one that is left of the
 * three ends the job.
 *
 * It takes nobody's status away: as it ends the launcher inherits the keeper, and hears how that ended.
 *
 * It is also a witness: a signal that was sent to the whole process group has reached the guard, one
 * that was sent to launcher and keeper has not.
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

static const uint64_t kill_ns = 1500 * 1000000u, report_ns = 200 * 1000000u;

static bool
keeper_has_ended(pid_t keeper)
{
	siginfo_t info = { .si_pid = 0 };

	return waitid(P_PID, (id_t)keeper, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid != 0;
}

/* Notes what came before it is taken, so that the keeper finds it as pending or in the note. */
static void
guard_witness(struct pboot_told *told, int signals)
{
	struct signalfd_siginfo info;
	sigset_t pending;
	int sig;

	sigpending(&pending);
	for (sig = 1; sig < PBOOT_SIGNALS; sig++)
		if (sig != SIGCHLD && sigismember(&pending, sig) == 1)
			told->group_ns[sig] = psi_now_ns();
	while (read(signals, &info, sizeof info) == (ssize_t)sizeof info)
		;
}

/* A keeper that somebody stopped would not hear of its launcher's end. */
static void
guard_wait(struct pboot_told *told, int signals)
{
	struct pollfd news = { .fd = signals, .events = POLLIN };

	while (!keeper_has_ended(told->keeper)) {
		if (getppid() != told->launcher)
			kill(told->keeper, SIGCONT);
		pboot_poll(&news, 1, -1);
		guard_witness(told, signals);
	}
}

/* Twice nothing: a list of children that is read while some of them go may lack others. */
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

/* A launcher that lives speaks for itself, when it is continued if it is stopped; one that was killed
 * together with the keeper may take a moment to go. */
static void
guard_report(const struct pboot_told *told)
{
	uint64_t start = psi_now_ns();

	while (getppid() == told->launcher && !told->launcher_knows && psi_now_ns() - start < report_ns)
		pboot_poll(NULL, 0, 1);
	if (getppid() != told->launcher)
		pboot_say("launcher and keeper are gone (pids %d, %d, %s); the job ends",
		    (int)told->launcher, (int)told->keeper, psi_hostname());
}

static void __attribute__((noreturn))
guard_run(struct pboot_told *told, int signals)
{
	pboot_say_forget();
	guard_wait(told, signals);
	if (told->status != 0)
		_exit(0);
	guard_kill(); /* GUARD_KILLS */
	guard_report(told);
	pboot_clean(NULL, NULL);
	pboot_say_settle();
	_exit(0);
}

static int
open_signals(void)
{
	sigset_t wanted;

	pboot_group_signals(&wanted);
	return signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
}

void
pboot_guard_start(struct pboot_told *told, int keeper_sock)
{
	int signals;
	pid_t keeper;

	if (!pboot_subreaper())
		return;
	signals = open_signals();
	if (signals < 0)
		return;
	prctl(PR_SET_PDEATHSIG, SIGCHLD, 0, 0, 0);
	told->guard = getpid();
	keeper = fork();
	if (keeper > 0) {
		told->keeper = keeper;
		prctl(PR_SET_NAME, "penstock-guard", 0, 0, 0);
		close(keeper_sock);
		guard_run(told, signals);
	}
	close(signals);
	if (keeper < 0)		/* this process is the keeper then */
		told->guard = 0;
}
