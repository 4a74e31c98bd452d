/*
 * The keeper's connection to the agent that has started its ranks (bootstrap/ssh).  The agent is
 * the parent of the ranks, so it knows how they end.  It passes the launcher's signals to the
 * keeper, and the keeper tells it how the job ends.  The keeper treats this connection as that of a
 * launcher.
 */
#include "bootstrap/keeper/pboot_keeper.h"

#include <signal.h>

void
pboot_adopt_connect(struct pboot_keeper *keeper, const char *agent)
{
	const int sock = agent ? pboot_wire_connect(agent) : -1;

	keeper->told_status = -1;
	keeper->agent_count = UINT32_MAX;
	if (sock >= 0)
		keeper->launcher_sock = pboot_fd_raise(sock);
}

static bool
agent_is_there(const struct pboot_keeper *keeper)
{
	return keeper->adopts && keeper->launcher_sock >= 0;
}

/* A host that is named twice has two agents, and one keeper. */
bool
pboot_adopt_agent_knows(const struct pboot_keeper *keeper, uint32_t rank)
{
	return agent_is_there(keeper) &&
	    pboot_keeper_job_rank(keeper, rank) - keeper->agent_first < keeper->agent_count;
}

/* The agent's child may be a shell that has started the rank.  The end of this child counts when
 * the rank itself has ended. */
static void
adopted_note_end(struct pboot_keeper *keeper, uint32_t rank, int status)
{
	struct pboot_keeper_rank *self = &keeper->ranks[rank];

	self->agent_knows = true;
	self->end_status = status;
	if (self->vanish_ns != 0 && !keeper->rules.ranks[rank].gone)
		pboot_end_adopted(keeper, rank);
}

static void
adopted_find_end(struct pboot_keeper *keeper, uint32_t job_rank, int status)
{
	uint32_t rank;

	for (rank = 0; rank < keeper->plan->size; rank++)
		if (pboot_keeper_job_rank(keeper, rank) == job_rank)
			adopted_note_end(keeper, rank, status);
}

void
pboot_adopt_take(struct pboot_keeper *keeper, const struct pboot_msg *msg)
{
	switch (msg->kind) {
	case PBOOT_MSG_RANKS:
		keeper->agent_first = msg->rank;
		keeper->agent_count = (uint32_t)msg->value;
		break;
	case PBOOT_MSG_ENDED:
		adopted_find_end(keeper, msg->rank, msg->value);
		break;
	case PBOOT_MSG_FAIL:
		pboot_keeper_event(keeper, PBOOT_EV_ELSEWHERE_FAILED, 0, msg->value & 255);
		break;
	case PBOOT_MSG_TIME_OVER:
		pboot_keeper_event(keeper, PBOOT_EV_TIMEOUT, 0, 0);
		break;
	case PBOOT_MSG_LOST:
		pboot_keeper_event(keeper, PBOOT_EV_LAUNCHER, 0, 0);
		break;
	default:
		break;
	}
}

void
pboot_adopt_tell(struct pboot_keeper *keeper)
{
	const struct pboot_cause *cause = &keeper->rules.cause;
	const bool failure = keeper->rules.phase >= PBOOT_ENDING;

	if (!agent_is_there(keeper) || cause->kind == PBOOT_CAUSE_NONE ||
	    (keeper->told_status == cause->code && keeper->told_failure == failure))
		return;
	if (pboot_wire_send(keeper->launcher_sock, PBOOT_MSG_STATUS, failure, cause->code,
	    NULL) != 0)
		return;
	keeper->told_status = cause->code;
	keeper->told_failure = failure;
}

void
pboot_adopt_tell_lost(const struct pboot_keeper *keeper, uint32_t job_rank)
{
	if (agent_is_there(keeper))
		pboot_wire_send(keeper->launcher_sock, PBOOT_MSG_HOST_LOST, job_rank, 0, NULL);
}
