/*
 * gasnetrun_<conduit>: what is asked for (gasnetrun.c), and the process managers that start ranks
 * on several hosts (gasnetrun_manager.c).
 */
#ifndef TOOLS_GASNETRUN_H
#define TOOLS_GASNETRUN_H

#include <stdbool.h>
#include <stdint.h>

/* How ranks are started. */
enum spawner { SPAWNER_FORK, SPAWNER_MPI, SPAWNER_PMI, SPAWNERS };

struct request {
	uint32_t size, hosts, cpus;     /* ranks; hosts and CPUs of each rank, 0 if not given */
	int verbose;
	bool dry_run;
	const char *spawner_text;       /* as the user wrote it; NULL: not given */
	const char *exports;            /* names of variables, separated by commas; or NULL */
	char **command;
};

/* The spawner for a conduit of networks if the user names none; ends the launcher with one line if
 * there is none. */
enum spawner manager_choose(void);

/* The command line of the process manager that runs the request by this spawner, mpi or pmi.  Words
 * end with a NULL.  Ends the launcher with one line if there is no such manager. */
char **manager_command(const struct request *request, enum spawner spawner);
void manager_command_free(char **words);

#endif
