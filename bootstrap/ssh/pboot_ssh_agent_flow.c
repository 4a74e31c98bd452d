/*
 * Carries the output of the ranks to the launcher, and the launcher's input to the rank that reads
 * it.  Each of stdout, stderr and input may have PBOOT_SSH_WINDOW bytes on their way; the receiver
 * tells how many it has passed on.  So a reader that does not read stops only the ranks that print,
 * as a full pipe would.
 */
#include "bootstrap/ssh/pboot_ssh_agent.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static void
output_close(struct pboot_ssh_rank *self, unsigned stream)
{
	if (self->outputs[stream] >= 0)
		close(self->outputs[stream]);
	self->outputs[stream] = -1;
}

void
pboot_ssh_flow_output(struct pboot_ssh_agent *agent, uint32_t index, unsigned stream)
{
	struct pboot_ssh_rank *self = &agent->ranks[index];
	char bytes[PBOOT_SSH_BODY_MAX];
	size_t room = agent->window[stream];
	ssize_t got;

	room = room < sizeof bytes ? room : sizeof bytes;
	got = read(self->outputs[stream], bytes, room);
	if (got < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (got <= 0) {
		output_close(self, stream);
		got = 0;
	}
	agent->window[stream] -= (size_t)got;
	pboot_ssh_link_send(&agent->link, stream == 0 ? PBOOT_SSH_STDOUT : PBOOT_SSH_STDERR,
	    agent->order.ranks.first + index, bytes, (uint32_t)got);
}

/* Closes a stream whose reader is gone.  Ranks get SIGPIPE when they print there. */
void
pboot_ssh_flow_no_reader(struct pboot_ssh_agent *agent, unsigned stream)
{
	uint32_t i;

	agent->no_reader[stream] = true;
	for (i = 0; agent->ranks && i < agent->order.ranks.count; i++)
		output_close(&agent->ranks[i], stream);
}

bool
pboot_ssh_flow_is_over(const struct pboot_ssh_agent *agent)
{
	uint32_t i;

	for (i = 0; i < agent->order.ranks.count; i++)
		if (agent->ranks[i].outputs[0] >= 0 || agent->ranks[i].outputs[1] >= 0)
			return false;
	return true;
}

/* -- input ------------------------------------------------------------------------------------- */

void
pboot_ssh_flow_close_input(struct pboot_ssh_agent *agent)
{
	if (agent->input < 0)
		return;
	close(agent->input);
	agent->input = -1;
	if (!agent->input_ends)
		pboot_ssh_link_send(&agent->link, PBOOT_SSH_STDIN_GONE, 0, NULL, 0);
}

void
pboot_ssh_flow_input(struct pboot_ssh_agent *agent)
{
	ssize_t done = 0;

	if (agent->input < 0)
		return;
	if (agent->kept_len > 0)
		done = write(agent->input, agent->kept, agent->kept_len);
	if (done < 0 && errno != EAGAIN && errno != EINTR) {
		pboot_ssh_flow_close_input(agent);
		return;
	}
	if (done > 0) {
		agent->kept_len -= (size_t)done;
		memmove(agent->kept, agent->kept + done, agent->kept_len);
		pboot_ssh_link_send_number(&agent->link, PBOOT_SSH_STDIN_READ, 0, (uint32_t)done);
	}
	if (agent->input_ends && agent->kept_len == 0)
		pboot_ssh_flow_close_input(agent);
}

void
pboot_ssh_flow_take_input(struct pboot_ssh_agent *agent, const struct pboot_ssh_frame *frame)
{
	if (agent->input < 0)
		return;
	if (frame->len_bytes > PBOOT_SSH_WINDOW - agent->kept_len) {
		pboot_ssh_agent_fault(agent,
		    "the launcher sent more input than this host has room for");
		return;
	}
	memcpy(agent->kept + agent->kept_len, frame->bytes, frame->len_bytes);
	agent->kept_len += frame->len_bytes;
	agent->input_ends |= frame->len_bytes == 0;
	pboot_ssh_flow_input(agent);
}
