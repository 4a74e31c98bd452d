#include "bootstrap/ssh/pboot_ssh_agent.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

bool
pboot_ssh_keeper_listen(struct pboot_ssh_agent *agent)
{
	pboot_wire_name(agent->name);
	agent->listener = pboot_wire_listen(agent->name);
	return agent->listener >= 0;
}

bool
pboot_ssh_keeper_is_there(const struct pboot_ssh_agent *agent)
{
	unsigned i;

	for (i = 0; i < agent->keeper_count; i++)
		if (agent->keepers[i].sock >= 0)
			return true;
	return false;
}

void
pboot_ssh_keeper_tell(struct pboot_ssh_agent *agent, enum pboot_msg_kind kind, uint32_t rank,
    int value)
{
	unsigned i;

	for (i = 0; i < agent->keeper_count; i++)
		if (agent->keepers[i].sock >= 0)
			pboot_wire_send(agent->keepers[i].sock, kind, rank, value, NULL);
}

/* A keeper whose connection is open has not ended, so its number is its own. */
void
pboot_ssh_keeper_continue(const struct pboot_ssh_agent *agent)
{
	unsigned i;

	for (i = 0; i < agent->keeper_count; i++)
		if (agent->keepers[i].sock >= 0 && agent->keepers[i].pid > 0)
			kill(agent->keepers[i].pid, SIGCONT);
}

/* Tells a keeper that has connected whose ends it will hear of, and what happened before. */
static void
keeper_greet(struct pboot_ssh_agent *agent, const struct pboot_ssh_keeper *keeper)
{
	uint32_t i;

	pboot_wire_send(keeper->sock, PBOOT_MSG_RANKS, agent->order.ranks.first,
	    (int)agent->order.ranks.count, NULL);
	if (agent->lost)
		pboot_wire_send(keeper->sock, PBOOT_MSG_LOST, 0, 0, NULL);
	if (agent->fail_status)
		pboot_wire_send(keeper->sock, PBOOT_MSG_FAIL, 0, agent->fail_status, NULL);
	for (i = 0; i < agent->order.ranks.count; i++)
		if (agent->ranks[i].ended)
			pboot_wire_send(keeper->sock, PBOOT_MSG_ENDED, agent->order.ranks.first + i,
			    agent->ranks[i].end_status, NULL);
}

void
pboot_ssh_keeper_accept(struct pboot_ssh_agent *agent)
{
	const int sock = accept4(agent->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct pboot_ssh_keeper *keeper = &agent->keepers[agent->keeper_count];
	struct ucred peer = { 0 };
	socklen_t len = sizeof peer;

	if (sock < 0)
		return;
	if (agent->keeper_count == PBOOT_SSH_KEEPERS_MAX || !pboot_wire_is_same_user(sock) ||
	    getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0) {
		close(sock);
		return;
	}
	*keeper = (struct pboot_ssh_keeper) { pboot_fd_raise(sock), peer.pid };
	agent->keeper_count++;
	keeper_greet(agent, keeper);
}

/* Takes messages of a keeper.  It tells how the job ends, as far as it knows now.  Its connection
 * closes when it ends. */
void
pboot_ssh_keeper_take(struct pboot_ssh_agent *agent, struct pboot_ssh_keeper *keeper)
{
	struct pboot_msg msg;
	int got;

	while ((got = pboot_wire_take(keeper->sock, &msg, NULL)) == 1)
		if (msg.kind == PBOOT_MSG_STATUS)
			pboot_ssh_link_send_number(&agent->link,
			    msg.rank ? PBOOT_SSH_FAILED : PBOOT_SSH_ASKED, 0,
			    (uint32_t)msg.value & 255);
		else if (msg.kind == PBOOT_MSG_HOST_LOST)
			pboot_ssh_link_send_number(&agent->link, PBOOT_SSH_HOST_LOST, 0, msg.rank);
	if (got < 0)
		return;
	close(keeper->sock);
	keeper->sock = -1;
}

/* The process has ended.  If it was a keeper, its number may go to another process. */
void
pboot_ssh_keeper_ended(struct pboot_ssh_agent *agent, pid_t pid)
{
	unsigned i;

	for (i = 0; i < agent->keeper_count; i++)
		if (agent->keepers[i].pid == pid)
			agent->keepers[i].pid = 0;
}

void
pboot_ssh_keeper_spare(const struct pboot_ssh_agent *agent, struct pboot_spared *spared_out)
{
	unsigned i;

	*spared_out = (struct pboot_spared) { 0 };
	for (i = 0; i < agent->keeper_count; i++)
		if (agent->keepers[i].pid != 0)
			spared_out->pids[spared_out->count++] = agent->keepers[i].pid;
}
