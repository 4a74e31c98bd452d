#include "engine.h"

#include "program_find.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool
program_is_there(const char *name)
{
	char *path;

	if (program_path(name, &path) != 0)
		return false;
	free(path);
	return true;
}

/* Whose is the program, as it says itself? */
static enum engine
engine_of_program(const char *name)
{
	char command[64], line[512];
	enum engine found = ENGINE_NONE;
	FILE *output = NULL;

	snprintf(command, sizeof command, "%s --version 2>/dev/null </dev/null", name);
	if (program_is_there(name))
		output = popen(command, "r");
	while (output && fgets(line, sizeof line, output)) {
		if (strstr(line, "Open MPI") || strstr(line, "OpenRTE"))
			found = ENGINE_OMPI;
		if (strstr(line, "HYDRA") || strstr(line, "Intel(R) MPI"))
			found = ENGINE_HYDRA;
	}
	if (output)
		pclose(output);
	return found;
}

bool
engine_in_allocation(void)
{
	const char *job = getenv("SLURM_JOB_ID");

	return job && *job && program_is_there("srun");
}

/* Where programs are looked for, for messages. */
static const char *
host_name(void)
{
	static char name[256];

	if (gethostname(name, sizeof name - 1) < 0)
		return "this host";
	return name;
}

static char *
program_first(enum engine engine, const char *sure, const char *const *others)
{
	if (program_is_there(sure))
		return strdup(sure);
	for (; *others; others++)
		if (engine_of_program(*others) == engine)
			return strdup(*others);
	return NULL;
}

static char *
slurm_program(const char *asked)
{
	if (program_is_there("srun"))
		return strdup("srun");
	program_refuse("%s needs srun, which is not in PATH on %s; install Slurm's commands, or "
	               "start the job by ssh, Open MPI or Hydra", asked, host_name());
}

static char *
hydra_program(const char *asked)
{
	static const char *const others[] = { "mpiexec", "mpirun", NULL };
	char *name = program_first(ENGINE_HYDRA, "mpiexec.hydra", others);

	if (name)
		return name;
	program_refuse("%s needs mpiexec.hydra, which is not in PATH on %s; install MPICH, or "
	               "start the job by ssh, Slurm or Open MPI", asked, host_name());
}

/* Debian has it under this name too, where mpirun is another's. */
static char *
ompi_program(const char *asked)
{
	char *path;

	if (engine_of_program("mpirun") == ENGINE_OMPI)
		return strdup("mpirun");
	if (program_is_there("mpirun.openmpi"))
		return strdup("mpirun.openmpi");
	if (program_path("mpirun", &path) != 0)
		program_refuse("%s needs Open MPI's mpirun, which is not in PATH on %s; install "
		               "Open MPI, or start the job by ssh, Slurm or Hydra", asked,
		               host_name());
	program_refuse("%s needs Open MPI's mpirun, and %s on %s is %s; put Open MPI's first in "
	               "PATH, or start the job by %s", asked, path, host_name(),
	               engine_of_program("mpirun") == ENGINE_HYDRA ? "MPICH's" : "another's",
	               engine_of_program("mpirun") == ENGINE_HYDRA ? "Hydra" : "ssh");
}

enum engine
engine_of_mpi(const char *asked)
{
	enum engine found;

	if (program_is_there("mpiexec.hydra"))
		return ENGINE_HYDRA;
	found = engine_of_program("mpirun");
	if (found != ENGINE_NONE)
		return found;
	if (program_is_there("mpirun"))
		program_refuse("%s: mpirun on %s is neither Open MPI's nor MPICH's; say by "
		               "MPIRUN_CMD how it starts ranks", asked, host_name());
	program_refuse("%s needs mpiexec.hydra or mpirun, and neither is in PATH on %s; install "
	               "MPICH or Open MPI, set MPIRUN_CMD, or start the job by ssh", asked,
	               host_name());
}

char *
engine_program(enum engine engine, const char *asked)
{
	char *name = engine == ENGINE_SLURM ? slurm_program(asked) :
	    engine == ENGINE_OMPI ? ompi_program(asked) : hydra_program(asked);

	if (!name)
		program_refuse("no memory");
	return name;
}
