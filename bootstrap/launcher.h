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

/* The hosts of a job, and the ranks of each, in blocks in the order of the hosts. */
struct pboot_places {
	char **names;		/* [count], malloced; each may be given to ssh */
	uint32_t *ranks;	/* [count], malloced */
	uint32_t count;
};

enum { PBOOT_LAUNCHER_WHY_BYTES = 512 };

/*
 * Places `size' ranks on the first host_count of the hosts that `names' has, or an environment
 * variable (docs/launch.md) if that is NULL; host_count 0: on all, as far as there are ranks.
 * False with one line.  hosts_are_named: is there such a variable?
 */
bool pboot_launcher_place(const char *names, uint32_t host_count, uint32_t size,
    struct pboot_places *places_out, char why_out[PBOOT_LAUNCHER_WHY_BYTES]);
bool pboot_launcher_hosts_are_named(void);
void pboot_launcher_places_free(struct pboot_places *places);

/*
 * Runs the job on these hosts, by ssh.  This program must answer to `--agent' by
 * pboot_ssh_agent_run, for ssh starts it on each host.
 */
int pboot_launcher_run_ssh(const struct pboot_plan *plan, const struct pboot_places *places);
int pboot_ssh_agent_run(void);

/* Does a variable, "NAME=value", go to ranks on other hosts?  All do but those that belong to the
 * launcher's host, and these too if `exported', "V1,V2", has the name. */
bool pboot_launcher_exports(const char *variable, const char *exported);

/* Called for each thing that a clean-up found.  If it was kept, the text says why. */
typedef void pboot_clean_fn(bool removed, const char *text, void *context);

/*
 * Removes shared memory of this user that bears our mark and whose owners have all ended.  Every
 * start of a job does this.  `each' may be NULL.  Returns how many things were removed.  Allocates
 * nothing.
 */
unsigned pboot_clean(pboot_clean_fn *each, void *context);

#endif
