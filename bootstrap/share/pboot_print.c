#include "bootstrap/share/pboot_print.h"

#include "bootstrap/bootstrap.h"
#include "bootstrap/share/pboot_wire.h"
#include "bootstrap/share/pboot_write_signals.h"
#include "runtime/util/clock.h"
#include "runtime/util/log.h"
#include "runtime/util/nowait.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MS ((uint64_t)1000000)

enum {
	KEPT_BYTES = 16384,	/* room for lines that wait for a reader */
	LOOK_MS = 100,		/* longest sleep between two looks at the limits */
	RETRY_MS = 10,		/* sleep where poll says ready but nothing can be written */
};

/* The longest that this process waits for readers, counted from its first wait. */
static const uint64_t all_ns = 60000 * MS;

/* The result of writing a text. */
enum outcome {
	DONE,
	FAILED,		/* errno says why */
	UNREAD,		/* the reader took nothing for limits.quiet_ns */
	TOO_SLOW,	/* all_ns is over */
	TIME_OVER,	/* limits.until_ns is over */
	TOLD_TO_END,		/* the job was told to end */
};

static struct pboot_print_limits limits = {
	.quiet_ns = PBOOT_PRINT_QUIET_NS,
	.until_ns = UINT64_MAX,
	.wake_fd = -1,
};

static struct {
	size_t fill;
	unsigned lost;		/* lines that found no room */
	char text[KEPT_BYTES];
} kept;

void
pboot_print_limit(const struct pboot_print_limits *given)
{
	limits = *given;
}

/* There may be as many outputs as ranks, and each may be unread. */
void
pboot_print_shorten_waits(void)
{
	limits.quiet_ns /= 4;
}

/* -- waiting --------------------------------------------------------------------------------- */

struct wait {
	uint64_t last_ns;	/* when the reader last took something */
	bool dry;		/* the descriptor was ready, but nothing could be written */
};

static uint64_t first_wait_ns;	/* in this process; 0: none yet */

static struct wait
wait_begin(void)
{
	uint64_t now = psi_now_ns();

	if (first_wait_ns == 0)
		first_wait_ns = now;
	return (struct wait) { now, false };
}

static void
wait_progress(struct wait *wait)
{
	wait->last_ns = psi_now_ns();
	wait->dry = false;
}

static int
wait_ms(const struct wait *wait, uint64_t now)
{
	uint64_t left = wait->last_ns + limits.quiet_ns - now;

	return (int)((left < LOOK_MS * MS ? left : LOOK_MS * MS) / MS) + 1;
}

/* Waits until the caller can try again, and returns DONE then.  Callers try once before they wait,
 * so text that a reader takes at once is written whatever the limits say. */
static enum outcome
wait_for_room(struct wait *wait, int fd)
{
	struct pollfd polls[2] = {
		{ .fd = wait->dry ? -1 : fd, .events = POLLOUT },
		{ .fd = limits.wake_fd, .events = POLLIN },
	};
	uint64_t now = psi_now_ns();

	if (now >= limits.until_ns)
		return TIME_OVER;
	if (now - wait->last_ns >= limits.quiet_ns)
		return UNREAD;
	if (now - first_wait_ns >= all_ns)
		return TOO_SLOW;
	polls[1].revents = 0;
	pboot_poll(polls, 2, wait->dry ? RETRY_MS : wait_ms(wait, now));
	wait->dry = true;
	if (!polls[1].revents || !limits.is_told_to_end(limits.context))
		return DONE;
	limits.quiet_ns = 0;            /* no later output waits */
	limits.wake_fd = -1;
	return TOLD_TO_END;
}

/* Writes text from *at on and advances *at.  FAILED: errno says why. */
static enum outcome
print_whole(int fd, const char *text, size_t len, size_t *at)
{
	struct wait wait = wait_begin();
	enum outcome outcome = DONE;

	while (*at < len && outcome == DONE) {
		ssize_t done = psi_write_nowait(fd, text + *at, len - *at);

		if (done > 0) {
			*at += (size_t)done;
			wait_progress(&wait);
			if (wait.last_ns - first_wait_ns < all_ns)
				continue;
		} else if (done != -EAGAIN) {
			errno = done ? (int)-done : EIO;
			return FAILED;
		}
		outcome = *at < len ? wait_for_room(&wait, fd) : DONE;
	}
	if (outcome == UNREAD)
		pboot_print_shorten_waits();
	return outcome;
}

/* -- lines ----------------------------------------------------------------------------------- */

static void
line_keep(const char *text, size_t len)
{
	if (len > KEPT_BYTES - kept.fill) {
		kept.lost++;
		return;
	}
	memcpy(kept.text + kept.fill, text, len);
	kept.fill += len;
}

static void
lines_drop(size_t len)
{
	kept.fill -= len;
	memmove(kept.text, kept.text + len, kept.fill);
}

static void
lines_report_lost(void)
{
	unsigned lost = kept.lost;

	if (lost == 0 || kept.fill > 0)
		return;
	kept.lost = 0;
	pboot_say("%u line%s left out, since nobody read standard error", lost,
	    lost > 1 ? "s are" : " is");
}

bool
pboot_say_pending(void)
{
	return kept.fill > 0;
}

/* Writes whole lines while there is room, so that lines of other programs come between ours and not
 * into them. */
void
pboot_say_flush(void)
{
	while (kept.fill > 0) {
		const char *end = memchr(kept.text, '\n', kept.fill);
		size_t len = end ? (size_t)(end - kept.text) + 1 : kept.fill;
		ssize_t done = psi_write_nowait(STDERR_FILENO, kept.text, len);

		if (done == -EAGAIN)
			return;
		lines_drop(done > 0 ? (size_t)done : len);
		lines_report_lost();
	}
}

void
pboot_say_settle(void)
{
	struct wait wait = wait_begin();
	enum outcome outcome = DONE;
	size_t before;

	while (outcome == DONE) {
		before = kept.fill;
		pboot_say_flush();
		if (kept.fill == 0)
			return;
		if (kept.fill < before)
			wait_progress(&wait);
		outcome = wait_for_room(&wait, STDERR_FILENO);
	}
	if (outcome == UNREAD)
		pboot_print_shorten_waits();
}

void
pboot_say_forget(void)
{
	kept.fill = 0;
	kept.lost = 0;
}

void
pboot_say(const char *format, ...)
{
	char line[PSI_LOG_BYTES];
	va_list args;
	size_t len;

	va_start(args, format);
	len = psi_log_format(line, format, args);
	va_end(args);
	line_keep(line, len);
	pboot_say_flush();
}

/* -- a text to a file or stream -------------------------------------------------------------- */

/* May a later open succeed?  A named pipe may get a reader; a lease may end. */
static bool
file_may_open_later(const char *path, int err)
{
	struct stat info;

	if (err == EAGAIN)
		return true;
	return err == ENXIO && stat(path, &info) == 0 && S_ISFIFO(info.st_mode);
}

static enum outcome
file_open(const char *path, int *fd_out)
{
	struct wait wait = wait_begin();
	enum outcome outcome = DONE;
	const int flags = O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

	wait.dry = true;
	while (outcome == DONE) {
		*fd_out = open(path, flags, 0666);
		if (*fd_out >= 0)
			return DONE;
		if (!file_may_open_later(path, errno))
			return FAILED;
		outcome = wait_for_room(&wait, -1);
	}
	if (outcome == UNREAD)
		pboot_print_shorten_waits();
	return outcome;
}

static enum outcome
print_file(const char *path, const char *text, size_t len, size_t *at)
{
	int fd, err;
	enum outcome outcome = file_open(path, &fd);

	if (outcome != DONE)
		return outcome;
	fd = pboot_fd_raise(fd);	/* it may be 0 to 2 where those are closed */
	outcome = print_whole(fd, text, len, at);
	err = errno;
	if (close(fd) < 0 && outcome == DONE) {	/* some report a full disk only now */
		err = errno;
		outcome = FAILED;
	}
	errno = err;
	return outcome;
}

static enum outcome
print_where(const char *name, const char *text, size_t len, size_t *at)
{
	if (strcmp(name, "stdout") == 0)
		return print_whole(STDOUT_FILENO, text, len, at);
	if (strcmp(name, "stderr") != 0)
		return print_file(name, text, len, at);
	pboot_say_settle();
	return print_whole(STDERR_FILENO, text, len, at);
}

static const char *
outcome_text(enum outcome outcome)
{
	switch (outcome) {
	case UNREAD:
		return "nobody reads there";
	case TOO_SLOW:
		return "the reader takes longer than a minute";
	case TIME_OVER:
		return "the job's time is over";
	case TOLD_TO_END:
		return "the job was told to end";
	default:
		return strerror(errno);
	}
}

bool
pboot_print(const char *what, const char *name, const char *text, size_t len_bytes)
{
	const struct pboot_write_signals signals = pboot_write_signals_block();
	enum outcome outcome;
	size_t at = 0;

	outcome = print_where(name, text, len_bytes, &at);
	if (outcome != DONE)
		pboot_say("cannot write %s to %s: %s; %zu of %zu bytes are left out", what, name,
		    outcome_text(outcome), len_bytes - at, len_bytes);
	pboot_say_settle();
	pboot_write_signals_unblock(&signals);
	return outcome == DONE;
}
