/*
 * mpi_ring: MPI's send and receive of a payload round all ranks, one way, by size, to stand beside
 * `penstock-perf signal'. Not part of the build, which wants no MPI:
 *
 *     mpicc -O2 -o mpi_ring mpi_ring.c && mpirun -n 2 ./mpi_ring [SECONDS]
 *
 * Payloads are written before sending and read on arrival, a byte per cache line. Lines as
 * penstock-perf --csv prints them, where placement is not known.
 */
#define _POSIX_C_SOURCE 200809L

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { LINE = 64, MOST_BYTES = 1 << 20, MOST_SAMPLES = 1000 };

static char out[MOST_BYTES], in[MOST_BYTES];
static volatile unsigned char consumed;
static int rank, ranks;

static void
payload_dirty(size_t bytes)
{
	static char value;
	size_t i;

	value++;
	for (i = 0; i < bytes; i += LINE)
		out[i] = value;
}

static void
payload_consume(size_t bytes)
{
	unsigned char sum = 0;
	size_t i;

	for (i = 0; i < bytes; i += LINE)
		sum = (unsigned char)(sum + (unsigned char)in[i]);
	consumed = sum;
}

static void
hop_send(size_t bytes)
{
	payload_dirty(bytes);
	MPI_Send(out, (int)bytes, MPI_BYTE, (rank + 1) % ranks, 0, MPI_COMM_WORLD);
}

/* Nanoseconds of a hop. */
static double
rounds_measure(size_t bytes, int count)
{
	const double start = MPI_Wtime();
	int i;

	for (i = 0; i < count; i++) {
		if (rank == 0)
			hop_send(bytes);
		MPI_Recv(in, (int)bytes, MPI_BYTE, (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD,
		         MPI_STATUS_IGNORE);
		payload_consume(bytes);
		if (rank != 0)
			hop_send(bytes);
	}
	return (MPI_Wtime() - start) * 1e9 / count / ranks;
}

static int
samples_compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Rank 0 decides how long a batch is, and how many there are. */
static void
size_measure(size_t bytes, double seconds)
{
	static double sample[MOST_SAMPLES];
	const double until = MPI_Wtime() + seconds;
	int samples = 0, count = (int)(1e6 / (rounds_measure(bytes, 3) * ranks)) + 1, more = 1;

	MPI_Bcast(&count, 1, MPI_INT, 0, MPI_COMM_WORLD);
	while (more) {
		sample[samples++] = rounds_measure(bytes, count);
		more = samples < MOST_SAMPLES && MPI_Wtime() < until;
		MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
	}
	if (rank != 0)
		return;
	qsort(sample, (size_t)samples, sizeof *sample, samples_compare);
	printf("signal,mpi,%zu,%d,,no,%d,%.2f,%.2f\n", bytes, ranks, samples, sample[0],
	       sample[samples / 2]);
	fflush(stdout);
}

int
main(int argc, char **argv)
{
	static const size_t sizes[] = { 1, 8, 64, 512, 4096, 32768, 262144, 1048576 };
	const double seconds = argc > 1 ? strtod(argv[1], NULL) : 0.2;
	size_t i;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	for (i = 0; i < sizeof sizes / sizeof *sizes; i++)
		size_measure(sizes[i], seconds);
	MPI_Finalize();
	return 0;
}
