/* What the launcher, the keeper and a rank know of one job: its files, a rank's seat, where all come from. */
#ifndef PBOOT_JOB_H
#define PBOOT_JOB_H

#include "bootstrap/launcher.h"
#include "bootstrap/share/pboot_print.h"
#include "bootstrap/share/pboot_store.h"
#include "bootstrap/share/pboot_wire.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>

/* Process state of before the launcher changed it, which ranks get back. */
struct pboot_origin {
	sigset_t mask;
	struct sigaction child_action;
	struct rlimit files_limit;
	char task_name[16];
};

enum { PBOOT_SIGNALS = 65 };

/*
 * What launcher, guard and keeper tell each other, in memory that all three have: a socket would fill
 * while one is stopped, and the word that counts is the last.  A process's number is written by itself and
 * by the one that forked it; name, status and ranks by the keeper, and read when it has gone.
 */
struct pboot_told {
	pid_t launcher;
	_Atomic pid_t guard;		/* 0: none */
	_Atomic pid_t keeper;		/* 0: not forked yet */
	_Atomic bool launcher_knows;	/* it has seen the keeper's end, and says so */
	_Atomic int status;		/* 1 + the job's status; 0: it has not ended */
	_Atomic uint64_t group_ns[PBOOT_SIGNALS];	/* when the guard saw a signal last */
	char name[PBOOT_NAME_BYTES];	/* the job's, in its programs' environment */
	_Atomic pid_t ranks[];		/* [size], 0: not yet started */
};

static inline size_t
pboot_told_bytes(uint32_t size)
{
	return offsetof(struct pboot_told, ranks) + size * sizeof(pid_t);
}

/* What a rank knows of its job when it starts. */
struct pboot_seat {
	uint32_t rank, size;
	int control;		/* -1: lost */
	uint64_t control_ino;
	pid_t launcher;
	char name[PBOOT_NAME_BYTES];	/* where the keeper listens */
	struct pboot_store store;
	struct pboot_file *files;	/* [PBOOT_FILES(size)], malloced; fd -1: to be fetched */
	bool inherited;		/* descriptors were handed over by inheritance */
	const char *file_kind;	/* how memory is made, see pboot_store_make; NULL: unknown */
};

/* The shared files: the board of barrier and exchange, the control arena, the segments. */
enum { PBOOT_FILE_BOARD, PBOOT_FILE_FIRST_PUBLIC };
#define PBOOT_FILES(size) ((size) + 2)
/* Behind these, the files of huge pages that ranks make themselves (pboot_huge.h). */
#define PBOOT_FILE_HUGE(size, rank) (PBOOT_FILES(size) + (rank))
#define PBOOT_FILES_ALL(size) PBOOT_FILE_HUGE(size, size)

/*
 * The board, file PBOOT_FILE_BOARD: two words in a page of their own (rank/pboot_board.c), and two halves
 * with a line of each rank.
 */
enum { PBOOT_BOARD_HEAD_BYTES = 4096 };

static inline size_t
pboot_board_half_bytes(uint32_t size)
{
	return (size_t)size * PBOOT_EXCHANGE_MAX;
}

static inline size_t
pboot_board_bytes(uint32_t size)
{
	return PBOOT_BOARD_HEAD_BYTES + 2 * pboot_board_half_bytes(size);
}

#endif
