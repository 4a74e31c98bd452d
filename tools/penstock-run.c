/* penstock-run: starts a program as the ranks of one job, on this host or on several. */
#include "config.h"

#include "bootstrap/launcher.h"
#include "runtime/tools/introspect.h"
#include "engine.h"
#include "program_find.h"
#include "words.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: penstock-run -n N [options] [--] program [arguments]\n"
    "  -n N, -np N      ranks to start\n"
    "  -N H             hosts to start them on, in blocks; without it, all that are named\n"
    "  --hosts A,B      the hosts; without it, those of a variable, see the manual\n"
    "  --engine ssh|slurm|ompi|hydra\n"
    "                   what starts them; without it, for several hosts srun in an\n"
    "                   allocation of Slurm, else ssh\n"
    "  -E V1,V2         environment variables that ranks get (they get all but a host's own)\n"
    "  --tag-output     begin each line of output with its rank\n"
    "  --timeout S      end the job after S seconds, with status 124\n"
    "  --bind none|core leave ranks to the scheduler, or give each a core\n"
    "  --stdin R|none   which rank reads standard input; the others read nothing (default 0)\n"
    "  --version, --help\n";

enum { OPT_TAG = 256, OPT_TIMEOUT, OPT_BIND, OPT_STDIN, OPT_HOSTS, OPT_ENGINE, OPT_VERSION };

/* What may start the ranks, by the names that --engine has for them. */
static const struct {
	const char *name, *asked;
	enum engine engine;
} engines[] = {
	{ "ssh", "--engine ssh", ENGINE_SSH },
	{ "slurm", "--engine slurm", ENGINE_SLURM },
	{ "ompi", "--engine ompi", ENGINE_OMPI },
	{ "hydra", "--engine hydra", ENGINE_HYDRA },
};

struct command_line {
	struct pboot_plan plan;
	uint32_t host_count;	/* -N; 0: not given */
	const char *hosts;	/* --hosts; NULL: not given */
	enum engine engine;	/* --engine; ENGINE_NONE: not given */
	const char *asked;	/* the same as text */
};

static const struct option options[] = {
	{ "tag-output", no_argument, NULL, OPT_TAG },
	{ "timeout", required_argument, NULL, OPT_TIMEOUT },
	{ "bind", required_argument, NULL, OPT_BIND },
	{ "stdin", required_argument, NULL, OPT_STDIN },
	{ "hosts", required_argument, NULL, OPT_HOSTS },
	{ "engine", required_argument, NULL, OPT_ENGINE },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static uint32_t
ranks_of(const char *text)
{
	long value;

	if (!program_number(text, 1, PBOOT_LAUNCHER_RANKS_MAX, &value))
		program_refuse("-n %s: not a number of ranks from 1 to %d", text,
		    PBOOT_LAUNCHER_RANKS_MAX);
	return (uint32_t)value;
}

/* What is behind -n; behind -np too, as other launchers have it, which is read as -n with p. */
static const char *
text_of_ranks(char **argv)
{
	if (optarg != argv[optind - 1] + 2 || optarg[0] != 'p')
		return optarg;
	if (optarg[1] != '\0')
		return optarg + 1;
	if (!argv[optind])
		program_refuse("option -np needs a value; see --help");
	return argv[optind++];
}

static uint64_t
timeout_of(const char *text)
{
	char *end;
	double seconds = strtod(text, &end);

	if (end == text || *end != '\0' || !isfinite(seconds) || seconds <= 0 || seconds > 1e8)
		program_refuse("--timeout %s: not a number of seconds above 0", text);
	return (uint64_t)(seconds * 1e9) + 1;
}

static bool
bind_of(const char *text)
{
	if (strcmp(text, "core") == 0)
		return true;
	if (strcmp(text, "none") != 0)
		program_refuse("--bind %s: choose none or core", text);
	return false;
}

static int64_t
stdin_of(const char *text)
{
	long rank;

	if (strcmp(text, "none") == 0)
		return -1;
	if (!program_number(text, 0, PBOOT_LAUNCHER_RANKS_MAX, &rank))
		program_refuse("--stdin %s: choose a rank or none", text);
	return rank;
}

static uint32_t
hosts_of(const char *text)
{
	long value;

	if (!program_number(text, 1, PBOOT_LAUNCHER_RANKS_MAX, &value))
		program_refuse("-N %s: not a number of hosts from 1 to %d", text,
		    PBOOT_LAUNCHER_RANKS_MAX);
	return (uint32_t)value;
}

static void
set_engine(struct command_line *line, const char *text)
{
	size_t i;

	for (i = 0; i < sizeof engines / sizeof *engines; i++)
		if (strcmp(text, engines[i].name) == 0) {
			line->engine = engines[i].engine;
			line->asked = engines[i].asked;
			return;
		}
	program_refuse("--engine %s: choose ssh, slurm, ompi or hydra", text);
}

/* Names the option that was given a value and takes none; getopt leaves its `val' in optopt. */
static void
refuse_value(const char *word)
{
	const size_t len = strcspn(word, "=");
	const struct option *known;

	if (strncmp(word, "--", 2) != 0 || word[len] != '=')
		return;
	for (known = options; known->name; known++)
		if (known->has_arg == no_argument && strncmp(known->name, word + 2, len - 2) == 0)
			program_refuse(
				"option --%s takes no value, and %s gives it one; see --help",
				known->name, word);
}

/* A letter may be one of several in a word that getopt has not left yet. */
static void
refuse_option(char **argv)
{
	const char *word = argv[optind - 1];

	if (optopt != 0)
		refuse_value(word);
	if (optopt > ' ' && optopt < 127)
		program_refuse("unknown option -%c; see --help", optopt);
	if (optopt != 0 && argv[optind] && !strchr(word, optopt))
		word = argv[optind];
	program_refuse("unknown option %s; see --help", word);
}

/* -hosts and -hostfile, say, which other launchers have, are not -h. */
static void
print_help(char **argv)
{
	const char *word = argv[optind - 1];

	if (word[0] == '-' && word[1] == 'h' && word[2])
		program_refuse("unknown option %s; --hosts A,B names hosts, see --help", word);
	if (argv[optind] && argv[optind][0] == '-' && argv[optind][1] == 'h' && argv[optind][2])
		program_refuse("unknown option %s; --hosts A,B names hosts, see --help",
		    argv[optind]);
	fputs(usage, stdout);
	exit(0);
}

static void
take_option(struct command_line *line, int option, char **argv)
{
	struct pboot_plan *plan = &line->plan;

	switch (option) {
	case 'n':
		plan->size = ranks_of(text_of_ranks(argv));
		break;
	case 'N':
		line->host_count = hosts_of(optarg);
		break;
	case 'E':
		plan->exported = optarg;
		break;
	case OPT_HOSTS:
		line->hosts = optarg;
		break;
	case OPT_ENGINE:
		set_engine(line, optarg);
		break;
	case OPT_TAG:
		plan->tag_output = true;
		break;
	case OPT_TIMEOUT:
		plan->timeout_ns = timeout_of(optarg);
		break;
	case OPT_BIND:
		plan->bind_cores = bind_of(optarg);
		break;
	case OPT_STDIN:
		plan->stdin_rank = stdin_of(optarg);
		break;
	case OPT_VERSION:
		puts("penstock-run " PACKAGE_VERSION);
		exit(0);
	case 'h':
		print_help(argv);
		break;
	case ':':
		program_refuse("option %s needs a value; see --help", argv[optind - 1]);
	default:
		refuse_option(argv);
	}
}

/* The first word that is no option is the program, and what follows is its own. */
static void
command_line_parse(struct command_line *line, int argc, char **argv)
{
	const struct pboot_plan *plan = &line->plan;
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, "+:n:N:E:h", options, NULL)) != -1)
		take_option(line, option, argv);
	if (plan->size == 0)
		program_refuse("say how many ranks: -n N; see --help");
	if (optind == argc)
		program_refuse("no program named; see --help");
	if (plan->stdin_rank >= (int64_t)plan->size)
		program_refuse("--stdin %lld: the job has ranks 0 to %u",
		    (long long)plan->stdin_rank, plan->size - 1);
}

static void
check_conduit(char *const *command)
{
	char *path = program_client(command);

	if (path)
		program_check_conduit(path);
	free(path);
}

/* -- running ----------------------------------------------------------------------------------- */

/* Several hosts, or one that is named, are started by an engine; a job on this host needs none. */
static void
choose_engine(struct command_line *line)
{
	if (line->engine != ENGINE_NONE || (!line->hosts && line->host_count <= 1))
		return;
	line->engine = engine_in_allocation() ? ENGINE_SLURM : ENGINE_SSH;
	line->asked = "a job on several hosts";
}

static void
ranks_place(const struct command_line *line, struct pboot_places *places_out)
{
	char why[PBOOT_LAUNCHER_WHY_BYTES];

	if (!pboot_launcher_place(line->hosts, line->host_count, line->plan.size, places_out, why))
		program_refuse("%s", why);
}

static int
run_by_ssh(const struct command_line *line)
{
	struct pboot_places places;
	int status;

	ranks_place(line, &places);
	psi_introspect_jobs();
	status = pboot_launcher_run_ssh(&line->plan, &places);
	pboot_launcher_places_free(&places);
	return status;
}

/* With GASNET_SPAWN_VERBOSE. */
static void
say_command(char *const *words)
{
	const char *verbose = getenv("GASNET_SPAWN_VERBOSE");

	if (!verbose || !*verbose || strchr("0nN", *verbose))
		return;
	fprintf(stderr, "%s: starts:", program_name);
	for (; *words; words++)
		fprintf(stderr, " %s", *words);
	fputc('\n', stderr);
}

/* If no hosts are named, the engine may have a list of its own. */
static int
run_by_engine(const struct command_line *line)
{
	const bool named = line->hosts || pboot_launcher_hosts_are_named();
	struct pboot_places places = { 0 };
	struct engine_job job = {
		.plan = &line->plan,
		.host_count = line->host_count,
		.is_as_here = true,
	};
	char **words;
	int status;

	if (named) {
		ranks_place(line, &places);
		job.places = &places;
	}
	engine_set_environment(&line->plan);
	words = engine_command(line->engine, line->asked, &job);
	pboot_launcher_places_free(&places);
	say_command(words);
	status = engine_run(words, &line->plan);
	words_free(words);
	return status;
}

static int
job_run(const struct command_line *line)
{
	if (line->engine == ENGINE_SSH)
		return run_by_ssh(line);
	if (line->engine != ENGINE_NONE)
		return run_by_engine(line);
	psi_introspect_jobs();
	return pboot_launcher_run(&line->plan);
}

int
main(int argc, char **argv)
{
	struct command_line line = { 0 };
	char *path;
	int status;

	if (argc == 2 && strcmp(argv[1], "--agent") == 0)	/* of pboot_launcher_run_ssh */
		return pboot_ssh_agent_run();
	command_line_parse(&line, argc, argv);
	path = program_path_or_refuse(argv[optind]);
	check_conduit(argv + optind);
	line.plan.argv = argv + optind;
	line.plan.program = path;
	choose_engine(&line);
	fflush(NULL);
	status = job_run(&line);
	free(path);
	return status;
}
