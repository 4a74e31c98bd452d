/* A process without memory for one more endpoint is told how much, for what and what to do, and
 * loses nothing. */
#include "tests/unit/main.h"
#include "tests/unit/sysvnet_rig.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of the next callocs, the one that finds no memory; 0: none. */
static unsigned fails;

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);

void *
__wrap_calloc(size_t count, size_t size)
{
	return fails && --fails == 0 ? NULL : __real_calloc(count, size);
}

static void
hear_nothing(struct rig_rank *rank, const struct psi_arrival *arrival)
{
	(void)rank, (void)arrival;
}

/* What is said meanwhile on stderr. */
static char said[1024];

static void
open_endpoint(struct rig_rank *rank, unsigned failing)
{
	const int err = dup(STDERR_FILENO);
	struct sysvnet_port *port = NULL;
	int ends[2], result;
	ssize_t got;

	ck_assert_int_eq(pipe(ends), 0);
	dup2(ends[1], STDERR_FILENO);
	fails = failing;
	result = sysvnet_port_open(rank->net, rank->place + rank->rig->ranks, false,
	                           rank, &port);
	fails = 0;
	fputs("the end\n", stderr);
	dup2(err, STDERR_FILENO);
	got = read(ends[0], said, sizeof said - 1);
	ck_assert_int_gt(got, 0);
	said[got] = '\0';
	close(ends[0]);
	close(ends[1]);
	close(err);
	ck_assert_int_eq(result, PSI_FAILED);
	ck_assert_ptr_null(port);
}

/* The port itself, and the lists of lanes. */
START_TEST(no_heap)
{
	struct rig *rig = rig_open(&(struct rig_options){ .ranks = 3, .handler = hear_nothing });
	unsigned long bytes = 0;
	char rest[1024];

	open_endpoint(&rig->rank[1], (unsigned)_i + 1);
	ck_assert_int_eq(sscanf(said, "smp: endpoint 1: no %lu bytes of %[^\n]", &bytes, rest), 2);
	ck_assert_str_eq(rest, "heap for its ends of the lanes from and to 3 ranks; free memory, "
	                 "or raise the limit of address space (ulimit -v)");
	ck_assert_uint_ge(bytes, 128 * 3 * sizeof(void *));
	ck_assert_str_eq(strchr(said, '\n') + 1, "the end\n");
	rig_close(rig);
}
END_TEST

/* The rig has none, and who has none tells of it. */
START_TEST(no_shared_memory)
{
	struct rig *rig = rig_open(&(struct rig_options){ .ranks = 3, .handler = hear_nothing });

	open_endpoint(&rig->rank[1], 0);
	ck_assert_str_eq(said, "the end\n");
	rig_close(rig);
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("lack");

	tcase_add_loop_test(tests, no_heap, 0, 3);
	tcase_add_test(tests, no_shared_memory);
	return unit_run("sysvnet lack", tests);
}
