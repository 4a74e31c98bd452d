/*
 * cg: all ranks solve A x = b by conjugate gradients, for matrices in files.
 *
 *     cg [--halo signal|put|long|all] [FILE.mtx ...]
 *
 * Rank 0 reads the files; the rows are dealt out to all ranks.  b is A times the
 * vector of ones, so the answer is known: the error that is printed is the
 * largest difference of any entry of x to one.
 */
#include "cg.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef CG_DATA
#define CG_DATA "data"
#endif

static const double tolerance = 1e-8;

static char *default_files[] = {
	(char[]){ CG_DATA "/airfoil.mtx" },
	(char[]){ CG_DATA "/bar.mtx" },
	(char[]){ CG_DATA "/local_disc_galerkin_diffusion.mtx" },
};

struct job {
	enum halo_way first, last; /* ways to exchange the halo */
	char **file;
	unsigned files;
	struct mtx *mtx; /* by file; of rank 0 */
};

static void
usage(int status)
{
	if (comm_rank == 0)
		fprintf(status == 0 ? stdout : stderr,
		        "usage: cg [--halo signal|put|long|all] [FILE.mtx ...]\n");
	comm_end(status, NULL);
}

static const char *const way_names[HALO_WAYS] = { "signal", "put", "long" };

static int
choose_ways(struct job *job, const char *name)
{
	enum halo_way way;

	for (way = HALO_SIGNAL; way < HALO_WAYS; way++) {
		if (strcmp(name, way_names[way]) == 0) {
			job->first = job->last = way;
			return 1;
		}
	}
	job->first = HALO_SIGNAL;
	job->last = HALO_LONG;
	return strcmp(name, "all") == 0;
}

static void
parse(struct job *job, int argc, char **argv)
{
	static const struct option options[] = {
		{ "halo", required_argument, NULL, 'w' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int option;

	opterr = comm_rank == 0;
	while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (option != 'w' || !choose_ways(job, optarg))
			usage(option == 'h' ? 0 : 2);
	}
	job->file = optind < argc ? argv + optind : default_files;
	job->files = optind < argc ? (unsigned)(argc - optind)
	                           : (unsigned)(sizeof default_files / sizeof *default_files);
}

static int
read_file(struct mtx *mtx, const char *path)
{
	struct mtx_error error;

	if (mtx_read(mtx, path, &error) == 0)
		return 0;
	if (error.line > 0)
		fprintf(stderr, "cg: %s: line %zu: %s\n", path, error.line, error.text);
	else
		fprintf(stderr, "cg: %s: %s\n", path, error.text);
	return -1;
}

/* Returns the most rows of any file, or 0 if one is bad: all are read before any work. */
static uint32_t
read_files(struct job *job)
{
	uint32_t most = 0;
	unsigned i;

	job->mtx = calloc(job->files, sizeof *job->mtx);
	if (job->mtx == NULL)
		comm_fail(1, "no memory for %u matrices", job->files);
	for (i = 0; i < job->files; i++) {
		if (read_file(&job->mtx[i], job->file[i]) != 0)
			return 0;
		if (job->mtx[i].rows > most)
			most = job->mtx[i].rows;
	}
	return most;
}

static const char *
base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

static void
print_head(void)
{
	printf("cg: %u ranks, tolerance %g\n\n", (unsigned)comm_ranks, tolerance);
	printf("%-36s %7s %8s %7s %10s %9s %9s %9s %9s  %s\n", "matrix", "rows", "entries", "halo",
	       "iterations", "residual", "error", "ms", "comm ms", "by");
}

static void
print_result(const char *path, const struct rows *rows, double entries, double foreign,
             const struct cg_result *result, enum halo_way way)
{
	static const char *const reason[] = {
		[CG_CONVERGED] = "solved",
		[CG_INDEFINITE] = "the matrix is not positive definite",
		[CG_OVERFLOW] = "the numbers overflow",
		[CG_TOO_LONG] = "no convergence",
	};

	printf("%-36s %7u %8.0f %7.0f %10u ", base_name(path), (unsigned)rows->all, entries,
	       foreign, result->iterations);
	if (result->end == CG_CONVERGED)
		printf("%9.2e %9.2e %9.2f %9.2f  %s\n", result->residual, result->error,
		       result->seconds * 1e3, result->comm_seconds * 1e3, way_names[way]);
	else
		printf("%s\n", reason[result->end]);
	fflush(stdout);
	if (result->end != CG_CONVERGED)
		fprintf(stderr, "cg: %s: %s (after %u iterations)\n", path, reason[result->end],
		        result->iterations);
}

/* 0 if it was solved; all ranks agree on that, since their sums do. */
static int
solve_file(const struct job *job, unsigned i, enum halo_way way)
{
	struct cg_result result;
	struct rows rows;
	struct halo halo;
	double entries, foreign;

	rows_open(&rows, comm_rank == 0 ? &job->mtx[i] : NULL);
	halo_open(&halo, &rows, way);
	cg_solve(&rows, &halo, tolerance, &result);
	entries = comm_sum((double)rows.entries);
	foreign = comm_sum(halo.foreign);
	if (comm_rank == 0)
		print_result(job->file[i], &rows, entries, foreign, &result, way);
	halo_close(&halo);
	rows_close(&rows);
	return result.end != CG_CONVERGED;
}

int
main(int argc, char **argv)
{
	struct job job = { .first = HALO_SIGNAL, .last = HALO_PUT };
	enum halo_way way;
	int failed, status = 0;
	uint32_t rows;
	unsigned i;

	comm_open(&argc, &argv);
	parse(&job, argc, argv);
	rows = (uint32_t)comm_max(comm_rank == 0 ? read_files(&job) : 0);
	if (rows == 0)
		comm_end(1, NULL); /* rank 0 has said why */
	comm_attach(rows);
	if (comm_rank == 0)
		print_head();
	for (i = 0; i < job.files; i++) {
		for (way = job.first, failed = 0; way <= job.last && !failed; way++)
			failed = solve_file(&job, i, way);
		status |= failed;
	}
	latency_print();
	for (i = 0; comm_rank == 0 && i < job.files; i++)
		mtx_free(&job.mtx[i]);
	free(job.mtx);
	halo_detach();
	comm_end(status, NULL);
}
