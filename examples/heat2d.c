/*
 * heat2d: all ranks solve the equation of heat on a plate with fixed temperatures at its edges, by
 * Jacobi's method: in each sweep every point becomes the mean of the four around it, until a sweep
 * changes nothing by more than a tolerance. heat2d --help lists the options.
 *
 * The ranks form a grid, too, and each has a block of the points. In a sweep a rank sends its edges
 * to its neighbours, sweeps the inside of its block, and when the neighbours' edges are there, the
 * points beside them. The largest change of all ranks comes by a collective that is under way
 * during the next sweep, so one sweep too many is made. It does not change the vector that has the
 * answer.
 */
#include "heat2d_halo.h"

#include <math.h>
#include <penstock_coll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static gex_TM_t tm;
static gex_Rank_t me;

/* The test whether the answer is found. */
struct test {
	double mine, all; /* the largest change, of this rank and of all */
	pst_plan_t plan;
	gex_Event_t event;
	int under_way;
};

/* ------------------------------------------------------- ranks together --- */

_Noreturn static void
end(int status)
{
	pst_barrier(tm, 0); /* gasnet_exit by one ends all */
	gasnet_exit(status);
}

/* By all ranks together: rank 0 says why. */
_Noreturn static void
refuse(int status, const char *why)
{
	if (me == 0)
		fprintf(stderr, "heat2d: %s\n", why);
	end(status);
}

/* By one rank alone. */
_Noreturn static void
give_up(const char *why)
{
	fprintf(stderr, "heat2d: rank %u: %s\n", (unsigned)me, why);
	gasnet_exit(1);
}

static double
now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* ------------------------------------------------------------- the test --- */

static void
test_open(struct test *test)
{
	test->under_way = 0;
	if (pst_allreduce_plan(tm, &test->all, &test->mine, GEX_DT_DBL, sizeof test->mine, 1,
	                       GEX_OP_MAX, NULL, NULL, &test->plan, 0) != GASNET_OK)
		refuse(1, "no memory for a plan");
}

static void
test_start(struct test *test, double change)
{
	test->mine = change;
	test->event = pst_plan_start(test->plan);
	test->under_way = 1;
}

/* Whether the sweep that was tested last has changed all points by so little. */
static int
test_met(struct test *test, double tolerance)
{
	if (!test->under_way)
		return 0;
	gex_Event_Wait(test->event);
	test->under_way = 0;
	return test->all <= tolerance;
}

/* ----------------------------------------------------------- the sweeps --- */

/* Sweep t, counted from 0; returns the largest change of this rank's points. */
static double
sweep(const struct halo *halo, const struct block *block, unsigned t)
{
	const double *from = halo->x[t % 2];
	double *to = halo->x[(t + 1) % 2], change;

	halo_send(halo, t % 2);
	change = sweep_inside(block, from, to);
	halo_wait(halo, t % 2);
	return fmax(change, sweep_edges(block, from, to));
}

/* The answer is in vector sweeps % 2 of the halo. */
static struct answer
solve(const struct job *job, const struct halo *halo, const struct block *block)
{
	struct answer answer = { 0 };
	struct test test;
	int found = 0;

	test_open(&test);
	pst_barrier(tm, 0); /* every vector is filled */
	answer.seconds = now_s();
	while (!found && answer.swept < job->sweeps) {
		double change = sweep(halo, block, answer.swept);

		found = test_met(&test, job->tolerance); /* of the sweep before */
		answer.sweeps = found ? answer.swept : answer.swept + 1;
		answer.swept++;
		if (!found && sweep_is_tested(job, answer.swept))
			test_start(&test, change);
	}
	test_met(&test, job->tolerance); /* of the last sweep, if it is the answer */
	answer.seconds = pst_allreduce_value_DBL(tm, now_s() - answer.seconds, GEX_OP_MAX, 0);
	answer.residual = test.all;
	pst_plan_free(test.plan, 0);
	return answer;
}

/* ----------------------------------------------------------- the answer --- */

static void *
room_make(size_t count, size_t bytes)
{
	void *room = calloc(count, bytes);

	if (room == NULL)
		give_up("no memory to gather the answer");
	return room;
}

/* At rank 0 the packed blocks of all ranks, elsewhere NULL; to be freed. */
static double *
gather(const struct grid *grid, const struct block *block, const double *x)
{
	const gex_Rank_t ranks = gex_TM_QuerySize(tm);
	const size_t points = (size_t)block->rows * block->cols;
	size_t *bytes = room_make(ranks, sizeof *bytes);
	double *packed = room_make(points, sizeof *packed), *all = NULL;
	gex_Rank_t rank;

	if (me == 0)
		all = room_make((size_t)grid->rows * grid->cols, sizeof *all);
	for (rank = 0; rank < ranks; rank++) {
		const struct block other = block_of(grid, rank);

		bytes[rank] = (size_t)other.rows * other.cols * sizeof *all;
	}
	block_pack(block, x, packed);
	pst_gatherv(tm, 0, all, bytes, NULL, packed, points * sizeof *packed, 0);
	free(packed);
	free(bytes);
	return all;
}

/* Returns the status of the job. */
static int
compute(const struct job *job)
{
	const struct block block = block_of(&job->grid, me);
	struct answer answer;
	double *gathered = NULL;
	struct halo halo;
	int status = 0;

	if (halo_open(&halo, tm, &job->grid) != 0)
		refuse(1, "no semaphores");
	answer = solve(job, &halo, &block);
	if (answer_is_gathered(job))
		gathered = gather(&job->grid, &block, halo.x[answer.sweeps % 2]);
	if (me == 0)
		status = answer_finish(job, &answer, gathered);
	free(gathered);
	halo_close(&halo);
	return pst_bcast_value_I32(tm, 0, status, 0);
}

static void
segment_attach(const struct grid *grid)
{
	const uintptr_t bytes = halo_segment_bytes(grid), most = gasnet_getMaxGlobalSegmentSize();
	gex_Segment_t segment;
	char why[120];

	snprintf(why, sizeof why, "a segment of %llu bytes is wanted, at most %llu are to be had",
	         (unsigned long long)bytes, (unsigned long long)most);
	if (bytes > most)
		refuse(1, why);
	if (gex_Segment_Attach(&segment, tm, bytes) != GASNET_OK)
		give_up("no segment");
}

int
main(int argc, char **argv)
{
	struct job job;
	gex_Client_t client;
	gex_EP_t ep;
	int help;

	if (gex_Client_Init(&client, &ep, &tm, "HEAT2D", &argc, &argv, 0) != GASNET_OK)
		return 1;
	me = gex_TM_QueryRank(tm);
	help = options_parse(&job, argc, argv, gex_TM_QuerySize(tm));
	if (help && me == 0)
		options_help();
	if (help)
		end(0);
	if (job.refusal[0] != '\0')
		refuse(2, job.refusal);
	segment_attach(&job.grid);
	end(compute(&job));
}
