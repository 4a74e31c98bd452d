/* What launcher, guard, keeper and ranks share about one job: structures and the layout of
 * files. */
#ifndef PBOOT_JOB_H
#define PBOOT_JOB_H

#include "bootstrap/launcher.h"
#include "bootstrap/share/pboot_print.h"
#include "bootstrap/share/pboot_memory.h"
#include "bootstrap/share/pboot_state.h"
#include "bootstrap/share/pboot_wire.h"

#include <stdatomic.h>

enum { PBOOT_SIGNALS = 65 };

/*
 * Memory that launcher, guard and keeper share, in which they tell each other their process numbers
 * and the job's status.  It is no socket: a socket would fill while one of them is stopped, and
 * only the last value counts.
 *
 * A process's number is written by itself and by the process that forked it.  The keeper writes
 * name, status_plus_1 and ranks; the others read them when the keeper has ended.
 */
struct pboot_status_page {
	pid_t launcher;
	_Atomic pid_t guard;		/* 0: none */
	_Atomic pid_t keeper;		/* 0: not forked yet */
	_Atomic bool launcher_knows;	/* the launcher has seen the keeper's end, and prints it */
	_Atomic int status_plus_1;	/* 1 + the job's status; 0: the job has not ended */
	_Atomic uint64_t group_ns[PBOOT_SIGNALS];	/* when the guard last saw this signal */
	char name[PBOOT_NAME_BYTES];	/* the job's name, in the environment of its programs */
	_Atomic pid_t ranks[];		/* [size], 0: not started yet */
};

static inline size_t
pboot_status_page_bytes(uint32_t size)
{
	return offsetof(struct pboot_status_page, ranks) + size * sizeof(pid_t);
}

/* What a rank knows of its job when it starts: from its environment, or from the fork. */
struct pboot_startup {
	uint32_t rank, size;		/* in the job */
	uint32_t local_rank, local_size;	/* among the ranks of this host */
	int control;		/* descriptor of the control socket; -1: lost */
	uint64_t control_ino;
	pid_t launcher;
	char name[PBOOT_NAME_BYTES];	/* the name at which the keeper listens */
	struct pboot_memory memory;
	struct pboot_file *files;	/* [PBOOT_FILES(local_size)], malloced; fd -1: to fetch */
	bool inherited;		/* descriptors were handed over by inheritance */
	const char *file_kind;	/* how memory is made, see pboot_memory_make; NULL: unknown */
};

/* Numbers of a host's shared files: the exchange area, the control arena, the segments of each
 * rank. */
enum { PBOOT_FILE_EXCHANGE, PBOOT_FILE_ARENA };
#define PBOOT_FILES(size) ((size) + 2)
/* The numbers after these are the files of huge pages, which ranks make themselves
 * (pboot_huge.h). */
#define PBOOT_FILE_HUGE(size, rank) (PBOOT_FILES(size) + (rank))
/* The eventfds of the ranks (pboot_wake_fd) follow.  The keeper makes each when a rank asks. */
#define PBOOT_FILE_WAKE(size, rank) (PBOOT_FILE_HUGE(size, size) + (rank))
#define PBOOT_FILES_ALL(size) PBOOT_FILE_WAKE(size, size)

/* Where the ranks of a job are. */
struct pboot_hosts {
	uint32_t count, index;	/* hosts of the job; this rank's host */
	uint32_t *host_of;	/* [size], malloced */
};

#endif
