/* A rank gets the shared files here: it uses the inherited descriptor if that is still the file,
 * else it asks the keeper for one. */
#include "bootstrap/rank/pboot_rank.h"

#include "runtime/util/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* How long the keeper may take to begin: it is forked and makes the job's memory meanwhile. */
enum { BEGIN_MS = 20000 };

/* Held from a question to the keeper until its answer; also protects startup.files and the
 * counts. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Waits for the keeper's answer.  End of file means that the keeper has died. */
static int
keeper_await(int sock, int ms, struct pboot_msg *msg_out, struct pboot_extra *extra_out)
{
	uint64_t end = psi_now_ns() + (uint64_t)ms * 1000000, now;
	struct pollfd answer = { .fd = sock, .events = POLLIN };
	int got;

	while ((got = pboot_wire_take(sock, msg_out, extra_out)) < 0 ||
	    (got > 0 && pboot_rank_note(msg_out))) {
		now = psi_now_ns();
		if (now >= end)
			return ETIMEDOUT;
		pboot_poll(&answer, 1, (int)((end - now) / 1000000) + 1);
	}
	return got == 0 ? ECONNRESET : 0;
}

static int
keeper_await_file(int sock, int *fd_out)
{
	struct pboot_extra extra = { .fd = -1, .pid = 0 };
	struct pboot_msg msg;
	int err = keeper_await(sock, PBOOT_REPLY_MS, &msg, &extra);

	if (err)
		return err;
	if (msg.kind != PBOOT_MSG_FILE || msg.value != 0 || extra.fd < 0)
		return msg.value ? msg.value : EMFILE;
	*fd_out = extra.fd;
	return 0;
}

/* Sends a question and takes the answer; fd -1: no descriptor is sent. */
static int
keeper_ask(enum pboot_msg_kind kind, unsigned number, int fd, int *fd_out)
{
	int err = pboot_control_secure();

	if (!err)
		err = pboot_wire_send_fd(pboot_self.startup.control, kind,
		    pboot_self.startup.local_rank, (int)number, fd);
	if (!err)
		err = keeper_await_file(pboot_self.startup.control, fd_out);
	/* The death signal may come later than this error.  End now, so that no caller reports
	 * it. */
	if (err == ECONNRESET || err == ECONNREFUSED || err == EPIPE)
		pboot_end_without_keeper();
	pboot_self.fetched += !err;
	return err;
}

/* Notes the kind of memory and the text about it, which the keeper's answer has as "kind text". */
static int
memory_note(const struct pboot_msg *msg)
{
	struct pboot_startup *startup = &pboot_self.startup;
	char kind[8];
	int used = 0;

	if (msg->kind != PBOOT_MSG_MEMORY || sscanf(msg->text, "%7[a-z] %n", kind, &used) != 1 ||
	    used == 0 || pboot_shm_find(kind) < 0)
		return EPROTO;
	startup->memory.kind = (enum pboot_shm)pboot_shm_find(kind);
	startup->memory.exchange_id = msg->value;
	startup->file_kind = strdup(msg->text + used);
	return startup->file_kind ? 0 : ENOMEM;
}

int
pboot_memory_learn(void)
{
	const int sock = pboot_self.startup.control;
	struct pboot_extra extra = { .fd = -1, .pid = 0 };
	struct pboot_msg msg;
	int err = pboot_wire_send(sock, PBOOT_MSG_MEMORY, pboot_self.startup.local_rank, 0, NULL);

	if (!err)
		err = keeper_await(sock, BEGIN_MS, &msg, &extra);
	if (extra.fd >= 0)
		close(extra.fd);
	return err ? err : memory_note(&msg);
}

/* Returns the inherited descriptor the first time; -1 after that, or if there is none. */
static int
file_take_inherited(struct pboot_file *file)
{
	int fd = file->fd;

	if (fd < 0)
		return -1;
	file->fd = -1;
	if (!pboot_shmfile_is(&(struct pboot_file) { fd, file->dev, file->ino })) {
		pboot_self.missing++;
		return -1;
	}
	return fd;
}

static int
file_take(unsigned number)
{
	int fd = -1, err;

	if (number < PBOOT_FILES(pboot_self.startup.local_size))
		fd = file_take_inherited(&pboot_self.startup.files[number]);
	if (fd >= 0)
		return fd;
	err = keeper_ask(PBOOT_MSG_FETCH, number, -1, &fd);
	return err ? -err : fd;
}

/* Without a keeper the process makes and keeps its files itself. */
static int
file_take_own(struct pboot_file *file)
{
	int err, fd;

	if (file->fd < 0) {
		err = pboot_shmfile_make(PBOOT_SHM_MEMFD, file, &pboot_self.startup.file_kind);
		if (err)
			return -err;
		fcntl(file->fd, F_SETFD, FD_CLOEXEC);
	}
	fd = fcntl(file->fd, F_DUPFD_CLOEXEC, 0);
	return fd < 0 ? -errno : fd;
}

int
pboot_file_take(unsigned number)
{
	int fd;

	if (number >= PBOOT_FILES_ALL(pboot_self.startup.local_size))
		return -EINVAL;
	pthread_mutex_lock(&lock);
	fd = pboot_self.alone ? file_take_own(&pboot_self.startup.files[number])
	                      : file_take(number);
	pthread_mutex_unlock(&lock);
	return fd;
}

/* A process without a keeper is the only rank. */
int
pboot_wake_fd(uint32_t local_rank)
{
	int fd;

	if (!pboot_self.alone)
		return pboot_file_take(PBOOT_FILE_WAKE(pboot_self.startup.local_size, local_rank));
	fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

int
pboot_file_give(int fd)
{
	int err = 0, answer = -1;

	pthread_mutex_lock(&lock);
	if (pboot_self.alone)
		pboot_self.startup.files[PBOOT_FILE_HUGE(1, 0)].fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	else
		err = keeper_ask(PBOOT_MSG_GIVE, 0, fd, &answer);
	pthread_mutex_unlock(&lock);
	if (answer >= 0)
		close(answer);
	return err;
}

void
pboot_close_inherited(void)
{
	struct pboot_file *file = pboot_self.startup.files;
	uint32_t i;

	if (pboot_self.alone)
		return;
	pthread_mutex_lock(&lock);
	for (i = 0; i < PBOOT_FILES(pboot_self.startup.local_size); i++, file++) {
		if (pboot_shmfile_is(file))
			close(file->fd);
		file->fd = -1;
	}
	pthread_mutex_unlock(&lock);
}
