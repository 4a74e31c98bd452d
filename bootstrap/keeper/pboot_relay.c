/*
 * The relay does the work of --tag-output.  It is a process between the ranks and the launcher's
 * stdout and stderr, and writes whole lines with the rank in front.  It is a process of its own,
 * since a slow reader may block it and must not block the keeper.  It ends when all pipes of the
 * ranks are closed, or when its reader has gone.
 */
#include "bootstrap/keeper/pboot_keeper.h"
#include "bootstrap/share/pboot_tag.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { READ_BYTES = 65536 };

int
pboot_relay_open(uint32_t size, int (**pipes_out)[2])
{
	int (*pipes)[2] = calloc((size_t)size * 2, sizeof *pipes);
	uint32_t i;
	int err;

	if (!pipes)
		return ENOMEM;
	for (i = 0; i < size * 2; i++) {
		if (pipe2(pipes[i], O_CLOEXEC) < 0)
			goto undo;
		pipes[i][0] = pboot_fd_raise(pipes[i][0]);
		pipes[i][1] = pboot_fd_raise(pipes[i][1]);
	}
	*pipes_out = pipes;
	return 0;
undo:
	err = errno;
	while (i-- > 0) {
		close(pipes[i][0]);
		close(pipes[i][1]);
	}
	free(pipes);
	return err;
}

void
pboot_relay_close_writers(uint32_t size, int (*pipes)[2])
{
	uint32_t i;

	for (i = 0; i < size * 2; i++)
		close(pipes[i][1]);
	free(pipes);
}

/*
 * If the reader has gone, the relay ends, so that ranks get SIGPIPE as they would without us.  Any
 * other failure (a full disk, a closed descriptor) is printed once; the text that could not be
 * written is lost, and the ranks go on.
 */
static void
relay_write_failed(int fd, int err)
{
	static bool reported[STDERR_FILENO + 1];

	if (err == EPIPE || err == ECONNRESET)
		_exit(0);
	if (reported[fd])
		return;
	reported[fd] = true;
	pboot_say("cannot write to %s: %s; output of the ranks is lost",
	    fd == STDOUT_FILENO ? "standard output" : "standard error", strerror(err));
}

static void
relay_write(int fd, const char *text, size_t len)
{
	while (len > 0) {
		ssize_t done = write(fd, text, len);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0 && errno == EAGAIN) {
			struct pollfd room = { .fd = fd, .events = POLLOUT };

			pboot_poll(&room, 1, -1);
			continue;
		}
		if (done <= 0) {
			relay_write_failed(fd, done < 0 ? errno : EIO);
			return;
		}
		text += done;
		len -= (size_t)done;
	}
}

/* Reads once and writes the whole lines.  Returns false at end of file. */
static bool
relay_read(int fd, struct pboot_tag_stream *stream, uint32_t index)
{
	static char text[READ_BYTES];
	static struct pboot_tag_lines lines;
	int out = index % 2 == 0 ? STDOUT_FILENO : STDERR_FILENO;
	ssize_t got = read(fd, text, sizeof text);

	if (got < 0 && errno == EINTR)
		return true;
	if (!pboot_tag_take(stream, index / 2, text, got > 0 ? (size_t)got : 0, &lines))
		_exit(1);
	relay_write(out, lines.text, lines.len);
	lines.len = 0;
	return got > 0;
}

static void __attribute__((noreturn))
relay_run(uint32_t count, int (*pipes)[2])
{
	struct pollfd *polls = calloc(count, sizeof *polls);
	struct pboot_tag_stream *streams = calloc(count, sizeof *streams);
	uint32_t i, open_count = count;

	if (!polls || !streams)
		_exit(1);
	prctl(PR_SET_NAME, "penstock-relay", 0, 0, 0);
	pboot_say_forget();
	for (i = 0; i < count; i++) {
		close(pipes[i][1]);
		polls[i] = (struct pollfd) { .fd = pipes[i][0], .events = POLLIN };
	}
	while (open_count > 0) {
		pboot_poll(polls, count, -1);
		for (i = 0; i < count; i++) {
			if (polls[i].fd < 0 || polls[i].revents == 0)
				continue;
			if (!relay_read(polls[i].fd, &streams[i], i)) {
				close(polls[i].fd);
				polls[i].fd = -1;
				open_count--;
			}
		}
	}
	pboot_say_settle();
	_exit(0);
}

pid_t
pboot_relay_start(uint32_t size, int (*pipes)[2])
{
	pid_t pid = fork();
	uint32_t i;

	if (pid == 0)
		relay_run(size * 2, pipes);
	for (i = 0; i < size * 2; i++)
		close(pipes[i][0]);
	return pid;
}
