/* Takes the messages of ranks, from the inherited socket or from one that the rank opened by
 * name. */
#include "bootstrap/share/pboot_descend.h"
#include "bootstrap/keeper/pboot_peers.h"
#include "bootstrap/share/pboot_settings.h"

#include "runtime/util/clock.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

/* Makes the eventfd of a rank when somebody asks for it the first time. */
static int
wake_fd_make(struct pboot_file *file)
{
	if (file->fd < 0)
		file->fd = pboot_fd_raise(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
	return file->fd < 0 ? errno : 0;
}

static void
rank_on_fetch(struct pboot_keeper *keeper, uint32_t rank, int index)
{
	const uint32_t size = keeper->plan->size;
	int sock = keeper->ranks[rank].control, err = 0;

	if (index < 0 || (uint32_t)index >= PBOOT_FILES_ALL(size))
		err = EINVAL;
	else if ((uint32_t)index >= PBOOT_FILE_WAKE(size, 0))
		err = wake_fd_make(&keeper->files[index]);
	else if (keeper->files[index].fd < 0)
		err = ENOENT;
	if (err)
		pboot_wire_send_fd(sock, PBOOT_MSG_FILE, rank, err, -1);
	else
		pboot_wire_send_fd(sock, PBOOT_MSG_FILE, rank, 0, keeper->files[index].fd);
}

/* Keeps a file that the rank gives.  The rank waits for the answer, so the keeper has the file
 * before other ranks hear of it. */
static void
rank_on_give(struct pboot_keeper *keeper, uint32_t rank, int fd)
{
	struct pboot_file *file = &keeper->files[PBOOT_FILE_HUGE(keeper->plan->size, rank)];

	if (fd >= 0) {
		if (file->fd >= 0)
			close(file->fd);
		file->fd = pboot_fd_raise(fd);
	}
	rank_on_fetch(keeper, rank, (int)PBOOT_FILE_HUGE(keeper->plan->size, rank));
}

static void
rank_on_hello(struct pboot_keeper *keeper, uint32_t rank, pid_t pid)
{
	struct pboot_keeper_rank *self = &keeper->ranks[rank];

	if (self->init_pid == pid)
		return;
	if (self->init_pid != 0) {
		pboot_keeper_event(keeper, PBOOT_EV_TWICE, rank, 0);
		return;
	}
	self->init_pid = pid;
	self->joined_ns = psi_now_ns();
	if (pid != self->pid)	/* not our child: waitpid will not tell of its end */
		self->init_pidfd = pboot_process_open(pid);
	pboot_keeper_event(keeper, PBOOT_EV_JOINED, rank, 0);
}

/* Tells a rank which kind of memory the job has.  A rank asks for it if it did not inherit the
 * memory and no environment variable names it. */
static void
rank_on_memory(struct pboot_keeper *keeper, uint32_t rank)
{
	char text[PBOOT_CAUSE_MAX];

	snprintf(text, sizeof text, "%s %s", pboot_shm_name(keeper->memory.kind),
	    keeper->file_kind);
	pboot_wire_send(keeper->ranks[rank].control, PBOOT_MSG_MEMORY, rank,
	    keeper->memory.exchange_id, text);
}

static void
rank_on_cause(struct pboot_keeper_rank *self, const char *text, int printed_to)
{
	char *note = strdup(text), *at;

	self->said = printed_to != 0 && printed_to == self->messages;
	if (!note)
		return;
	for (at = note; *at; at++)
		if ((unsigned char)*at < ' ')
			*at = ' ';
	free(self->note);
	self->note = note;
}

static void
rank_on_message(struct pboot_keeper *keeper, uint32_t rank, const struct pboot_msg *msg, pid_t pid)
{
	switch (msg->kind) {
	case PBOOT_MSG_HELLO:
		rank_on_hello(keeper, rank, pid ? pid : keeper->ranks[rank].pid);
		break;
	case PBOOT_MSG_FETCH:
		rank_on_fetch(keeper, rank, msg->value);
		break;
	case PBOOT_MSG_MEMORY:
		rank_on_memory(keeper, rank);
		break;
	case PBOOT_MSG_LEAVE:
		pboot_keeper_event(keeper, PBOOT_EV_LEAVE, rank, msg->value);
		break;
	case PBOOT_MSG_EXIT:
		pboot_keeper_event(keeper, PBOOT_EV_EXIT, rank, msg->value);
		break;
	case PBOOT_MSG_EXIT_ALONE:
		pboot_keeper_event(keeper, PBOOT_EV_EXIT_ALONE, rank, msg->value);
		break;
	case PBOOT_MSG_CAUSE:
		rank_on_cause(&keeper->ranks[rank], msg->text, msg->value);
		break;
	case PBOOT_MSG_GATHER:
		pboot_peers_arrived(keeper);
		break;
	case PBOOT_MSG_ARENA:
		pboot_arena_note(keeper, msg->value);
		break;
	case PBOOT_MSG_HANG:
		pboot_report_hang(keeper, rank, msg->value, true);
		break;
	case PBOOT_MSG_LONG_WAIT:
		pboot_report_hang(keeper, rank, msg->value, false);
		break;
	case PBOOT_MSG_KNOCK:
		pboot_peers_knock(keeper, rank, (uint32_t)msg->value);
		break;
	case PBOOT_MSG_NO_EXEC:
		pboot_keeper_event(keeper, PBOOT_EV_NO_EXEC, rank, msg->value);
		break;
	default:
		break;
	}
}

/*
 * The connection is at end of file: every process that had the rank's end has closed it.  That does
 * not mean that the rank has ended: waitpid tells that of a child, and a pidfd or a look at
 * intervals of another process.  The client may have closed the descriptor; then the death signal
 * makes the rank open a new connection.  A rank without a handler for this signal runs another
 * program now, and gets no signal.
 */
static void
rank_on_end_of_file(struct pboot_keeper *keeper, uint32_t rank)
{
	struct pboot_keeper_rank *self = &keeper->ranks[rank];
	int sig = pboot_settings_death_signal();

	close(self->control);
	self->control = -1;
	if (self->init_pid != 0 && keeper->listener >= 0 &&
	    pboot_rules_at_work(&keeper->rules, rank) &&
	    pboot_process_has(self->init_pid, PBOOT_CAUGHT, sig) == 1)
		kill(self->init_pid, sig);
}

void
pboot_receive_rank(struct pboot_keeper *keeper, uint32_t rank)
{
	struct pboot_msg msg;
	struct pboot_extra extra = { .fd = -1, .pid = 0 };
	int got = -1;

	while (keeper->ranks[rank].control >= 0 &&
	    (got = pboot_wire_take(keeper->ranks[rank].control, &msg, &extra)) == 1) {
		if (msg.kind == PBOOT_MSG_GIVE)
			rank_on_give(keeper, rank, extra.fd);
		else if (extra.fd >= 0)
			close(extra.fd);
		rank_on_message(keeper, rank, &msg, extra.pid);
	}
	if (got == 0)
		rank_on_end_of_file(keeper, rank);
}

static void
incoming_add(struct pboot_keeper *keeper, int sock)
{
	uint32_t i;

	for (i = 0; i < PBOOT_INCOMING_MAX; i++)
		if (keeper->incoming[i].sock < 0)
			break;
	if (i == PBOOT_INCOMING_MAX || !pboot_wire_is_same_user(sock)) {
		close(sock);
		return;
	}
	pboot_wire_want_pids(sock);
	keeper->incoming[i].sock = pboot_fd_raise(sock);
	keeper->incoming[i].deadline_ns = psi_now_ns() + PBOOT_REPLY_MS * 1000000u;
}

static void
incoming_accept(struct pboot_keeper *keeper)
{
	uint32_t i, room = 0;
	int sock;

	for (i = 0; i < PBOOT_INCOMING_MAX; i++)
		room += keeper->incoming[i].sock < 0;
	for (; room > 0 && keeper->listener >= 0; room--) {
		sock = accept4(keeper->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (sock < 0)
			return;
		incoming_add(keeper, sock);
	}
}

/* The first message of a connection says which rank opened it.  From now on this is the rank's
 * connection. */
static void
incoming_adopt(struct pboot_keeper *keeper, int sock, const struct pboot_msg *msg, pid_t pid)
{
	struct pboot_keeper_rank *self;

	if (msg->kind != PBOOT_MSG_HELLO || msg->value != PBOOT_WIRE_VERSION ||
	    msg->rank >= keeper->plan->size) {
		close(sock);
		return;
	}
	self = &keeper->ranks[msg->rank];
	if (self->control >= 0)
		close(self->control);
	self->control = sock;
	self->vanish_ns = 0;
	self->agent_called = false;
	self->released = false;
	rank_on_message(keeper, msg->rank, msg, pid);
	pboot_receive_rank(keeper, msg->rank);
}

static void
incoming_receive(struct pboot_keeper *keeper, struct pboot_incoming *incoming)
{
	struct pboot_msg msg;
	struct pboot_extra extra = { .fd = -1, .pid = 0 };
	int sock = incoming->sock, got = pboot_wire_take(sock, &msg, &extra);

	if (got < 0 && psi_now_ns() < incoming->deadline_ns)
		return;
	incoming->sock = -1;
	if (extra.fd >= 0)
		close(extra.fd);
	if (got == 1)
		incoming_adopt(keeper, sock, &msg, extra.pid);
	else
		close(sock);
}

void
pboot_receive_incoming(struct pboot_keeper *keeper)
{
	uint32_t i;

	incoming_accept(keeper);
	for (i = 0; i < PBOOT_INCOMING_MAX; i++)
		if (keeper->incoming[i].sock >= 0)
			incoming_receive(keeper, &keeper->incoming[i]);
}
