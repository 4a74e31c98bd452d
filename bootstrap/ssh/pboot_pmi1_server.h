/*
 * The server's side of PMI-1 for the ranks of one host: what an agent answers to their lines.  Pure
 * functions: lines come and go as text, and nothing in them is trusted.
 *
 * A rank puts values, waits in a fence, and gets what all ranks have put.  The text `fresh' holds
 * what the ranks here have put since the last fence, a line "key=value" for each.  The agent sends
 * it to the launcher, which hands the fresh text of all hosts to each of them.  So a fence is one
 * round whatever the number of ranks, and a get asks no other process.
 */
#ifndef PBOOT_PMI1_SERVER_H
#define PBOOT_PMI1_SERVER_H

#include "bootstrap/engine/pboot_pmi1_line.h"

enum {
	PBOOT_PMI1_KEY_MAX = 63,
	PBOOT_PMI1_VALUE_MAX = 1023,
	PBOOT_PMI1_PUTS_MAX = 64,	/* values of one rank; a card and an address are two */
	/* A rank's share of a fence, and so of what a host may send. */
	PBOOT_PMI1_FRESH_MAX = PBOOT_PMI1_PUTS_MAX *
	    (PBOOT_PMI1_KEY_MAX + PBOOT_PMI1_VALUE_MAX + 2),
	PBOOT_PMI1_ANSWER_MAX = PBOOT_PMI1_VALUE_MAX + 64,
};

enum pboot_pmi1_state { PBOOT_PMI1_NEW, PBOOT_PMI1_IN, PBOOT_PMI1_WAITS, PBOOT_PMI1_LEFT };

struct pboot_pmi1_rank {
	enum pboot_pmi1_state state;
	unsigned puts;
};

struct pboot_pmi1_server {
	uint32_t size;		/* ranks of the job */
	uint32_t count;		/* of this host; rank in these calls is below it */
	uint32_t waiting;
	struct pboot_pmi1_rank *ranks;	/* [count], malloced */
	char **pairs;		/* [room] hash table of malloced "key=value"; NULL: free */
	size_t pair_count, room;
	char *fresh;		/* malloced */
	size_t fresh_len, fresh_room;
};

/* What a line means, besides its answer. */
enum pboot_pmi1_what {
	PBOOT_PMI1_FAULT,	/* the rank does not speak PMI-1; or there is no memory */
	PBOOT_PMI1_ANSWERED,
	PBOOT_PMI1_JOINED,	/* its first line */
	PBOOT_PMI1_FENCED,	/* it waits; there is no answer yet */
	PBOOT_PMI1_DONE,	/* its last line */
	PBOOT_PMI1_ABORTED,	/* it asks to end all with *status_out; no answer */
	PBOOT_PMI1_TWICE,	/* its first line again; no answer */
};

bool pboot_pmi1_server_open(struct pboot_pmi1_server *server, uint32_t size, uint32_t count);
void pboot_pmi1_server_close(struct pboot_pmi1_server *server);

/* Takes a line without its newline.  Writes into it; there is room for a NUL behind it. */
enum pboot_pmi1_what pboot_pmi1_serve(struct pboot_pmi1_server *server, uint32_t rank, char *line,
    size_t len_bytes, char answer_out[PBOOT_PMI1_ANSWER_MAX], int *status_out);

/* Do all ranks of this host wait? */
bool pboot_pmi1_server_is_fenced(const struct pboot_pmi1_server *server);

/* The fence is over: adds what the ranks of all hosts have put, and lets those here go on.  The
 * caller then sends `pboot_pmi1_fence_answer' to all.  Returns false if the text is faulty, or
 * memory is missing. */
bool pboot_pmi1_server_release(struct pboot_pmi1_server *server, const char *text,
    size_t len_bytes);
extern const char pboot_pmi1_fence_answer[];

#endif
