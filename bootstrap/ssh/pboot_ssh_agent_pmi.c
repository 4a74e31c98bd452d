#include "bootstrap/ssh/pboot_ssh_agent.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void
rank_close_pmi(struct pboot_ssh_rank *self)
{
	if (self->pmi >= 0)
		close(self->pmi);
	self->pmi = -1;
}

/* Answers a rank.  A rank waits for each answer, and answers are short.  So if there is no room for
 * one, the rank does not speak PMI-1. */
static void
rank_answer(struct pboot_ssh_rank *self, const char *text)
{
	const size_t len = strlen(text);

	if (self->pmi >= 0 && len > 0 &&
	    sendto(self->pmi, text, len, MSG_NOSIGNAL | MSG_DONTWAIT, NULL, 0) != (ssize_t)len)
		rank_close_pmi(self);
}

/* Sends the launcher what the ranks here have put, and tells it that all of them wait. */
static void
agent_fence(struct pboot_ssh_agent *agent)
{
	size_t from, len;

	for (from = 0; from < agent->server.fresh_len; from += len) {
		len = agent->server.fresh_len - from;
		len = len < PBOOT_SSH_BODY_MAX ? len : PBOOT_SSH_BODY_MAX;
		pboot_ssh_link_send(&agent->link, PBOOT_SSH_PAIRS, 0, agent->server.fresh + from,
		    (uint32_t)len);
	}
	pboot_ssh_link_send(&agent->link, PBOOT_SSH_FENCE, 0, NULL, 0);
}

static void
rank_on_line(struct pboot_ssh_agent *agent, uint32_t index, char *line, size_t len)
{
	struct pboot_ssh_rank *self = &agent->ranks[index];
	const uint32_t rank = agent->order.ranks.first + index;
	char answer[PBOOT_PMI1_ANSWER_MAX];
	int status;

	switch (pboot_pmi1_serve(&agent->server, index, line, len, answer, &status)) {
	case PBOOT_PMI1_FAULT:
		rank_close_pmi(self);
		return;
	case PBOOT_PMI1_JOINED:
		pboot_ssh_link_send(&agent->link, PBOOT_SSH_JOINED, rank, NULL, 0);
		break;
	case PBOOT_PMI1_DONE:
		pboot_ssh_link_send(&agent->link, PBOOT_SSH_LEFT, rank, NULL, 0);
		break;
	case PBOOT_PMI1_ABORTED:
		pboot_ssh_link_send_number(&agent->link, PBOOT_SSH_ABORT, rank, (uint32_t)status);
		break;
	case PBOOT_PMI1_TWICE:
		pboot_ssh_agent_fault(agent, "rank %u: a second process of this rank called init; "
		    "start each program of a rank as a job of its own", rank);
		return;
	case PBOOT_PMI1_FENCED:
		if (pboot_pmi1_server_is_fenced(&agent->server))
			agent_fence(agent);
		break;
	case PBOOT_PMI1_ANSWERED:
		break;
	}
	rank_answer(self, answer);
}

void
pboot_ssh_pmi_take(struct pboot_ssh_agent *agent, uint32_t index)
{
	struct pboot_ssh_rank *self = &agent->ranks[index];
	ssize_t got;
	char *end;

	got = read(self->pmi, self->line + self->fill, PBOOT_PMI1_REQUEST_MAX - self->fill);
	if (got < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (got <= 0) {
		rank_close_pmi(self);
		return;
	}
	self->fill += (size_t)got;
	while (self->pmi >= 0 && (end = memchr(self->line, '\n', self->fill)) != NULL) {
		const size_t len = (size_t)(end - self->line);

		rank_on_line(agent, index, self->line, len);
		self->fill -= len + 1;
		memmove(self->line, self->line + len + 1, self->fill);
	}
	if (self->fill == PBOOT_PMI1_REQUEST_MAX)
		rank_close_pmi(self);
}

/* The launcher sends no more than all ranks may have put. */
bool
pboot_ssh_pmi_add_pairs(struct pboot_ssh_agent *agent, const struct pboot_ssh_frame *frame)
{
	const size_t most = (size_t)agent->order.size * PBOOT_PMI1_FRESH_MAX;
	char *larger;

	if (frame->len_bytes > most - agent->pairs_len)
		return false;
	larger = realloc(agent->pairs, agent->pairs_len + frame->len_bytes + 1);
	if (!larger)
		return false;
	memcpy(larger + agent->pairs_len, frame->bytes, frame->len_bytes);
	agent->pairs = larger;
	agent->pairs_len += frame->len_bytes;
	return true;
}

bool
pboot_ssh_pmi_release(struct pboot_ssh_agent *agent)
{
	uint32_t i;

	if (!pboot_pmi1_server_release(&agent->server, agent->pairs, agent->pairs_len))
		return false;
	free(agent->pairs);
	agent->pairs = NULL;
	agent->pairs_len = 0;
	for (i = 0; i < agent->order.ranks.count; i++)
		rank_answer(&agent->ranks[i], pboot_pmi1_fence_answer);
	return true;
}
