/*
 * spmv: all ranks multiply a vector by a sparse matrix, again and again: a
 * stencil of nine points over a grid of two dimensions, shared out in blocks.
 *
 *     spmv [--grid ROWSxCOLUMNS] [--ranks DOWNxACROSS] [--steps N] [--rounds N]
 *          [--halo signal|flag|both] [--check]
 *
 * Before each product a rank sends the edges of its block to the eight around
 * it: by put with signal, or by put and flag. For each way it prints how long a
 * step takes and how much of that is communication, the mean over the ranks;
 * with several rounds the ways take turns, and the quickest round counts.
 */
#include "spmv.h"

#include <gasnet_coll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

gex_TM_t spmv_tm;
gex_EP_t spmv_ep;
gex_Rank_t spmv_rank;

const char *const way_names[HALO_WAYS] = { "signal", "flag" };

/* Seconds of a step, mean over the ranks: by the clock, and of the processor's time. */
struct times {
	double all, halo, cpu, halo_cpu;
};

/* ------------------------------------------------------- ranks together --- */

void
spmv_barrier(void)
{
	gex_Event_Wait(gex_Coll_BarrierNB(spmv_tm, 0));
}

static void
reduce(double *numbers, size_t count, gex_OP_t op)
{
	gex_Event_Wait(gex_Coll_ReduceToAllNB(spmv_tm, numbers, numbers, GEX_DT_DBL,
	                                      sizeof *numbers, count, op, NULL, NULL, 0));
}

__attribute__((format(printf, 1, 0))) static void
print_reason(const char *format, va_list args)
{
	fprintf(stderr, "spmv: ");
	vfprintf(stderr, format, args);
	fprintf(stderr, "\n");
}

_Noreturn void
spmv_end(int status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (spmv_rank == 0 && format != NULL)
		print_reason(format, args);
	va_end(args);
	spmv_barrier(); /* gasnet_exit by one ends all */
	gasnet_exit(status);
}

_Noreturn void
spmv_fail(int status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_reason(format, args);
	va_end(args);
	gasnet_exit(status);
}

/* ------------------------------------------------------------ the steps --- */

static double
seconds(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void
step(struct halo *halo, const struct block *block, const double *matrix, enum halo_way way,
     struct times *sum)
{
	double begin = seconds(CLOCK_MONOTONIC), begin_cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);

	halo_exchange(halo, way);
	sum->halo_cpu += seconds(CLOCK_PROCESS_CPUTIME_ID) - begin_cpu;
	sum->halo += seconds(CLOCK_MONOTONIC) - begin;
	product(block, matrix, halo->x[halo->turn % 2], halo->x[(halo->turn + 1) % 2]);
	halo->turn++;
}

static struct times
run(const struct job *job, struct halo *halo, const struct block *block, const double *matrix,
    enum halo_way way)
{
	struct times sum = { 0 };
	double numbers[4], begin, begin_cpu;
	unsigned t;

	spmv_barrier(); /* nobody needs the last run's numbers any more */
	vector_fill(block, halo->x[0]);
	vector_fill(block, halo->x[1]);
	spmv_barrier();
	begin = seconds(CLOCK_MONOTONIC);
	begin_cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
	for (t = 0; t < job->steps; t++)
		step(halo, block, matrix, way, &sum);
	numbers[0] = seconds(CLOCK_MONOTONIC) - begin;
	numbers[1] = sum.halo;
	numbers[2] = seconds(CLOCK_PROCESS_CPUTIME_ID) - begin_cpu;
	numbers[3] = sum.halo_cpu;
	reduce(numbers, 4, GEX_OP_ADD);
	for (t = 0; t < 4; t++)
		numbers[t] /= (double)gex_TM_QuerySize(spmv_tm) * job->steps;
	return (struct times){ numbers[0], numbers[1], numbers[2], numbers[3] };
}

/* The same bits whatever the way. */
static double
own_sum(const struct halo *halo, const struct block *block)
{
	const double *x = halo->x[halo->turn % 2];
	double sum = 0;
	uint32_t i, j;

	for (i = 1; i <= block->rows; i++)
		for (j = 1; j <= block->cols; j++)
			sum += x[block_index(block, i, j)];
	return sum;
}

static void
check(const struct job *job, const struct halo *halo, const struct block *block,
      enum halo_way way)
{
	double most = serial_difference(&job->grid, block, halo->x[halo->turn % 2], job->steps);

	reduce(&most, 1, GEX_OP_MAX);
	if (!(most < 1e-12))
		spmv_end(1, "halo by %s: differs by %g from the serial answer", way_names[way],
		         most);
	if (spmv_rank == 0)
		printf("halo by %s: the serial answer, but for %g\n", way_names[way], most);
}

/* --------------------------------------------------------------- report --- */

static void
print_way(enum halo_way way, const struct times *t)
{
	printf("%-8s %12.1f %12.1f %7.1f%% %12.1f %7.1f%%\n", way_names[way], t->all * 1e6,
	       t->halo * 1e6, 100 * t->halo / t->all, t->halo_cpu * 1e6,
	       100 * t->halo_cpu / t->cpu);
}

static void
print_all(const struct job *job, const struct times *best, double sum)
{
	enum halo_way way;

	if (spmv_rank != 0)
		return;
	printf("spmv: grid %ux%u, ranks %ux%u, %u steps, best of %u rounds; a step in us\n\n",
	       (unsigned)job->grid.rows, (unsigned)job->grid.cols, (unsigned)job->grid.down,
	       (unsigned)job->grid.across, job->steps, job->rounds);
	printf("%-8s %12s %12s %8s %12s %8s\n", "halo", "all", "in halo", "share", "cpu in halo",
	       "share");
	for (way = job->first; way <= job->last; way++)
		print_way(way, &best[way]);
	printf("\nsum of the answer: %.12g\n", sum);
	if (job->first != job->last)
		printf("signal against flag: communication %+.0f %%, of the processor's time "
		       "%+.0f %%, all %+.0f %%\n",
		       100 * (best[HALO_SIGNAL].halo / best[HALO_FLAG].halo - 1),
		       100 * (best[HALO_SIGNAL].halo_cpu / best[HALO_FLAG].halo_cpu - 1),
		       100 * (best[HALO_SIGNAL].all / best[HALO_FLAG].all - 1));
}

static void
compute(const struct job *job)
{
	const struct block block = block_of(&job->grid, spmv_rank);
	double *matrix = matrix_open(&job->grid, &block), own[HALO_WAYS], numbers[2];
	struct times best[HALO_WAYS], t;
	struct halo halo;
	enum halo_way way;
	unsigned round;

	halo_open(&halo, &job->grid);
	for (round = 0; round < job->rounds; round++) {
		for (way = job->first; way <= job->last; way++) {
			t = run(job, &halo, &block, matrix, way);
			if (round == 0 || t.all < best[way].all)
				best[way] = t;
			own[way] = own_sum(&halo, &block);
			if (job->check && round == 0)
				check(job, &halo, &block, way);
		}
	}
	numbers[0] = own[job->first];
	numbers[1] = own[job->first] != own[job->last];
	reduce(numbers, 2, GEX_OP_ADD);
	print_all(job, best, numbers[0]);
	if (numbers[1] != 0)
		spmv_end(1, "the ways to exchange the halo give different answers");
	halo_close(&halo);
	free(matrix);
}

int
main(int argc, char **argv)
{
	struct job job;
	uintptr_t bytes, most;
	gex_Client_t client;
	gex_Segment_t segment;

	if (gex_Client_Init(&client, &spmv_ep, &spmv_tm, "SPMV", &argc, &argv, 0) != GASNET_OK)
		return 1;
	spmv_rank = gex_TM_QueryRank(spmv_tm);
	options_parse(&job, argc, argv);
	bytes = halo_segment_bytes(&job.grid);
	most = gasnet_getMaxGlobalSegmentSize();
	if (bytes > most)
		spmv_end(1, "a segment of %llu bytes is wanted, at most %llu are to be had",
		         (unsigned long long)bytes, (unsigned long long)most);
	if (gex_Segment_Attach(&segment, spmv_tm, bytes) != GASNET_OK)
		spmv_fail(1, "rank %u: no segment", (unsigned)spmv_rank);
	compute(&job);
	spmv_end(0, NULL);
}
