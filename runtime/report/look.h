/*
 * The layout of a look (report.h), which report_look.c writes and report_read.c reads.  Both are
 * the same build, so numbers stand as they are in memory, without regard to alignment:
 *
 *     a head; its ranks; its entries, each with its text behind it; lines, as many as there are,
 *     each with its text behind it
 *
 * A text has text_bytes bytes, the last of which is 0.
 */
#ifndef PSI_LOOK_H
#define PSI_LOOK_H

#include <stdint.h>

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

#endif
