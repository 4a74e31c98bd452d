/*
 * The command line. What cannot be done is told in one line, which rank 0 prints.
 */
#include "heat2d.h"

#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_SIDE = 1 << 16, MOST_SWEEPS = 1000000000 };

void
options_help(void)
{
	printf("usage: heat2d [OPTION...]\n"
	       "  --grid ROWSxCOLUMNS   points between the fixed edges (512x512)\n"
	       "  --ranks DOWNxACROSS   how the grid is shared out (as square as can be)\n"
	       "  --sweeps N            at most so many (1000)\n"
	       "  --tolerance T         ends when a sweep changes no point by more (1e-3)\n"
	       "  --every N             tests that after every N sweeps (1)\n"
	       "  --png FILE            draws the answer, one pixel for each point\n"
	       "  --check               compares with the answer of one rank alone, bit for bit\n"
	       "  --help                prints this\n");
}

/* The first refusal counts. */
__attribute__((format(printf, 2, 3))) static void
refuse(struct job *job, const char *format, ...)
{
	va_list args;

	if (job->refusal[0] != '\0')
		return;
	va_start(args, format);
	vsnprintf(job->refusal, sizeof job->refusal, format, args);
	va_end(args);
}

/* A whole number from 1 to most; what follows it is left in *text. */
static uint32_t
take_number(struct job *job, const char *option, const char *whole, const char **text,
            unsigned long most)
{
	char *end;
	unsigned long number = 0;

	if (**text >= '0' && **text <= '9') {
		number = strtoul(*text, &end, 10);
		*text = end;
	}
	if (number < 1 || number > most)
		refuse(job, "--%s %s: a number from 1 to %lu is wanted", option, whole, most);
	return (uint32_t)number;
}

static unsigned
parse_number(struct job *job, const char *option, const char *text, unsigned long most)
{
	const char *rest = text;
	unsigned number = take_number(job, option, text, &rest, most);

	if (*rest != '\0')
		refuse(job, "--%s %s: a number alone is wanted", option, text);
	return number;
}

static void
parse_pair(struct job *job, const char *option, const char *text, uint32_t *a_out, uint32_t *b_out)
{
	const char *rest = text;

	*a_out = take_number(job, option, text, &rest, MOST_SIDE);
	if (*rest == 'x') {
		rest++;
		*b_out = take_number(job, option, text, &rest, MOST_SIDE);
		if (*rest == '\0')
			return;
	}
	refuse(job, "--%s %s: two numbers are wanted, such as 4x2", option, text);
}

static double
parse_tolerance(struct job *job, const char *text)
{
	char *rest;
	double tolerance = strtod(text, &rest);

	if (rest == text || *rest != '\0' || !isfinite(tolerance) || tolerance < 0)
		refuse(job, "--tolerance %s: a number from 0 up is wanted", text);
	return tolerance;
}

/* As square as the number of ranks allows. */
static void
choose_ranks(struct grid *grid, uint32_t ranks)
{
	uint32_t down = 1, i;

	for (i = 2; i <= ranks / i; i++)
		if (ranks % i == 0)
			down = i;
	grid->down = down;
	grid->across = ranks / down;
}

static void
check_job(struct job *job, uint32_t ranks)
{
	const struct grid *g = &job->grid;

	if ((uint64_t)g->down * g->across != ranks)
		refuse(job, "--ranks %ux%u: the job has %u ranks", (unsigned)g->down,
		       (unsigned)g->across, (unsigned)ranks);
	if (g->rows < g->down || g->cols < g->across)
		refuse(job, "a grid of %ux%u is too small for %ux%u ranks", (unsigned)g->rows,
		       (unsigned)g->cols, (unsigned)g->down, (unsigned)g->across);
	if (job->png != NULL && !picture_possible())
		refuse(job,
		       "--png %s: built without libpng; install it (libpng-dev) and build "
		       "heat2d again",
		       job->png);
}

static void
parse_one(struct job *job, int option, const char *text)
{
	struct grid *grid = &job->grid;

	switch (option) {
	case 'g':
		parse_pair(job, "grid", text, &grid->rows, &grid->cols);
		break;
	case 'r':
		parse_pair(job, "ranks", text, &grid->down, &grid->across);
		break;
	case 's':
		job->sweeps = parse_number(job, "sweeps", text, MOST_SWEEPS);
		break;
	case 't':
		job->tolerance = parse_tolerance(job, text);
		break;
	case 'e':
		job->every = parse_number(job, "every", text, MOST_SWEEPS);
		break;
	case 'p':
		job->png = text;
		break;
	case 'c':
		job->check = 1;
		break;
	default:
		break;
	}
}

int
options_parse(struct job *job_out, int argc, char **argv, uint32_t ranks)
{
	static const struct option options[] = {
		{ "grid", required_argument, NULL, 'g' },
		{ "ranks", required_argument, NULL, 'r' },
		{ "sweeps", required_argument, NULL, 's' },
		{ "tolerance", required_argument, NULL, 't' },
		{ "every", required_argument, NULL, 'e' },
		{ "png", required_argument, NULL, 'p' },
		{ "check", no_argument, NULL, 'c' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	struct job job = {
		.grid = { .rows = 512, .cols = 512 },
		.sweeps = 1000,
		.every = 1,
		.tolerance = 1e-3,
	};
	int option, help = 0;

	choose_ranks(&job.grid, ranks);
	while ((option = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		help |= option == 'h';
		if (option == ':')
			refuse(&job, "%s: a value is missing", argv[optind - 1]);
		else if (option == '?')
			refuse(&job, "%s: not understood; see --help", argv[optind - 1]);
		else
			parse_one(&job, option, optarg);
	}
	if (optind < argc)
		refuse(&job, "%s: not understood; see --help", argv[optind]);
	check_job(&job, ranks);
	*job_out = job;
	return help;
}

int
sweep_is_tested(const struct job *job, unsigned sweep)
{
	return sweep % job->every == 0 || sweep == job->sweeps;
}
