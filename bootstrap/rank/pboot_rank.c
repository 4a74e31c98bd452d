/*
 * A rank's connection to the keeper, and the messages that it sends.  The functions that send are
 * async-signal-safe: they take no lock, allocate nothing, and make system calls only.
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

/* Another thread may receive the message that a thread waits for, so the waiting thread looks after
 * RELEASE_LOOK_MS.  LINE_READ_MS: how long the engine gets to read a printed line. */
enum { RELEASE_LOOK_MS = 50, LINE_READ_MS = 100 };

struct pboot_rank pboot_self;

/* A client may have closed our descriptor and opened something else under its number. */
static bool
control_is_ours(void)
{
	struct stat info;

	return pboot_self.startup.control >= 0 && fstat(pboot_self.startup.control, &info) == 0 &&
	    S_ISSOCK(info.st_mode) && info.st_ino == pboot_self.startup.control_ino;
}

static int
control_send(enum pboot_msg_kind kind, int value, const char *text)
{
	return pboot_wire_send(pboot_self.startup.control, kind, pboot_self.startup.local_rank,
	    value, text);
}

/* F_SETSIG replaces SIGIO, which stays the client's. */
static int
death_signal_request(void)
{
	int sock = pboot_self.startup.control;

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
	sock = pboot_wire_connect(pboot_self.startup.name);
	if (sock < 0)
		return -sock;
	if (fstat(sock, &info) < 0)
		return errno;
	pboot_self.startup.control_ino = info.st_ino;
	pboot_self.startup.control = sock;
	pboot_self.reconnected = true;
	err = control_send(PBOOT_MSG_HELLO, PBOOT_WIRE_VERSION, NULL);
	if (!err && pboot_self.armed)
		err = death_signal_request();
	return err;
}

/*
 * Ends a rank that an engine has started.  There is no launcher and no guard that would end the
 * other ranks.  They notice the keeper's death as this one does; should one of them not notice, the
 * engine ends it, since this rank dies by a signal.  Before that the engine gets a moment to read
 * the line.
 */
static void __attribute__((noreturn))
rank_end_under_engine(void)
{
	psi_log("the job's keeper is gone; this rank ends");
	pboot_descend_signal(SIGKILL, NULL);
	pboot_poll(NULL, 0, LINE_READ_MS);
	kill(getpid(), SIGKILL);
	_exit(1);
}

/* The launcher or the guard normally ends all processes of the job.  This rank kills its own
 * descendants in case both are dead. */
void
pboot_end_without_keeper(void)
{
	if (getpid() != pboot_self.pid)
		_exit(1);
	if (pboot_self.engine)
		rank_end_under_engine();
	if (!pboot_process_lives(pboot_self.startup.launcher))
		psi_log("launcher and keeper are gone; this rank ends");
	pboot_descend_signal(SIGKILL, NULL);
	_exit(1);
}

/* Is the other end closed?  Messages of the keeper that nobody has taken may hide that from a
 * read. */
static bool
keeper_has_hung_up(void)
{
	struct pollfd keeper = { .fd = pboot_self.startup.control };

	return pboot_poll(&keeper, 1, 0) > 0 && (keeper.revents & POLLHUP);
}

/* Handles the death signal.  The signal comes when the socket becomes readable: for an answer that
 * another thread waits for, or since the keeper has ended.  The keeper also sends the signal when
 * it finds that the client has closed the socket; then a new one is opened. */
static void
death_signal_handle(int sig)
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
	/* not recv: a program may have its own function of that name */
	got = recvfrom(pboot_self.startup.control, &byte, 1, MSG_PEEK | MSG_DONTWAIT, NULL, NULL);
	if (got == 0 || (got < 0 && errno == ECONNRESET) ||
	    (got > 0 && !pboot_self.awaits_release && keeper_has_hung_up()))
		pboot_end_without_keeper(); /* LOST_KEEPER */
	errno = saved;
}

/* When the user's limit of pending signals is reached, the kernel raises SIGIO instead, whose
 * default would end the rank.  A client that uses SIGIO has or sets its own handler. */
static void
sigio_set_handler(const struct sigaction *action)
{
	struct sigaction old;

	if (sigaction(SIGIO, NULL, &old) == 0 && !(old.sa_flags & SA_SIGINFO) &&
	    old.sa_handler == SIG_DFL)
		sigaction(SIGIO, action, NULL);
}

static int
death_signal_arm(void)
{
	struct sigaction action = { .sa_handler = death_signal_handle, .sa_flags = SA_RESTART };
	int sig = pboot_self.death_signal, err;
	sigset_t only;

	sigemptyset(&action.sa_mask);
	sigemptyset(&only);
	sigaddset(&only, sig);
	if (sigaction(sig, &action, NULL) < 0)
		return errno;
	sigio_set_handler(&action);
	err = death_signal_request();
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
		fcntl(pboot_self.startup.control, F_SETFD, FD_CLOEXEC);
		err = control_send(PBOOT_MSG_HELLO, PBOOT_WIRE_VERSION, NULL);
	} else {
		err = pboot_control_secure();
	}
	return err ? err : death_signal_arm();
}

/* A fork of the rank sends nothing: its end is not the rank's end. */
static bool
keeper_notify(enum pboot_msg_kind kind, int value, const char *text)
{
	int saved = errno;
	bool sent = !pboot_self.alone && getpid() == pboot_self.pid &&
	    pboot_control_secure() == 0 && control_send(kind, value, text) == 0;

	errno = saved;
	return sent;
}

bool
pboot_rank_note(const struct pboot_msg *msg)
{
	if (msg->kind != PBOOT_MSG_RELEASE)
		return false;
	atomic_store_explicit(&pboot_self.released_plus_1, 1 + msg->value, memory_order_relaxed);
	return true;
}

/*
 * A rank of an engine that has asked to end with a status other than 0 waits until all ranks have
 * asked or ended: some engines kill the others when the first rank ends so, and they would have no
 * time for their own end.  Returns the job's status, or `code' if the keeper cannot be reached.
 * The keeper bounds the wait: it releases ranks or kills them.  Any thread may call this, and
 * signal handlers.
 */
static int
rank_await_release(int code)
{
	struct pollfd keeper = { .events = POLLIN };
	struct pboot_msg msg;
	int status, got;

	pboot_self.awaits_release = true;
	while ((status = atomic_load_explicit(&pboot_self.released_plus_1, memory_order_relaxed)) ==
	       0) {
		if (pboot_control_secure() != 0)
			return code;
		keeper.fd = pboot_self.startup.control;
		pboot_poll(&keeper, 1, RELEASE_LOOK_MS);
		got = pboot_wire_take(keeper.fd, &msg, NULL);
		if (got > 0)
			pboot_rank_note(&msg);
		else if (got == 0 && control_is_ours())
			pboot_end_without_keeper();
	}
	return status - 1;
}

/* Asks the keeper to end.  Returns the status with which this process ends. */
static int
rank_ask(enum pboot_msg_kind kind, int code)
{
	const bool told = keeper_notify(kind, code, NULL);

	return told && pboot_self.engine && (code & 255) != 0 ? rank_await_release(code) : code;
}

void
pboot_leave(int code)
{
	_exit(rank_ask(PBOOT_MSG_LEAVE, code));
}

void
pboot_note_leave(int code)
{
	keeper_notify(PBOOT_MSG_LEAVE, code, NULL);
}

void
pboot_note_exit(int code)
{
	rank_ask(PBOOT_MSG_EXIT, code);
}

void
pboot_note_exit_alone(int code)
{
	keeper_notify(PBOOT_MSG_EXIT_ALONE, code, NULL);
}

bool
pboot_note_cause(const char *text, bool printed)
{
	return keeper_notify(PBOOT_MSG_CAUSE, printed ? pboot_wire_file(STDERR_FILENO) : 0, text);
}

void
pboot_note_arena(int key)
{
	keeper_notify(PBOOT_MSG_ARENA, key, NULL);
}

void
pboot_note_knock(uint32_t rank)
{
	keeper_notify(PBOOT_MSG_KNOCK, (int)rank, NULL);
}

void
pboot_ask_gather(void)
{
	struct pollfd keeper = { .events = POLLOUT };

	while (pboot_control_secure() == 0 && control_send(PBOOT_MSG_GATHER, 0, NULL) == EAGAIN) {
		keeper.fd = pboot_self.startup.control;
		pboot_poll(&keeper, 1, RELEASE_LOOK_MS);
	}
}

bool
pboot_note_hang(uint64_t waited_ns, bool quiet)
{
	const uint64_t ms = waited_ns / 1000000;

	keeper_notify(quiet ? PBOOT_MSG_HANG : PBOOT_MSG_LONG_WAIT,
	              ms > INT32_MAX ? INT32_MAX : (int)ms, NULL);
	return !pboot_self.alone;
}

int
pboot_death_signal(void)
{
	return pboot_self.death_signal;
}
