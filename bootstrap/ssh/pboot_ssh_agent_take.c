/* Takes what the launcher sends to an agent. */
#include "bootstrap/ssh/pboot_ssh_agent.h"

#include "bootstrap/keeper/pboot_keeper.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void
agent_start(struct pboot_ssh_agent *agent)
{
	const char *directory;

	if (agent->started || !pboot_ssh_order_read(agent->order_bytes, agent->order_len,
	    &agent->order)) {
		pboot_ssh_agent_fault(agent, "the launcher's order cannot be read");
		return;
	}
	directory = agent->order.directory;
	if (chdir(directory) < 0)
		pboot_ssh_agent_fault(agent, "cannot enter the directory %s: %s; name one that "
		    "all hosts have by GASNET_SSH_REMOTE_PATH", directory, strerror(errno));
	else
		agent->started = pboot_ssh_ranks_start(agent);
}

static void
agent_take_order(struct pboot_ssh_agent *agent, const struct pboot_ssh_frame *frame)
{
	uint8_t *larger = NULL;

	if (!agent->started && agent->order_len + frame->len_bytes <= PBOOT_SSH_ORDER_MAX)
		larger = realloc(agent->order_bytes, agent->order_len + frame->len_bytes + 1);
	if (!larger) {
		pboot_ssh_agent_fault(agent, "the launcher's order is too long");
		return;
	}
	memcpy(larger + agent->order_len, frame->bytes, frame->len_bytes);
	agent->order_bytes = larger;
	agent->order_len += frame->len_bytes;
}

/* A keeper passes signals on by its rules; a request to end continues one that is stopped.  Without
 * a keeper the ranks have not joined yet. */
static void
agent_take_signal(struct pboot_ssh_agent *agent, int sig)
{
	const bool ends = pboot_is_request_to_end(sig);

	if (sig < 1 || sig >= PBOOT_SIGNALS)
		return;
	if (pboot_ssh_keeper_is_there(agent)) {
		pboot_ssh_keeper_tell(agent, PBOOT_MSG_SIGNAL, 0, sig);
		if (ends)
			pboot_ssh_keeper_continue(agent);
		return;
	}
	if (sig != SIGUSR1)
		pboot_ssh_ranks_signal(agent, sig);
	if (ends)
		pboot_ssh_ranks_signal(agent, SIGCONT);
}

static void
agent_take_room(struct pboot_ssh_agent *agent, const struct pboot_ssh_frame *frame)
{
	if (frame->number <= PBOOT_SSH_WINDOW - agent->window[frame->rank])
		agent->window[frame->rank] += frame->number;
	else
		pboot_ssh_agent_fault(agent,
		    "the launcher says that it has read more output than was sent");
}

static void
agent_on_started_frame(struct pboot_ssh_agent *agent, const struct pboot_ssh_frame *frame)
{
	switch (frame->kind) {
	case PBOOT_SSH_SIGNAL:
		agent_take_signal(agent, (int)frame->number);
		break;
	case PBOOT_SSH_TIME_OVER:
		pboot_ssh_keeper_tell(agent, PBOOT_MSG_TIME_OVER, 0, 0);
		break;
	case PBOOT_SSH_STDIN:
		pboot_ssh_flow_take_input(agent, frame);
		break;
	case PBOOT_SSH_READ:
		agent_take_room(agent, frame);
		break;
	case PBOOT_SSH_NO_READER:
		pboot_ssh_flow_no_reader(agent, frame->rank);
		break;
	case PBOOT_SSH_PAIRS:
		if (!pboot_ssh_pmi_add_pairs(agent, frame))
			pboot_ssh_agent_fault(agent, "the values of the ranks are too long");
		break;
	case PBOOT_SSH_FENCE:
		if (!pboot_ssh_pmi_release(agent))
			pboot_ssh_agent_fault(agent, "the values of the ranks cannot be read");
		break;
	default:
		break;
	}
}

static void
agent_on_frame(struct pboot_ssh_agent *agent, const struct pboot_ssh_frame *frame)
{
	if (frame->kind == PBOOT_SSH_ORDER)
		agent_take_order(agent, frame);
	else if (frame->kind == PBOOT_SSH_START)
		agent_start(agent);
	else if (frame->kind == PBOOT_SSH_QUIT)
		pboot_ssh_agent_fail(agent, (int)(frame->number & 255));
	else if (frame->kind == PBOOT_SSH_KILL)
		pboot_ssh_agent_kill(agent);
	else if (agent->started)
		agent_on_started_frame(agent, frame);
}

void
pboot_ssh_agent_take(struct pboot_ssh_agent *agent)
{
	static const struct pboot_ssh_ranks none;
	struct pboot_ssh_link *link = &agent->link;
	struct pboot_ssh_frame frame;
	const bool open = pboot_ssh_link_receive(link);
	int len = 0;

	while (link->got && (len = pboot_ssh_frame_read(link->got + link->got_from,
	    link->got_to - link->got_from, PBOOT_SSH_LAUNCHER, &none, &frame)) > 0) {
		link->got_from += (size_t)len;
		agent_on_frame(agent, &frame);
	}
	if (!open || len < 0)
		pboot_ssh_agent_lose(agent);
}
