/*
 * Start, barrier, sum and maximum over all ranks, addresses of peers.
 *
 * A sum goes up a binary tree (the children of r are 2r + 1 and 2r + 2) and its
 * result comes down again, a double as two arguments of a Short.  One slot per
 * child and one for the result are enough: a child sends for the next sum only
 * after it got this one's result, and by then we have used what it sent.
 */
#include "cg.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

gex_TM_t comm_tm;
gex_Rank_t comm_rank, comm_ranks;

double comm_spent_us;

static volatile double from_child[2], from_parent;
static volatile unsigned child_came, parent_came;
static char **base; /* of the segments, by rank */

static void
double_split(double value, gex_AM_Arg_t half_out[2])
{
	memcpy(half_out, &value, sizeof value);
}

static double
double_join(gex_AM_Arg_t a, gex_AM_Arg_t b)
{
	gex_AM_Arg_t half[2];
	double value;

	half[0] = a;
	half[1] = b;
	memcpy(&value, half, sizeof value);
	return value;
}

static void
on_sum_up(gex_Token_t token, gex_AM_Arg_t child, gex_AM_Arg_t a, gex_AM_Arg_t b)
{
	(void)token;
	from_child[child] = double_join(a, b);
	child_came++;
}

static void
on_sum_down(gex_Token_t token, gex_AM_Arg_t a, gex_AM_Arg_t b)
{
	(void)token;
	from_parent = double_join(a, b);
	parent_came++;
}

static gex_Rank_t
children(void)
{
	gex_Rank_t first = 2 * comm_rank + 1;

	return first >= comm_ranks ? 0 : first + 1 >= comm_ranks ? 1 : 2;
}

static double
add(double a, double b)
{
	return a + b;
}

static double
greater(double a, double b)
{
	return a > b ? a : b;
}

/* Children in order, whoever came first: the result does not depend on timing. */
static double
join_children(double mine, double (*join)(double, double))
{
	static unsigned awaited;
	gex_Rank_t i, count = children();

	awaited += count;
	GASNET_BLOCKUNTIL(child_came == awaited);
	for (i = 0; i < count; i++)
		mine = join(mine, from_child[i]);
	return mine;
}

static double
ask_parent(double sum)
{
	static unsigned awaited;
	gex_AM_Arg_t half[2];

	double_split(sum, half);
	gex_AM_RequestShort3(comm_tm, (comm_rank - 1) / 2, ON_SUM_UP, 0,
	                     (gex_AM_Arg_t)((comm_rank - 1) % 2), half[0], half[1]);
	awaited++;
	GASNET_BLOCKUNTIL(parent_came == awaited);
	return from_parent;
}

static double
reduce(double mine, double (*join)(double, double))
{
	const double begin = now_us();
	double all = join_children(mine, join);
	gex_AM_Arg_t half[2];
	gex_Rank_t i;

	if (comm_rank != 0)
		all = ask_parent(all);
	double_split(all, half);
	for (i = 1; i <= children(); i++)
		gex_AM_RequestShort2(comm_tm, 2 * comm_rank + i, ON_SUM_DOWN, 0, half[0], half[1]);
	comm_spent_us += now_us() - begin;
	return all;
}

double
comm_sum(double mine)
{
	return reduce(mine, add);
}

double
comm_max(double mine)
{
	return reduce(mine, greater);
}

double
comm_dot(const double *a, const double *b, size_t len)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < len; i++)
		sum += a[i] * b[i];
	return comm_sum(sum);
}

void
comm_barrier(void)
{
	gex_Event_Wait(gex_Coll_BarrierNB(comm_tm, 0));
}

__attribute__((format(printf, 1, 0))) static void
print_reason(const char *format, va_list args)
{
	fprintf(stderr, "cg: ");
	vfprintf(stderr, format, args);
	fprintf(stderr, "\n");
}

_Noreturn void
comm_end(int status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (comm_rank == 0 && format != NULL)
		print_reason(format, args);
	va_end(args);
	comm_barrier(); /* gasnet_exit by one ends all */
	gasnet_exit(status);
}

_Noreturn void
comm_fail(int status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_reason(format, args);
	va_end(args);
	gasnet_exit(status);
}

static void
comm_register(gex_EP_t ep)
{
	enum { KIND = GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST };
	gex_AM_Entry_t table[] = {
		{ ON_SUM_UP, (gex_AM_Fn_t)on_sum_up, KIND, 3, NULL, "sum_up" },
		{ ON_SUM_DOWN, (gex_AM_Fn_t)on_sum_down, KIND, 2, NULL, "sum_down" },
	};

	gex_EP_RegisterHandlers(ep, table, sizeof table / sizeof *table);
}

void
comm_open(int *argc, char ***argv)
{
	gex_Client_t client;
	gex_EP_t ep;
	int status = gex_Client_Init(&client, &ep, &comm_tm, "CG", argc, argv, 0);

	if (status != GASNET_OK) {
		fprintf(stderr, "cg: gex_Client_Init: %s\n", gasnet_ErrorDesc(status));
		exit(1);
	}
	comm_rank = gex_TM_QueryRank(comm_tm);
	comm_ranks = gex_TM_QuerySize(comm_tm);
	comm_register(ep);
	rows_register(ep);
	halo_register(ep);
	latency_register(ep);
	comm_barrier(); /* now messages may be sent */
}

static void
learn_addresses(void)
{
	gex_Rank_t rank;
	void *addr;

	base = calloc(comm_ranks, sizeof *base);
	if (base == NULL)
		comm_fail(1, "rank %u: no memory for addresses", (unsigned)comm_rank);
	for (rank = 0; rank < comm_ranks; rank++) {
		gex_Event_Wait(gex_EP_QueryBoundSegmentNB(comm_tm, rank, &addr, NULL, NULL, 0));
		base[rank] = addr;
	}
}

void
comm_attach(uint64_t doubles)
{
	uint64_t bytes = COMM_INBOX_BYTES + doubles * sizeof(double);
	uint64_t most = gasnet_getMaxGlobalSegmentSize();
	gex_Segment_t segment;
	int status;

	bytes = (bytes + GASNET_PAGESIZE - 1) / GASNET_PAGESIZE * GASNET_PAGESIZE;
	if (bytes > most)
		comm_end(1, "a segment of %llu bytes is wanted, at most %llu are to be had",
		         (unsigned long long)bytes, (unsigned long long)most);
	status = gex_Segment_Attach(&segment, comm_tm, (uintptr_t)bytes);
	if (status != GASNET_OK)
		comm_fail(1, "no segment: %s", gasnet_ErrorDesc(status));
	learn_addresses();
	halo_attach();
}

char *
comm_inbox(gex_Rank_t rank)
{
	return base[rank];
}

double *
comm_room(gex_Rank_t rank)
{
	return (double *)(void *)(base[rank] + COMM_INBOX_BYTES);
}
