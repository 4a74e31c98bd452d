/*
 * Computes how large a segment may be: the smaller of the size that is requested (by
 * GASNET_MAX_SEGSIZE, or by the client's hooks) and the size that the host can give each rank.
 * Nothing is allocated here.
 */
#ifndef PSI_MEMLIMITS_H
#define PSI_MEMLIMITS_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes; UINT64_MAX is `no limit'. */
struct psi_host_memory {
	uint64_t physical;		/* of the machine */
	uint64_t cgroup;		/* of the control group */
	uint64_t address_space;		/* RLIMIT_AS, less what the process has mapped */
	uint64_t file_size;		/* RLIMIT_FSIZE, which counts for memory files too */
};

/* Reads the limits; root is "" but in tests.  Without /proc/meminfo `physical' is sysconf's. */
void psi_host_memory_read(const char *root, struct psi_host_memory *out);

/* A limit as typed: "64MB", "0.5/P", "0.85/H". */
struct psi_segsize {
	bool relative;		/* `fraction' of the host's memory counts, else `bytes' */
	bool per_host;		/* for all ranks of the host together, their queues included */
	uint64_t bytes;
	double fraction;	/* 0 < fraction <= 1 */
};

/* False if the text is no limit, or none above zero. */
bool psi_segsize_parse(const char *text, struct psi_segsize *out);

/* The setting's check: the same. */
bool psi_segsize_accepted(const char *text);

/* The job's figures that the arithmetic needs. */
struct psi_segment_case {
	struct psi_host_memory host;
	uint64_t store_bytes;		/* the place that holds all segments; UINT64_MAX for
	                                 * memfd */
	uint64_t internal_bytes;	/* of each rank's memory, for queues and the like */
	uint32_t ranks;			/* of this job on this host */
	uint32_t mapped_ranks;		/* of them, whose segments this rank maps, itself
	                                 * included */
	uint32_t page_bytes;
	uint64_t file_bytes;		/* of a rank's file, for other things than its segment */
};

/* Sets what a rank's memory and its file hold beside the segment: queues of that many bytes, and
 * rooms of collectives. */
void psi_segment_case_beside(struct psi_segment_case *job, uint64_t queue_bytes);

struct psi_segment_limit {
	uint64_t bytes;			/* a multiple of the page, at least one page */
	uint64_t asked_bytes;		/* before the host was asked */
	const char *clipped_by;		/* what made it less, in words; NULL if nothing did */
};

/* Pure. */
void psi_segment_limit(const struct psi_segsize *asked, const struct psi_segment_case *job,
		       struct psi_segment_limit *out);

/* The largest size that the host gives this rank, and the name of the limit. */
uint64_t psi_segment_most(const struct psi_segment_case *job, const char **bound_out);

/*
 * The limit in force: GASNET_MAX_SEGSIZE, else client_text, else client_bytes (0: not given), else
 * 0.85/H.  What cannot be parsed, or is zero, ends the process with one line and status 2; what was
 * clipped is warned about by the rank that speaks.  At init, one thread.
 */
uint64_t psi_memlimits_segment(const struct psi_segment_case *job, const char *client_text,
			       uint64_t client_bytes);

#endif
