/*
 * penstock-perf: what communication costs here.  From here down, each file calls those below it
 * alone:
 *
 *     perf_main.c       the table of subcommands, help
 *     perf_<name>.c     the subcommand of that name
 *     perf_plan.c       kinds of operations by size
 *     perf_report.c     table, CSV, progress line
 *     perf_message.c    active messages there and back, and streams of them
 *     perf_place.c      where ranks 0 and 1 run
 *     perf_job.c        start and end; rank 0 gives orders, the others follow them
 *     perf_sample.c     batches, least and middle value
 *     perf_options.c    the command line
 */
#include "perf_commands.h"
#include "perf_job.h"
#include "perf_message.h"
#include "perf_place.h"

#include <penstock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct perf_command commands[] = {
	{ "latency", "one operation at a time, by kind and size",
	  "short,medium,long,put,get,barrier", "8 to 1M", 0, perf_latency },
	{ "bandwidth", "large transfers one after the other", "long,put,get", "1K to 4M", 0,
	  perf_bandwidth },
	{ "strided", "sections of two dimensions, beside a plain copy",
	  "copy,put8,put64,put1k,get8,get64,get1k", "64K", 0, perf_strided },
	{ "rate", "messages in a stream, one to one and all to one", "short,medium,many",
	  "8 to 32K", 0, perf_rate },
	{ "ring", "a token round all ranks, per hop", NULL, NULL, 0, perf_ring },
	{ "atomic", "fetch-and-add alone and by all ranks, and the processor's own under +",
	  "fetch-add,contended,+fetch-add,+contended", NULL, 0, perf_atomic },
	{ "coll", "collectives over all ranks, roots in turn",
	  "barrier,team_barrier,bcast,scatter,gather,gather_all,exchange,permute,reduce,"
	  "allreduce,reduce_scatter,scan,exscan", "8 to 64K", 0, perf_coll },
	{ "overlap", "collectives under way while their callers compute and poll",
	  "allreduce,gather_all,exchange", "8 to 64K", 0, perf_overlap },
	{ "signal", "a payload to the next rank's program, one way, in a ring",
	  "signal,flag,barrier,long", "1 to 1M", 0, perf_signal },
	{ "idle", "a poll that finds nothing", NULL, NULL, 0, perf_idle },
	{ "tools", "locks, atomics, clock and thread keys beside their plain forms",
	  "lock,atomic,timer,key", NULL, 1, perf_tools },
	{ "startup", "start to finish of a job that does nothing, by ranks", NULL, NULL, 1,
	  perf_startup },
	{ "empty", "the job that does nothing", NULL, NULL, 0, NULL },
	{ 0 },
};

static const struct perf_module *const modules[] = {
	&perf_message_module, &perf_place_module, &perf_latency_module, &perf_rate_module,
	&perf_ring_module, &perf_atomic_module, &perf_coll_module, &perf_overlap_module,
	&perf_signal_module, NULL,
};

static void
print_usage(FILE *file)
{
	fprintf(file, "usage: penstock-run -n N penstock-perf COMMAND [OPTIONS]\n"
	              "       penstock-perf startup|tools [OPTIONS]\n"
	              "       penstock-perf --help\n");
}

static void
print_help(void)
{
	const struct perf_command *c;

	print_usage(stdout);
	printf("\nMeasures what communication costs, between ranks 0 and 1 unless said otherwise.\n"
	       "\nCommands:\n");
	for (c = commands; c->name != NULL; c++) {
		printf("  %-10s %s\n", c->name, c->summary);
		if (c->kinds != NULL)
			printf("  %-10s kinds %s%s%s%s\n", "", c->kinds, c->sizes ? "; " : "",
			       c->sizes ? c->sizes : "", c->sizes ? " bytes" : "");
	}
	printf("\nOptions:\n"
	       "  --kinds K,...    only these kinds\n"
	       "  --sizes B,...    these sizes in bytes, or with K or M behind the number\n"
	       "  --secs S         time for each figure (0.2)\n"
	       "  --sync IN[,OUT]  coll: no, my or all, at the start and at the end (my)\n"
	       "  --csv            comma separated, times in nanoseconds, instead of a table\n"
	       "  --progress       say what is being measured, also when nobody looks\n"
	       "  --ranks N,...    startup: numbers of ranks (1,2,4,8,16,32)\n"
	       "  --launcher FILE  startup: the penstock-run to use\n"
	       "  --help, --version\n"
	       "\nA figure is given as the least and the middle one of many batches. Sizes "
	       "above a\n"
	       "limit of the library are left out. The placement of ranks 0 and 1 is: same-cpu,\n"
	       "smt (two threads of a core), near (one cache), far; crowded means more ranks than\n"
	       "CPUs, self a job of one rank.\n");
}

static const struct perf_command *
find_command(const char *name)
{
	const struct perf_command *c;

	for (c = commands; name != NULL && c->name != NULL; c++)
		if (strcmp(c->name, name) == 0)
			return c;
	return NULL;
}

/* Options that a command has no use for would be silently without effect. */
static void
check_options(const struct perf_command *command, struct perf_options *options)
{
	const char *p = options->kinds;

	if (options->error[0] != '\0')
		return;
	if (command->run != perf_startup && (options->rank_count > 0 || options->launcher != NULL))
		snprintf(
			options->error, sizeof options->error,
			"--ranks and --launcher are for startup; here penstock-run -n says how "
			"many");
	else if (command->run != perf_coll && options->sync_in != PERF_SYNC_DEFAULT)
		snprintf(options->error, sizeof options->error, "%s has no --sync", command->name);
	else if (command->kinds == NULL && (p != NULL || options->sizes[0] > 0))
		snprintf(options->error, sizeof options->error, "%s has no kinds and no sizes",
		         command->name);
	else if (command->sizes == NULL && options->sizes[0] > 0)
		snprintf(options->error, sizeof options->error, "%s has no sizes", command->name);
	while (p != NULL && options->error[0] == '\0') {
		size_t len = strcspn(p, ",");

		if (!perf_list_has(command->kinds, p, len))
			snprintf(options->error, sizeof options->error,
			         "%s has no kind `%.*s'; it has %s", command->name,
			         len < 24 ? (int)len : 24, p, command->kinds);
		p = p[len] == ',' ? p + len + 1 : NULL;
	}
}

static int
command_line_refuse(const char *text)
{
	fprintf(stderr, "penstock-perf: %s\n", text);
	print_usage(stderr);
	return 2;
}

static void
check_in_job(const struct perf_command *command, const struct perf_options *options)
{
	const char *wrong = command == NULL ? "the first word must be a command; --help lists them"
	                                    : options->error;

	if (wrong[0] == '\0')
		return;
	if (perf_rank == 0)
		command_line_refuse(wrong);
	perf_job_close(2);
}

static void
run_in_job(const struct perf_command *command, const struct perf_options *options)
{
	int status = 0;

	perf_place_find();
	perf_job_attach();
	if (perf_rank == 0) {
		status = command->run(options);
		perf_job_order(PERF_END, 0, 0);
	} else {
		perf_job_follow();
	}
	perf_job_close(status);
}

int
main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : NULL;
	const struct perf_command *command = find_command(name);
	struct perf_options options;

	if (name != NULL && (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)) {
		print_help();
		return 0;
	}
	if (name != NULL && strcmp(name, "--version") == 0) {
		printf("penstock-perf %s\n", PENSTOCK_VERSION_STRING);
		return 0;
	}
	perf_options_parse(&options, argc - 1, argv + 1);
	if (options.help) {
		print_help();
		return 0;
	}
	if (command != NULL)
		check_options(command, &options);
	if (command != NULL && command->alone)
		return options.error[0] != '\0' ? command_line_refuse(options.error)
		                                : command->run(&options);
	perf_job_open(&argc, &argv, modules);
	check_in_job(command, &options);
	if (command->run != NULL)
		run_in_job(command, &options);
	perf_job_close(0);
}
