/*
 * mpi_coll: MPI's collectives, to stand beside `penstock-perf coll'.  Not part of the build, which
 * wants no MPI:
 *
 *     mpicc -O2 -o mpi_coll mpi_coll.c && mpirun -n 16 ./mpi_coll [SECONDS [BYTES...]]
 *
 * As there, calls follow each other without a pause, roots in turn, and each batch ends with a
 * barrier.  Lines as penstock-perf --csv prints them, where placement is not known.
 */
#define _POSIX_C_SOURCE 200809L

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_BYTES = 4 << 20, MOST_SAMPLES = 1000, LEAST_SAMPLES = 5 };

/* How long a batch lasts at least: some time slices, since ranks may share CPUs. */
static const double batch_s = 0.005;

static char *source, *target;
static int rank, ranks;

static void
do_barrier(int root, int bytes)
{
	(void)root, (void)bytes;
	MPI_Barrier(MPI_COMM_WORLD);
}

static void
do_bcast(int root, int bytes)
{
	MPI_Bcast(target, bytes, MPI_BYTE, root, MPI_COMM_WORLD);
}

static void
do_allreduce(int root, int bytes)
{
	(void)root;
	MPI_Allreduce(source, target, bytes / (int)sizeof(double), MPI_DOUBLE, MPI_SUM,
	              MPI_COMM_WORLD);
}

static void
do_exchange(int root, int bytes)
{
	(void)root;
	MPI_Alltoall(source, bytes, MPI_BYTE, target, bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static const struct kind {
	const char *name;
	void (*call)(int root, int bytes);
	int sized, blocks;      /* blocks: each rank has one of so many bytes for each other */
} kinds[] = {
	{ "barrier", do_barrier, 0, 0 },
	{ "bcast", do_bcast, 1, 0 },
	{ "allreduce", do_allreduce, 1, 0 },
	{ "exchange", do_exchange, 1, 1 },
};

/* Nanoseconds of a call. */
static double
batch_measure(const struct kind *kind, int bytes, int count)
{
	const double start = MPI_Wtime();
	int i;

	for (i = 0; i < count; i++)
		kind->call(i % ranks, bytes);
	MPI_Barrier(MPI_COMM_WORLD);
	return (MPI_Wtime() - start) * 1e9 / count;
}

static int
samples_compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Rank 0 decides how long a batch is, and how many there are. */
static void
kind_measure(const struct kind *kind, int bytes, double seconds)
{
	static double sample[MOST_SAMPLES];
	const double until = MPI_Wtime() + seconds;
	int samples = 0, count = 1, more = 1;

	while (more) {
		const double ns = batch_measure(kind, bytes, count);

		if (ns * count < batch_s * 1e9) {
			count *= 2;
			samples = 0;
		} else {
			sample[samples++] = ns;
		}
		more = samples < LEAST_SAMPLES || (samples < MOST_SAMPLES && MPI_Wtime() < until);
		MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
		MPI_Bcast(&count, 1, MPI_INT, 0, MPI_COMM_WORLD);
		MPI_Bcast(&samples, 1, MPI_INT, 0, MPI_COMM_WORLD);
	}
	if (rank != 0)
		return;
	qsort(sample, (size_t)samples, sizeof *sample, samples_compare);
	printf("coll,%s,%d,%d,,no,%d,%.2f,%.2f\n", kind->name, bytes, ranks, samples, sample[0],
	       sample[samples / 2]);
	fflush(stdout);
}

int
main(int argc, char **argv)
{
	static const char *const usual[] = { "8", "1024", "65536", NULL };
	const double seconds = argc > 1 ? strtod(argv[1], NULL) : 0.2;
	const char *const *sizes = argc > 2 ? (const char *const *)argv + 2 : usual;
	size_t k;
	int i;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	source = calloc(1, MOST_BYTES);
	target = calloc(1, MOST_BYTES);
	for (k = 0; k < sizeof kinds / sizeof *kinds; k++)
		for (i = 0; sizes[i] != NULL && (kinds[k].sized || i == 0); i++) {
			const int bytes = kinds[k].sized ? atoi(sizes[i]) : 0;

			if (bytes <= (kinds[k].blocks ? MOST_BYTES / ranks : MOST_BYTES))
				kind_measure(&kinds[k], bytes, seconds);
		}
	MPI_Finalize();
	return 0;
}
