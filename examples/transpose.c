/*
 * transpose: all ranks transpose a square matrix of doubles, the step between the two halves of a
 * Fourier transform in two dimensions.
 *
 *     transpose [ORDER [SLABS [ROUNDS]]]
 *
 * A rank has whole rows, of the matrix and of the result.  A block of its rows goes to each rank by
 * an exchange.  By `whole', the rank packs all blocks, exchanges them, and unpacks.  By `slabs', it
 * cuts its blocks into slabs: while one is under way, it packs the next one and unpacks the one
 * before.  Exchanges are plans, made once.  The ways take turns, and the quickest round of each is
 * printed; the first result of each is checked.
 */
#include <gasnetex.h>
#include <gasnet_tools.h>
#include <penstock_coll.h>
#include <stdio.h>
#include <stdlib.h>

enum { ORDER_MOST = 32768, SLABS_MOST = 64, ROUNDS_MOST = 1000000 };

static gex_TM_t tm;
static size_t ranks, me, order, rows; /* rows: of each rank */
static double *matrix, *result;       /* rows by order */
static double *packed, *arrived;      /* slab by slab, each in blocks of one rank */

/* The slabs of one way: each has `width' columns of each block. */
struct way {
	const char *name;
	size_t slabs, width;
	pst_plan_t plan[SLABS_MOST];
	double quickest_s;
};

static void
end(int status)
{
	gex_Event_Wait(gex_Coll_BarrierNB(tm, 0)); /* gasnet_exit by one ends all */
	gasnet_exit(status);
}

static void
refuse(const char *text)
{
	if (me == 0)
		fprintf(stderr, "transpose: %s\n", text);
	end(2);
}

static double
now_s(void)
{
	return (double)gasnett_ticks_to_ns(gasnett_ticks_now()) * 1e-9;
}

/* ------------------------------------------------------------- one slab --- */

/* Columns become rows here, so that what arrives lies as it is wanted. */
static void
pack(const struct way *way, size_t slab)
{
	double *to = packed + slab * way->width * order;
	size_t rank, column, row;

	for (rank = 0; rank < ranks; rank++)
		for (column = 0; column < way->width; column++) {
			const double *from = matrix + rank * rows + slab * way->width + column;

			for (row = 0; row < rows; row++)
				*to++ = from[row * order];
		}
}

static void
unpack(const struct way *way, size_t slab)
{
	const double *from = arrived + slab * way->width * order;
	size_t rank, column, row;

	for (rank = 0; rank < ranks; rank++)
		for (column = 0; column < way->width; column++) {
			double *to = result + (slab * way->width + column) * order + rank * rows;

			for (row = 0; row < rows; row++)
				to[row] = *from++;
		}
}

/* ------------------------------------------------------------- the ways --- */

/* The wait for one slab brings the next one forward, too. */
static void
transpose(const struct way *way)
{
	gex_Event_t event, last = GEX_EVENT_INVALID;
	size_t slab;

	for (slab = 0; slab < way->slabs; slab++) {
		pack(way, slab);
		event = pst_plan_start(way->plan[slab]);
		if (slab > 0) {
			gex_Event_Wait(last);
			unpack(way, slab - 1);
		}
		last = event;
	}
	gex_Event_Wait(last);
	unpack(way, way->slabs - 1);
}

static void
way_open(struct way *way, const char *name, size_t slabs)
{
	size_t slab, bytes;

	way->name = name;
	way->slabs = slabs;
	way->width = rows / slabs;
	way->quickest_s = 1e30;
	bytes = way->width * rows * sizeof *packed;
	for (slab = 0; slab < slabs; slab++) {
		size_t at = slab * way->width * order;

		if (pst_exchange_plan(tm, arrived + at, packed + at, bytes, &way->plan[slab], 0) !=
		    GASNET_OK) {
			fprintf(stderr, "transpose: rank %zu: no memory for a plan\n", me);
			gasnet_exit(1);
		}
	}
}

static void
way_close(struct way *way)
{
	size_t slab;

	for (slab = 0; slab < way->slabs; slab++)
		pst_plan_free(way->plan[slab], 0);
}

static void
way_time(struct way *way)
{
	double start, took;

	pst_barrier(tm, 0);
	start = now_s();
	transpose(way);
	pst_barrier(tm, 0);
	took = now_s() - start;
	if (took < way->quickest_s)
		way->quickest_s = took;
}

/* ----------------------------------------------------------- the matrix --- */

static double
entry(size_t row, size_t column)
{
	return (double)(row * order + column);
}

static void
matrix_fill(void)
{
	size_t row, column;

	for (row = 0; row < rows; row++)
		for (column = 0; column < order; column++)
			matrix[row * order + column] = entry(me * rows + row, column);
}

/* On all ranks: how many entries of the result are wrong; then the result is wiped. */
static double
count_wrong(void)
{
	double wrong = 0;
	size_t row, column;

	for (row = 0; row < rows; row++)
		for (column = 0; column < order; column++) {
			wrong += result[row * order + column] != entry(column, me * rows + row);
			result[row * order + column] = -1;
		}
	pst_allreduce(tm, &wrong, &wrong, GEX_DT_DBL, sizeof wrong, 1, GEX_OP_ADD, NULL, NULL, 0);
	return wrong;
}

static double *
matrix_make(void)
{
	double *made = calloc(rows * order, sizeof *made);

	if (made == NULL) {
		fprintf(stderr, "transpose: rank %zu: no memory for %zu rows of %zu\n", me, rows,
		        order);
		gasnet_exit(1);
	}
	return made;
}

/* -------------------------------------------------------------- the job --- */

/* Argument `number', a number from 1 to most; the default if it is not given. */
static size_t
argument(int argc, char **argv, int number, size_t most, size_t other)
{
	char *rest;
	unsigned long value;

	if (argc <= number)
		return other;
	value = strtoul(argv[number], &rest, 10);
	if (*argv[number] < '0' || *argv[number] > '9' || *rest != '\0' || value < 1 ||
	    value > most)
		refuse("ORDER is a number up to 32768, SLABS up to 64, ROUNDS up to 1000000");
	return value;
}

/* Returns the status of the job. */
static int
compare(size_t slabs, size_t rounds)
{
	struct way ways[2];
	double wrong = 0;
	size_t round, i;

	way_open(&ways[0], "whole", 1);
	way_open(&ways[1], "slabs", slabs);
	for (round = 0; round < rounds; round++)
		for (i = 0; i < 2; i++) {
			way_time(&ways[i]);
			if (round == 0)
				wrong += count_wrong();
		}
	for (i = 0; i < 2; i++) {
		if (me == 0)
			printf("%s: %zu by %zu on %zu ranks, %zu slabs, %.3f ms, %.0f MB/s\n",
			       ways[i].name, order, order, ranks, ways[i].slabs,
			       ways[i].quickest_s * 1e3,
			       (double)(order * order * sizeof *matrix) /
			               ways[i].quickest_s * 1e-6);
		way_close(&ways[i]);
	}
	if (me == 0)
		printf("%.0f entries are wrong\n", wrong);
	return wrong > 0;
}

int
main(int argc, char **argv)
{
	gex_Client_t client;
	gex_EP_t ep;
	size_t slabs, rounds;
	int status;

	if (gex_Client_Init(&client, &ep, &tm, "TRANSPOSE", &argc, &argv, 0) != GASNET_OK)
		return 1;
	ranks = gex_TM_QuerySize(tm);
	me = gex_TM_QueryRank(tm);
	slabs = argument(argc, argv, 2, SLABS_MOST, 4);
	order = argument(argc, argv, 1, ORDER_MOST, (1023 / (ranks * slabs) + 1) * ranks * slabs);
	rounds = argument(argc, argv, 3, ROUNDS_MOST, 10);
	if (argc > 4 || order % (ranks * slabs) != 0)
		refuse("ORDER must be a multiple of the number of ranks times SLABS");
	rows = order / ranks;
	matrix = matrix_make();
	result = matrix_make();
	packed = matrix_make();
	arrived = matrix_make();
	matrix_fill();
	status = compare(slabs, rounds);
	free(matrix);
	free(result);
	free(packed);
	free(arrived);
	end(status);
	return 0;
}
