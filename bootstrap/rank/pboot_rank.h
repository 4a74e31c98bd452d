/* A rank's side: its seat, its connection to the keeper, and the board that all ranks write on. */
#ifndef PBOOT_RANK_H
#define PBOOT_RANK_H

#include "bootstrap/share/pboot_job.h"

struct pboot_rank {
	struct pboot_seat seat;
	pid_t pid;		/* forks of this process are not the rank */
	bool alone;		/* no keeper: the only rank, and it started by itself */
	bool direct;
	int death_signal;
	bool armed;		/* the keeper's death raises death_signal */
	bool reconnected;	/* the control socket was lost and opened by name */
	unsigned fetched;	/* files from the keeper */
	unsigned missing;	/* of these, inherited ones that were lost */
};

/* Written by pboot_open, then read only, but for seat.control, seat.files and the counts, which are
 * under the lock of pboot_handover.c. */
extern struct pboot_rank pboot_self;

/* pboot_seat.c.  Fills the seat of a launched rank from its environment; ends the process with one
 * line if that makes no sense. */
void pboot_seat_from_environment(struct pboot_seat *seat_out);

/* pboot_rank.c.  Opens the connection by name where the inherited one is lost: 0 or an errno value.
 * Async-signal-safe. */
int pboot_control_secure(void);
/* The keeper keeps the first range of the arena, so that it can read what ranks left there. */
void pboot_note_arena(int key);
/* Arms the signal that tells of the keeper's death, and says hello. */
int pboot_control_open(void);

/* The keeper has died: ends this process, and says so only if the launcher cannot. */
void __attribute__((noreturn)) pboot_end_without_keeper(void);

/*
 * pboot_handover.c.  A descriptor of shared file `number', for the caller to close; close-on-exec,
 * each call gives one of its own.  Or the negative of an errno value: no descriptors left, the
 * keeper gone, number out of range.  Any thread; blocks for a message to
 * the keeper at most.
 */
int pboot_file_take(unsigned number);

/* Gives the keeper this rank's file of huge pages, which all can then take.  0 or an errno value. */
int pboot_file_store(int fd);

/* pboot_range.c.  The board, which the keeper made; NULL with errno set. */
void *pboot_board_map(size_t len_bytes);

/* pboot_board.c.  0 or an errno value, after one line. */
int pboot_board_open(uint32_t size);

#endif
