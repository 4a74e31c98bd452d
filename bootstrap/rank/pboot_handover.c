/*
 * Memory files on a rank's side: an inherited descriptor if it still is the file, else one from the
 * keeper.
 */
#include "bootstrap/rank/pboot_rank.h"

#include "runtime/util/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

/* One question to the keeper at a time; also guards seat.files and the counts. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The keeper's answer; the keeper's death ends the wait as end of file. */
static int
await_file(int sock, int *fd_out)
{
	uint64_t end = psi_now_ns() + PBOOT_REPLY_MS * (uint64_t)1000000, now;
	struct pollfd news = { .fd = sock, .events = POLLIN };
	struct pboot_extra extra;
	struct pboot_msg msg;
	int got;

	while ((got = pboot_wire_take(sock, &msg, &extra)) < 0) {
		now = psi_now_ns();
		if (now >= end)
			return ETIMEDOUT;
		pboot_poll(&news, 1, (int)((end - now) / 1000000) + 1);
	}
	if (got == 0)
		return ECONNRESET;
	if (msg.kind != PBOOT_MSG_FILE || msg.value != 0 || extra.fd < 0)
		return msg.value ? msg.value : EMFILE;
	*fd_out = extra.fd;
	return 0;
}

/* fd -1: none goes along. */
static int
ask(enum pboot_msg_kind kind, unsigned number, int fd, int *fd_out)
{
	int err = pboot_control_secure();

	if (!err)
		err = pboot_wire_send_fd(pboot_self.seat.control, kind, pboot_self.seat.rank,
		    (int)number, fd);
	if (!err)
		err = await_file(pboot_self.seat.control, fd_out);
	/* The signal that tells of the same may come later: nobody is to report what lacks now. */
	if (err == ECONNRESET || err == ECONNREFUSED || err == EPIPE)
		pboot_end_without_keeper();
	pboot_self.fetched += !err;
	return err;
}

/* Gives the inherited descriptor away, once; -1 if there is none. */
static int
take_inherited(struct pboot_file *file)
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
take(unsigned number)
{
	int fd = -1, err;

	if (number < PBOOT_FILES(pboot_self.seat.size))
		fd = take_inherited(&pboot_self.seat.files[number]);
	if (fd >= 0)
		return fd;
	err = ask(PBOOT_MSG_FETCH, number, -1, &fd);
	return err ? -err : fd;
}

/* Without a keeper the process keeps its files itself. */
static int
take_own(struct pboot_file *file)
{
	int err, fd;

	if (file->fd < 0) {
		err = pboot_shmfile_make(PBOOT_SHM_MEMFD, file, &pboot_self.seat.file_kind);
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

	if (number >= PBOOT_FILES_ALL(pboot_self.seat.size))
		return -EINVAL;
	pthread_mutex_lock(&lock);
	fd = pboot_self.alone ? take_own(&pboot_self.seat.files[number]) : take(number);
	pthread_mutex_unlock(&lock);
	return fd;
}

int
pboot_file_store(int fd)
{
	int err = 0, answer = -1;

	pthread_mutex_lock(&lock);
	if (pboot_self.alone)
		pboot_self.seat.files[PBOOT_FILE_HUGE(1, 0)].fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	else
		err = ask(PBOOT_MSG_STORE, 0, fd, &answer);
	pthread_mutex_unlock(&lock);
	if (answer >= 0)
		close(answer);
	return err;
}

void
pboot_release(void)
{
	struct pboot_file *file = pboot_self.seat.files;
	uint32_t i;

	if (pboot_self.alone)
		return;
	pthread_mutex_lock(&lock);
	for (i = 0; i < PBOOT_FILES(pboot_self.seat.size); i++, file++) {
		if (pboot_shmfile_is(file))
			close(file->fd);
		file->fd = -1;
	}
	pthread_mutex_unlock(&lock);
}
