/*
 * The engines that start ranks on several hosts: which is there (engine.c), its command line for a
 * job (engine_words.c), and running it (engine_run.c).  ssh has no command line: the launcher
 * itself starts ranks by it.
 */
#ifndef TOOLS_ENGINE_H
#define TOOLS_ENGINE_H

#include "bootstrap/launcher.h"

enum engine {
	ENGINE_NONE,	/* all ranks on this host */
	ENGINE_SSH,
	ENGINE_SLURM,	/* srun */
	ENGINE_OMPI,	/* mpirun of Open MPI */
	ENGINE_HYDRA,	/* mpiexec.hydra of MPICH */
};

/* What the engine is asked for. */
struct engine_job {
	const struct pboot_plan *plan;
	/* Hosts of the job; 0: not given.  places: which, and their ranks; NULL: the engine finds
	 * them. */
	uint32_t host_count;
	const struct pboot_places *places;
	uint32_t cpus;		/* of each rank; 0: not given */
	/* The environment and the placement on CPUs are those of a job on this host; else the
	 * engine's own. */
	bool is_as_here;
};

/* Is this process in an allocation of Slurm, and is srun there? */
bool engine_in_allocation(void);

/* Open MPI's or MPICH's launcher, whichever is there: `asked' is what needs it, for the line with
 * which the program ends if there is none. */
enum engine engine_of_mpi(const char *asked);

/* The program of an engine; malloced.  Ends the launcher with one line if it is not there. */
char *engine_program(enum engine engine, const char *asked);

/* The words of its command line, which end with a NULL; freed by words_free.  Ends the launcher
 * with one line if the engine cannot do what is asked for. */
char **engine_command(enum engine engine, const char *asked, const struct engine_job *job);

/* Before the command is made: variables of this process that ranks get by any engine, which say
 * where plug-ins lie and how long the job may run. */
void engine_set_environment(const struct pboot_plan *plan);

/*
 * Runs the command: it takes the place of this process, so that its status and the signals are its
 * own.  Only with a time limit does this process stay, and returns the status.
 */
int engine_run(char **words, const struct pboot_plan *plan);

#endif
