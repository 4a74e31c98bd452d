#include "bootstrap/share/pboot_wire.h"

#include "runtime/util/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

enum { HIGH_FD = 100 };

union fd_room {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(int))];
};

union extra_room {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
};

int
pboot_fd_raise(int fd)
{
	int high = fcntl(fd, F_DUPFD_CLOEXEC, HIGH_FD);

	if (high < 0)
		return fd;
	close(fd);
	return high;
}

int
pboot_pipe_open(int ends_out[2])
{
	if (pipe2(ends_out, O_CLOEXEC) < 0)
		return errno;
	ends_out[0] = pboot_fd_raise(ends_out[0]);
	ends_out[1] = pboot_fd_raise(ends_out[1]);
	return 0;
}

int
pboot_wire_pair(int fds_out[2])
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
		return errno;
	fds_out[0] = pboot_fd_raise(fds[0]);
	fds_out[1] = pboot_fd_raise(fds[1]);
	return 0;
}

static int
message_send_bytes(int sock, const struct msghdr *head)
{
	ssize_t sent;

	do {
		/* by syscall: a program may have its own function called sendmsg */
		sent = syscall(SYS_sendmsg, sock, head, MSG_DONTWAIT | MSG_NOSIGNAL);
	} while (sent < 0 && errno == EINTR);
	return sent < 0 ? errno : 0;
}

static void
message_attach_fd(struct msghdr *head, union fd_room *room, int fd)
{
	struct cmsghdr *cmsg;

	memset(room, 0, sizeof *room);
	head->msg_control = room->bytes;
	head->msg_controllen = sizeof room->bytes;
	cmsg = CMSG_FIRSTHDR(head);
	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(sizeof fd);
	memcpy(CMSG_DATA(cmsg), &fd, sizeof fd);
}

static int
message_send(int sock, const struct pboot_msg *msg, int fd)
{
	union {
		const struct pboot_msg *in;
		void *out;
	} body = { .in = msg };
	struct iovec part = { body.out, offsetof(struct pboot_msg, text) + msg->len_bytes };
	struct msghdr head = { .msg_iov = &part, .msg_iovlen = 1 };
	union fd_room room;

	if (fd >= 0)
		message_attach_fd(&head, &room, fd);
	return message_send_bytes(sock, &head);
}

int
pboot_wire_send(int sock, enum pboot_msg_kind kind, uint32_t rank, int value, const char *text)
{
	struct pboot_msg msg;

	msg.kind = kind;
	msg.rank = rank;
	msg.value = value;
	msg.len_bytes = 0;
	while (text && text[msg.len_bytes] && msg.len_bytes < PBOOT_CAUSE_MAX) {
		msg.text[msg.len_bytes] = text[msg.len_bytes];
		msg.len_bytes++;
	}
	return message_send(sock, &msg, -1);
}

int
pboot_wire_send_fd(int sock, enum pboot_msg_kind kind, uint32_t rank, int value, int fd)
{
	struct pboot_msg msg;

	msg.kind = kind;
	msg.rank = rank;
	msg.value = value;
	msg.len_bytes = 0;
	return message_send(sock, &msg, fd);
}

static void
message_take_extra(const struct cmsghdr *cmsg, struct pboot_extra *extra)
{
	if (cmsg->cmsg_level != SOL_SOCKET)
		return;
	if (cmsg->cmsg_type == SCM_RIGHTS) {
		memcpy(&extra->fd, CMSG_DATA(cmsg), sizeof extra->fd);
	} else if (cmsg->cmsg_type == SCM_CREDENTIALS) {
		struct ucred sender;

		memcpy(&sender, CMSG_DATA(cmsg), sizeof sender);
		extra->pid = sender.pid;
	}
}

static struct pboot_extra
message_take_extras(struct msghdr *head)
{
	struct pboot_extra extra = { .fd = -1, .pid = 0 };
	struct cmsghdr *cmsg;

	for (cmsg = CMSG_FIRSTHDR(head); cmsg; cmsg = CMSG_NXTHDR(head, cmsg))
		message_take_extra(cmsg, &extra);
	return extra;
}

/* A packet whose length differs from what it says is not our message. */
static bool
message_is_well_formed(const struct pboot_msg *msg, ssize_t got)
{
	const size_t head_bytes = offsetof(struct pboot_msg, text);

	return (size_t)got >= head_bytes && msg->len_bytes <= PBOOT_CAUSE_MAX &&
	    (size_t)got == head_bytes + msg->len_bytes;
}

int
pboot_wire_take(int sock, struct pboot_msg *msg_out, struct pboot_extra *extra_out)
{
	struct iovec part = { msg_out, sizeof *msg_out };
	union extra_room room;
	struct msghdr head = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = room.bytes,
		.msg_controllen = sizeof room.bytes,
	};
	struct pboot_extra extra;
	ssize_t got;

	do {
		got = recvmsg(sock, &head, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		return errno == EAGAIN || errno == EWOULDBLOCK ? -1 : 0;
	if (got == 0)
		return 0;
	extra = message_take_extras(&head);
	if (extra_out)
		*extra_out = extra;
	else if (extra.fd >= 0)
		close(extra.fd);
	if (!message_is_well_formed(msg_out, got))
		return 0;
	msg_out->text[msg_out->len_bytes] = '\0';
	return 1;
}

void
pboot_wire_want_pids(int sock)
{
	int yes = 1;

	setsockopt(sock, SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes);
}

/* An abstract address: the name's first byte is NUL, and no file is made. */
static socklen_t
name_address(const char *name, struct sockaddr_un *address_out)
{
	static const char prefix[] = "penstock-";
	size_t len = sizeof prefix - 1;

	memset(address_out, 0, sizeof *address_out);
	address_out->sun_family = AF_UNIX;
	memcpy(address_out->sun_path + 1, prefix, len);
	memcpy(address_out->sun_path + 1 + len, name, PBOOT_NAME_BYTES - 1);
	len += PBOOT_NAME_BYTES;
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
}

static int
socket_by_name(const char *name, int (*use)(int, const struct sockaddr *, socklen_t))
{
	struct sockaddr_un address;
	socklen_t len = name_address(name, &address);
	int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), err;

	if (sock < 0)
		return -errno;
	sock = pboot_fd_raise(sock);
	if (use(sock, (const struct sockaddr *)&address, len) < 0) {
		err = errno;
		close(sock);
		return -err;
	}
	return sock;
}

int
pboot_wire_listen(const char *name)
{
	int sock = socket_by_name(name, bind), err;

	if (sock >= 0 && (fcntl(sock, F_SETFL, O_NONBLOCK) < 0 || listen(sock, SOMAXCONN) < 0)) {
		err = errno;
		close(sock);
		return -err;
	}
	return sock;
}

bool
pboot_wire_is_same_user(int sock)
{
	struct ucred peer;
	socklen_t len = sizeof peer;

	return getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 && peer.uid == geteuid();
}

/* When a name is free again, another user's process can take it, since /proc/net/unix shows it. */
int
pboot_wire_connect(const char *name)
{
	int sock = socket_by_name(name, connect);

	if (sock >= 0 && !pboot_wire_is_same_user(sock)) {
		close(sock);
		return -ECONNREFUSED;
	}
	return sock;
}

int
pboot_wire_file(int fd)
{
	struct stat info;

	if (fstat(fd, &info) < 0)
		return 0;
	return (int)((info.st_dev * 31 + info.st_ino) % INT_MAX) + 1;
}

/* Makes bits for a name if the kernel has no getrandom, or its random pool is not ready.  Time and
 * pid make them unique too. */
static void
name_weak_bits(unsigned char *bits, size_t len)
{
	uint64_t state = psi_now_ns() ^ (uint64_t)getpid() << 32;

	while (len-- > 0) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		bits[len] = (unsigned char)(state >> 56);
	}
}

void
pboot_wire_name(char name_out[PBOOT_NAME_BYTES])
{
	static const char digits[] = "0123456789abcdef";
	unsigned char bits[(PBOOT_NAME_BYTES - 1) / 2];
	size_t i;

	if (getrandom(bits, sizeof bits, GRND_NONBLOCK) != (ssize_t)sizeof bits)
		name_weak_bits(bits, sizeof bits);
	for (i = 0; i < sizeof bits; i++) {
		name_out[2 * i] = digits[bits[i] >> 4];
		name_out[2 * i + 1] = digits[bits[i] & 15];
	}
	name_out[2 * i] = '\0';
}
