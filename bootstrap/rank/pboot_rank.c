/*
 * A rank's connection to the keeper, and what it says over it.  The functions that speak are
 * async-signal-safe: no lock, no memory, system calls only.
 */
#include "bootstrap/rank/pboot_rank.h"

#include "bootstrap/share/pboot_descend.h"
#include "bootstrap/share/pboot_settings.h"
#include "runtime/util/log.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

struct pboot_rank pboot_self;

/* A client may close what it does not know, and open something else under that number. */
static bool
control_is_ours(void)
{
	struct stat info;

	return pboot_self.seat.control >= 0 && fstat(pboot_self.seat.control, &info) == 0 &&
	    S_ISSOCK(info.st_mode) && info.st_ino == pboot_self.seat.control_ino;
}

static int
say(enum pboot_msg_kind kind, int value, const char *text)
{
	return pboot_wire_send(pboot_self.seat.control, kind, pboot_self.seat.rank, value, text);
}

/* The signal says which file it comes from only by F_SETSIG; SIGIO stays the client's. */
static int
ask_for_signal(void)
{
	int sock = pboot_self.seat.control;

	if (fcntl(sock, F_SETSIG, pboot_self.death_signal) < 0 ||
	    fcntl(sock, F_SETOWN, getpid()) < 0 ||
	    fcntl(sock, F_SETFL, fcntl(sock, F_GETFL) | O_ASYNC) < 0)
		return errno;
	return 0;
}

int
pboot_control_secure(void)
{
	struct stat info;
	int sock, err;

	if (control_is_ours())
		return 0;
	sock = pboot_wire_connect(pboot_self.seat.name);
	if (sock < 0)
		return -sock;
	if (fstat(sock, &info) < 0)
		return errno;
	pboot_self.seat.control_ino = info.st_ino;
	pboot_self.seat.control = sock;
	pboot_self.reconnected = true;
	err = say(PBOOT_MSG_HELLO, PBOOT_WIRE_VERSION, NULL);
	if (!err && pboot_self.armed)
		err = ask_for_signal();
	return err;
}

/* Launcher and keeper, or whoever of them lives, end the rest; a rank ends what descends from it in
 * case nobody does. */
void
pboot_end_without_keeper(void)
{
	if (getpid() == pboot_self.pid) {
		if (!pboot_process_lives(pboot_self.seat.launcher))
			psi_log("launcher and keeper are gone; this rank ends");
		pboot_descend_signal(SIGKILL, NULL);
	}
	_exit(1);
}

/*
 * Something can be read: an answer that another thread waits for, or the end of the keeper.  Or the
 * client has closed the socket, and the keeper saw that: then a new one is opened.
 */
static void
on_control(int sig)
{
	int saved = errno;
	ssize_t got;
	char byte;

	(void)sig;
	if (!control_is_ours()) {
		if (getpid() == pboot_self.pid && pboot_control_secure() == ECONNREFUSED)
			pboot_end_without_keeper();
		errno = saved;
		return;
	}
	/* not recv, of which a C program may have one of its own */
	got = recvfrom(pboot_self.seat.control, &byte, 1, MSG_PEEK | MSG_DONTWAIT, NULL, NULL);
	if (got == 0 || (got < 0 && errno == ECONNRESET))
		pboot_end_without_keeper(); /* LOST_KEEPER */
	errno = saved;
}

/* Where a user has as many signals pending as may be, the kernel raises SIGIO instead: by default
 * that would end the rank.  A client that wants SIGIO has, or sets, a handler of its own. */
static void
answer_sigio(const struct sigaction *action)
{
	struct sigaction old;

	if (sigaction(SIGIO, NULL, &old) == 0 && !(old.sa_flags & SA_SIGINFO) && old.sa_handler == SIG_DFL)
		sigaction(SIGIO, action, NULL);
}

static int
death_signal_arm(void)
{
	struct sigaction action = { .sa_handler = on_control, .sa_flags = SA_RESTART };
	int sig = pboot_self.death_signal, err;
	sigset_t only;

	sigemptyset(&action.sa_mask);
	sigemptyset(&only);
	sigaddset(&only, sig);
	if (sigaction(sig, &action, NULL) < 0)
		return errno;
	answer_sigio(&action);
	err = ask_for_signal();
	if (err)
		return err;
	pboot_self.armed = true;
	pthread_sigmask(SIG_UNBLOCK, &only, NULL);
	raise(sig); /* the keeper may have gone before O_ASYNC was set */
	return 0;
}

int
pboot_control_open(void)
{
	int err;

	pboot_self.death_signal = pboot_settings_death_signal();
	if (control_is_ours()) {
		fcntl(pboot_self.seat.control, F_SETFD, FD_CLOEXEC);
		err = say(PBOOT_MSG_HELLO, PBOOT_WIRE_VERSION, NULL);
	} else {
		err = pboot_control_secure();
	}
	return err ? err : death_signal_arm();
}

/* From a fork of the rank nothing is said: its end is not the rank's. */
static bool
tell(enum pboot_msg_kind kind, int value, const char *text)
{
	int saved = errno;
	bool told = !pboot_self.alone && getpid() == pboot_self.pid &&
	    pboot_control_secure() == 0 && say(kind, value, text) == 0;

	errno = saved;
	return told;
}

void
pboot_leave(int code)
{
	tell(PBOOT_MSG_LEAVE, code, NULL);
	_exit(code);
}

void
pboot_note_exit(int code)
{
	tell(PBOOT_MSG_EXIT, code, NULL);
}

void
pboot_note_parting(int code)
{
	tell(PBOOT_MSG_PARTING, code, NULL);
}

bool
pboot_note_cause(const char *text, bool printed)
{
	return tell(PBOOT_MSG_CAUSE, printed ? pboot_wire_file(STDERR_FILENO) : 0, text);
}

void
pboot_note_arena(int key)
{
	tell(PBOOT_MSG_ARENA, key, NULL);
}

bool
pboot_note_hang(uint64_t waited_ns, bool quiet)
{
	const uint64_t ms = waited_ns / 1000000;

	tell(quiet ? PBOOT_MSG_HANG : PBOOT_MSG_LONG_WAIT, ms > INT32_MAX ? INT32_MAX : (int)ms, NULL);
	return !pboot_self.alone;
}

int
pboot_death_signal(void)
{
	return pboot_self.death_signal;
}
