/*
 * Runs one cell of the failure matrix: starts the job, causes the failure that the cell's id names
 * when all ranks have come to the moment, and checks how the job ends.
 *
 *     matrix-cell SEED LAUNCHER MEMBER ID STATUS MOST LEAST PATTERN
 *
 * (see matrix_cells).  All processes of the job descend from this one, which is a subreaper, so
 * what is left of a job is its children.  Prints one line, and the messages of the job if its end
 * was wrong.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "tests/job/matrix_cell.h"

struct matrix_cell cell;
struct matrix_job job = {
	.status = -1, .terminal = -1, .directory = "/tmp/penstock-cell.XXXXXX", .slack = 1,
};

void
matrix_give_up(const char *what)
{
	printf("ERROR %s: %s: %s\n", cell.id, what, strerror(errno));
	exit(99);
}

void
matrix_note(const char *format, ...)
{
	size_t len = strlen(job.wrong);
	va_list args;

	va_start(args, format);
	vsnprintf(job.wrong + len, sizeof job.wrong - len, format, args);
	va_end(args);
	len = strlen(job.wrong);
	snprintf(job.wrong + len, sizeof job.wrong - len, "; ");
}

int
matrix_is(const char *text, const char *word)
{
	return strcmp(text, word) == 0;
}

void
matrix_sleep_us(unsigned us)
{
	struct timespec pause = { us / 1000000, (long)(us % 1000000) * 1000 };

	nanosleep(&pause, NULL);
}

unsigned
matrix_ms_since(uint64_t then)
{
	return (unsigned)((pt_matrix_now_ns() - then) / 1000000);
}

/* A seed and an id always give the same delay, 0 to 20 ms. */
static unsigned
delay_of(const char *seed, const char *id)
{
	uint64_t hash = strtoull(seed, NULL, 10) + 14695981039346656037u;

	while (*id)
		hash = (hash ^ (unsigned char)*id++) * 1099511628211u;
	return (unsigned)(hash >> 20) % 20000;
}

static void
read_cell(char **argv)
{
	cell.id = argv[4];
	cell.seed = argv[1];
	cell.status = argv[5];
	cell.most = (unsigned)atoi(argv[6]);
	cell.least = (unsigned)atoi(argv[7]);
	cell.pattern = argv[8];
	cell.delay_us = delay_of(argv[1], argv[4]);
	cell.direct = cell.id[0] == 'd';
	if (sscanf(cell.id + 1, "%u/%31[^/]/%31[^/]/%31[^/]", &cell.size, cell.who, cell.how,
	           cell.when) != 4 || cell.size > PT_MATRIX_RANKS_MAX)
		matrix_give_up("no such id");
	if (getenv("PT_SLACK") && atoi(getenv("PT_SLACK")) > 0)
		job.slack = (unsigned)atoi(getenv("PT_SLACK"));
}

int
main(int argc, char **argv)
{
	if (argc != 9) {
		fprintf(stderr, "usage: matrix-cell SEED LAUNCHER MEMBER and a line of "
		        "matrix_cells\n");
		return 99;
	}
	read_cell(argv);
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	if (!mkdtemp(job.directory))
		matrix_give_up(job.directory);
	matrix_make_page();
	matrix_start_job(argv[2], argv[3]);
	if (matrix_wait_moment())
		matrix_make_it_happen();
	matrix_wait_end();
	matrix_check_status();
	matrix_check_output();
	matrix_report();
	return *job.wrong ? 1 : 0;
}
