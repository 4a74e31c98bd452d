/* What ranks say, over the socket they were born with or over one they opened by name. */
#include "bootstrap/share/pboot_descend.h"
#include "bootstrap/keeper/pboot_keeper.h"
#include "bootstrap/share/pboot_settings.h"

#include "runtime/util/clock.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void
serve_fetch(struct pboot_keeper *keeper, uint32_t rank, int index)
{
	int sock = keeper->ranks[rank].control;

	if (index < 0 || (uint32_t)index >= PBOOT_FILES_ALL(keeper->plan->size))
		pboot_wire_send_fd(sock, PBOOT_MSG_FILE, rank, EINVAL, -1);
	else if (keeper->files[index].fd < 0)
		pboot_wire_send_fd(sock, PBOOT_MSG_FILE, rank, ENOENT, -1);
	else
		pboot_wire_send_fd(sock, PBOOT_MSG_FILE, rank, 0, keeper->files[index].fd);
}

/* The rank goes on, and tells others of it, only when the answer is there. */
static void
serve_store(struct pboot_keeper *keeper, uint32_t rank, int fd)
{
	struct pboot_file *file = &keeper->files[PBOOT_FILE_HUGE(keeper->plan->size, rank)];

	if (fd >= 0) {
		if (file->fd >= 0)
			close(file->fd);
		file->fd = pboot_fd_raise(fd);
	}
	serve_fetch(keeper, rank, (int)PBOOT_FILE_HUGE(keeper->plan->size, rank));
}

static void
serve_hello(struct pboot_keeper *keeper, uint32_t rank, pid_t pid)
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
	if (pid != self->pid)	/* a wrapper is our child: the end of init must show by itself */
		self->init_pidfd = pboot_process_open(pid);
	pboot_keeper_event(keeper, PBOOT_EV_JOINED, rank, 0);
}

static void
serve_note(struct pboot_keeper_rank *self, const char *text, int printed_to)
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
serve_message(struct pboot_keeper *keeper, uint32_t rank, const struct pboot_msg *msg, pid_t pid)
{
	switch (msg->kind) {
	case PBOOT_MSG_HELLO:
		serve_hello(keeper, rank, pid ? pid : keeper->ranks[rank].pid);
		break;
	case PBOOT_MSG_FETCH:
		serve_fetch(keeper, rank, msg->value);
		break;
	case PBOOT_MSG_LEAVE:
		pboot_keeper_event(keeper, PBOOT_EV_LEAVE, rank, msg->value);
		break;
	case PBOOT_MSG_EXIT:
		pboot_keeper_event(keeper, PBOOT_EV_EXIT, rank, msg->value);
		break;
	case PBOOT_MSG_PARTING:
		pboot_keeper_event(keeper, PBOOT_EV_PARTING, rank, msg->value);
		break;
	case PBOOT_MSG_CAUSE:
		serve_note(&keeper->ranks[rank], msg->text, msg->value);
		break;
	case PBOOT_MSG_ARENA:
		pboot_arena_keep(keeper, msg->value);
		break;
	case PBOOT_MSG_HANG:
		pboot_report_hang(keeper, rank, msg->value, true);
		break;
	case PBOOT_MSG_LONG_WAIT:
		pboot_report_hang(keeper, rank, msg->value, false);
		break;
	case PBOOT_MSG_NO_EXEC:
		pboot_keeper_event(keeper, PBOOT_EV_NO_EXEC, rank, msg->value);
		break;
	default:
		break;
	}
}

/*
 * End of file: every process that held the rank's end has closed it.  That is no death: waitpid
 * tells of our child's, and pidfd or a look at intervals of another's.  A rank whose client has
 * closed what it did not know is told to open another; a program that it runs instead is not.
 */
static void
serve_end_of_file(struct pboot_keeper *keeper, uint32_t rank)
{
	struct pboot_keeper_rank *self = &keeper->ranks[rank];
	int sig = pboot_settings_death_signal();

	close(self->control);
	self->control = -1;
	if (self->init_pid != 0 && keeper->listener >= 0 && pboot_rules_at_work(&keeper->rules, rank) &&
	    pboot_process_has(self->init_pid, PBOOT_CAUGHT, sig) == 1)
		kill(self->init_pid, sig);
}

void
pboot_serve_rank(struct pboot_keeper *keeper, uint32_t rank)
{
	struct pboot_msg msg;
	struct pboot_extra extra = { .fd = -1, .pid = 0 };
	int got = -1;

	while (keeper->ranks[rank].control >= 0 &&
	    (got = pboot_wire_take(keeper->ranks[rank].control, &msg, &extra)) == 1) {
		if (msg.kind == PBOOT_MSG_STORE)
			serve_store(keeper, rank, extra.fd);
		else if (extra.fd >= 0)
			close(extra.fd);
		serve_message(keeper, rank, &msg, extra.pid);
	}
	if (got == 0)
		serve_end_of_file(keeper, rank);
}

static bool
same_user(int sock)
{
	struct ucred who;
	socklen_t len = sizeof who;

	return getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &who, &len) == 0 && who.uid == geteuid();
}

static void
accept_caller(struct pboot_keeper *keeper, int sock)
{
	uint32_t i;

	for (i = 0; i < PBOOT_CALLERS_MAX; i++)
		if (keeper->callers[i].sock < 0)
			break;
	if (i == PBOOT_CALLERS_MAX || !same_user(sock)) {
		close(sock);
		return;
	}
	pboot_wire_want_pids(sock);
	keeper->callers[i].sock = pboot_fd_raise(sock);
	keeper->callers[i].deadline_ns = psi_now_ns() + PBOOT_REPLY_MS * 1000000u;
}

static void
accept_callers(struct pboot_keeper *keeper)
{
	uint32_t i, room = 0;
	int sock;

	for (i = 0; i < PBOOT_CALLERS_MAX; i++)
		room += keeper->callers[i].sock < 0;
	for (; room > 0 && keeper->listener >= 0; room--) {
		sock = accept4(keeper->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (sock < 0)
			return;
		accept_caller(keeper, sock);
	}
}

/* The caller says which rank it is; from then on this is the rank's connection. */
static void
adopt(struct pboot_keeper *keeper, int sock, const struct pboot_msg *msg, pid_t pid)
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
	serve_message(keeper, msg->rank, msg, pid);
	pboot_serve_rank(keeper, msg->rank);
}

static void
serve_caller(struct pboot_keeper *keeper, struct pboot_caller *caller)
{
	struct pboot_msg msg;
	struct pboot_extra extra = { .fd = -1, .pid = 0 };
	int sock = caller->sock, got = pboot_wire_take(sock, &msg, &extra);

	if (got < 0 && psi_now_ns() < caller->deadline_ns)
		return;
	caller->sock = -1;
	if (extra.fd >= 0)
		close(extra.fd);
	if (got == 1)
		adopt(keeper, sock, &msg, extra.pid);
	else
		close(sock);
}

void
pboot_serve_callers(struct pboot_keeper *keeper)
{
	uint32_t i;

	accept_callers(keeper);
	for (i = 0; i < PBOOT_CALLERS_MAX; i++)
		if (keeper->callers[i].sock >= 0)
			serve_caller(keeper, &keeper->callers[i]);
}
