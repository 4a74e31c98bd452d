/*
 * What all parts of fi-loops have: the ranks' shared memory, and how the program ends.
 */
#include "fi_loops.h"

#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>

struct fl_shared *fl_shared;
unsigned fl_rank, fl_ranks = 2;
bool fl_crowded;

void
fl_die(const char *what, int code)
{
	fprintf(stderr, "fi-loops: rank %u: %s: %s\n", fl_rank, what, fi_strerror(code));
	exit(1);
}
