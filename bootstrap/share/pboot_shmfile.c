#include "bootstrap/share/pboot_shmfile.h"

#include "bootstrap/share/pboot_clean.h"
#include "bootstrap/share/pboot_descend.h"
#include "bootstrap/share/pboot_wire.h"
#include "runtime/util/deny.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HIGH_FD = 100, PATH_BYTES = 4096, TRIES = 100 };

static int
file_make_memfd(void)
{
	if (psi_denied("memfd")) {
		errno = ENOSYS;
		return -1;
	}
	return memfd_create("penstock", 0);
}

static bool
directory_name_marked(const char *directory, char path_out[PATH_BYTES])
{
	int len = snprintf(path_out, PATH_BYTES, "%s/penstock-%u", directory, (unsigned)geteuid());

	if (len < PATH_BYTES)
		return true;
	errno = ENAMETOOLONG;
	return false;
}

/* Opens our directory if it belongs to this user.  Returns a descriptor, or -1 with errno set. */
static int
directory_open_marked(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat info;

	if (fd < 0)
		return -1;
	if (fstat(fd, &info) == 0 && info.st_uid == geteuid())
		return fd;
	close(fd);
	errno = EPERM;
	return -1;
}

/* Makes a file and locks it at once, since pboot_clean takes a file that it can lock for one
 * without an owner.  If pboot_clean comes before the lock, it removes the name, which happens next
 * here anyway. */
static int
file_make_named_in(int at)
{
	char name[PBOOT_NAME_BYTES];
	int fd;

	pboot_wire_name(name);
	fd = openat(at, name, O_RDWR | O_CREAT | O_EXCL, 0600);
	if (fd < 0)
		return -1;
	flock(fd, LOCK_EX | LOCK_NB);
	unlinkat(at, name, 0);
	return fd;
}

/* A job removes the directory with its last file, so the directory may vanish while this runs. */
static int
file_make_named(const char *directory)
{
	char path[PATH_BYTES];
	int fd = -1, at, tries, err;

	if (!directory_name_marked(directory, path))
		return -1;
	for (tries = 0; fd < 0 && tries < TRIES; tries++) {
		if (mkdir(path, 0700) < 0 && errno != EEXIST)
			return -1;
		at = directory_open_marked(path);
		if (at >= 0) {
			fd = file_make_named_in(at);
			err = errno;
			close(at);
			errno = err;
		}
		if (fd < 0 && errno != ENOENT)
			break;
	}
	err = errno;
	rmdir(path);
	errno = err;
	return fd;
}

static int
file_make_in(const char *directory)
{
	int fd = -1;

	errno = EOPNOTSUPP;
	if (!psi_denied("tmpfile"))
		fd = open(directory, O_TMPFILE | O_RDWR | O_EXCL, 0600);
	return fd >= 0 ? fd : file_make_named(directory);
}

static const char *
directory_temporary(void)
{
	const char *directory = getenv("GASNET_TMPDIR");

	if (!directory || !*directory)
		directory = getenv("TMPDIR");
	return directory && *directory ? directory : "/tmp";
}

static int
file_make_any(enum pboot_shm kind, const char **how_out)
{
	int fd = -1;

	if (kind == PBOOT_SHM_MEMFD) {
		*how_out = "memfd";
		fd = file_make_memfd();
	}
	if (fd < 0) {
		*how_out = PBOOT_POSIX_DIRECTORY;
		fd = file_make_in(*how_out);
	}
	if (fd < 0 && kind == PBOOT_SHM_MEMFD) {
		*how_out = directory_temporary();
		fd = file_make_in(*how_out);
	}
	return fd;
}

static int
fd_raise_inheritable(int fd)
{
	int high = fcntl(fd, F_DUPFD, HIGH_FD);

	if (high < 0)
		return fd;
	close(fd);
	return high;
}

int
pboot_shmfile_make(enum pboot_shm kind, struct pboot_file *file_out, const char **how_out)
{
	const char *how;
	struct stat info;
	int fd = file_make_any(kind, &how);

	if (fd < 0)
		return errno;
	fd = fd_raise_inheritable(fd);
	if (fstat(fd, &info) < 0) {
		int err = errno;

		close(fd);
		return err;
	}
	*file_out = (struct pboot_file) { fd, info.st_dev, info.st_ino };
	*how_out = how;
	return 0;
}

int
pboot_shmfile_is(const struct pboot_file *file)
{
	struct stat info;

	return file->fd >= 0 && fstat(file->fd, &info) == 0 && info.st_dev == file->dev &&
	    info.st_ino == file->ino;
}

struct sweep {
	struct pboot_clean *clean;
	const char *path;
	int at;
};

static void
sweep_file(const char *name, void *arg)
{
	const struct sweep *sweep = arg;
	int fd = openat(sweep->at, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat info;

	if (fd < 0)
		return;
	if (fstat(fd, &info) < 0 || !S_ISREG(info.st_mode))
		;
	else if (info.st_uid != geteuid())
		pboot_clean_kept(sweep->clean, "%s/%s belongs to user %u", sweep->path, name,
		    (unsigned)info.st_uid);
	else if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		pboot_clean_kept(sweep->clean, "%s/%s: its owner lives", sweep->path, name);
	else if (unlinkat(sweep->at, name, 0) == 0)
		pboot_clean_removed(sweep->clean, "%s/%s, %llu bytes", sweep->path, name,
		    (unsigned long long)info.st_size);
	close(fd);
}

static void
sweep_directory(struct pboot_clean *clean, const char *directory)
{
	char path[PATH_BYTES];
	struct sweep sweep = { clean, path, -1 };

	if (!directory_name_marked(directory, path))
		return;
	sweep.at = directory_open_marked(path);
	if (sweep.at < 0) {
		if (errno == EPERM)
			pboot_clean_kept(clean, "%s belongs to another user", path);
		return;
	}
	pboot_each_entry(sweep.at, sweep_file, &sweep);
	close(sweep.at);
	rmdir(path);
}

void
pboot_shmfile_clean(struct pboot_clean *clean)
{
	const char *directory = directory_temporary();

	sweep_directory(clean, PBOOT_POSIX_DIRECTORY);
	if (strcmp(directory, PBOOT_POSIX_DIRECTORY) != 0)
		sweep_directory(clean, directory);
}
