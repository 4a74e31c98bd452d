#include "tools/memory_job.h"

#include <gasnetex.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/tools/introspect.h"

enum { REQ = GEX_AM_INDEX_BASE, REP, SEGMENT_BYTES = 1 << 20 };

/* A rank reports this to rank 0: its memory at the start, and after the exchange. */
struct report {
	struct psi_memory_use before[PSI_MEMORY_KINDS], after[PSI_MEMORY_KINDS];
};

static gex_TM_t team;
static size_t reply_bytes;
static char *payload;
static unsigned replies;

static void
on_request(gex_Token_t token, void *buf, size_t nbytes)
{
	(void)buf, (void)nbytes;
	gex_AM_ReplyMedium0(token, REP, payload, reply_bytes, GEX_EVENT_NOW, 0);
}

static void
on_reply(gex_Token_t token, void *buf, size_t nbytes)
{
	(void)token, (void)buf, (void)nbytes;
	replies++;
}

static void __attribute__((noreturn))
job_fail(const char *what)
{
	fprintf(stderr, "penstock-info: %s\n", what);
	gasnet_exit(1);
	abort();
}

static void
job_barrier(void)
{
	gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
}

static void
job_start(uint32_t ranks)
{
	gex_AM_Entry_t table[] = {
		{ REQ, (gex_AM_Fn_t)on_request, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 0, NULL,
		  NULL },
		{ REP, (gex_AM_Fn_t)on_reply, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REPLY, 0, NULL,
		  NULL },
	};
	gex_Segment_t segment;
	gex_Client_t client;
	char number[16];
	gex_EP_t ep;

	snprintf(number, sizeof number, "%u", (unsigned)ranks);
	setenv("GASNET_PSHM_NODES", number, 1);
	if (gex_Client_Init(&client, &ep, &team, "memory", NULL, NULL, 0) != GASNET_OK)
		exit(1);
	if (gex_EP_RegisterHandlers(ep, table, 2) != GASNET_OK)
		job_fail("cannot register handlers");
	if (gex_Segment_Attach(&segment, team, SEGMENT_BYTES) != GASNET_OK)
		job_fail("cannot attach a segment of 1 MiB in each rank");
}

static void
mediums_exchange(void)
{
	const gex_Rank_t me = gex_TM_QueryRank(team), size = gex_TM_QuerySize(team);
	size_t bytes = gex_AM_MaxRequestMedium(team, GEX_RANK_INVALID, GEX_EVENT_NOW, 0, 0);

	reply_bytes = gex_AM_MaxReplyMedium(team, GEX_RANK_INVALID, GEX_EVENT_NOW, 0, 0);
	payload = calloc(1, bytes > reply_bytes ? bytes : reply_bytes);
	if (!payload)
		job_fail("no memory for a Medium");
	job_barrier();
	for (gex_Rank_t step = 0; step < size; step++)
		gex_AM_RequestMedium0(team, (me + step) % size, REQ, payload, bytes, GEX_EVENT_NOW,
		                      0);
	GASNET_BLOCKUNTIL(replies == size);
	job_barrier();  /* other ranks may still wait for a reply */
	free(payload);
}

static void
memory_measure(struct psi_memory_use *use)
{
	job_barrier();
	if (!psi_introspect_memory(use))
		job_fail("cannot read /proc/self/smaps");
	job_barrier();
}

/* Puts the report of every rank into the segment of rank 0. */
static const struct report *
reports_gather(const struct report *mine)
{
	void *base = NULL;
	uintptr_t size = 0;

	if (gex_Segment_QueryBound(team, 0, &base, NULL, &size) != GASNET_OK ||
	    size < gex_TM_QuerySize(team) * sizeof *mine)
		job_fail("too many ranks for one report");
	gex_RMA_PutBlocking(team, 0, (char *)base + gex_TM_QueryRank(team) * sizeof *mine,
	                    (void *)(uintptr_t)mine, sizeof *mine, 0);
	job_barrier();
	return base;
}

static void
report_print_part(enum psi_memory_kind kind, const struct report *all, bool csv)
{
	const gex_Rank_t size = gex_TM_QuerySize(team);
	double mapped = 0, before = 0, after = 0, most = 0;

	for (gex_Rank_t rank = 0; rank < size; rank++) {
		double pss = (double)all[rank].after[kind].pss_bytes / 1024;

		mapped += (double)all[rank].before[kind].mapped_bytes / 1024 / size;
		before += (double)all[rank].before[kind].pss_bytes / 1024 / size;
		after += pss / size;
		most = pss > most ? pss : most;
	}
	printf(csv ? "%s,%.0f,%.0f,%.0f,%.0f\n" : "  %-14s %12.0f %12.0f %14.0f %14.0f\n",
	       psi_memory_name(kind), mapped, before, after, most);
}

static void
reports_print(const struct report *all, bool csv)
{
	if (csv)
		printf("part,mapped,pss at start,pss after exchange,largest\n");
	else
		printf("memory of each of %u ranks in KiB\n  %-14s %12s %12s %14s %14s\n",
		       (unsigned)gex_TM_QuerySize(team), "part", "mapped", "Pss at start",
		       "after exchange", "largest rank");
	for (int kind = 0; kind < PSI_MEMORY_KINDS; kind++)
		report_print_part((enum psi_memory_kind)kind, all, csv);
	if (fflush(stdout) != 0)
		job_fail("cannot write");
}

void
memory_job(uint32_t ranks, bool csv)
{
	struct report mine;
	const struct report *all;

	job_start(ranks);
	memory_measure(mine.before);
	mediums_exchange();
	memory_measure(mine.after);
	all = reports_gather(&mine);
	if (gex_TM_QueryRank(team) == 0)
		reports_print(all, csv);
	job_barrier();
	gasnet_exit(0);
	abort();
}
