/* Passes signals on, takes the ends of children, and ends the job: the keeper first asks the
 * processes to end, then it kills them, until none is left. */
#include "bootstrap/keeper/pboot_keeper.h"

#include "runtime/util/clock.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MS ((uint64_t)1000000)

/* When all ranks have ended, processes that they started have linger_ns to end by themselves, then
 * they are killed for kill_ns. */
static const uint64_t linger_ns = 100 * MS, kill_ns = 1000 * MS;

/* Signals the process that entered init, or the keeper's child if none has. */
static void
rank_signal(const struct pboot_keeper_rank *self, int sig)
{
#ifdef SYS_pidfd_send_signal
	if (self->init_pidfd >= 0) {
		syscall(SYS_pidfd_send_signal, self->init_pidfd, sig, NULL, 0);
		return;
	}
#endif
	kill(self->init_pid ? self->init_pid : self->pid, sig);
}

static void
rank_signal_both(const struct pboot_keeper_rank *self, int sig)
{
	rank_signal(self, sig);
	if (self->init_pid && self->init_pid != self->pid)
		kill(self->pid, sig);
}

bool
pboot_is_request_to_end(int sig)
{
	return sig == SIGHUP || sig == SIGINT || sig == SIGQUIT || sig == SIGTERM;
}

/* A rank that is stopped must get a request to end too, so SIGCONT follows it. */
static void
rank_forward(struct pboot_keeper *keeper, uint32_t rank, int sig)
{
	if (keeper->rules.ranks[rank].gone)
		return;
	if (sig == SIGTSTP || sig == SIGCONT)
		rank_signal_both(&keeper->ranks[rank], sig);
	else
		rank_signal(&keeper->ranks[rank], sig);
	if (pboot_is_request_to_end(sig))
		rank_signal_both(&keeper->ranks[rank], SIGCONT);
}

void
pboot_end_forward(struct pboot_keeper *keeper, int sig)
{
	uint32_t rank;

	for (rank = 0; rank < keeper->plan->size; rank++) {
		sigdelset(&keeper->ranks[rank].missed, sig);
		rank_forward(keeper, rank, sig);
	}
}

void
pboot_end_forward_missed(struct pboot_keeper *keeper, int sig)
{
	uint32_t rank;

	for (rank = 0; rank < keeper->plan->size; rank++) {
		if (sigismember(&keeper->ranks[rank].missed, sig) != 1)
			continue;
		sigdelset(&keeper->ranks[rank].missed, sig);
		rank_forward(keeper, rank, sig);
	}
}

/*
 * Has the rank lost a request to end?  A process that lives although the signal has its default
 * action never got it: the process is newer than the signal, or its parent handled the signal
 * between fork and exec.  The same holds for a process that entered init after the signal.  If the
 * program has its own handler, the keeper cannot know whether it ran, and does not send again.
 */
static bool
rank_lost_signal(const struct pboot_keeper *keeper, uint32_t rank, int sig)
{
	const struct pboot_keeper_rank *self = &keeper->ranks[rank];
	pid_t pid = self->init_pid ? self->init_pid : self->pid;

	return self->joined_ns > keeper->asked_ns ||
	    (pboot_process_has(pid, PBOOT_CAUGHT, sig) == 0 &&
	    pboot_process_has(pid, PBOOT_IGNORED, sig) == 0 &&
	    pboot_process_has(pid, PBOOT_BLOCKED, sig) == 0);
}

void
pboot_end_forward_lost(struct pboot_keeper *keeper, int sig)
{
	uint32_t rank;

	for (rank = 0; rank < keeper->plan->size; rank++)
		if (pboot_rules_at_work(&keeper->rules, rank) &&
		    rank_lost_signal(keeper, rank, sig))
			rank_signal(&keeper->ranks[rank], sig);
}

/* Takes the rank's last messages before its end: they were sent before it (LAST_WORDS). */
static void
rank_take_end(struct pboot_keeper *keeper, enum pboot_event_kind kind, uint32_t rank, int status)
{
	struct pboot_keeper_rank *self = &keeper->ranks[rank];

	pboot_receive_incoming(keeper);
	pboot_receive_rank(keeper, rank);
	self->vanish_ns = 0;
	if (self->init_pidfd >= 0)
		close(self->init_pidfd);
	self->init_pidfd = -1;
	pboot_keeper_event(keeper, kind, rank, status);
	if (self->control >= 0)
		close(self->control);
	self->control = -1;
}

void
pboot_end_adopted(struct pboot_keeper *keeper, uint32_t rank)
{
	if (keeper->ranks[rank].agent_knows)
		rank_take_end(keeper, PBOOT_EV_DIED, rank, keeper->ranks[rank].end_status);
	else
		rank_take_end(keeper, PBOOT_EV_ENDED, rank, 0);
}

/* The process has ended.  Another process may get its number, and must not be spared. */
static void
spared_remove(struct pboot_keeper *keeper, pid_t pid)
{
	struct pboot_spared *spared = &keeper->spared;
	size_t i;

	for (i = 0; i < spared->count; i++)
		if (spared->pids[i] == pid)
			spared->pids[i] = spared->pids[--spared->count];
}

static void
child_take_end(struct pboot_keeper *keeper, pid_t pid, int status)
{
	uint32_t rank;

	if (pid == keeper->relay) {
		spared_remove(keeper, pid);
		keeper->relay = 0;
		return;
	}
	for (rank = 0; rank < keeper->plan->size; rank++)
		if (keeper->ranks[rank].pid == pid && !keeper->rules.ranks[rank].gone)
			break;
	if (rank < keeper->plan->size)
		rank_take_end(keeper, PBOOT_EV_DIED, rank, status);
}

void
pboot_end_reap(struct pboot_keeper *keeper)
{
	pid_t pid;
	int status;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) /* REAP */
		child_take_end(keeper, pid, status);
}

/* A rank without a handler for SIGQUIT would leave a core, so it gets SIGTERM. */
static int
rank_quit_signal(struct pboot_keeper *keeper, uint32_t rank)
{
	const struct pboot_keeper_rank *self = &keeper->ranks[rank];
	int sig = pboot_rules_quit_signal(&keeper->rules, rank);

	if (sig == SIGQUIT && pboot_process_has(self->init_pid, PBOOT_CAUGHT, sig) == 0)
		return SIGTERM;
	return sig;
}

void
pboot_end_quit(struct pboot_keeper *keeper)
{
	uint32_t rank;
	int sig;

	for (rank = 0; rank < keeper->plan->size; rank++) {
		if (keeper->rules.ranks[rank].gone)
			continue;
		sig = rank_quit_signal(keeper, rank);
		if (sig)
			rank_signal(&keeper->ranks[rank], sig);
		rank_signal_both(&keeper->ranks[rank], SIGCONT);
	}
}

static size_t
strays_kill(const struct pboot_keeper *keeper, int sig)
{
	size_t found = pboot_descend_signal(sig, &keeper->spared);

	if (!keeper->subreaper && keeper->plan->argv)
		found += pboot_marked_signal(sig, keeper->name);
	return found;
}

void
pboot_end_kill(struct pboot_keeper *keeper)
{
	uint32_t rank;

	for (rank = 0; rank < keeper->plan->size; rank++)
		if (!keeper->rules.ranks[rank].gone && !pboot_adopt_spares(keeper, rank))
			rank_signal_both(&keeper->ranks[rank], SIGKILL);
	strays_kill(keeper, SIGKILL);
}

/* Is the keeper to wait for readers for a short time only?  That is so when the job has failed or
 * the user has asked it to end. */
static bool
end_is_hurried(const struct pboot_keeper *keeper)
{
	const bool abandoned = keeper->adopts ? keeper->engine_gone : keeper->launcher_sock < 0;

	return keeper->rules.cause.code != 0 || abandoned || keeper->asked;
}

/* The user asks the job to end.  If all ranks have ended already, the request is for the keeper,
 * which no longer waits for readers. */
void
pboot_end_asked(struct pboot_keeper *keeper, int sig)
{
	keeper->asked = true;
	if (keeper->rules.alive > 0)
		return;
	keeper->asked_last = true;
	if (keeper->rules.cause.code == 0)
		keeper->rules.cause.code = 128 + sig;
}

static void
end_take_launcher(struct pboot_keeper *keeper)
{
	struct pboot_msg msg;
	int got;

	while ((got = pboot_wire_take(keeper->launcher_sock, &msg, NULL)) == 1)
		if (msg.kind == PBOOT_MSG_SIGNAL && pboot_is_request_to_end(msg.value))
			pboot_end_asked(keeper, msg.value);
	if (got < 0)
		return;
	close(keeper->launcher_sock);
	keeper->launcher_sock = -1;
}

/* pboot_print calls this when the launcher has sent a message or has ended. */
static bool
end_is_told(void *context)
{
	struct pboot_keeper *keeper = context;

	end_take_launcher(keeper);
	return keeper->asked_last || keeper->launcher_sock < 0;
}

/* Sets how long printing waits for readers from now on. */
static void
end_limit_printing(struct pboot_keeper *keeper)
{
	pboot_print_limit(&(struct pboot_print_limits){
		.quiet_ns = end_is_hurried(keeper) ? PBOOT_PRINT_FAILED_NS : PBOOT_PRINT_QUIET_NS,
		.until_ns = end_is_hurried(keeper) ? UINT64_MAX : keeper->rules.limit_ns,
		.wake_fd = keeper->launcher_sock,
		.is_told_to_end = end_is_told,
		.context = keeper,
	});
}

/* Waits for a child's end, for a message or the end of the launcher, or for ms. */
static void
end_wait(struct pboot_keeper *keeper, int ms)
{
	struct pollfd polls[2] = {
		{ .fd = keeper->signals, .events = POLLIN },
		{ .fd = keeper->launcher_sock, .events = POLLIN },
	};
	char scrap[4096];

	if (pboot_poll(polls, 2, ms) > 0 && polls[1].revents)
		end_take_launcher(keeper);
	while (read(keeper->signals, scrap, sizeof scrap) > 0)
		;
	pboot_end_reap(keeper);
}

static void
strays_settle(struct pboot_keeper *keeper)
{
	uint64_t start = psi_now_ns(), now = start;
	bool failed = keeper->rules.cause.code != 0;

	while (now - start < linger_ns + kill_ns) {
		bool killing = failed || now - start >= linger_ns;

		if (strays_kill(keeper, killing ? SIGKILL : 0) == 0) /* STRAYS */
			return;
		end_wait(keeper, killing ? 5 : 10);
		now = psi_now_ns();
	}
}

/*
 * Returns why the relay is ended now, or NULL if it goes on.  A reader of the ranks' output, say a
 * pager, may take its time, as it could if it read from the ranks themselves: the relay waits for
 * it until the job's time is over or the user asks for the end.  After a failure or such a request
 * it waits for a short time only.
 */
static const char *
relay_end_reason(struct pboot_keeper *keeper, uint64_t start)
{
	uint64_t now = psi_now_ns();

	if (keeper->asked_last)
		return "the job was told to end";
	if (now >= keeper->rules.limit_ns && keeper->rules.cause.code == 0) {
		keeper->rules.cause.code = 124;
		return "the job's time is over";
	}
	if (end_is_hurried(keeper) && now - start >= PBOOT_PRINT_FAILED_NS)
		return "the job must end, and nobody reads the output";
	return NULL;
}

static void
relay_give_up(struct pboot_keeper *keeper, const char *why)
{
	pid_t relay = keeper->relay;

	kill(relay, SIGKILL);
	waitpid(relay, NULL, 0);
	child_take_end(keeper, relay, 0);
	pboot_say("the rest of the ranks' output is left out: %s", why);
}

/* Waits for the relay, which gets end of file when all ranks have ended.  Only a reader of its
 * output can delay it.  Returns false if the relay was killed. */
static bool
relay_settle(struct pboot_keeper *keeper)
{
	uint64_t start = psi_now_ns();

	while (keeper->relay != 0) {
		const char *why = relay_end_reason(keeper, start);

		if (why) {
			relay_give_up(keeper, why);
			return false;
		}
		end_wait(keeper, 20);
	}
	return true;
}

void
pboot_end_settle(struct pboot_keeper *keeper)
{
	bool unread;

	pboot_end_reap(keeper);
	strays_settle(keeper);
	unread = !relay_settle(keeper);
	end_limit_printing(keeper);
	if (unread)
		pboot_print_shorten_waits();
	if (keeper->memory.kind == PBOOT_SHM_SYSV)	/* a rank may have died in shmget */
		pboot_clean(NULL, NULL);
}
