/* Ends the ranks of an agent, the processes that they have started, and the agent itself. */
#include "bootstrap/ssh/pboot_ssh_agent.h"

#include "runtime/util/clock.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MS ((uint64_t)1000000)

/*
 * When the launcher is lost, a keeper gets lost_ns to end its ranks by its rules; when the launcher
 * has told this agent to kill, kill_ns.  Ranks without a keeper get term_ns to answer SIGTERM.
 * When all ranks have ended, the processes that they have started get linger_ns, unless the job
 * fails, and then are killed for strays_ns.  The last frame to the launcher may take last_ns.
 */
static const uint64_t lost_ns = 3000 * MS, kill_ns = 700 * MS, term_ns = 1000 * MS;
static const uint64_t linger_ns = 100 * MS, strays_ns = 1000 * MS, last_ns = 2000 * MS;

static void
agent_kill_at(struct pboot_ssh_agent *agent, uint64_t when)
{
	if (agent->kill_ns == 0 || when < agent->kill_ns)
		agent->kill_ns = when;
}

/* Asks ranks without a keeper to end. */
static void
agent_ask_ranks(struct pboot_ssh_agent *agent)
{
	if (pboot_ssh_keeper_is_there(agent))
		return;
	pboot_ssh_ranks_signal(agent, SIGTERM);
	pboot_ssh_ranks_signal(agent, SIGCONT);
}

void
pboot_ssh_agent_lose(struct pboot_ssh_agent *agent)
{
	const bool kept = pboot_ssh_keeper_is_there(agent);

	if (agent->lost)
		return;
	agent->lost = true;
	pboot_ssh_keeper_tell(agent, PBOOT_MSG_LOST, 0, 0);
	pboot_ssh_keeper_continue(agent);
	agent_ask_ranks(agent);
	agent_kill_at(agent, psi_now_ns() + (kept ? lost_ns : term_ns));
	pboot_ssh_link_close(&agent->link);
	pboot_ssh_flow_no_reader(agent, 0);
	pboot_ssh_flow_no_reader(agent, 1);
	pboot_ssh_flow_close_input(agent);
}

void
pboot_ssh_agent_fault(struct pboot_ssh_agent *agent, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	pboot_ssh_link_send(&agent->link, PBOOT_SSH_FAULT, 0, text, (uint32_t)strlen(text));
	pboot_ssh_keeper_tell(agent, PBOOT_MSG_FAIL, 0, 1);
	agent_ask_ranks(agent);
	agent_kill_at(agent, psi_now_ns() + term_ns);
}

void
pboot_ssh_agent_fail(struct pboot_ssh_agent *agent, int status)
{
	agent->fail_status = status;
	if (!agent->started)
		agent_kill_at(agent, psi_now_ns());
	pboot_ssh_keeper_tell(agent, PBOOT_MSG_FAIL, 0, status);
	agent_ask_ranks(agent);
}

/* A keeper kills at the same time, but spares some ranks for a while, so the agent gives it
 * kill_ns. */
void
pboot_ssh_agent_kill(struct pboot_ssh_agent *agent)
{
	agent_kill_at(agent, psi_now_ns() + (pboot_ssh_keeper_is_there(agent) ? kill_ns : 0));
}

/* Does a keeper go on although the ranks here have ended and the job does not fail?  It waits for
 * other hosts, and to kill it would make them fail. */
static bool
keeper_waits(const struct pboot_ssh_agent *agent)
{
	return agent->alive == 0 && !agent->fail_status && !agent->lost &&
	    pboot_ssh_keeper_is_there(agent);
}

/* Kills all processes that descend from this one.  Keepers are killed last, since they end the
 * ranks themselves unless they are stopped. */
void
pboot_ssh_agent_kill_due(struct pboot_ssh_agent *agent, uint64_t now)
{
	struct pboot_spared spared = { 0 };

	if (agent->kill_ns == 0 || now < agent->kill_ns)
		return;
	if (now < agent->kill_ns + kill_ns || keeper_waits(agent))
		pboot_ssh_keeper_spare(agent, &spared);
	pboot_ssh_ranks_signal(agent, SIGKILL);
	pboot_descend_signal(SIGKILL, &spared);
}

/* When all ranks and the keeper have ended, ends the processes that the ranks have started.  A
 * keeper that goes on may have ranks of another agent; it is killed when it is time for that. */
void
pboot_ssh_agent_settle(struct pboot_ssh_agent *agent, uint64_t now)
{
	const bool hurried = agent->fail_status || agent->lost || agent->kill_ns;
	bool killing;

	if (agent->settled || agent->alive > 0 || !(agent->started || agent->kill_ns))
		return;
	if (pboot_ssh_keeper_is_there(agent) &&
	    (!agent->kill_ns || keeper_waits(agent) || now < agent->kill_ns + kill_ns))
		return;
	if (agent->settle_ns == 0)
		agent->settle_ns = now;
	killing = hurried || now - agent->settle_ns >= linger_ns;
	agent->settled = pboot_descend_signal(killing ? SIGKILL : 0, NULL) == 0 ||
	    now - agent->settle_ns >= linger_ns + strays_ns;
	pboot_ssh_ranks_reap(agent);
}

bool
pboot_ssh_agent_is_over(const struct pboot_ssh_agent *agent)
{
	return agent->settled && (!agent->ranks || pboot_ssh_flow_is_over(agent));
}

void
pboot_ssh_agent_say_last(struct pboot_ssh_agent *agent)
{
	const uint64_t until = psi_now_ns() + last_ns;
	struct pollfd room = { .fd = agent->link.out, .events = POLLOUT };

	pboot_ssh_link_send(&agent->link, PBOOT_SSH_DONE, 0, NULL, 0);
	for (;;) {
		pboot_ssh_link_flush(&agent->link);
		if (pboot_ssh_link_due(&agent->link) == 0 || psi_now_ns() >= until)
			return;
		pboot_poll(&room, 1, 100);
	}
}
