/* Files without a name, for memory that ranks share. */
#ifndef PBOOT_SHMFILE_H
#define PBOOT_SHMFILE_H

#include <stdint.h>

/* PST_SHM, see pboot_memory.h. */
enum pboot_shm { PBOOT_SHM_MEMFD, PBOOT_SHM_POSIX, PBOOT_SHM_SYSV, PBOOT_SHM_MMAP };

struct pboot_clean;

struct pboot_file {
	int fd;			/* -1: not held here */
	uint64_t dev, ino;	/* identify the file, whatever number fd has */
};

#define PBOOT_POSIX_DIRECTORY "/dev/shm"

/*
 * Makes an empty file of kind memfd or posix; not close-on-exec, at a high number.  If the system
 * has no files without a name, the file has one for a moment, in a directory of this user, and is
 * locked while it lives.  memfd falls back on files in /dev/shm, then in the directory for
 * temporary files.  Returns 0 or an errno value, and writes how the file was made ("memfd", or the
 * directory) to *how_out; the caller does not free that.
 */
int pboot_shmfile_make(enum pboot_shm kind, struct pboot_file *file_out, const char **how_out);

/* Is this descriptor still the file? */
int pboot_shmfile_is(const struct pboot_file *file);

/* Removes named files whose makers died before they removed the name (pboot_clean.h). */
void pboot_shmfile_clean(struct pboot_clean *clean);

#endif
