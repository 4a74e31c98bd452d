/* A rank's side: what it knows of the job, its connection to the keeper, and the exchange area. */
#ifndef PBOOT_RANK_H
#define PBOOT_RANK_H

#include "bootstrap/share/pboot_job.h"

struct pboot_rank {
	struct pboot_startup startup;
	pid_t pid;		/* this process; its forks are no ranks */
	bool alone;		/* the only rank, started without a keeper */
	bool direct;
	const char *engine;	/* what has started the job; NULL: penstock-run or itself */
	int death_signal;
	bool armed;		/* the keeper's death raises death_signal */
	atomic_bool awaits_release;	/* it has asked to end, and takes the keeper's messages */
	_Atomic int released_plus_1;	/* 1 + the status that PBOOT_MSG_RELEASE brought; 0: none */
	bool reconnected;	/* the control socket was lost and opened by name */
	unsigned fetched;	/* files that the keeper sent */
	unsigned missing;	/* of these, files whose inherited descriptor was lost */
};

/* pboot_open writes it; after that it is only read, except startup.control, startup.files and the
 * counts, which the lock of pboot_handover.c protects. */
extern struct pboot_rank pboot_self;

/* pboot_startup.c.  Fills *startup_out for a launched rank from its environment.  Ends the process
 * with one line if the environment is not what penstock-run sets. */
void pboot_startup_from_environment(struct pboot_startup *startup_out);

/* pboot_rank.c.  Opens the connection by name if the inherited one is lost.  Returns 0 or an errno
 * value.  Async-signal-safe. */
int pboot_control_secure(void);
/* Tells the keeper the key of the arena's first range, so that it can read what ranks left
 * there. */
void pboot_note_arena(int key);
/* Asks the keeper for the gather that the exchange area describes; the keeper answers in the
 * area. */
void pboot_ask_gather(void);
/* Asks the keeper to tell a rank of another host that this one knocks. */
void pboot_note_knock(uint32_t rank);
/* Arms the signal that tells of the keeper's death, and sends HELLO. */
int pboot_control_open(void);

/* Notes a message that answers no question, and returns true; returns false for any other message.
 * Any thread may receive it. */
bool pboot_rank_note(const struct pboot_msg *msg);

/* The keeper has died: ends this process.  Prints a line only if no other process does: the
 * launcher is dead too, or an engine has started the job. */
void __attribute__((noreturn)) pboot_end_without_keeper(void);

/*
 * pboot_handover.c.  Returns a new descriptor of shared file `number', close-on-exec, which the
 * caller closes.  If that fails, returns the negative of an errno value: no descriptor is left, the
 * keeper is gone, or the number is out of range.  Any thread may call it; it waits for at most one
 * answer of the keeper.
 */
int pboot_file_take(unsigned number);

/* Asks the keeper what memory the job has, and notes it.  A rank that an engine has started calls
 * this; it waits for the keeper to begin.  Returns 0 or an errno value. */
int pboot_memory_learn(void);

/* Gives the keeper this rank's file of huge pages; from then on any rank can take it.  Returns 0 or
 * an errno value. */
int pboot_file_give(int fd);

/* pboot_range.c.  Maps the exchange area, which the keeper made; NULL with errno set. */
void *pboot_exchange_map(size_t len_bytes);

/* pboot_exchange.c.  Returns 0, or an errno value after one line on stderr. */
int pboot_exchange_open(const struct pboot_hosts *hosts);
/* What it has mapped; NULL in a job of one rank. */
struct pboot_area *pboot_exchange_area(void);

#endif
