/*
 * A look: what was seen of the ranks of a host, as bytes that another keeper reads.  report_look.c
 * writes it and report_read.c reads it.  Both are the same build, so numbers stand as they are in
 * memory, without regard to alignment:
 *
 *     a head; its ranks; its entries, each with its text behind it; lines, as many as there are,
 *     each with its text behind it
 *
 * A text has text_bytes bytes, the last of which is 0.
 */
#ifndef PSI_LOOK_H
#define PSI_LOOK_H

#include "bootstrap/bootstrap.h"

#include <stdint.h>

/* Which kind of barrier an entry waits in. */
enum psi_report_barrier { PSI_NO_BARRIER, PSI_BARRIER_UNNAMED, PSI_BARRIER_NAMED };

#define PSI_LOOK_MAGIC UINT32_C(0x6c6f6f6b)

struct psi_look_head {
	uint32_t magic;
	uint32_t job_size;
	uint32_t rank_count, entry_count;
	uint32_t queues_seen;           /* were the queues looked at? */
	char network[16];               /* ends in 0 */
};

struct psi_look_rank {
	uint64_t barriers[2];
	uint32_t rank;
	int32_t pid;
};

struct psi_look_entry {
	uint64_t phase, age_ns;
	uint32_t rank;
	uint32_t or_more, timed, barrier;
	uint32_t text_bytes;
};

struct psi_look_line {
	uint32_t rank;
	uint32_t text_bytes;
};

/* A rank in the looks of a report. */
struct psi_looked_rank {
	uint32_t rank;                  /* in the job */
	uint32_t host;                  /* index of its look */
	int32_t pid;
	uint64_t barriers[2];           /* how many it has begun: unnamed, named */
};

struct psi_looked_entry {
	uint32_t rank;
	bool or_more, timed;
	enum psi_report_barrier barrier;
	uint64_t phase, age_ns;
	const char *text;               /* in the bytes of the look */
	uint32_t alike;                 /* the next entry that says the same; UINT32_MAX: none */
	bool told;
};

struct psi_looked_line {
	uint32_t rank;                  /* the receiver's */
	const char *text;
};

/* What the looks of several hosts say, each list in the order of ranks. */
struct psi_looks {
	uint32_t job_size, hosts;
	const char *network;            /* that carries messages between ranks; NULL: none */
	bool any_queues;                /* some host's queues were looked at */
	struct psi_looked_rank *ranks;
	uint32_t rank_count;
	struct psi_looked_entry *entries;
	uint32_t entry_count;
	struct psi_looked_line *lines;
	uint32_t line_count;
};

/* report_read.c.  Reads the looks that are complete into looks_out, whose texts then lie in their
 * bytes; a look that is faulty is passed over, and gets the reason in `missing'.  Returns false,
 * with nothing to close, if there is no memory. */
bool psi_looks_open(struct pboot_pack *packs, uint32_t count, struct psi_looks *looks_out);
void psi_looks_close(struct psi_looks *looks);

#endif
