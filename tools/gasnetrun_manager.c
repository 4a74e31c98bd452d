/*
 * Command lines of process managers: srun, mpiexec.hydra of MPICH, mpirun of Open MPI or MPICH, or
 * what the user gives as a template in MPIRUN_CMD or PMIRUN_CMD.
 */
#include "gasnetrun.h"

#include "program_find.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* -- words of a command line ------------------------------------------------------------------- */

struct words {
	char **list;    /* ends with a NULL */
	size_t count;
};

static void
words_add(struct words *words, const char *text)
{
	words->list = realloc(words->list, (words->count + 2) * sizeof *words->list);
	if (!words->list || !(words->list[words->count] = strdup(text)))
		program_refuse("no memory");
	words->list[++words->count] = NULL;
}

static void
words_add_number(struct words *words, const char *option, uint32_t number)
{
	char text[16];

	snprintf(text, sizeof text, "%u", number);
	words_add(words, option);
	words_add(words, text);
}

static void
words_add_command(struct words *words, char *const *command)
{
	for (; *command; command++)
		words_add(words, *command);
}

/* -- what is there ----------------------------------------------------------------------------- */

static bool
program_is_there(const char *name)
{
	char *path;

	if (program_path(name, &path) != 0)
		return false;
	free(path);
	return true;
}

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

enum spawner
manager_choose(void)
{
	if (getenv("SLURM_JOB_ID") && program_is_there("srun"))
		return SPAWNER_PMI;
	if (!program_is_there("mpiexec.hydra") && !program_is_there("mpirun"))
		program_refuse("found neither mpiexec.hydra nor mpirun, and no srun in an "
		               "allocation; install one, or start all ranks on this host with "
		               "-spawner=fork");
	return SPAWNER_MPI;
}

/* -- templates --------------------------------------------------------------------------------- */

/* Appends text to a shell command; a word is quoted, so that the shell passes it on unchanged. */
static void
shell_add(FILE *out, const char *word)
{
	fputc('\'', out);
	for (; *word; word++) {
		if (*word == '\'')
			fputs("'\\''", out);
		else
			fputc(*word, out);
	}
	fputc('\'', out);
}

static void
template_fill(FILE *out, const struct request *request, char letter, const char *variable)
{
	switch (letter) {
	case 'N':
		fprintf(out, "%u", request->size);
		break;
	case 'C':
		for (char **word = request->command; *word; word++) {
			if (word != request->command)
				fputc(' ', out);
			shell_add(out, *word);
		}
		break;
	case '%':
		fputc('%', out);
		break;
	default:
		program_refuse("%s=%s: expected %%N for the number of ranks, %%C for the command, "
		               "%%%% for a percent sign, and no other letter behind %%", variable,
		               getenv(variable));
	}
}

/* The user's template, run by a shell: "mpirun -np %N %C". */
static char **
template_command(const struct request *request, const char *template, const char *variable)
{
	struct words words = { NULL, 0 };
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		program_refuse("no memory");
	fputs("exec ", out);
	for (const char *at = template; *at; at++) {
		if (*at == '%')
			template_fill(out, request, *++at, variable);
		else
			fputc(*at, out);
	}
	if (fclose(out) != 0)
		program_refuse("no memory");
	words_add(&words, "/bin/sh");
	words_add(&words, "-c");
	words_add(&words, text);
	free(text);
	return words.list;
}

/* -- managers ---------------------------------------------------------------------------------- */

/* Ranks of each host, if the number of hosts is given. */
static uint32_t
ranks_of_host(const struct request *request)
{
	return (request->size + request->hosts - 1) / request->hosts;
}

/* Hydra passes the whole environment on. */
static void
hydra_add(struct words *words, const struct request *request, const char *name)
{
	words_add(words, name);
	words_add_number(words, "-n", request->size);
	if (request->hosts)
		words_add_number(words, "-ppn", ranks_of_host(request));
}

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

/* Open MPI passes no variable to other hosts unless it is named.  Those of the library travel
 * always. */
static void
openmpi_add_variables(struct words *words, const struct request *request)
{
	static const char *const prefixes[] = { "GASNET_", "PST_", "FI_" };

	for (char **at = environ; *at; at++) {
		bool wanted = list_has(request->exports, *at);
		char name[256];

		for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
			wanted |= strncmp(*at, prefixes[i], strlen(prefixes[i])) == 0;
		if (!wanted || strcspn(*at, "=") >= sizeof name)
			continue;
		snprintf(name, sizeof name, "%.*s", (int)strcspn(*at, "="), *at);
		words_add(words, "-x");
		words_add(words, name);
	}
}

static void
openmpi_add(struct words *words, const struct request *request)
{
	char placement[64];
	int len = 0;

	words_add(words, "mpirun");
	words_add_number(words, "-n", request->size);
	if (request->hosts)
		len = snprintf(placement, sizeof placement, "ppr:%u:node", ranks_of_host(request));
	else
		snprintf(placement, sizeof placement, "slot");
	if (request->cpus)
		len = snprintf(placement + strlen(placement), sizeof placement - strlen(placement),
		               ":PE=%u", request->cpus);
	if (len) {
		words_add(words, "--map-by");
		words_add(words, placement);
	}
	openmpi_add_variables(words, request);
}

static char **
mpi_command(const struct request *request)
{
	struct words words = { NULL, 0 };

	if (program_is_there("mpiexec.hydra"))
		hydra_add(&words, request, "mpiexec.hydra");
	else if (!program_is_there("mpirun"))
		program_refuse("spawner mpi needs mpiexec.hydra or mpirun, and neither is in PATH; "
		               "install one, or set MPIRUN_CMD");
	else if (output_has("mpirun --version 2>/dev/null", "HYDRA"))
		hydra_add(&words, request, "mpirun");
	else
		openmpi_add(&words, request);
	words_add_command(&words, request->command);
	return words.list;
}

/* Slurm's default may be to tell ranks nothing.  pmi2 needs no library in the ranks. */
static void
srun_add_interface(struct words *words)
{
	const char *command = "srun --mpi=list 2>&1";

	if (getenv("SLURM_MPI_TYPE"))
		return;
	if (output_has(command, "pmi2"))
		words_add(words, "--mpi=pmi2");
	else if (output_has(command, "pmix"))
		words_add(words, "--mpi=pmix");
}

static char **
pmi_command(const struct request *request)
{
	struct words words = { NULL, 0 };

	if (!program_is_there("srun"))
		program_refuse("spawner pmi needs srun, which is not in PATH; use -spawner=mpi, or "
		               "set PMIRUN_CMD");
	words_add(&words, "srun");
	words_add_number(&words, "-n", request->size);
	if (request->hosts)
		words_add_number(&words, "-N", request->hosts);
	if (request->cpus)
		words_add_number(&words, "-c", request->cpus);
	srun_add_interface(&words);
	words_add_command(&words, request->command);
	return words.list;
}

char **
manager_command(const struct request *request, enum spawner spawner)
{
	const char *variable = spawner == SPAWNER_PMI ? "PMIRUN_CMD" : "MPIRUN_CMD";
	const char *template = getenv(variable);

	if (template && *template)
		return template_command(request, template, variable);
	return spawner == SPAWNER_PMI ? pmi_command(request) : mpi_command(request);
}

void
manager_command_free(char **words)
{
	for (char **word = words; *word; word++)
		free(*word);
	free(words);
}
