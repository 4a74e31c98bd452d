/*
 * The kinds of memory that ranks share (PST_SHM), and what a job takes of the kind in force.
 *
 *     memfd  a file without a name for each index
 *     posix  the same in /dev/shm
 *     sysv   a segment for each range, marked for removal as soon as its maker has it
 *     mmap   one anonymous mapping of the keeper's that forks inherit, in parts
 */
#ifndef PBOOT_STORE_H
#define PBOOT_STORE_H

#include "bootstrap/share/pboot_shmfile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a rank knows of the job's memory besides the files. */
struct pboot_store {
	enum pboot_shm kind;	/* in force; not always the one that was asked for */
	int board_id;		/* sysv: the board's segment */
	char *room;		/* mmap: the board, the arena, then each rank's segments */
	uint64_t arena_bytes;	/* mmap: of room, for the arena */
	uint64_t segment_bytes;	/* mmap: of room, for the segments of one rank */
};

/* "memfd" and so on; the kind of that name, or -1. */
const char *pboot_shm_name(enum pboot_shm kind);
int pboot_shm_find(const char *name);

/*
 * Makes the job's shared memory: the board, with its length, and as many empty files as the kind
 * has.  files_out is [PBOOT_FILES(size)], with fd -1, which stays where there is no file.  `forks' says that
 * ranks are forks that run no other program.  A kind that cannot serve is replaced by memfd, with
 * one line.  Returns 0 or an errno value, and writes how files are made to *how_out.
 */
int pboot_store_make(enum pboot_shm wanted, uint32_t size, bool forks,
    struct pboot_store *store_out, struct pboot_file *files_out, const char **how_out);

/* mmap: where a file's part of the room begins, and its length. */
char *pboot_store_part(const struct pboot_store *store, uint32_t size, unsigned number,
    uint64_t *len_out);

#endif
