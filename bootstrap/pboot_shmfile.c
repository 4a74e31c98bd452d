#include "bootstrap/pboot_shmfile.h"

#include "runtime/util/deny.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HIGH_FD = 100 };

static int
make_memfd(void)
{
	if (psi_denied("memfd")) {
		errno = ENOSYS;
		return -1;
	}
	return memfd_create("penstock", 0);
}

static int
make_in(const char *directory)
{
	char path[4096];
	int fd;

	fd = open(directory, O_TMPFILE | O_RDWR | O_EXCL, 0600);
	if (fd >= 0)
		return fd;
	if (snprintf(path, sizeof path, "%s/penstock-XXXXXX", directory) >= (int)sizeof path) {
		errno = ENAMETOOLONG;
		return -1;
	}
	fd = mkstemp(path);
	if (fd >= 0)
		unlink(path);
	return fd;
}

static const char *
temporary_directory(void)
{
	const char *directory = getenv("GASNET_TMPDIR");

	if (!directory || !*directory)
		directory = getenv("TMPDIR");
	return directory && *directory ? directory : "/tmp";
}

/* In /dev/shm only without a name: a file there that outlives its job would hold memory. */
static int
make_any(const char **how_out)
{
	int fd = make_memfd();

	*how_out = "memfd";
	if (fd < 0) {
		*how_out = "/dev/shm";
		fd = open("/dev/shm", O_TMPFILE | O_RDWR | O_EXCL, 0600);
	}
	if (fd < 0) {
		*how_out = temporary_directory();
		fd = make_in(*how_out);
	}
	return fd;
}

static int
raise_inheritable(int fd)
{
	int high = fcntl(fd, F_DUPFD, HIGH_FD);

	if (high < 0)
		return fd;
	close(fd);
	return high;
}

int
pboot_shmfile_make(struct pboot_file *file_out, const char **how_out)
{
	const char *how;
	struct stat info;
	int fd = make_any(&how);

	if (fd < 0)
		return errno;
	fd = raise_inheritable(fd);
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
