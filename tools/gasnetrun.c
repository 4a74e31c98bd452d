/*
 * gasnetrun_<conduit>: the launcher under the names and with the options that existing scripts use.
 * It is compiled once for each conduit.  GASNETRUN_CONDUIT, GASNETRUN_NAME and GASNETRUN_VARIABLE
 * say which.
 */
#include "bootstrap/launcher.h"
#include "engine.h"
#include "program_find.h"
#include "runtime/tools/introspect.h"
#include "template.h"
#include "words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage_smp[] =
    "usage: gasnetrun_smp -n N [options] [--] program [arguments]\n"
    "  -n N, -np N, -nN  ranks to start\n"
    "  -N 1              hosts; smp has one\n"
    "  -c N              CPUs per rank; no effect on one host\n"
    "  -E V1,V2          environment variables that ranks get (on one host they get all)\n"
    "  -v                say what is done; again for more\n"
    "  -t                say it and run nothing\n"
    "  -k                keep temporary files (there are none); implies -v\n"
    "  -spawner=fork     how to start; smp has this one\n"
    "  -h, --help\n";

static const char usage_network[] =
    "usage: " GASNETRUN_NAME " -n N [options] [--] program [arguments]\n"
    "  -n N, -np N, -nN  ranks to start\n"
    "  -N N              hosts, which get equal numbers of ranks\n"
    "  -c N              CPUs per rank, if the process manager can give them\n"
    "  -E V1,V2          environment variables that ranks get, beside those of the library\n"
    "  -v                say what is done; again for more\n"
    "  -t                say it and run nothing\n"
    "  -k                keep temporary files (there are none); implies -v\n"
    "  -spawner=HOW      how to start: ssh, mpi (mpiexec.hydra or mpirun), pmi (srun), or\n"
    "                    fork (all ranks on this host); else pmi in an allocation of\n"
    "                    Slurm, ssh elsewhere\n"
    "  -encode, -noencode  protect arguments from shells; none sees them\n"
    "  -h, --help\n";

/* How ranks are started. */
enum spawner { SPAWNER_FORK, SPAWNER_SSH, SPAWNER_MPI, SPAWNER_PMI, SPAWNERS };

struct request {
	uint32_t size, hosts, cpus;     /* ranks; hosts and CPUs of each rank, 0 if not given */
	int verbose;
	bool dry_run;
	const char *spawner_text;       /* as the user wrote it; NULL: not given */
	const char *exports;            /* names of variables, separated by commas; or NULL */
	char **command;
};

static const char *const spawner_names[SPAWNERS] = {
	[SPAWNER_FORK] = "fork", [SPAWNER_SSH] = "ssh", [SPAWNER_MPI] = "mpi",
	[SPAWNER_PMI] = "pmi",
};

/* The string in a program which says that it can be started so. */
static const char *const spawner_strings[SPAWNERS] = {
	[SPAWNER_FORK] = "FORKSpawner", [SPAWNER_SSH] = "SSHSpawner",
	[SPAWNER_MPI] = "MPISpawner", [SPAWNER_PMI] = "PMISpawner",
};

static bool
conduit_is_network(void)
{
	return strcmp(GASNETRUN_CONDUIT, "smp") != 0;
}

/* -- options ----------------------------------------------------------------------------------- */

static void
request_set_size(struct request *request, const char *text)
{
	long value;

	if (!program_number(text, 1, PBOOT_LAUNCHER_RANKS_MAX, &value))
		program_refuse("-n %s: not a number of ranks from 1 to %d", text,
		    PBOOT_LAUNCHER_RANKS_MAX);
	request->size = (uint32_t)value;
}

static void
request_set_hosts(struct request *request, const char *text)
{
	const long most = conduit_is_network() ? PBOOT_LAUNCHER_RANKS_MAX : 1;
	long value;

	if (!program_number(text, 1, most, &value)) {
		if (!conduit_is_network())
			program_refuse("-N %s: smp runs on 1 host", text);
		program_refuse("-N %s: not a number of hosts from 1 to %ld", text, most);
	}
	request->hosts = (uint32_t)value;
}

static void
request_set_cpus(struct request *request, const char *text)
{
	long value;

	if (!program_number(text, 1, 1 << 20, &value))
		program_refuse("-c %s: not a number of CPUs", text);
	request->cpus = (uint32_t)value;
}

/* The value of an option given as "-xVALUE" or "-x VALUE"; NULL if the word is another option. */
static const char *
option_value(const char *option, char ***at)
{
	size_t len = strlen(option);
	const char *word = **at;

	if (strncmp(word, option, len) != 0)
		return NULL;
	if (word[len] != '\0')
		return word + len;
	if (!(*at)[1])
		program_refuse("option %s needs a value; see --help", option);
	return *++*at;
}

static bool
option_take_valued(struct request *request, char ***at)
{
	const char *value;

	if ((value = option_value("-np", at)) || (value = option_value("-n", at)))
		request_set_size(request, value);
	else if ((value = option_value("-N", at)))
		request_set_hosts(request, value);
	else if ((value = option_value("-c", at)))
		request_set_cpus(request, value);
	else if ((value = option_value("-E", at)))
		request->exports = value;
	else
		return false;
	return true;
}

/* "-encode", "-noencode-args" and the like: ranks get their words as they are in any case. */
static bool
option_is_of_encoding(const char *word)
{
	return conduit_is_network() &&
	       (strncmp(word, "-encode", 7) == 0 || strncmp(word, "-noencode", 9) == 0);
}

static bool
option_take_plain(struct request *request, const char *word)
{
	if (strncmp(word, "-spawner=", 9) == 0) {
		request->spawner_text = word + 9;
	} else if (strncmp(word, "-vv", 3) == 0 && strspn(word + 1, "v") == strlen(word + 1)) {
		request->verbose += (int)strlen(word + 1);
	} else if (strcmp(word, "-v") == 0) {
		request->verbose++;
	} else if (strcmp(word, "-t") == 0) {
		request->dry_run = true;
		request->verbose += request->verbose == 0;
	} else if (strcmp(word, "-k") == 0) {
		request->verbose += request->verbose == 0;
	} else {
		return option_is_of_encoding(word);
	}
	return true;
}

static bool
option_take_help(const char *word)
{
	if (strcmp(word, "-h") != 0 && strcmp(word, "--help") != 0)
		return false;
	fputs(conduit_is_network() ? usage_network : usage_smp, stdout);
	exit(0);
}

static void
request_parse(struct request *request, char **at)
{
	for (; *at && **at == '-' && (*at)[1] != '\0'; at++) {
		if (strcmp(*at, "--") == 0) {
			at++;
			break;
		}
		if (!option_take_plain(request, *at) && !option_take_help(*at) &&
		    !option_take_valued(request, &at))
			program_refuse("unknown option %s; see --help", *at);
	}
	request->command = at;
	if (request->size == 0)
		program_refuse("say how many ranks: -n N; see --help");
	if (!*at)
		program_refuse("no program named; see --help");
}

/* -- how to start ------------------------------------------------------------------------------ */

/* `given' is where the text stands, for the message. */
static enum spawner
spawner_named(const char *text, const char *given)
{
	if (!conduit_is_network() && strcmp(text, "fork") != 0)
		program_refuse("spawner %s: smp has fork only", text);
	for (unsigned i = 0; i < SPAWNERS; i++)
		if (strcmp(text, spawner_names[i]) == 0)
			return (enum spawner)i;
	program_refuse("%s%s: expected one of ssh, mpi, pmi, fork", given, text);
}

/* The option, else the environment; NULL: neither says anything. */
static const char *
spawner_asked(const struct request *request, const char **given_out)
{
	static const char *const variables[] = { GASNETRUN_VARIABLE, "GASNET_SPAWN_CONTROL" };
	static const char *const given[] = { GASNETRUN_VARIABLE "=", "GASNET_SPAWN_CONTROL=" };
	const char *text = request->spawner_text;

	*given_out = "-spawner=";
	for (size_t i = 0; !text && i < (conduit_is_network() ? 2 : 1); i++) {
		text = getenv(variables[i]);
		*given_out = given[i];
		if (text && !*text)
			text = NULL;
	}
	return text;
}

/* Else it is what the conduit prefers. */
static enum spawner
spawner_choose(const struct request *request)
{
	const char *given, *text = spawner_asked(request, &given);
	enum spawner spawner = SPAWNER_FORK;

	if (text)
		spawner = spawner_named(text, given);
	else if (conduit_is_network())
		spawner = engine_in_allocation() ? SPAWNER_PMI : SPAWNER_SSH;
	if (spawner == SPAWNER_FORK && request->hosts > 1)
		program_refuse("-N %u: spawner fork starts all ranks on this host; use "
		               "-spawner=ssh, -spawner=mpi or -spawner=pmi", request->hosts);
	return spawner;
}

static void
client_check(const struct request *request, enum spawner spawner)
{
	char value[512];
	char *path = program_client(request->command);

	if (!path) {
		fprintf(stderr, "%s: warning: no word of the command is a program of this library: "
		    "%s\n", program_name, request->command[0]);
		return;
	}
	program_check_conduit(path);
	if (program_string(path, "Config", value, sizeof value) && !strstr(value, "PENSTOCK="))
		program_refuse("%s was linked with another library of this interface than "
		    "Penstock; start it by the " GASNETRUN_NAME " of that library", path);
	if (!program_string(path, spawner_strings[spawner], value, sizeof value))
		program_refuse("%s cannot be started by %s; link it with a library of Penstock",
		               path, spawner_names[spawner]);
	free(path);
}

/* -- running ----------------------------------------------------------------------------------- */

/* A job that is ready to be run, by one of three ways. */
struct start {
	const struct request *request;
	enum spawner spawner;
	struct pboot_plan plan;
	struct pboot_places places;     /* of ssh */
	char **words;                   /* of an engine; NULL: none */
};

static void
start_place(struct start *start)
{
	char why[PBOOT_LAUNCHER_WHY_BYTES];
	const struct request *request = start->request;

	if (!pboot_launcher_place(NULL, request->hosts, request->size, &start->places, why))
		program_refuse("%s", why);
}

/* A template of the user's, else what the engine is told. */
static void
start_make_words(struct start *start)
{
	const bool is_pmi = start->spawner == SPAWNER_PMI;
	const char *asked = is_pmi ? "spawner pmi" : "spawner mpi";
	const struct engine_job job = {
		.plan = &start->plan,
		.host_count = start->request->hosts,
		.cpus = start->request->cpus,
	};

	start->words = template_command(is_pmi ? "PMIRUN_CMD" : "MPIRUN_CMD", start->plan.size,
	    start->plan.argv);
	if (!start->words)
		start->words = engine_command(is_pmi ? ENGINE_SLURM : engine_of_mpi(asked), asked,
		    &job);
}

static void
start_say(const struct start *start)
{
	const struct pboot_places *places = &start->places;
	char *const *words = start->words ? start->words : start->plan.argv;

	fprintf(stderr, "%s: running %u rank%s:", program_name, start->plan.size,
	    start->plan.size > 1 ? "s" : "");
	for (uint32_t i = 0; i < places->count; i++)
		fprintf(stderr, "%s%s:%u", i ? "," : " by ssh on ", places->names[i],
		    places->ranks[i]);
	for (; *words; words++)
		fprintf(stderr, " %s", *words);
	fputc('\n', stderr);
}

static int
start_run(const struct start *start)
{
	fflush(NULL);
	if (start->words)
		return engine_run(start->words, &start->plan);
	psi_introspect_jobs();
	if (start->spawner == SPAWNER_SSH)
		return pboot_launcher_run_ssh(&start->plan, &start->places);
	return pboot_launcher_run(&start->plan);
}

static int
request_run(const struct request *request, enum spawner spawner, const char *path)
{
	struct start start = {
		.request = request,
		.spawner = spawner,
		.plan = {
			.size = request->size,
			.argv = request->command,
			.program = path,
			.exported = request->exports,
		},
	};
	int status = 0;

	if (conduit_is_network())
		engine_set_environment(&start.plan);
	if (spawner == SPAWNER_SSH)
		start_place(&start);
	else if (spawner != SPAWNER_FORK)
		start_make_words(&start);
	if (request->verbose > 0)
		start_say(&start);
	if (!request->dry_run)
		status = start_run(&start);
	pboot_launcher_places_free(&start.places);
	words_free(start.words);
	return status;
}

int
main(int argc, char **argv)
{
	struct request request = { 0 };
	enum spawner spawner;
	char *path;
	int status;

	if (argc == 2 && strcmp(argv[1], "--agent") == 0)	/* of pboot_launcher_run_ssh */
		return pboot_ssh_agent_run();
	program_name = GASNETRUN_NAME;
	request_parse(&request, argv + 1);
	spawner = spawner_choose(&request);
	path = program_path_or_refuse(request.command[0]);
	client_check(&request, spawner);
	if (request.verbose > 0)
		setenv("GASNET_VERBOSEENV", "1", 1);
	if (request.verbose > 1)
		setenv("GASNET_SPAWN_VERBOSE", "1", 1);
	status = request_run(&request, spawner, path);
	free(path);
	return status;
}
