/* The keeper's start, its loop and its end; and the signals that reach it. */
#include "bootstrap/keeper/pboot_keeper.h"

#include "bootstrap/keeper/pboot_peers.h"
#include "bootstrap/share/pboot_area.h"
#include "bootstrap/share/pboot_settings.h"
#include "runtime/util/clock.h"
#include "runtime/util/hostname.h"
#include "runtime/util/limit_hint.h"
#include "runtime/util/oom.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define MS ((uint64_t)1000000)

/* Two signals of one number within this time are taken for one signal to the process group. */
static const uint64_t group_window_ns = 2000 * MS;
/* If a request to end has had no effect on a rank after this time, the rank may have lost it. */
static const uint64_t lost_ns = 500 * MS;

void
pboot_keeper_event(struct pboot_keeper *keeper, enum pboot_event_kind kind, uint32_t rank,
    int value)
{
	if (pboot_rules_event(&keeper->rules, kind, rank, value, psi_now_ns()))
		keeper->cause_reported = false;
}

static bool
keeper_can_inherit(const struct pboot_keeper *keeper)
{
	const uint64_t spare = 128;	/* descriptors that are left to the rank */

	if (pboot_settings_by_socket())
		return false;
	return PBOOT_FILES((uint64_t)keeper->plan->size) + spare <=
	    keeper->saved->files_limit.rlim_cur;
}

/* Decides whether ranks inherit the files.  If not, the files are closed at their exec. */
static void
keeper_choose_handover(struct pboot_keeper *keeper)
{
	uint32_t i;

	keeper->inherit = !keeper->adopts && keeper_can_inherit(keeper) && keeper->files[0].fd >= 0;
	for (i = 0; !keeper->inherit && i < PBOOT_FILES(keeper->plan->size); i++)
		if (keeper->files[i].fd >= 0)
			fcntl(keeper->files[i].fd, F_SETFD, FD_CLOEXEC);
}

static bool
keeper_allocate(struct pboot_keeper *keeper)
{
	uint32_t size = keeper->plan->size, i;
	struct pboot_rank_rule *rules = calloc(size, sizeof *rules);

	keeper->ranks = calloc(size, sizeof *keeper->ranks);
	keeper->files = calloc(PBOOT_FILES_ALL(size), sizeof *keeper->files);
	keeper->polls = calloc(PBOOT_SOURCES_MAX(size), sizeof *keeper->polls);
	keeper->sources = calloc(PBOOT_SOURCES_MAX(size), sizeof *keeper->sources);
	if (!rules || !keeper->ranks || !keeper->files || !keeper->polls || !keeper->sources)
		return false;
	for (i = 0; i < PBOOT_FILES_ALL(size); i++)
		keeper->files[i].fd = -1;
	for (i = 0; i < size; i++) {
		keeper->ranks[i].control = -1;
		keeper->ranks[i].init_pidfd = -1;
	}
	for (i = 0; i < PBOOT_INCOMING_MAX; i++)
		keeper->incoming[i].sock = -1;
	pboot_rules_init(&keeper->rules, size, rules, pboot_settings_grace_ns(size),
	    keeper->plan->timeout_ns, psi_now_ns());
	return true;
}

void
pboot_group_signals(sigset_t *set_out)
{
	sigemptyset(set_out);
	sigaddset(set_out, SIGCHLD);
	sigaddset(set_out, SIGHUP);
	sigaddset(set_out, SIGINT);
	sigaddset(set_out, SIGQUIT);
	sigaddset(set_out, SIGTERM);
	sigaddset(set_out, SIGTSTP);
	sigaddset(set_out, SIGCONT);
	sigaddset(set_out, SIGUSR2);
}

/* All signals are blocked; the keeper reads those that it needs from a descriptor. */
static int
keeper_open_signals(void)
{
	sigset_t wanted;
	int fd;

	pboot_group_signals(&wanted);
	fd = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? fd : pboot_fd_raise(fd);
}

/* Returns 0 or an errno value; *what_out names the step, for the message. */
static int
keeper_set_up(struct pboot_keeper *keeper, size_t area_bytes, const char **what_out)
{
	*what_out = "the keeper's tables";
	if (!keeper_allocate(keeper))
		return ENOMEM;
	*what_out = "the keeper's signal descriptor";
	keeper->signals = keeper_open_signals();
	if (keeper->signals < 0)
		return errno;
	*what_out = "shared memory";
	return pboot_memory_make(pboot_settings_shm(), keeper->plan->size, area_bytes,
	    !keeper->plan->argv && !keeper->adopts,
	    &keeper->memory, keeper->files, &keeper->file_kind);
}

static void
keeper_note_group_signal(struct pboot_keeper *keeper, int sig)
{
	uint64_t now = psi_now_ns();

	keeper->group_signal_ns[sig] = now;
	if (sig == SIGTSTP && keeper->stopped_ns == 0)
		keeper->stopped_ns = now;
	if (sig == SIGCONT && keeper->stopped_ns != 0) {
		pboot_rules_stopped(&keeper->rules, now - keeper->stopped_ns);
		keeper->stopped_ns = 0;
	}
}

static void
keeper_take_signals(struct pboot_keeper *keeper)
{
	struct signalfd_siginfo info;
	bool reap = false;

	while (read(keeper->signals, &info, sizeof info) == (ssize_t)sizeof info) {
		if (info.ssi_signo == SIGCHLD)
			reap = true;
		else if (info.ssi_signo <= 64)
			keeper_note_group_signal(keeper, (int)info.ssi_signo);
	}
	if (reap)
		pboot_end_reap(keeper);
}

/* The guard notes a signal before it takes it, so the signal is either pending or noted
 * (guard_note). */
static bool
guard_got_signal(const struct pboot_keeper *keeper, int sig, uint64_t now)
{
	return keeper->guard == 0 || pboot_process_has(keeper->guard, PBOOT_PENDING, sig) == 1 ||
	    now - keeper->page->group_ns[sig] < group_window_ns;
}

static bool
group_got_signal(const struct pboot_keeper *keeper, int sig)
{
	uint64_t now = psi_now_ns(), seen = keeper->group_signal_ns[sig];

	return seen && now - seen < group_window_ns && guard_got_signal(keeper, sig, now);
}

/*
 * The launcher got a signal for the job.  If the signal was sent to the whole process group (a
 * terminal does that), keeper, guard and ranks have it too.  Then this function sends it only to
 * ranks that were forked later.  If the signal was sent to the launcher, or to launcher and keeper,
 * all ranks get it from here.
 */
static void
keeper_on_signal(struct pboot_keeper *keeper, int sig)
{
	if (sig < 1 || sig >= PBOOT_SIGNALS)
		return;
	keeper_take_signals(keeper);
	if (pboot_is_request_to_end(sig)) {
		pboot_end_asked(keeper, sig);
		keeper->again_signal = sig;
		keeper->asked_ns = psi_now_ns();
		keeper->again_ns = keeper->asked_ns + lost_ns;
	}
	if (group_got_signal(keeper, sig)) {
		keeper->group_signal_ns[sig] = 0;
		pboot_end_forward_missed(keeper, sig);
		return;
	}
	keeper_note_group_signal(keeper, sig);
	keeper->group_signal_ns[sig] = 0;
	if (sig == SIGUSR1)
		pboot_report_state(keeper);
	else
		pboot_end_forward(keeper, sig);
}

static void
keeper_take_launcher(struct pboot_keeper *keeper)
{
	struct pboot_msg msg;
	int got;

	while ((got = pboot_wire_take(keeper->launcher_sock, &msg, NULL)) == 1)
		if (msg.kind == PBOOT_MSG_SIGNAL)
			keeper_on_signal(keeper, msg.value);
		else
			pboot_adopt_take(keeper, &msg);
	if (got < 0)
		return;
	close(keeper->launcher_sock);
	keeper->launcher_sock = -1;
	pboot_keeper_event(keeper, PBOOT_EV_LAUNCHER, 0, 0); /* SEE_LAUNCHER */
}

/* The guard is this process's parent: when it has ended, getppid returns another number.  SIGCHLD
 * wakes the keeper then (PR_SET_PDEATHSIG). */
static void
keeper_check_guard(struct pboot_keeper *keeper)
{
	if (keeper->guard == 0 || getppid() == keeper->guard)
		return;
	keeper->guard = 0;
	pboot_keeper_event(keeper, PBOOT_EV_GUARD, 0, SIGKILL); /* SEE_GUARD */
}

/* Takes the messages of ranks before their deaths, so that causes keep their order. */
static void
keeper_take_events(struct pboot_keeper *keeper)
{
	bool signals = false, launcher = false;
	uint32_t i;

	pboot_receive_incoming(keeper);
	for (i = 0; i < keeper->source_count; i++) {
		if (keeper->polls[i].revents == 0)
			continue;
		if (keeper->sources[i].kind == PBOOT_SOURCE_RANK)
			pboot_receive_rank(keeper, keeper->sources[i].rank);
		else if (keeper->sources[i].kind == PBOOT_SOURCE_PROCESS)
			pboot_wait_process_ended(keeper, keeper->sources[i].rank);
		else if (keeper->sources[i].kind == PBOOT_SOURCE_AGENT)
			pboot_adopt_receive(keeper, keeper->sources[i].rank);
		signals |= keeper->sources[i].kind == PBOOT_SOURCE_SIGNALS;
		launcher |= keeper->sources[i].kind == PBOOT_SOURCE_LAUNCHER;
	}
	if (signals)
		keeper_take_signals(keeper);
	if (launcher)
		keeper_take_launcher(keeper);
	for (i = 0; i < keeper->plan->size; i++)
		pboot_wait_check_process(keeper, i);
	pboot_adopt_check_engine(keeper);
	pboot_peers_step(keeper);
}

static void
keeper_act(struct pboot_keeper *keeper)
{
	enum pboot_action action = PBOOT_DO_NOTHING;
	enum pboot_cause_kind before = keeper->rules.cause.kind;

	if (keeper->again_ns <= psi_now_ns()) {
		keeper->again_ns = UINT64_MAX;
		if (keeper->rules.phase == PBOOT_RUNNING)
			pboot_end_forward_lost(keeper, keeper->again_signal);
	}
	if (!keeper->stopped_ns || keeper->rules.phase != PBOOT_RUNNING)
		action = pboot_rules_due(&keeper->rules, psi_now_ns());
	if (keeper->rules.cause.kind != before)
		keeper->cause_reported = false;
	if (keeper->rules.phase >= PBOOT_ENDING)
		pboot_report_cause(keeper);
	if (action == PBOOT_DO_QUIT)
		pboot_end_quit(keeper);
	else if (action == PBOOT_DO_KILL)
		pboot_end_kill(keeper);
	pboot_adopt_release(keeper);
}

/* A stopped launcher lives too: it has not closed its socket. */
static bool
launcher_lives(const struct pboot_keeper *keeper)
{
	struct pollfd launcher = { .fd = keeper->launcher_sock };

	return keeper->launcher_sock >= 0 && pboot_poll(&launcher, 1, 0) == 0;
}

static void
keeper_report_end(struct pboot_keeper *keeper)
{
	pboot_report_cause(keeper);
	pboot_report_ended(keeper);
	pboot_peers_report_refused(keeper);
	pboot_say_settle();
	pboot_adopt_tell(keeper);
	keeper->page->status_plus_1 = 1 + keeper->rules.cause.code; /* TELL_END */
	if (launcher_lives(keeper))
		kill(keeper->launcher, SIGCONT);
}

void
pboot_keeper_give_up(struct pboot_keeper *keeper, const char *what, int err)
{
	pboot_say("cannot make %s: %s%s", what, strerror(err), psi_limit_hint(err));
	pboot_say_settle();
	keeper->page->status_plus_1 = 1 + 1;
	_exit(1);
}

static void
keeper_raise_files_limit(const struct pboot_saved_state *saved)
{
	struct rlimit limit = saved->files_limit;

	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

void
pboot_keeper_prepare(struct pboot_keeper *keeper, const struct pboot_plan *plan,
    const struct pboot_saved_state *saved, struct pboot_status_page *page, int launcher_sock,
    size_t area_bytes)
{
	const char *what;
	int err;

	prctl(PR_SET_NAME, "penstock-keeper", 0, 0, 0);
	pboot_say_forget();
	keeper->plan = plan;
	keeper->saved = saved;
	keeper->self = getpid();
	keeper->launcher = page->launcher;
	keeper->page = page;
	keeper->guard = page->guard;
	page->keeper = keeper->self;
	if (keeper->guard)
		prctl(PR_SET_PDEATHSIG, SIGCHLD, 0, 0, 0);
	keeper->launcher_sock = launcher_sock;
	keeper->listener = -1;
	keeper->again_ns = UINT64_MAX;
	keeper->subreaper = pboot_subreaper();
	keeper_raise_files_limit(saved);
	keeper->host = psi_hostname();
	keeper->oom_kills = psi_oom_kills("");
	err = keeper_set_up(keeper, area_bytes, &what);
	if (err)
		pboot_keeper_give_up(keeper, what, err);
	keeper_choose_handover(keeper);
}

uint32_t
pboot_keeper_job_rank(const struct pboot_keeper *keeper, uint32_t rank)
{
	return keeper->peers ? keeper->peers->job_rank[rank] : rank;
}

static void
keeper_take_turn(struct pboot_keeper *keeper)
{
	keeper_check_guard(keeper);
	do
		keeper_act(keeper);
	while (pboot_peers_tell(keeper));
	pboot_adopt_tell(keeper);
	pboot_say_flush();
	pboot_wait_sources(keeper);
	keeper_take_events(keeper);
}

/* After its own ranks have ended, this keeper goes on until the job ends everywhere: keepers of
 * other hosts may need it to reach each other. */
void
pboot_keeper_serve(struct pboot_keeper *keeper)
{
	pboot_report_start(keeper);
	while (keeper->rules.alive > 0)
		keeper_take_turn(keeper);
	pboot_end_settle(keeper);
	while (pboot_peers_linger(keeper))
		keeper_take_turn(keeper);
	keeper_report_end(keeper);
	_exit(0);
}

void
pboot_keeper_run(const struct pboot_plan *plan, const struct pboot_saved_state *saved,
    struct pboot_status_page *page, int launcher_sock, struct pboot_startup *startup_out)
{
	static struct pboot_keeper keeper;

	keeper.engine_pidfd = -1;
	pboot_keeper_prepare(&keeper, plan, saved, page, launcher_sock,
	    pboot_area_bytes(plan->size));
	pboot_wire_name(keeper.name);
	keeper.listener = pboot_wire_listen(keeper.name);
	memcpy(page->name, keeper.name, sizeof page->name);
	if (!pboot_spawn_all(&keeper, startup_out))
		pboot_keeper_serve(&keeper);
}
