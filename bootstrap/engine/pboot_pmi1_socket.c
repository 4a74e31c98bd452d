#include "bootstrap/engine/pboot_pmi1_socket.h"

#include "bootstrap/share/pboot_wire.h"
#include "runtime/util/hostname.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HOST_ROOM = 256 };

bool
pboot_pmi1_socket_is(int fd)
{
	struct stat info;

	return fstat(fd, &info) == 0 && S_ISSOCK(info.st_mode) &&
	       fcntl(fd, F_SETFD, FD_CLOEXEC) == 0;
}

/* Connects within `ms'.  Returns 0 or an errno value. */
static int
socket_connect_within(int sock, const struct addrinfo *to, int ms)
{
	struct pollfd done = { .fd = sock, .events = POLLOUT };
	socklen_t len = sizeof(int);
	int err = 0, got;

	if (connect(sock, to->ai_addr, to->ai_addrlen) == 0)
		return 0;
	if (errno != EINPROGRESS && errno != EINTR)
		return errno;
	do {
		got = pboot_poll(&done, 1, ms);
	} while (got < 0 && errno == EINTR);
	if (got == 0)
		return ETIMEDOUT;
	return getsockopt(sock, SOL_SOCKET, SO_ERROR, &err, &len) < 0 ? errno : err;
}

/* Returns a descriptor, or the negative of an errno value. */
static int
socket_open(const struct addrinfo *to, int ms)
{
	const int sock = socket(to->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int err, yes = 1;

	if (sock < 0)
		return -errno;
	err = socket_connect_within(sock, to, ms);
	if (err) {
		close(sock);
		return -err;
	}
	setsockopt(sock, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
	return pboot_fd_raise(sock);
}

/* Finds the addresses of a host.  A process manager names this host by its own name, which a host
 * without a name service may not know; then the loopback address is taken. */
static int
host_find_addresses(const char *host, const char *service, struct addrinfo **list_out)
{
	const struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM };
	const int err = getaddrinfo(host, service, &hints, list_out);

	if (err == 0 || strcmp(host, psi_hostname()) != 0)
		return err;
	return getaddrinfo(NULL, service, &hints, list_out);
}

int
pboot_pmi1_socket_connect(const char *port, int ms, const char **why_out)
{
	const char *colon = strrchr(port, ':');
	struct addrinfo *list, *at;
	char host[HOST_ROOM];
	int sock = -1, err;

	*why_out = "expected host:port";
	if (!colon || colon == port || (size_t)(colon - port) >= sizeof host)
		return -1;
	memcpy(host, port, (size_t)(colon - port));
	host[colon - port] = '\0';
	err = host_find_addresses(host, colon + 1, &list);
	if (err) {
		*why_out = gai_strerror(err);
		return -1;
	}
	for (at = list; at && sock < 0; at = at->ai_next)
		sock = socket_open(at, ms);
	freeaddrinfo(list);
	if (sock < 0)
		*why_out = strerror(-sock);
	return sock < 0 ? -1 : sock;
}
