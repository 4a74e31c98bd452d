#include "runtime/util/nowait.h"

#include "runtime/util/clock.h"
#include "runtime/util/line.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	DEVICE_BYTES = 256,	/* a terminal that is ready has room for that much */
	SPLICE_NONBLOCK = 2,	/* the kernel's SPLICE_F_NONBLOCK */
};

static const uint64_t look_ns = 10 * 1000000;

static ssize_t
nowait_write_some(int fd, const char *text, size_t len)
{
	ssize_t done;

	do {
		done = write(fd, text, len);
	} while (done < 0 && errno == EINTR);
	return done < 0 ? -errno : done;
}

/* Where nothing better is possible: another program may fill between the look and the write. */
static ssize_t
nowait_write_if_ready(int fd, const char *text, size_t len, size_t most)
{
	struct pollfd room = { .fd = fd, .events = POLLOUT };

	if (ppoll(&room, 1, &(struct timespec) { 0, 0 }, NULL) <= 0)
		return -EAGAIN;
	return nowait_write_some(fd, text, len < most ? len : most);
}

/* The pipe or terminal opened once more, with a flag that is ours alone: a descriptor, or -1 where
 * there is no /proc, or the file belongs to another user. */
static int
nowait_open_again(int fd)
{
	struct psi_line path = { .len = 0 };

	psi_line_text(&path, "/proc/self/fd/");
	psi_line_number(&path, (uint64_t)fd);
	return open(psi_line_string(&path), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

/*
 * A pipe that cannot be opened again.  What is moved over from a pipe of our own is moved or not,
 * but each time takes one of the 16 pieces that a pipe has, however short it is.
 */
static ssize_t
nowait_move_some(int fd, const char *text, size_t len)
{
	int own[2];
	ssize_t done;

	if (pipe2(own, O_CLOEXEC | O_NONBLOCK) < 0)
		return nowait_write_if_ready(fd, text, len, PIPE_BUF);
	done = write(own[1], text, len < PIPE_BUF ? len : PIPE_BUF);
	if (done > 0)
		done = syscall(SYS_splice, own[0], NULL, fd, NULL, (size_t)done, SPLICE_NONBLOCK);
	if (done < 0)
		done = -errno;
	close(own[0]);
	close(own[1]);
	if (done == -ENOSYS || done == -EPERM || done == -EINVAL)
		done = nowait_write_if_ready(fd, text, len, PIPE_BUF);
	return done;
}

static ssize_t
nowait_again_some(int fd, const char *text, size_t len, bool is_pipe)
{
	int own = nowait_open_again(fd);
	ssize_t done;

	if (own < 0 && is_pipe)
		return nowait_move_some(fd, text, len);
	if (own < 0)
		return nowait_write_if_ready(fd, text, len, DEVICE_BYTES);
	done = nowait_write_some(own, text, len);
	close(own);
	return done;
}

/* By number, since a client may have a function of its own that is called sendto. */
static ssize_t
nowait_send_some(int fd, const char *text, size_t len)
{
	ssize_t done = syscall(SYS_sendto, fd, text, len, MSG_DONTWAIT | MSG_NOSIGNAL, NULL, 0);

	return done < 0 ? -errno : done;
}

ssize_t
psi_write_nowait(int fd, const char *text, size_t len_bytes)
{
	int flags = fcntl(fd, F_GETFL);
	struct stat info;

	if (flags < 0 || fstat(fd, &info) < 0)
		return -errno;
	if ((flags & O_ACCMODE) == O_RDONLY)
		return -EBADF;
	if (S_ISREG(info.st_mode) || S_ISBLK(info.st_mode) || flags & O_NONBLOCK)
		return nowait_write_some(fd, text, len_bytes);
	if (S_ISSOCK(info.st_mode))
		return nowait_send_some(fd, text, len_bytes);
	return nowait_again_some(fd, text, len_bytes, S_ISFIFO(info.st_mode));
}

bool
psi_write_within(int fd, const char *text, size_t len_bytes, uint64_t limit_ns)
{
	const struct timespec pause = { 0, (long)look_ns };
	const uint64_t start = psi_now_ns();

	while (len_bytes > 0) {
		ssize_t done = psi_write_nowait(fd, text, len_bytes);

		if (done > 0) {
			text += done;
			len_bytes -= (size_t)done;
		} else if (done != -EAGAIN || psi_now_ns() - start >= limit_ns) {
			return false;
		} else {
			nanosleep(&pause, NULL);
		}
	}
	return true;
}
