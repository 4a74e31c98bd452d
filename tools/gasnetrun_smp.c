/* gasnetrun_smp: the launcher under the name and with the options that existing scripts use. */
#include "bootstrap/launcher.h"
#include "program_find.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
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

struct request {
	uint32_t size;
	int verbose;
	bool dry_run;
	const char *spawner;
	char **command;
};

static void
set_size(struct request *request, const char *text)
{
	long value;

	if (!program_number(text, 1, PBOOT_LAUNCHER_RANKS_MAX, &value))
		program_refuse("-n %s: not a number of ranks from 1 to %d", text,
		    PBOOT_LAUNCHER_RANKS_MAX);
	request->size = (uint32_t)value;
}

static void
set_hosts(const char *text)
{
	long value;

	if (!program_number(text, 1, 1, &value))
		program_refuse("-N %s: smp runs on 1 host", text);
}

static void
set_cpus(const char *text)
{
	long value;

	if (!program_number(text, 1, 1 << 20, &value))
		program_refuse("-c %s: not a number of CPUs", text);
}

/* The value of an option given as "-xVALUE" or "-x VALUE"; NULL if the word is another option. */
static const char *
value_of(const char *option, char ***at)
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
take_valued(struct request *request, char ***at)
{
	const char *value;

	if ((value = value_of("-np", at)) || (value = value_of("-n", at)))
		set_size(request, value);
	else if ((value = value_of("-N", at)))
		set_hosts(value);
	else if ((value = value_of("-c", at)))
		set_cpus(value);
	else
		return value_of("-E", at) != NULL;
	return true;
}

static bool
take_plain(struct request *request, const char *word)
{
	if (strncmp(word, "-spawner=", 9) == 0) {
		request->spawner = word + 9;
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
		return false;
	}
	return true;
}

static bool
take_help(const char *word)
{
	if (strcmp(word, "-h") != 0 && strcmp(word, "--help") != 0)
		return false;
	fputs(usage, stdout);
	exit(0);
}

static void
parse(struct request *request, char **at)
{
	for (; *at && **at == '-' && (*at)[1] != '\0'; at++) {
		if (strcmp(*at, "--") == 0) {
			at++;
			break;
		}
		if (!take_plain(request, *at) && !take_help(*at) && !take_valued(request, &at))
			program_refuse("unknown option %s; see --help", *at);
	}
	request->command = at;
	if (request->size == 0)
		program_refuse("say how many ranks: -n N; see --help");
	if (!*at)
		program_refuse("no program named; see --help");
}

/* Option, else environment, else fork; smp has no other. */
static void
check_spawner(const char *spawner)
{
	if (!spawner)
		spawner = getenv("GASNET_SMP_SPAWNER");
	if (spawner && *spawner && strcmp(spawner, "fork") != 0)
		program_refuse("spawner %s: smp has fork only", spawner);
}

static void
check_client(const struct request *request)
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
		    "Penstock; start it by the gasnetrun_smp of that library", path);
	if (!program_string(path, "FORKSpawner", value, sizeof value))
		program_refuse("%s cannot be started by fork; link it with a library of Penstock",
		               path);
	free(path);
}

static void
say_command(const struct request *request)
{
	char **word;

	fprintf(stderr, "%s: running %u rank%s:", program_name, request->size,
	    request->size > 1 ? "s" : "");
	for (word = request->command; *word; word++)
		fprintf(stderr, " %s", *word);
	fputc('\n', stderr);
}

static int
run(const struct request *request, const char *path)
{
	struct pboot_plan plan = {
		.size = request->size,
		.argv = request->command,
		.program = path,
	};

	if (request->dry_run)
		return 0;
	fflush(NULL);
	return pboot_launcher_run(&plan);
}

int
main(int argc, char **argv)
{
	struct request request = { 0 };
	char *path;
	int status;

	(void)argc;
	program_name = "gasnetrun_smp";
	parse(&request, argv + 1);
	check_spawner(request.spawner);
	path = program_path_or_refuse(request.command[0]);
	check_client(&request);
	if (request.verbose > 0) {
		setenv("GASNET_VERBOSEENV", "1", 1);
		say_command(&request);
	}
	if (request.verbose > 1)
		setenv("GASNET_SPAWN_VERBOSE", "1", 1);
	status = run(&request, path);
	free(path);
	return status;
}
