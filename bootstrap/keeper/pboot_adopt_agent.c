/*
 * The keeper's connections to the agents that have started its ranks (bootstrap/ssh).  An agent is
 * the parent of its ranks, so it knows how they end.  A host has one agent, or several if it is
 * named several times.  The first passes the launcher's signals to the keeper, and the keeper tells
 * it how the job ends.  The keeper treats this connection as that of a launcher.
 */
#include "bootstrap/keeper/pboot_adopt.h"
#include "bootstrap/keeper/pboot_keeper.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Does a rank before this one have the same agent? */
static bool
agent_is_met(const struct pboot_adopted *ranks, uint32_t rank)
{
	uint32_t before = rank;

	/* The rank before is nearly always of the same agent. */
	while (before > 0)
		if (strcmp(ranks[--before].agent, ranks[rank].agent) == 0)
			return true;
	return false;
}

/* Until the agent says which its ranks are, all may be. */
static void
agent_connect(struct pboot_keeper *keeper, const char *name)
{
	const int sock = pboot_wire_connect(name);
	struct pboot_keeper_agent *agent = &keeper->agents[keeper->agent_count];
	struct ucred listener = { 0 };
	socklen_t len = sizeof listener;

	if (sock < 0)
		return;
	getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &listener, &len);
	*agent = (struct pboot_keeper_agent) {
		.sock = pboot_fd_raise(sock),
		.pid = listener.pid,
		.count = UINT32_MAX,
	};
	if (keeper->agent_count++ == 0)
		keeper->launcher_sock = agent->sock;
}

void
pboot_adopt_connect(struct pboot_keeper *keeper, const struct pboot_adopted *ranks)
{
	uint32_t rank;

	keeper->told_status = -1;
	keeper->agents = calloc(keeper->plan->size, sizeof *keeper->agents);
	for (rank = 0; keeper->agents && rank < keeper->plan->size; rank++)
		if (*ranks[rank].agent && !agent_is_met(ranks, rank))
			agent_connect(keeper, ranks[rank].agent);
}

static bool
agent_is_there(const struct pboot_keeper *keeper)
{
	return keeper->adopts && keeper->launcher_sock >= 0;
}

/* Is this rank of the job one of the agent's? */
static bool
agent_has(const struct pboot_keeper_agent *agent, uint32_t job_rank)
{
	return job_rank - agent->first < agent->count;
}

/* Finds the rank's agent if it has not ended; NULL: there is none. */
static const struct pboot_keeper_agent *
agent_find(const struct pboot_keeper *keeper, uint32_t rank)
{
	const uint32_t job_rank = pboot_keeper_job_rank(keeper, rank);
	uint32_t i;

	for (i = 0; agent_is_there(keeper) && i < keeper->agent_count; i++)
		if (keeper->agents[i].sock >= 0 && agent_has(&keeper->agents[i], job_rank))
			return &keeper->agents[i];
	return NULL;
}

bool
pboot_adopt_agent_knows(const struct pboot_keeper *keeper, uint32_t rank)
{
	return agent_find(keeper, rank) != NULL;
}

bool
pboot_adopt_agent_call(struct pboot_keeper *keeper, uint32_t rank)
{
	const struct pboot_keeper_agent *agent = agent_find(keeper, rank);

	if (!agent || agent->pid == 0 || keeper->ranks[rank].agent_called)
		return false;
	keeper->ranks[rank].agent_called = true;
	kill(agent->pid, SIGCONT);
	return true;
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

/* The first agent stands for the launcher.  Where another has lost the launcher, or has ended, only
 * its own connection may be broken; the launcher names it, so this keeper says nothing. */
static void
agent_lost(struct pboot_keeper *keeper, uint32_t agent)
{
	if (agent == 0)
		pboot_keeper_event(keeper, PBOOT_EV_LAUNCHER, 0, 0);
	else
		pboot_keeper_event(keeper, PBOOT_EV_ELSEWHERE_FAILED, 0, 1);
}

static void
agent_take(struct pboot_keeper *keeper, uint32_t agent, const struct pboot_msg *msg)
{
	switch (msg->kind) {
	case PBOOT_MSG_RANKS:
		keeper->agents[agent].first = msg->rank;
		keeper->agents[agent].count = (uint32_t)msg->value;
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
		agent_lost(keeper, agent);
		break;
	default:
		break;
	}
}

/* Are there ranks of which this agent has not told the end?  One that has not said which its ranks
 * are has refused this keeper. */
static bool
agent_has_ranks(const struct pboot_keeper *keeper, uint32_t agent)
{
	uint32_t rank;

	if (keeper->agents[agent].count == UINT32_MAX)
		return false;
	for (rank = 0; rank < keeper->plan->size; rank++)
		if (!keeper->ranks[rank].agent_knows && !keeper->rules.ranks[rank].gone &&
		    agent_has(&keeper->agents[agent], pboot_keeper_job_rank(keeper, rank)))
			return true;
	return false;
}

void
pboot_adopt_take(struct pboot_keeper *keeper, const struct pboot_msg *msg)
{
	if (keeper->adopts)
		agent_take(keeper, 0, msg);
}

/* Signals come from the first agent alone, so that ranks get each of them once.  An agent that ends
 * while ranks of its own live was killed, and the kernel kills them. */
void
pboot_adopt_receive(struct pboot_keeper *keeper, uint32_t agent)
{
	struct pboot_msg msg;
	int got;

	while ((got = pboot_wire_take(keeper->agents[agent].sock, &msg, NULL)) == 1)
		agent_take(keeper, agent, &msg);
	if (got < 0)
		return;
	close(keeper->agents[agent].sock);
	keeper->agents[agent].sock = -1;
	if (agent_has_ranks(keeper, agent))
		agent_lost(keeper, agent);
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
