/*
 * heat2d by MPI, to stand beside the one of Penstock: the same options, the same line. The options,
 * the sweeps, the check and the picture are the same files; only what communicates is here.
 *
 *     mpicc -O2 -I.. -o heat2d heat2d.c ../heat2d_answer.c ../heat2d_grid.c ../heat2d_options.c \
 *         ../heat2d_png.c -lm
 *
 * In a sweep a rank receives its border and sends its edges without blocking, sweeps the inside of
 * its block, waits, and sweeps the points beside the border. The largest change of all ranks comes
 * by MPI_Iallreduce during the next sweep.
 */
#include <heat2d.h>

#include <math.h>
#include <mpi.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIDES = 4 };

static int ranks, me;

/* The rank on each side, or MPI_PROC_NULL; where its points come and ours are, in any vector. */
struct halo {
	int rank[SIDES];
	size_t border[SIDES], edge[SIDES];
	MPI_Datatype kind[SIDES]; /* a row or a column */
	MPI_Datatype row, column;
	double *x[2];
	MPI_Request request[2 * SIDES];
};

/* The test whether the answer is found. */
struct test {
	double mine, all; /* the largest change, of this rank and of all */
	MPI_Request request;
	int under_way;
};

static void *
room_make(size_t count, size_t bytes)
{
	void *room = calloc(count, bytes);

	if (room == NULL) {
		fprintf(stderr, "heat2d: rank %d: no memory\n", me);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	return room;
}

/* ------------------------------------------------------------- the halo --- */

static void
halo_open(struct halo *halo, const struct grid *grid, const struct block *block)
{
	const int across = (int)grid->across, i = me / across, j = me % across;
	unsigned k;

	MPI_Type_contiguous((int)block->cols, MPI_DOUBLE, &halo->row);
	MPI_Type_vector((int)block->rows, 1, (int)block->pitch, MPI_DOUBLE, &halo->column);
	MPI_Type_commit(&halo->row);
	MPI_Type_commit(&halo->column);
	halo->rank[0] = i > 0 ? me - across : MPI_PROC_NULL;
	halo->rank[1] = j > 0 ? me - 1 : MPI_PROC_NULL;
	halo->rank[2] = j + 1 < across ? me + 1 : MPI_PROC_NULL;
	halo->rank[3] = i + 1 < (int)grid->down ? me + across : MPI_PROC_NULL;
	halo->edge[0] = halo->edge[1] = block_index(block, 1, 1);
	halo->edge[2] = block_index(block, 1, block->cols);
	halo->edge[3] = block_index(block, block->rows, 1);
	halo->border[0] = block_index(block, 0, 1);
	halo->border[1] = block_index(block, 1, 0);
	halo->border[2] = block_index(block, 1, block->cols + 1);
	halo->border[3] = block_index(block, block->rows + 1, 1);
	for (k = 0; k < SIDES; k++)
		halo->kind[k] = k == 1 || k == 2 ? halo->column : halo->row;
	for (k = 0; k < 2; k++) {
		halo->x[k] = room_make(block_points(block), sizeof *halo->x[k]);
		block_fill(grid, block, halo->x[k]);
	}
}

static void
halo_close(struct halo *halo)
{
	free(halo->x[0]);
	free(halo->x[1]);
	MPI_Type_free(&halo->row);
	MPI_Type_free(&halo->column);
}

/* A message has the number of the side that it comes from, as its sender sees it. */
static void
halo_start(struct halo *halo, double *x)
{
	int k;

	for (k = 0; k < SIDES; k++)
		MPI_Irecv(x + halo->border[k], 1, halo->kind[k], halo->rank[k], SIDES - 1 - k,
		          MPI_COMM_WORLD, &halo->request[k]);
	for (k = 0; k < SIDES; k++)
		MPI_Isend(x + halo->edge[k], 1, halo->kind[k], halo->rank[k], k, MPI_COMM_WORLD,
		          &halo->request[SIDES + k]);
}

/* ----------------------------------------------------------- the sweeps --- */

static void
test_start(struct test *test, double change)
{
	test->mine = change;
	MPI_Iallreduce(&test->mine, &test->all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD,
	               &test->request);
	test->under_way = 1;
}

static int
test_met(struct test *test, double tolerance)
{
	if (!test->under_way)
		return 0;
	MPI_Wait(&test->request, MPI_STATUS_IGNORE);
	test->under_way = 0;
	return test->all <= tolerance;
}

static double
sweep(struct halo *halo, const struct block *block, unsigned t)
{
	double *from = halo->x[t % 2], *to = halo->x[(t + 1) % 2], change;

	halo_start(halo, from);
	change = sweep_inside(block, from, to);
	MPI_Waitall(2 * SIDES, halo->request, MPI_STATUSES_IGNORE);
	return fmax(change, sweep_edges(block, from, to));
}

static struct answer
solve(const struct job *job, struct halo *halo, const struct block *block)
{
	struct answer answer = { 0 };
	struct test test = { 0 };
	double seconds;
	int found = 0;

	MPI_Barrier(MPI_COMM_WORLD);
	seconds = MPI_Wtime();
	while (!found && answer.swept < job->sweeps) {
		double change = sweep(halo, block, answer.swept);

		found = test_met(&test, job->tolerance); /* of the sweep before */
		answer.sweeps = found ? answer.swept : answer.swept + 1;
		answer.swept++;
		if (!found && sweep_is_tested(job, answer.swept))
			test_start(&test, change);
	}
	test_met(&test, job->tolerance); /* of the last sweep, if it is the answer */
	seconds = MPI_Wtime() - seconds;
	MPI_Allreduce(&seconds, &answer.seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	answer.residual = test.all;
	return answer;
}

/* ----------------------------------------------------------- the answer --- */

/* At rank 0 the packed blocks of all ranks, elsewhere NULL; to be freed. */
static double *
gather(const struct grid *grid, const struct block *block, const double *x)
{
	const size_t points = (size_t)block->rows * block->cols;
	double *packed = room_make(points, sizeof *packed), *all = NULL;
	int *counts = room_make((size_t)ranks, sizeof *counts);
	int *first = room_make((size_t)ranks, sizeof *first), rank;

	if (me == 0)
		all = room_make((size_t)grid->rows * grid->cols, sizeof *all);
	for (rank = 0; rank < ranks; rank++) {
		const struct block other = block_of(grid, (uint32_t)rank);

		if ((uint64_t)other.rows * other.cols > INT_MAX) {
			fprintf(stderr, "heat2d: a block of more points than MPI counts; start "
			                "more ranks\n");
			MPI_Abort(MPI_COMM_WORLD, 1);
		}
		counts[rank] = (int)(other.rows * other.cols);
		first[rank] = rank == 0 ? 0 : first[rank - 1] + counts[rank - 1];
	}
	block_pack(block, x, packed);
	MPI_Gatherv(packed, (int)points, MPI_DOUBLE, all, counts, first, MPI_DOUBLE, 0,
	            MPI_COMM_WORLD);
	free(packed);
	free(counts);
	free(first);
	return all;
}

/* Returns the status of the job. */
static int
compute(const struct job *job)
{
	const struct block block = block_of(&job->grid, (uint32_t)me);
	struct answer answer;
	double *gathered = NULL;
	struct halo halo;
	int status = 0;

	halo_open(&halo, &job->grid, &block);
	answer = solve(job, &halo, &block);
	if (answer_is_gathered(job))
		gathered = gather(&job->grid, &block, halo.x[answer.sweeps % 2]);
	if (me == 0)
		status = answer_finish(job, &answer, gathered);
	free(gathered);
	halo_close(&halo);
	MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
	return status;
}

int
main(int argc, char **argv)
{
	struct job job;
	int help, status = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	help = options_parse(&job, argc, argv, (uint32_t)ranks);
	if (help && me == 0)
		options_help();
	if (!help && job.refusal[0] != '\0') {
		if (me == 0)
			fprintf(stderr, "heat2d: %s\n", job.refusal);
		status = 2;
	} else if (!help)
		status = compute(&job);
	MPI_Finalize();
	return status;
}
