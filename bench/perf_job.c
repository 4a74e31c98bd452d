/*
 * The job: start, segments, end.  Rank 0 measures.  The others follow its orders,
 * one at a time; between two orders they wait in the library, where their
 * handlers answer.
 */
#include "perf_job.h"
#include "perf_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

gex_TM_t perf_tm;
gex_Rank_t perf_rank, perf_ranks, perf_peer;

static char **base;    /* of the segments, by rank */
static const struct perf_module *const *job_modules;
static unsigned taken; /* orders followed */
static volatile unsigned given;
static volatile enum perf_order order;
static volatile unsigned order_count;
static volatile size_t order_bytes;

static void
on_order(gex_Token_t token, gex_AM_Arg_t what, gex_AM_Arg_t count, gex_AM_Arg_t low,
         gex_AM_Arg_t high)
{
	(void)token;
	order = (enum perf_order)what;
	order_count = (unsigned)count;
	order_bytes = (size_t)((uint32_t)low | (uint64_t)(uint32_t)high << 32);
	given++;
}

_Noreturn void
perf_job_close(int status)
{
	for (const struct perf_module *const *at = job_modules; base != NULL && *at != NULL; at++)
		if ((*at)->close != NULL)
			(*at)->close();
	gex_Event_Wait(gex_Coll_BarrierNB(perf_tm, 0)); /* gasnet_exit by one ends all */
	gasnet_exit(status);
}

static _Noreturn void
rank_fail(const char *text)
{
	fprintf(stderr, "penstock-perf: rank %u: %s\n", (unsigned)perf_rank, text);
	gasnet_exit(1);
}

void
perf_job_open(int *argc, char ***argv, const struct perf_module *const *modules)
{
	gex_AM_Entry_t table[] = {
		{ PERF_ON_ORDER, (gex_AM_Fn_t)on_order, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 4,
		  NULL, "order" },
	};
	gex_Client_t client;
	gex_EP_t ep;
	int status = gex_Client_Init(&client, &ep, &perf_tm, "PENSTOCK_PERF", argc, argv, 0);

	if (status != GASNET_OK) {
		fprintf(stderr, "penstock-perf: gex_Client_Init: %s\n", gasnet_ErrorDesc(status));
		exit(1);
	}
	perf_rank = gex_TM_QueryRank(perf_tm);
	perf_ranks = gex_TM_QuerySize(perf_tm);
	perf_peer = perf_ranks > 1 ? 1 : 0;
	gex_EP_RegisterHandlers(ep, table, 1);
	job_modules = modules;
	for (; *modules != NULL; modules++)
		if ((*modules)->register_handlers != NULL)
			(*modules)->register_handlers(ep);
}

void
perf_job_attach(void)
{
	gex_Segment_t segment;
	gex_Rank_t rank;
	void *addr;

	if (gasnet_getMaxGlobalSegmentSize() < 2 * (uintptr_t)PERF_MAX_BYTES) {
		if (perf_rank == 0)
			fprintf(stderr,
			        "penstock-perf: needs a segment of 8 MiB, and the limit is "
			        "lower\n");
		perf_job_close(1);
	}
	if (gex_Segment_Attach(&segment, perf_tm, 2 * (uintptr_t)PERF_MAX_BYTES) != GASNET_OK)
		rank_fail("no segment");
	base = calloc(perf_ranks, sizeof *base);
	if (base == NULL)
		rank_fail("no memory");
	for (rank = 0; rank < perf_ranks; rank++) {
		gex_Event_Wait(gex_EP_QueryBoundSegmentNB(perf_tm, rank, &addr, NULL, NULL, 0));
		base[rank] = addr;
	}
	if (perf_rank == 0 || perf_rank == perf_peer) /* the others' memory is hardly used */
		memset(base[perf_rank], 1, 2 * (size_t)PERF_MAX_BYTES);
	for (const struct perf_module *const *at = job_modules; *at != NULL; at++)
		if ((*at)->open != NULL)
			(*at)->open();
	gex_Event_Wait(gex_Coll_BarrierNB(perf_tm, 0));
}

char *
perf_inbox(gex_Rank_t rank)
{
	return base[rank];
}

char *
perf_outbox(void)
{
	return base[perf_rank] + PERF_MAX_BYTES;
}

/* ---------------------------------------------------------------- orders --- */

static void
order_obey(enum perf_order what, unsigned count, size_t bytes)
{
	for (const struct perf_module *const *at = job_modules; *at != NULL; at++)
		if ((*at)->order == what)
			(*at)->follow(count, bytes);
}

/*
 * The next order is given only when all have followed the one before, since
 * barriers, rounds and streams end for rank 0 when they ended for all, or when
 * all that is left to do is to return.
 */
void
perf_job_order(enum perf_order what, unsigned count, size_t bytes)
{
	gex_Rank_t rank;

	for (rank = 1; rank < perf_ranks; rank++)
		gex_AM_RequestShort4(perf_tm, rank, PERF_ON_ORDER, 0, (gex_AM_Arg_t)what,
		                     (gex_AM_Arg_t)count, (gex_AM_Arg_t)(uint32_t)bytes,
		                     (gex_AM_Arg_t)((uint64_t)bytes >> 32));
}

void
perf_job_follow(void)
{
	for (;;) {
		GASNET_BLOCKUNTIL(given != taken);
		taken++;
		if (order == PERF_END)
			return;
		order_obey(order, order_count, order_bytes);
	}
}

void
perf_job_barriers(unsigned count)
{
	while (count-- > 0)
		gex_Event_Wait(gex_Coll_BarrierNB(perf_tm, 0));
}
