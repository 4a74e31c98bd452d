/* Starting a job from a launcher program: all that tools see of the bootstrap. */
#ifndef PBOOT_LAUNCHER_H
#define PBOOT_LAUNCHER_H

#include <stdbool.h>
#include <stdint.h>

enum { PBOOT_LAUNCHER_RANKS_MAX = 65535 };

struct pboot_plan {
	uint32_t size;		/* 1 to PBOOT_LAUNCHER_RANKS_MAX */
	char *const *argv;	/* NULL: direct start, ranks are forks of this process */
	const char *program;	/* path of argv[0] */
	int64_t stdin_rank;	/* who reads standard input, -1 nobody */
	bool tag_output;	/* lines begin with their rank */
	bool bind_cores;	/* rank i on the i-th core that this process may use, cyclically */
	uint64_t timeout_ns;	/* 0: none */
};

/*
 * Starts the job, waits for its end, and returns its status, for exit().  Messages have been
 * printed. Called once, by a process with one thread.
 */
int pboot_launcher_run(const struct pboot_plan *plan);

/* One thing that a clean found and removed, or kept, in which case the text says why. */
typedef void pboot_clean_fn(bool removed, const char *text, void *context);

/*
 * Removes shared memory with our mark, of this user, whose owners have all ended; every start of a
 * job does so.  `each' may be NULL.  Returns how many things were removed.  Allocates nothing.
 */
unsigned pboot_clean(pboot_clean_fn *each, void *context);

#endif
