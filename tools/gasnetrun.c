/*
 * gasnetrun_<conduit>: the launcher under the names and with the options that existing scripts use.
 * It is compiled once for each conduit.  GASNETRUN_CONDUIT, GASNETRUN_NAME and GASNETRUN_VARIABLE
 * say which.
 */
#include "gasnetrun.h"

#include "bootstrap/launcher.h"
#include "program_find.h"
#include "runtime/tools/introspect.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
    "  -spawner=HOW      how to start: mpi (mpiexec.hydra or mpirun), pmi (srun), or\n"
    "                    fork (all ranks on this host)\n"
    "  -encode, -noencode  protect arguments from shells; none sees them\n"
    "  -h, --help\n";

static const char *const spawner_names[SPAWNERS] = {
	[SPAWNER_FORK] = "fork", [SPAWNER_MPI] = "mpi", [SPAWNER_PMI] = "pmi",
};

/* By what string a program says that it can be started so. */
static const char *const spawner_strings[SPAWNERS] = {
	[SPAWNER_FORK] = "FORKSpawner", [SPAWNER_MPI] = "MPISpawner",
	[SPAWNER_PMI] = "PMISpawner",
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

static enum spawner
spawner_named(const char *text)
{
	if (!conduit_is_network() && strcmp(text, "fork") != 0)
		program_refuse("spawner %s: smp has fork only", text);
	for (unsigned i = 0; i < SPAWNERS; i++)
		if (strcmp(text, spawner_names[i]) == 0)
			return (enum spawner)i;
	if (strcmp(text, "ssh") == 0)
		program_refuse("spawner ssh is not in this release; use -spawner=mpi "
		               "(mpiexec.hydra or mpirun), or -spawner=pmi (srun)");
	program_refuse("spawner %s: expected one of mpi, pmi, fork", text);
}

/* The option, else the environment, else what the conduit prefers. */
static enum spawner
spawner_choose(const struct request *request)
{
	const char *text = request->spawner_text;
	enum spawner spawner;

	if (!text)
		text = getenv(GASNETRUN_VARIABLE);
	if (text && *text)
		spawner = spawner_named(text);
	else
		spawner = conduit_is_network() ? manager_choose() : SPAWNER_FORK;
	if (spawner == SPAWNER_FORK && request->hosts > 1)
		program_refuse("-N %u: spawner fork starts all ranks on this host; use "
		               "-spawner=mpi or -spawner=pmi", request->hosts);
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

/* Ranks that a process manager starts find the plug-in of an installation that was moved. */
static void
plugin_tell_place(void)
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

/* -- running ----------------------------------------------------------------------------------- */

static void
request_say(const struct request *request, char *const *words)
{
	fprintf(stderr, "%s: running %u rank%s:", program_name, request->size,
	    request->size > 1 ? "s" : "");
	for (; *words; words++)
		fprintf(stderr, " %s", *words);
	fputc('\n', stderr);
}

static int
run_by_fork(const struct request *request, const char *path)
{
	struct pboot_plan plan = {
		.size = request->size,
		.argv = request->command,
		.program = path,
	};

	fflush(NULL);
	return pboot_launcher_run(&plan);
}

/* The manager takes the place of this process, so its status is the job's. */
static int
run_by_manager(char **words)
{
	fflush(NULL);
	execvp(words[0], words);
	program_refuse("cannot run %s: %s", words[0], strerror(errno));
}

int
main(int argc, char **argv)
{
	struct request request = { 0 };
	enum spawner spawner;
	char **words, *path;
	int status = 0;

	(void)argc;
	program_name = GASNETRUN_NAME;
	request_parse(&request, argv + 1);
	spawner = spawner_choose(&request);
	path = program_path_or_refuse(request.command[0]);
	client_check(&request, spawner);
	if (request.verbose > 0)
		setenv("GASNET_VERBOSEENV", "1", 1);
	if (request.verbose > 1)
		setenv("GASNET_SPAWN_VERBOSE", "1", 1);
	if (conduit_is_network())
		plugin_tell_place();
	words = spawner == SPAWNER_FORK ? request.command : manager_command(&request, spawner);
	if (request.verbose > 0)
		request_say(&request, words);
	if (!request.dry_run)
		status = spawner == SPAWNER_FORK ? run_by_fork(&request, path)
		                                 : run_by_manager(words);
	if (spawner != SPAWNER_FORK)
		manager_command_free(words);
	free(path);
	return status;
}
