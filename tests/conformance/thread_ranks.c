/*
 * Ranks that are threads: a team over several endpoints per process, of which processes have
 * different numbers; messages, transfers, barriers and translation over it; its end, and another
 * one after it.
 */
#include "tests/lib/pt.h"

#include <penstock.h>

#ifndef GASNET_PAR
#error this program is for PAR
#endif

enum {
	REQ_SHORT = 128,
	REQ_PAYLOAD,
	REP_SHORT,
	REP_PAYLOAD,
	REQ_FLOOD,
	REQ_STOP,
	REQ_OWN,
	MOST = 8,
	BLOCK = 4096
};

/* One for each thread of this process; handlers find it by the endpoint. */
struct self {
	gex_TM_t tm;
	pt_count answers, floods;
};
static struct self selves[GASNET_MAXEPS];
static pt_count runs;

static int
count_here(gex_Rank_t process)
{
	return 1 + (int)(process % 3) + (pt.size == 1 ? 3 : 0);
}

static struct self *
self_of(gex_Token_t token)
{
	gex_Token_Info_t info;

	gex_Token_Info(token, &info, GEX_TI_EP);
	return &selves[gex_EP_QueryIndex(info.gex_ep)];
}

/* Messages carry the sender's rank; the endpoint that they come from is that rank's. */
static struct self *
check_sender(gex_Token_t token, gex_AM_Arg_t rank, gex_AM_Arg_t process, gex_AM_Arg_t index)
{
	struct self *self = self_of(token);
	gex_EP_Location_t source = pst_token_source(token);

	PT_EQ(source.gex_rank, process);
	PT_EQ(source.gex_ep_index, index);
	PT_EQ(pt_source(token), process);
	PT_LE(rank + 1, gex_TM_QuerySize(self->tm));
	return self;
}

static void
req_short(gex_Token_t token, gex_AM_Arg_t rank, gex_AM_Arg_t process, gex_AM_Arg_t index)
{
	struct self *self = check_sender(token, rank, process, index);

	PT_OK(gex_AM_ReplyShort1(token, REP_SHORT, 0, (gex_AM_Arg_t)gex_TM_QueryRank(self->tm)));
}

static void
req_payload(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t rank, gex_AM_Arg_t process,
            gex_AM_Arg_t index)
{
	check_sender(token, rank, process, index);
	PT_MEM(buf, nbytes, (unsigned)rank);
	PT_OK(gex_AM_ReplyMedium0(token, REP_PAYLOAD, buf, nbytes, GEX_EVENT_NOW, 0));
}

static void
rep_short(gex_Token_t token, gex_AM_Arg_t rank)
{
	struct self *self = self_of(token);

	PT_LE(rank + 1, gex_TM_QuerySize(self->tm));
	PT_INC(self->answers);
}

static void
rep_payload(gex_Token_t token, void *buf, size_t nbytes)
{
	struct self *self = self_of(token);

	PT_MEM(buf, nbytes, gex_TM_QueryRank(self->tm));
	PT_INC(self->answers);
}

static void
req_flood(gex_Token_t token)
{
	PT_INC(self_of(token)->floods);
}

static gex_AM_Entry_t table[] = {
	PT_HANDLER(REQ_SHORT, req_short, PT_REQ_SHORT, 3),
	PT_HANDLER(REQ_PAYLOAD, req_payload, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_MEDLONG, 3),
	PT_HANDLER(REP_SHORT, rep_short, PT_REP_SHORT, 1),
	PT_HANDLER(REP_PAYLOAD, rep_payload, PT_REP_MEDIUM, 0),
	PT_HANDLER(REQ_FLOOD, req_flood, PT_REQ_SHORT, 0),
};

/* -- what each thread does ------------------------------------------------------------------- */

static void
barrier(gex_TM_t tm)
{
	gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
}

static void
check_ranks(gex_TM_t tm)
{
	gex_Rank_t rank = 0;

	for (gex_Rank_t process = 0; process < pt.size; process++) {
		PT_EQ(gex_TM_TranslateJobrankToRank(tm, process), rank);
		for (int i = 0; i < count_here(process); i++, rank++) {
			gex_EP_Location_t where = gex_TM_TranslateRankToEP(tm, rank, 0);

			PT_EQ(where.gex_rank, process);
			PT_CHECK(where.gex_ep_index > 0);
			PT_EQ(gex_TM_TranslateRankToJobrank(tm, rank), process);
		}
	}
	PT_EQ(gex_TM_QuerySize(tm), rank);
	PT_EQ(gex_TM_TranslateRankToEP(tm, gex_TM_QueryRank(tm), 0).gex_ep_index,
	      gex_EP_QueryIndex(gex_TM_QueryEP(tm)));
}

static char *
base_of(gex_TM_t tm, gex_Rank_t rank)
{
	void *owner = NULL, *local = NULL;
	uintptr_t bytes = 0;

	gex_Event_Wait(gex_EP_QueryBoundSegmentNB(tm, rank, &owner, &local, &bytes, 0));
	PT_LE((uintptr_t)gex_TM_QuerySize(tm) * BLOCK, bytes);
	if (gex_TM_TranslateRankToJobrank(tm, rank) == pt.rank)
		PT_PTR(local, owner);
	return (char *)owner;
}

static void
exchange(struct self *self, gex_Rank_t to)
{
	gex_TM_t tm = self->tm;
	const gex_Rank_t me = gex_TM_QueryRank(tm);
	char *place = base_of(tm, to) + (size_t)me * BLOCK;
	const gex_AM_Arg_t rank = (gex_AM_Arg_t)me, process = (gex_AM_Arg_t)pt.rank,
	                   index = gex_EP_QueryIndex(gex_TM_QueryEP(tm));
	const int before = PT_GET(self->answers);
	char buf[BLOCK];

	pt_fill(buf, sizeof(buf), me);
	PT_OK(gex_AM_RequestShort3(tm, to, REQ_SHORT, 0, rank, process, index));
	PT_OK(gex_AM_RequestMedium3(tm, to, REQ_PAYLOAD, buf, 100, GEX_EVENT_NOW, 0, rank, process,
	                            index));
	PT_OK(gex_AM_RequestLong3(tm, to, REQ_PAYLOAD, buf, sizeof(buf), place, GEX_EVENT_NOW, 0,
	                          rank, process, index));
	GASNET_BLOCKUNTIL(PT_GET(self->answers) == before + 3);
	PT_HAD_AGAIN(place);
	pt_fill(buf, sizeof(buf), me + 1);
	PT_OK(gex_RMA_PutBlocking(tm, to, place, buf, sizeof(buf), 0));
	PT_OK(gex_RMA_PutBlockingVal(tm, to, place, 0x1122334455667788u, 8, 0));
	PT_EQ(gex_RMA_GetBlockingVal(tm, to, place, 8, 0), 0x1122334455667788u);
	memset(buf, 0, sizeof(buf));
	PT_OK(gex_RMA_GetBlocking(tm, buf + 8, to, place + 8, sizeof(buf) - 8, 0));
	for (size_t i = 8; i < sizeof(buf); i++)
		if ((unsigned char)buf[i] != pt_byte(me + 1, i))
			PT_FAIL("byte %zu of what was put to %u is wrong", i, (unsigned)to);
}

/* All to one at a time, who takes his time; the others' queues stay open. */
static void
flood(struct self *self, unsigned count)
{
	gex_TM_t tm = self->tm;
	const gex_Rank_t size = gex_TM_QuerySize(tm);

	for (unsigned i = 0; i < count; i++)
		for (gex_Rank_t to = 0; to < size; to++)
			PT_OK(gex_AM_RequestShort0(tm, (to + i) % size, REQ_FLOOD, 0));
	GASNET_BLOCKUNTIL(PT_GET(self->floods) == (int)(count * size));
}

static int
rank_main(gex_TM_t tm, void *arg)
{
	const gex_Rank_t size = gex_TM_QuerySize(tm), me = gex_TM_QueryRank(tm);
	struct self *self = &selves[gex_EP_QueryIndex(gex_TM_QueryEP(tm))];

	self->tm = tm;
	self->answers = self->floods = 0;
	barrier(tm);
	check_ranks(tm);
	for (gex_Rank_t i = 0; i < size; i++)
		exchange(self, (me + i) % size);
	barrier(tm);
	flood(self, (unsigned)pt_scale(50, 200));
	for (unsigned i = 0; i < pt_scale(20, 100); i++)
		barrier(tm);
	PT_INC(runs);
	return *(int *)arg ? (int)me + *(int *)arg : 0;
}

/* -- by the library's threads, and by our own ------------------------------------------------ */

static size_t
segment_bytes(void)
{
	return (size_t)pt.size * MOST * BLOCK;
}

static void
run(gex_Flags_t flags, int result)
{
	const gex_Rank_t first = pt.rank;
	int before = PT_GET(runs), got;
	gex_Rank_t lowest = 0;

	for (gex_Rank_t process = 0; process < first; process++)
		lowest += (gex_Rank_t)count_here(process);
	got = pst_threads_run(pt.tm, count_here(pt.rank), segment_bytes(), table, PT_COUNT(table),
	                      rank_main, &result, flags);
	PT_EQ(got, result ? (int)lowest + result : 0);
	PT_EQ(PT_GET(runs), before + count_here(pt.rank));
}

struct own {
	gex_EP_t eps[MOST];
	gex_TM_t tms[MOST];
};

static void
own_thread(unsigned index, void *arg)
{
	struct own *own = (struct own *)arg;
	int zero = 0;

	PT_CHECK(gex_TM_QueryEP(own->tms[index]) == own->eps[index]);
	pst_thread_bind(own->eps[index]);
	PT_EQ(rank_main(own->tms[index], &zero), 0);
	/* over the processes' own endpoints, to which a thread is bound that only joins the
	 * others */
	if (index == 0) {
		pt_barrier();
		gasnet_barrier_notify(7, 0);
		PT_OK(gasnet_barrier_wait(7, 0));
	}
}

static void
own_threads(void)
{
	const int here = count_here(pt.rank);
	struct own own;

	PT_OK(pst_team_create_threads(pt.tm, here, segment_bytes(), table, PT_COUNT(table), own.eps,
	                              own.tms, 0));
	pt_threads((unsigned)here, own_thread, &own);
	PT_OK(pst_team_destroy_threads(own.tms, here, 0));
}

/* -- who has nothing to do with it ------------------------------------------------------------ */

static pt_count stopped;

static void
req_stop(gex_Token_t token)
{
	(void)token;
	PT_INC(stopped);
}

static gex_AM_Entry_t stop_table[] = {
	PT_HANDLER(REQ_STOP, req_stop, PT_REQ_SHORT, 0),
};

static int
barriers(gex_TM_t tm, void *arg)
{
	(void)arg;
	for (unsigned i = 0; i < 3; i++)
		barrier(tm);
	return 0;
}

/* Teams come and go while a thread sleeps, which looks after all endpoints that nobody is bound
 * to. */
static void
bystander(unsigned index, void *arg)
{
	(void)arg;
	if (index) {
		GASNET_BLOCKUNTIL(PT_GET(stopped));
		return;
	}
	for (unsigned i = 0; i < pt_scale(20, 100); i++)
		PT_OK(pst_threads_run(pt.tm, 2, 0, NULL, 0, barriers, NULL, 0));
	PT_OK(gex_AM_RequestShort0(pt.tm, pt.rank, REQ_STOP, 0));
}

/* A rank's handlers run in its own thread from the first message on, though the thread that started
 * it serves whatever nobody is bound to. */
static __thread int is_rank;
static __thread pt_count heard;

static void
req_own(gex_Token_t token)
{
	(void)token;
	PT_CHECK(is_rank);
	PT_INC(heard);
}

static int
hear(gex_TM_t tm, void *arg)
{
	enum { COUNT = 16 };
	const gex_Rank_t next = (gex_TM_QueryRank(tm) + 1) % gex_TM_QuerySize(tm);

	(void)arg;
	is_rank = 1;
	barrier(tm);
	for (int i = 0; i < COUNT; i++)
		PT_OK(gex_AM_RequestShort0(tm, next, REQ_OWN, 0));
	GASNET_BLOCKUNTIL(PT_GET(heard) == COUNT);
	barrier(tm);
	return 0;
}

static void
own_threads_alone(void)
{
	gex_AM_Entry_t own[] = { PT_HANDLER(REQ_OWN, req_own, PT_REQ_SHORT, 0) };

	for (unsigned i = 0; i < pt_scale(30, 300); i++)
		PT_OK(pst_threads_run(pt.tm, 2, 0, own, PT_COUNT(own), hear, NULL, 0));
}

/* A fault of one process is all processes' answer. */
static void
refusals(void)
{
	gex_EP_t eps[MOST];
	gex_TM_t tms[MOST];
	const size_t odd = pt.rank == pt.size - 1 ? 100 : GASNET_PAGESIZE;

	gex_System_SetVerboseErrors(0);
	PT_EQ(pst_team_create_threads(pt.tm, 2, odd, NULL, 0, eps, tms, 0), GASNET_ERR_BAD_ARG);
	PT_EQ(pst_team_create_threads(pt.tm, pt.rank ? 1 : GASNET_MAXEPS, 0, NULL, 0, eps, tms, 0),
	      GASNET_ERR_BAD_ARG);
	PT_EQ(pst_team_create_threads(pt.tm, 1, 0, NULL, 0, eps, tms, GEX_FLAG_IMMEDIATE),
	      GASNET_ERR_BAD_ARG);
	tms[0] = pt.tm;
	PT_EQ(pst_team_destroy_threads(tms, 1, 0), GASNET_ERR_BAD_ARG);
	gex_System_SetVerboseErrors(1);
}

int
main(int argc, char **argv)
{
	pt_start(&argc, &argv, stop_table, PT_COUNT(stop_table), 0);
	PT_EQ(pst_ranks_per_process(),
	      getenv("PST_RANKS_PER_PROCESS") ? atoi(getenv("PST_RANKS_PER_PROCESS")) : 1);
	refusals();
	for (unsigned round = 0; round < pt_scale(2, 4); round++) {
		run(round % 2 ? PST_FLAG_EP_SERIAL : 0, (int)round);
		own_threads();
	}
	own_threads_alone();
	pt_threads(2, bystander, NULL);
	pt_finish();
}
