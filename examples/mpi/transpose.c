/*
 * transpose by MPI, to stand beside the one of Penstock: the same arguments, the same lines.
 *
 *     mpicc -O2 -o transpose transpose.c
 *     mpiexec -n 4 ./transpose [ORDER [SLABS [ROUNDS]]]
 *
 * By `whole', a rank packs all blocks, exchanges them by MPI_Alltoall, and unpacks. By `slabs', it
 * cuts its blocks into slabs: while one is under way by MPI_Ialltoall, it packs the next one and
 * unpacks the one before.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { ORDER_MOST = 32768, SLABS_MOST = 64, ROUNDS_MOST = 1000000 };

static size_t ranks, me, order, rows; /* rows: of each rank */
static double *matrix, *result;       /* rows by order */
static double *packed, *arrived;      /* slab by slab, each in blocks of one rank */

/* The slabs of one way: each has `width' columns of each block. */
struct way {
	const char *name;
	size_t slabs, width;
	double quickest_s;
};

static void
refuse(const char *text)
{
	if (me == 0)
		fprintf(stderr, "transpose: %s\n", text);
	MPI_Finalize();
	exit(2);
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

static void
transpose_whole(const struct way *way)
{
	const int block = (int)(way->width * rows);

	pack(way, 0);
	MPI_Alltoall(packed, block, MPI_DOUBLE, arrived, block, MPI_DOUBLE, MPI_COMM_WORLD);
	unpack(way, 0);
}

static void
transpose_slabs(const struct way *way)
{
	const int block = (int)(way->width * rows);
	MPI_Request request, last = MPI_REQUEST_NULL;
	size_t slab;

	for (slab = 0; slab < way->slabs; slab++) {
		const size_t at = slab * way->width * order;

		pack(way, slab);
		MPI_Ialltoall(packed + at, block, MPI_DOUBLE, arrived + at, block, MPI_DOUBLE,
		              MPI_COMM_WORLD, &request);
		if (slab > 0) {
			MPI_Wait(&last, MPI_STATUS_IGNORE);
			unpack(way, slab - 1);
		}
		last = request;
	}
	MPI_Wait(&last, MPI_STATUS_IGNORE);
	unpack(way, way->slabs - 1);
}

static struct way
way_of(const char *name, size_t slabs)
{
	return (struct way){ name, slabs, rows / slabs, 1e30 };
}

static void
way_time(struct way *way, void (*transpose)(const struct way *))
{
	double start, took;

	MPI_Barrier(MPI_COMM_WORLD);
	start = MPI_Wtime();
	transpose(way);
	MPI_Barrier(MPI_COMM_WORLD);
	took = MPI_Wtime() - start;
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
	MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	return wrong;
}

static double *
matrix_make(void)
{
	double *made = calloc(rows * order, sizeof *made);

	if (made == NULL) {
		fprintf(stderr, "transpose: rank %zu: no memory for %zu rows of %zu\n", me, rows,
		        order);
		MPI_Abort(MPI_COMM_WORLD, 1);
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

static void
way_print(const struct way *way)
{
	printf("%s: %zu by %zu on %zu ranks, %zu slabs, %.3f ms, %.0f MB/s\n", way->name, order,
	       order, ranks, way->slabs, way->quickest_s * 1e3,
	       (double)(order * order * sizeof *matrix) / way->quickest_s * 1e-6);
}

/* Returns the status of the job. */
static int
compare(size_t slabs, size_t rounds)
{
	struct way whole = way_of("whole", 1), cut = way_of("slabs", slabs);
	double wrong = 0;
	size_t round;

	for (round = 0; round < rounds; round++) {
		way_time(&whole, transpose_whole);
		if (round == 0)
			wrong += count_wrong();
		way_time(&cut, transpose_slabs);
		if (round == 0)
			wrong += count_wrong();
	}
	if (me == 0) {
		way_print(&whole);
		way_print(&cut);
		printf("%.0f entries are wrong\n", wrong);
	}
	return wrong > 0;
}

int
main(int argc, char **argv)
{
	size_t slabs, rounds;
	int size, rank, status;

	MPI_Init(&argc, &argv);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	ranks = (size_t)size;
	me = (size_t)rank;
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
	MPI_Finalize();
	return status;
}
