/*
 * Command lines of engines.  What a job on this host would be given is said to the engine where it
 * has an option for that; what it cannot do is refused with one line.
 */
#include "engine.h"

#include "program_find.h"
#include "runtime/tools/introspect.h"
#include "words.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TIME_LIMIT "PST_JOB_TIMEOUT"

/* Ranks of each host, if only the number of hosts is given. */
static uint32_t
ranks_of_host(const struct engine_job *job)
{
	return (job->plan->size + job->host_count - 1) / job->host_count;
}

/* How a list of hosts tells how many ranks each has. */
enum places_form {
	PLACES_COUNTED,		/* a:3,b:2 */
	PLACES_REPEATED,	/* a,a,a,b,b */
	PLACES_NAMED,		/* a,b */
};

/* malloced */
static char *
places_text(const struct pboot_places *places, enum places_form form)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	uint32_t i, j;

	for (i = 0; out && i < places->count; i++) {
		const uint32_t times = form == PLACES_REPEATED ? places->ranks[i] : 1;

		for (j = 0; j < times; j++)
			fprintf(out, "%s%s", i || j ? "," : "", places->names[i]);
		if (form == PLACES_COUNTED)
			fprintf(out, ":%u", places->ranks[i]);
	}
	if (!out || fclose(out) != 0)
		program_refuse("no memory");
	return text;
}

static void
words_add_places(struct words *words, const char *option, const struct engine_job *job,
    enum places_form form)
{
	char *text = places_text(job->places, form);

	words_add_pair(words, option, text);
	free(text);
}

/* Hydra and Open MPI start several programs in one job, which a colon separates. */
static void
command_check(const char *engine, char *const *command)
{
	for (; *command; command++)
		if (strcmp(*command, ":") == 0)
			program_refuse("%s takes the word \":\" of the command for its own; put "
			               "the command into a script", engine);
}

/* -- Hydra ------------------------------------------------------------------------------------- */

/* Without a list of hosts it starts all ranks here, and says nothing. */
static uint32_t
hydra_ranks_of_host(const struct engine_job *job)
{
	if (job->host_count > 1 && !getenv("HYDRA_HOST_FILE"))
		program_refuse("-N %u: no hosts are named, and Hydra has no list of its own "
		               "(HYDRA_HOST_FILE); set that, or use penstock-run --hosts a,b",
		               job->host_count);
	return ranks_of_host(job);
}

/* It passes the whole environment on, and binds no rank. */
static void
hydra_add(struct words *words, const struct engine_job *job)
{
	const struct pboot_plan *plan = job->plan;

	if (plan->stdin_rank > 0)
		program_refuse("--stdin %lld: Hydra gives standard input to rank 0 alone",
		    (long long)plan->stdin_rank);
	words_add_number(words, "-n", plan->size);
	if (job->places)
		words_add_places(words, "-hosts", job, PLACES_COUNTED);
	else if (job->host_count)
		words_add_number(words, "-ppn", hydra_ranks_of_host(job));
	if (plan->bind_cores)
		words_add_pair(words, "-bind-to", "core");
	if (plan->tag_output)
		words_add(words, "-prepend-rank");
	command_check("Hydra", plan->argv);
}

/* -- Open MPI ---------------------------------------------------------------------------------- */

/* Is the name of this variable, "NAME=value", in a list of names? */
static bool
list_has(const char *list, const char *variable)
{
	const size_t len = strcspn(variable, "=");

	while (list && *list) {
		const size_t item = strcspn(list, ",");

		if (item == len && memcmp(list, variable, len) == 0)
			return true;
		list += item + (list[item] == ',');
	}
	return false;
}

static bool
name_begins(const char *variable, const char *const *prefixes)
{
	for (; *prefixes; prefixes++)
		if (strncmp(variable, *prefixes, strlen(*prefixes)) == 0)
			return true;
	return false;
}

/* Those of the library travel always, but for what it tells a rank; mpirun takes care of its
 * own. */
static bool
ompi_wants(const struct engine_job *job, const char *variable)
{
	static const char *const ours[] = { "GASNET_", "PST_", "FI_", NULL };
	static const char *const own[] = { "PST_JOB_", "OMPI_", "PMIX_", "PRTE_", "BASH_FUNC_",
		NULL };
	const char *exported = job->plan->exported;

	if (strncmp(variable, TIME_LIMIT "=", sizeof TIME_LIMIT) == 0 ||
	    list_has(exported, variable))
		return true;
	if (name_begins(variable, own))
		return false;
	return name_begins(variable, ours) ||
	    (job->is_as_here && pboot_launcher_exports(variable, exported));
}

/* Open MPI passes no variable to other hosts unless it is named. */
static void
ompi_add_variables(struct words *words, const struct engine_job *job)
{
	char **at;

	for (at = environ; *at; at++)
		if (ompi_wants(job, *at)) {
			words_add(words, "-x");
			words_add_formatted(words, "%.*s", (int)strcspn(*at, "="), *at);
		}
}

static void
ompi_add_placement(struct words *words, const struct engine_job *job)
{
	char where[48] = "slot", cpus[24] = "";

	if (job->places)
		words_add_places(words, "--host", job, PLACES_COUNTED);
	else if (job->host_count)
		snprintf(where, sizeof where, "ppr:%u:node", ranks_of_host(job));
	else if (job->is_as_here)
		words_add(words, "--oversubscribe");
	if (job->cpus)
		snprintf(cpus, sizeof cpus, ":PE=%u", job->cpus);
	if (!job->places && !job->host_count && !job->cpus)
		return;
	words_add(words, "--map-by");
	words_add_formatted(words, "%s%s", where, cpus);
}

static void
ompi_add(struct words *words, const struct engine_job *job)
{
	const struct pboot_plan *plan = job->plan;

	words_add_number(words, "-n", plan->size);
	ompi_add_placement(words, job);
	if (job->is_as_here)
		words_add_pair(words, "--bind-to",
		    plan->bind_cores ? "core:overload-allowed" : "none");
	if (plan->tag_output)
		words_add(words, "--tag-output");
	if (plan->stdin_rank > 0)
		words_add_number(words, "--stdin", (uint32_t)plan->stdin_rank);
	ompi_add_variables(words, job);
	command_check("Open MPI", plan->argv);
}

/* -- Slurm ------------------------------------------------------------------------------------- */

/* Does the output of a command have this text? */
static bool
output_has(const char *command, const char *text)
{
	FILE *output = popen(command, "r");
	char line[512];
	bool found = false;

	if (!output)
		return false;
	while (fgets(line, sizeof line, output))
		found = found || strstr(line, text) != NULL;
	pclose(output);
	return found;
}

/* Slurm's default may be to tell ranks nothing.  pmi2 needs no library in the ranks. */
static void
slurm_add_interface(struct words *words)
{
	const char *command = "srun --mpi=list 2>&1 </dev/null";

	if (getenv("SLURM_MPI_TYPE"))
		return;
	if (output_has(command, "pmi2"))
		words_add(words, "--mpi=pmi2");
	else if (output_has(command, "pmix"))
		words_add(words, "--mpi=pmix");
}

/* The kernel takes words of 128 KiB at most. */
enum { REPEATED_MAX = 100 * 1024 };

static bool
places_may_be_repeated(const struct pboot_places *places)
{
	size_t bytes = 0;
	uint32_t i;

	for (i = 0; i < places->count; i++)
		bytes += (strlen(places->names[i]) + 1) * places->ranks[i];
	return bytes <= REPEATED_MAX;
}

/* Left alone, srun fills the first host and gives one rank to each other.  A list in which each
 * name comes as often as it has ranks is obeyed to the letter. */
static void
slurm_add_placement(struct words *words, const struct engine_job *job)
{
	const uint32_t hosts = job->places ? job->places->count : job->host_count;

	if (hosts == 0)
		return;
	words_add_number(words, "-N", hosts);
	if (job->places && places_may_be_repeated(job->places)) {
		words_add_pair(words, "-m", "arbitrary");
		words_add_places(words, "-w", job, PLACES_REPEATED);
		return;
	}
	if (job->places)
		words_add_places(words, "-w", job, PLACES_NAMED);
	if (job->plan->size % hosts == 0)
		words_add_formatted(words, "--ntasks-per-node=%u", job->plan->size / hosts);
}

/* A rank that ends before it has joined ends the job, and one Ctrl-C does, as on one host. */
static void
slurm_add(struct words *words, const struct engine_job *job)
{
	const struct pboot_plan *plan = job->plan;

	words_add_number(words, "-n", plan->size);
	slurm_add_placement(words, job);
	if (job->cpus)
		words_add_number(words, "-c", job->cpus);
	slurm_add_interface(words);
	words_add(words, "--kill-on-bad-exit=1");
	words_add(words, "--quit-on-interrupt");
	if (plan->stdin_rank >= 0)
		words_add_formatted(words, "--input=%lld", (long long)plan->stdin_rank);
	if (plan->tag_output)
		words_add(words, "--label");
	if (plan->bind_cores)	/* where Slurm binds nothing, srun complains of `none' too */
		words_add(words, "--cpu-bind=cores");
	if (getenv("SLURM_EXPORT_ENV"))
		words_add(words, "--export=ALL");
}

/* -- all --------------------------------------------------------------------------------------- */

/* The keepers of the job read it. */
static void
environment_set_limit(uint64_t limit_ns)
{
	char text[32];

	snprintf(text, sizeof text, "%" PRIu64, limit_ns);
	if (limit_ns)
		setenv(TIME_LIMIT, text, 1);
	else
		unsetenv(TIME_LIMIT);
}

/* Ranks find the plug-ins of an installation that was moved. */
static void
environment_set_plugins(void)
{
	char own[4096], directory[4096];
	const ssize_t len = readlink("/proc/self/exe", own, sizeof own - 1);

	if (len <= 0 || getenv("PST_PLUGIN_DIR"))
		return;
	own[len] = '\0';
	if (psi_introspect_plugins_of(own, directory, sizeof directory) &&
	    access(directory, F_OK) == 0)
		setenv("PST_PLUGIN_DIR", directory, 1);
}

void
engine_set_environment(const struct pboot_plan *plan)
{
	environment_set_limit(plan->timeout_ns);
	environment_set_plugins();
}

char **
engine_command(enum engine engine, const char *asked, const struct engine_job *job)
{
	struct words words = { NULL, 0 };
	char *program = engine_program(engine, asked);

	words_add(&words, program);
	free(program);
	if (engine == ENGINE_SLURM)
		slurm_add(&words, job);
	else if (engine == ENGINE_OMPI)
		ompi_add(&words, job);
	else
		hydra_add(&words, job);
	words_add_command(&words, job->plan->argv);
	return words.list;
}
