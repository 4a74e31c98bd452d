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
	int64_t stdin_rank;	/* the rank that reads standard input; -1: none */
	bool tag_output;	/* lines begin with their rank */
	bool bind_cores;	/* rank i on the i-th core that this process may use, cyclically */
	uint64_t timeout_ns;	/* 0: none */
	const char *exported;	/* "V1,V2": variables that ranks on other hosts get too; or NULL */
};

/*
 * Starts the job, waits for its end, and returns its status, for exit().  All messages have been
 * printed when it returns.  A process with one thread calls it, once.
 */
int pboot_launcher_run(const struct pboot_plan *plan);

/*
 * Does the same over several hosts, by ssh.  `names' lists the hosts; if it is NULL, an environment
 * variable of a batch system does.  The job uses the first host_count of them; 0: as many as it has
 * ranks, at most all.  This program must answer to `--agent' by pboot_ssh_agent_run, for ssh starts
 * it on each host.
 */
int pboot_launcher_run_ssh(const struct pboot_plan *plan, const char *names, uint32_t host_count);
int pboot_ssh_agent_run(void);

/* Called for each thing that a clean-up found.  If it was kept, the text says why. */
typedef void pboot_clean_fn(bool removed, const char *text, void *context);

/*
 * Removes shared memory of this user that bears our mark and whose owners have all ended.  Every
 * start of a job does this.  `each' may be NULL.  Returns how many things were removed.  Allocates
 * nothing.
 */
unsigned pboot_clean(pboot_clean_fn *each, void *context);

#endif
