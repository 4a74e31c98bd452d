#include "bootstrap/ssh/pboot_ssh_agent.h"

#include "bootstrap/launcher.h"
#include "bootstrap/share/pboot_clean.h"
#include "penstock.h"
#include "runtime/util/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define MS ((uint64_t)1000000)

/* What a polled descriptor is; index is that of a rank or of a keeper. */
enum { FROM_LAUNCHER, TO_LAUNCHER, SIGNALS, EXEC, LISTENER, KEEPER, PMI, INPUT, OUTPUT };

struct source {
	int kind;
	uint32_t index;
	unsigned stream;
};

struct waiting {
	struct pollfd *polls;
	struct source *sources;
	uint32_t count;
};

static void
waiting_add(struct waiting *waiting, int fd, short events, struct source source)
{
	if (fd < 0)
		return;
	waiting->polls[waiting->count] = (struct pollfd) { .fd = fd, .events = events };
	waiting->sources[waiting->count++] = source;
}

/* Nothing is taken from a rank while there is much to send already. */
static void
waiting_add_ranks(struct waiting *waiting, const struct pboot_ssh_agent *agent)
{
	uint32_t i;
	unsigned stream;

	if (pboot_ssh_link_due(&agent->link) > PBOOT_SSH_DUE_MAX)
		return;
	for (i = 0; i < agent->order.ranks.count; i++) {
		const struct pboot_ssh_rank *rank = &agent->ranks[i];

		waiting_add(waiting, rank->pmi, POLLIN, (struct source) { PMI, i, 0 });
		for (stream = 0; stream < 2; stream++)
			if (agent->window[stream] > 0)
				waiting_add(waiting, rank->outputs[stream], POLLIN,
				    (struct source) { OUTPUT, i, stream });
	}
}

/* Makes room for all descriptors that may be polled; the ranks are known once the order has
 * come. */
static bool
waiting_make_room(struct waiting *waiting, const struct pboot_ssh_agent *agent)
{
	const size_t most = 8 + PBOOT_SSH_KEEPERS_MAX +
	    3 * (agent->ranks ? (size_t)agent->order.ranks.count : 0);
	struct pollfd *polls = realloc(waiting->polls, most * sizeof *polls);
	struct source *sources;

	if (!polls)
		return false;
	waiting->polls = polls;
	sources = realloc(waiting->sources, most * sizeof *sources);
	if (!sources)
		return false;
	waiting->sources = sources;
	return true;
}

static int
agent_wait_ms(const struct pboot_ssh_agent *agent, uint64_t now)
{
	if (agent->kill_ns == 0)
		return agent->alive > 0 || !agent->started || agent->settled ? -1 : 10;
	if (now >= agent->kill_ns)
		return 10;
	return (int)((agent->kill_ns - now) / MS) + 1;
}

static void
agent_wait(struct pboot_ssh_agent *agent, struct waiting *waiting)
{
	unsigned i;

	waiting->count = 0;
	waiting_add(waiting, agent->link.in, POLLIN, (struct source) { FROM_LAUNCHER, 0, 0 });
	if (pboot_ssh_link_due(&agent->link) > 0)
		waiting_add(waiting, agent->link.out, POLLOUT,
		    (struct source) { TO_LAUNCHER, 0, 0 });
	waiting_add(waiting, agent->signals, POLLIN, (struct source) { SIGNALS, 0, 0 });
	waiting_add(waiting, agent->listener, POLLIN, (struct source) { LISTENER, 0, 0 });
	for (i = 0; i < agent->keeper_count; i++)
		waiting_add(waiting, agent->keepers[i].sock, POLLIN,
		    (struct source) { KEEPER, i, 0 });
	if (agent->kept_len > 0)
		waiting_add(waiting, agent->input, POLLOUT, (struct source) { INPUT, 0, 0 });
	if (agent->ranks) {
		waiting_add(waiting, agent->failed_exec[0], POLLIN, (struct source) { EXEC, 0, 0 });
		waiting_add_ranks(waiting, agent);
	}
	if (pboot_poll(waiting->polls, waiting->count, agent_wait_ms(agent, psi_now_ns())) <= 0)
		waiting->count = 0;
}

/* A request to end means that this host, or its sshd, ends the session. */
static void
agent_take_signals(struct pboot_ssh_agent *agent)
{
	struct signalfd_siginfo info;

	while (read(agent->signals, &info, sizeof info) == (ssize_t)sizeof info)
		if (info.ssi_signo != SIGCHLD)
			pboot_ssh_agent_lose(agent);
	pboot_ssh_ranks_reap(agent);
}

/* Handles what happened to one source.  An earlier source may have closed the descriptor of a later
 * one. */
static void
agent_on_source(struct pboot_ssh_agent *agent, const struct source *source)
{
	switch (source->kind) {
	case FROM_LAUNCHER:
		pboot_ssh_agent_take(agent);
		break;
	case LISTENER:
		pboot_ssh_keeper_accept(agent);
		break;
	case KEEPER:
		if (agent->keepers[source->index].sock >= 0)
			pboot_ssh_keeper_take(agent, &agent->keepers[source->index]);
		break;
	case PMI:
		if (agent->ranks[source->index].pmi >= 0)
			pboot_ssh_pmi_take(agent, source->index);
		break;
	case EXEC:
		pboot_ssh_ranks_take_exec(agent);
		break;
	case INPUT:
		pboot_ssh_flow_input(agent);
		break;
	case OUTPUT:
		if (agent->ranks[source->index].outputs[source->stream] >= 0 &&
		    agent->window[source->stream] > 0)
			pboot_ssh_flow_output(agent, source->index, source->stream);
		break;
	default:
		break;
	}
}

/* Takes what ranks send before their ends, so that what a rank has said comes first. */
static void
agent_take_turn(struct pboot_ssh_agent *agent, struct waiting *waiting)
{
	bool signals = false;
	uint64_t now;
	uint32_t i;

	if (!waiting_make_room(waiting, agent)) {
		pboot_ssh_agent_lose(agent);
		pboot_poll(NULL, 0, 10);
	} else {
		agent_wait(agent, waiting);
	}
	for (i = 0; i < waiting->count; i++) {
		if (waiting->polls[i].revents == 0)
			continue;
		signals |= waiting->sources[i].kind == SIGNALS;
		agent_on_source(agent, &waiting->sources[i]);
	}
	if (signals)
		agent_take_signals(agent);
	pboot_ssh_link_flush(&agent->link);
	now = psi_now_ns();
	pboot_ssh_agent_kill_due(agent, now);
	pboot_ssh_agent_settle(agent, now);
}

/* Standard input and output lead to the launcher.  They are moved to other numbers, so that ranks
 * do not use them. */
static bool
agent_open_link(struct pboot_ssh_agent *agent)
{
	const int in = pboot_fd_raise(dup(STDIN_FILENO));
	const int out = pboot_fd_raise(dup(STDOUT_FILENO));
	const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	char text[PBOOT_SSH_GREETING_MAX];

	if (in < 0 || out < 0 || null < 0)
		return false;
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	if (!pboot_ssh_link_open(&agent->link, in, out))
		return false;
	pboot_ssh_link_send_text(&agent->link, text, pboot_ssh_greeting_write(pst_version(), text));
	pboot_ssh_link_flush(&agent->link);
	return true;
}

/* Signals that the login shell ignored get their default action again, for the ranks. */
static bool
agent_open_signals(struct pboot_ssh_agent *agent)
{
	static const int plain[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGTTIN, SIGTTOU,
		SIGPIPE, SIGUSR1, SIGUSR2 };
	sigset_t wanted;
	size_t i;

	for (i = 0; i < sizeof plain / sizeof *plain; i++)
		signal(plain[i], SIG_DFL);
	pboot_state_change(&agent->saved);
	sigemptyset(&wanted);
	sigaddset(&wanted, SIGCHLD);
	sigaddset(&wanted, SIGHUP);
	sigaddset(&wanted, SIGINT);
	sigaddset(&wanted, SIGTERM);
	agent->signals = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
	return agent->signals >= 0;
}

int
pboot_ssh_agent_run(void)
{
	static struct pboot_ssh_agent agent = {
		.listener = -1,
		.input = -1,
		.window = { PBOOT_SSH_WINDOW, PBOOT_SSH_WINDOW },
	};
	struct waiting waiting = { 0 };

	setsid();
	prctl(PR_SET_NAME, "penstock-agent", 0, 0, 0);
	pboot_subreaper();
	pboot_clean(NULL, NULL);
	if (!agent_open_signals(&agent) || !agent_open_link(&agent)) {
		pboot_say("the agent cannot start: %s", strerror(errno));
		return 1;
	}
	while (!pboot_ssh_agent_is_over(&agent))
		agent_take_turn(&agent, &waiting);
	pboot_ssh_agent_say_last(&agent);
	free(waiting.polls);
	free(waiting.sources);
	return 0;
}
