/*
 * The kinds of memory that ranks can share (PST_SHM), and the memory of this job.
 *
 *     memfd  a file without a name for each index
 *     posix  the same in /dev/shm
 *     sysv   a segment for each range, marked for removal as soon as its maker has it
 *     mmap   one anonymous mapping, which the keeper makes and forks inherit; each file is a part
 */
#ifndef PBOOT_MEMORY_H
#define PBOOT_MEMORY_H

#include "bootstrap/share/pboot_shmfile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a rank knows of the job's memory besides the files.  Each comment begins with the kind. */
struct pboot_memory {
	enum pboot_shm kind;	/* the kind in use; not always the one that was asked for */
	int exchange_id;		/* sysv: the segment of the exchange area */
	size_t area_bytes;	/* length of the exchange area */
	char *mapping;		/* mmap: the exchange area, the arena, then each rank's segments */
	uint64_t arena_bytes;	/* mmap: length of the arena's part */
	uint64_t segment_bytes;	/* mmap: length of one rank's part */
};

/* "memfd" and so on; the kind of that name, or -1. */
const char *pboot_shm_name(enum pboot_shm kind);
int pboot_shm_find(const char *name);

/*
 * Makes the memory that `size' ranks of this host share: the exchange area of area_bytes, and as
 * many empty files as the kind has.  The caller sets all fd of files_out[PBOOT_FILES(size)] to -1;
 * they stay so where there is no file.  `forks' says that ranks are forks that run no other
 * program.  A kind that cannot be used is replaced by memfd, with one line on stderr.  Returns 0 or
 * an errno value, and writes how files are made to *how_out.
 */
int pboot_memory_make(enum pboot_shm wanted, uint32_t size, size_t area_bytes, bool forks,
    struct pboot_memory *memory_out, struct pboot_file *files_out, const char **how_out);

/* mmap: the address of a file's part of the mapping, and its length. */
char *pboot_memory_part(const struct pboot_memory *memory, uint32_t size, unsigned number,
    uint64_t *len_out);

#endif
