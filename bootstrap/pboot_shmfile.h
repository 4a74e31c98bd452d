/* Files without a name, for memory that ranks share. */
#ifndef PBOOT_SHMFILE_H
#define PBOOT_SHMFILE_H

#include <stdint.h>

struct pboot_file {
	int fd;			/* -1: not held here */
	uint64_t dev, ino;	/* who it is, whatever its number */
};

/* An empty file; not close-on-exec, at a high number.  Returns 0 or an errno value, and writes how
 * it was made ("memfd", or the directory) to *how_out, a string that lasts. */
int pboot_shmfile_make(struct pboot_file *file_out, const char **how_out);

/* Whether this descriptor is still the file. */
int pboot_shmfile_is(const struct pboot_file *file);

#endif
