/* How a keeper that adopts its ranks begins, and how these ranks end. */
#include "bootstrap/keeper/pboot_adopt.h"

#include "bootstrap/keeper/pboot_peers.h"
#include "bootstrap/share/pboot_clean.h"
#include "runtime/util/clock.h"
#include "runtime/util/deny.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MS ((uint64_t)1000000)

/* -- the end of ranks -------------------------------------------------------------------------- */

/* A released rank has this long to end.  A rank that waits for its release is spared for as long
 * after the first SIGKILL. */
static const uint64_t release_ns = 500 * MS;

/* Lets the ranks end.  Open MPI reads nothing more once a rank has ended with a status, so the
 * cause is printed first. */
void
pboot_adopt_release(struct pboot_keeper *keeper)
{
	uint32_t rank;

	if (!keeper->adopts || pboot_rules_anyone_at_work(&keeper->rules) ||
	    !pboot_peers_all_idle(keeper))
		return;
	if (keeper->released_ns == 0) {
		pboot_report_cause(keeper);
		keeper->released_ns = psi_now_ns();
	}
	for (rank = 0; rank < keeper->plan->size; rank++) {
		struct pboot_keeper_rank *self = &keeper->ranks[rank];

		if (self->released || self->control < 0)
			continue;
		self->released = true;
		pboot_wire_send(self->control, PBOOT_MSG_RELEASE, rank,
		    keeper->rules.cause.code, NULL);
	}
}

bool
pboot_adopt_spares(struct pboot_keeper *keeper, uint32_t rank)
{
	const uint64_t now = psi_now_ns();

	if (!keeper->adopts || !keeper->rules.ranks[rank].asked)
		return false;
	if (keeper->kill_ns == 0)
		keeper->kill_ns = now;
	return now - keeper->kill_ns < release_ns ||
	    (keeper->released_ns != 0 && now - keeper->released_ns < release_ns);
}

/* -- the engine -------------------------------------------------------------------------------- */

/* Does the process live?  pidfd is its pidfd, or -1. */
static bool
process_is_there(int pidfd, pid_t pid)
{
	struct pollfd process = { .fd = pidfd, .events = POLLIN };

	return pidfd >= 0 ? pboot_poll(&process, 1, 0) == 0 : pboot_process_lives(pid);
}

/* The process above the lowest rank may be a shell, which ends when its rank has ended.  So its end
 * is that of the engine only while the job runs, and only if the lowest rank still lives after the
 * end has been seen. */
void
pboot_adopt_check_engine(struct pboot_keeper *keeper)
{
	const struct pboot_keeper_rank *lowest = &keeper->ranks[0];
	bool over = keeper->released_ns != 0 || keeper->rules.ranks[0].gone;

	if (!keeper->engine_watched ||
	    (!over && process_is_there(keeper->engine_pidfd, keeper->launcher)))
		return;
	over = over || !process_is_there(lowest->init_pidfd, lowest->init_pid);
	keeper->engine_watched = false;
	if (keeper->engine_pidfd >= 0)
		close(keeper->engine_pidfd);
	keeper->engine_pidfd = -1;
	if (over)
		return;
	keeper->engine_gone = true;
	pboot_keeper_event(keeper, PBOOT_EV_LAUNCHER, 0, 0);
}

/* -- becoming the keeper ----------------------------------------------------------------------- */

/* Closes the descriptors from least to most.  A kernel before 5.9 does not know close_range, and a
 * filter of system calls may refuse it; then those that /proc lists are closed. */
static void
descriptors_close(int least, int most)
{
	DIR *list;
	const struct dirent *entry;
	int fd;

	if (least > most)
		return;
#ifdef SYS_close_range
	if (!psi_denied("close_range") && syscall(SYS_close_range, least, most, 0) == 0)
		return;
#endif
	list = opendir("/proc/self/fd");
	while (list && (entry = readdir(list)) != NULL) {
		fd = atoi(entry->d_name);
		if (fd >= least && fd <= most && fd != dirfd(list))
			close(fd);
	}
	if (list)
		closedir(list);
}

static int
descriptors_compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* Closes what the keeper does not need.  It keeps standard output and error, where it prints, the
 * listener, and the network between keepers.  It must not hold any other descriptor of the rank: if
 * it held one end of a client's pipe, the process at the other end would get no end of file. */
static void
keeper_close_others(const struct pboot_adoption *adoption)
{
	const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int kept[] = { STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO, adoption->listener, 0 };
	unsigned count = 4, i;

	if (null > STDIN_FILENO && adoption->listener != STDIN_FILENO)
		dup2(null, STDIN_FILENO);
	if (adoption->net)
		kept[count++] = pboot_overlay_descriptor(adoption->net);
	qsort(kept, count, sizeof *kept, descriptors_compare);
	for (i = 0; i + 1 < count; i++)
		descriptors_close(kept[i] + 1, kept[i + 1] - 1);
	descriptors_close(kept[count - 1] + 1, INT_MAX);
}

static void
keeper_take_ranks(struct pboot_keeper *keeper, const struct pboot_adoption *adoption)
{
	uint32_t rank;

	for (rank = 0; rank < adoption->size; rank++) {
		struct pboot_keeper_rank *self = &keeper->ranks[rank];

		self->pid = self->init_pid = adoption->ranks[rank].pid;
		errno = 0;
		self->init_pidfd = pboot_process_open(self->pid);
		if (self->init_pidfd < 0 && (errno == EMFILE || errno == ENFILE))
			pboot_keeper_give_up(keeper, "descriptors of its ranks", errno);
		self->messages = adoption->ranks[rank].messages;
		keeper->page->ranks[rank] = self->pid;
		pboot_keeper_event(keeper, PBOOT_EV_JOINED, rank, 0);
	}
}

static void __attribute__((noreturn))
keeper_run(const struct pboot_adoption *adoption, const struct pboot_saved_state *saved)
{
	static struct pboot_keeper keeper;
	static struct pboot_plan plan;
	struct pboot_status_page *page = calloc(1, pboot_status_page_bytes(adoption->size));
	int err;

	keeper_close_others(adoption);
	/* The end of an agent, which is this process's parent by then, continues it if it is
	 * stopped: it has no guard that would. */
	prctl(PR_SET_PDEATHSIG, SIGCONT, 0, 0, 0);
	if (!page) {
		pboot_say("no memory for the job's keeper");
		_exit(1);
	}
	pboot_clean(NULL, NULL);
	plan.size = adoption->size;
	plan.stdin_rank = -1;
	plan.timeout_ns = adoption->limit_ns;
	page->launcher = adoption->parent;
	keeper.adopts = true;
	keeper.engine_watched = adoption->parent != 0;
	keeper.engine_pidfd = keeper.engine_watched ? pboot_process_open(adoption->parent) : -1;
	pboot_keeper_prepare(&keeper, &plan, saved, page, -1,
	    pboot_area_bytes(adoption->job_size));
	keeper.listener = adoption->listener;
	memcpy(keeper.name, adoption->name, sizeof keeper.name);
	err = adoption->net ? pboot_peers_begin(&keeper, adoption) : 0;
	if (err)
		pboot_keeper_give_up(&keeper, "the keeper's connections to other hosts", err);
	pboot_adopt_connect(&keeper, adoption->ranks);
	keeper_take_ranks(&keeper, adoption);
	pboot_keeper_serve(&keeper);
}

/* Runs in the process between the rank and the keeper, which ends at once, so that the keeper is no
 * child of the rank.  The keeper gets a session of its own, since the engine kills a rank's process
 * group with the rank. */
static void __attribute__((noreturn))
between_run(const struct pboot_adoption *adoption, const struct pboot_saved_state *saved)
{
	pid_t keeper;

	setsid();
	keeper = fork();
	if (keeper < 0)
		_exit(errno & 255);
	if (keeper == 0)
		keeper_run(adoption, saved);
	_exit(0);
}

/* Waits for the process in between, and takes its SIGCHLD, which must not reach the client.
 * Another thread of the client may have waited for any child and got this one.  If there is no
 * keeper then, the ranks notice it when they connect. */
static int
between_await(pid_t child)
{
	const struct timespec now = { 0, 0 };
	sigset_t chld;
	int status = 0, err;
	pid_t got;

	do {
		got = waitpid(child, &status, 0);
	} while (got < 0 && errno == EINTR);
	err = errno;
	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	sigtimedwait(&chld, NULL, &now);
	if (got < 0)
		return err == ECHILD ? 0 : err;
	return WIFEXITED(status) ? WEXITSTATUS(status) : ECHILD;
}

int
pboot_adopt(const struct pboot_adoption *adoption)
{
	struct pboot_saved_state saved;
	pid_t child;
	int err;

	pboot_state_change(&saved);
	child = fork();
	if (child == 0)
		between_run(adoption, &saved);
	err = child < 0 ? errno : between_await(child);
	pboot_state_restore(&saved);
	return err;
}
