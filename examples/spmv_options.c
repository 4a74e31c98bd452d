/*
 * The command line. What cannot be is told in one line, by rank 0, and ends the job with status 2.
 */
#include "spmv.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SIDE = 1 << 16, MOST_STEPS = 1000000, MOST_ROUNDS = 1000 };

static void
print_usage(void)
{
	if (spmv_rank == 0)
		printf("usage: spmv [--grid ROWSxCOLUMNS] [--ranks DOWNxACROSS] [--steps N] "
		       "[--rounds N] [--halo signal|flag|both] [--check]\n");
	spmv_end(0, NULL);
}

/* A whole number from 1 to most; what follows it is left in *text. */
static uint32_t
take_number(const char *option, const char *whole, const char **text, unsigned long most)
{
	char *end;
	unsigned long number = 0;

	if (**text >= '0' && **text <= '9') {
		number = strtoul(*text, &end, 10);
		*text = end;
	}
	if (number < 1 || number > most)
		spmv_end(2, "--%s %s: a number from 1 to %lu is wanted", option, whole, most);
	return (uint32_t)number;
}

static uint32_t
parse_number(const char *option, const char *text, unsigned long most)
{
	const char *rest = text;
	uint32_t number = take_number(option, text, &rest, most);

	if (*rest != '\0')
		spmv_end(2, "--%s %s: a number alone is wanted", option, text);
	return number;
}

static void
parse_pair(const char *option, const char *text, uint32_t *a_out, uint32_t *b_out)
{
	const char *rest = text;
	uint32_t a = take_number(option, text, &rest, MOST_SIDE), b;

	if (*rest != 'x')
		spmv_end(2, "--%s %s: two numbers are wanted, such as 4x2", option, text);
	rest++;
	b = take_number(option, text, &rest, MOST_SIDE);
	if (*rest != '\0')
		spmv_end(2, "--%s %s: two numbers are wanted, such as 4x2", option, text);
	*a_out = a;
	*b_out = b;
}

static void
parse_ways(struct job *job, const char *text)
{
	enum halo_way way;

	for (way = HALO_SIGNAL; way < HALO_WAYS; way++) {
		if (strcmp(text, way_names[way]) == 0) {
			job->first = job->last = way;
			return;
		}
	}
	if (strcmp(text, "both") != 0)
		spmv_end(2, "--halo %s: signal, flag or both is wanted", text);
}

/* As square as the number of ranks allows. */
static void
choose_ranks(struct grid *grid, gex_Rank_t ranks)
{
	uint32_t down = 1, i;

	for (i = 2; i <= ranks / i; i++)
		if (ranks % i == 0)
			down = i;
	grid->down = down;
	grid->across = ranks / down;
}

static void
check_job(const struct job *job)
{
	const struct grid *g = &job->grid;
	gex_Rank_t ranks = gex_TM_QuerySize(spmv_tm);

	if ((uint64_t)g->down * g->across != ranks)
		spmv_end(2, "--ranks %ux%u: the job has %u ranks", (unsigned)g->down,
		         (unsigned)g->across, (unsigned)ranks);
	if (g->rows < g->down || g->cols < g->across)
		spmv_end(2, "a grid of %ux%u is too small for %ux%u ranks", (unsigned)g->rows,
		         (unsigned)g->cols, (unsigned)g->down, (unsigned)g->across);
}

void
options_parse(struct job *job_out, int argc, char **argv)
{
	static const struct option options[] = {
		{ "grid", required_argument, NULL, 'g' },
		{ "ranks", required_argument, NULL, 'r' },
		{ "steps", required_argument, NULL, 's' },
		{ "rounds", required_argument, NULL, 'n' },
		{ "halo", required_argument, NULL, 'w' },
		{ "check", no_argument, NULL, 'c' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	struct job job = {
		.grid = { .rows = 1024, .cols = 1024 },
		.steps = 100,
		.rounds = 3,
		.first = HALO_SIGNAL,
		.last = HALO_FLAG,
	};
	int option;

	choose_ranks(&job.grid, gex_TM_QuerySize(spmv_tm));
	opterr = 0;
	while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		switch (option) {
		case 'g': parse_pair("grid", optarg, &job.grid.rows, &job.grid.cols); break;
		case 'r': parse_pair("ranks", optarg, &job.grid.down, &job.grid.across); break;
		case 's': job.steps = parse_number("steps", optarg, MOST_STEPS); break;
		case 'n': job.rounds = parse_number("rounds", optarg, MOST_ROUNDS); break;
		case 'w': parse_ways(&job, optarg); break;
		case 'c': job.check = 1; break;
		case 'h': print_usage(); break;
		default: spmv_end(2, "%s: not understood; see --help", argv[optind - 1]);
		}
	}
	if (optind < argc)
		spmv_end(2, "%s: not understood; see --help", argv[optind]);
	check_job(&job);
	*job_out = job;
}
