/* Teams that are made, used and ended as they may not be. */
#include "tests/lib/pt_misuse.h"

#include <gasnet_coll.h>
#include <gasnet_ratomic.h>
#include <penstock.h>

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>

enum { NO_SCRATCH = GEX_FLAG_TM_NO_SCRATCH, LOCAL = GEX_FLAG_TM_LOCAL_SCRATCH };

static gex_EP_Location_t args[3];
static gex_TM_t new_tms[3];

/* A team of all ranks. */
static gex_TM_t
team_of_all(void)
{
	gex_TM_t tm = GEX_TM_INVALID;

	(void)gex_TM_Split(&tm, pt.tm, 0, 0, NULL, 0, NO_SCRATCH);
	return tm;
}

static gex_TM_t
destroyed_team(void)
{
	gex_TM_t tm = team_of_all();

	PT_EQ(gex_TM_Destroy(tm, NULL, 0), 0);
	return tm;
}

static void
create(size_t num_new_tms, size_t numargs, gex_Addr_t *addrs, size_t bytes, gex_Flags_t flags)
{
	(void)gex_TM_Create(new_tms, num_new_tms, pt.tm, args, numargs, addrs, bytes, flags);
}

/* -- by one rank ----------------------------------------------------------------------------- */

static void split(int color, void *scratch, size_t bytes, gex_Flags_t flags)
{
	(void)gex_TM_Split(new_tms, pt.tm, color, 0, scratch, bytes, flags);
}

static void
split_none(void)
{
	(void)gex_TM_Split(new_tms, GEX_TM_INVALID, 0, 0, NULL, 0, NO_SCRATCH);
}
static void
split_pair(void)
{
	(void)gex_TM_Split(new_tms, gex_TM_Pair(pt.ep, 0), 0, 0, NULL, 0, NO_SCRATCH);
}
static void color(void) { split(-1, NULL, 0, NO_SCRATCH); }
static void split_flag(void) { split(0, NULL, 0, NO_SCRATCH | LOCAL); }
static void least(void) { split(0, NULL, 0, GEX_FLAG_TM_SCRATCH_SIZE_MIN); }
static void scratch_none(void) { split(0, NULL, 0, 0); }
static void scratch_outside(void) { split(0, pt.base + pt.segment_bytes, 64, 0); }

static void no_list(void) { (void)gex_TM_Create(new_tms, 1, pt.tm, NULL, 1, NULL, 0, NO_SCRATCH); }
static void
long_list(void)
{
	gex_EP_Location_t one = { 0, 0 };
	volatile size_t kept = 4000000000u;

	(void)gex_TM_Create(new_tms, 1, pt.tm, &one, kept, NULL, 0, NO_SCRATCH);
}

static void no_way(void) { create(1, 1, NULL, 0, 0); }
static void two_ways(void) { create(1, 1, NULL, 0, NO_SCRATCH | LOCAL); }
static void number(void) { create(2, 1, NULL, 0, NO_SCRATCH); }
static void no_addrs(void) { create(1, 1, NULL, 64, LOCAL); }
static void twice(void) { create(2, 2, NULL, 0, NO_SCRATCH); }

static void
member(gex_Rank_t rank, gex_EP_Index_t index, gex_Flags_t flags)
{
	args[0].gex_rank = rank;
	args[0].gex_ep_index = index;
	create(1, 1, NULL, 0, NO_SCRATCH | flags);
}

static void member_rank(void) { member(1, 0, 0); }
static void member_job(void) { member(1, 0, GEX_FLAG_RANK_IS_JOBRANK); }
static void member_endpoint(void) { member(0, 60000, 0); }

static void destroy_primordial(void) { (void)gex_TM_Destroy(pt.tm, NULL, 0); }
static void destroy_pair(void) { (void)gex_TM_Destroy(gex_TM_Pair(pt.ep, 0), NULL, 0); }
static void destroy_flag(void) { (void)gex_TM_Destroy(team_of_all(), NULL, 1); }
static void destroy_twice(void) { (void)gex_TM_Destroy(destroyed_team(), NULL, 0); }

/* Of its domains one is left. */
static void
destroy_held(void)
{
	gex_TM_t tm = team_of_all();
	gex_AD_t domain, other;

	gex_AD_Create(&domain, tm, GEX_DT_U64, GEX_OP_ADD, 0);
	gex_AD_Create(&other, tm, GEX_DT_U64, GEX_OP_ADD, 0);
	gex_AD_Destroy(domain);
	(void)gex_TM_Destroy(tm, NULL, 0);
}

static void query_late(void) { PT_LE(gex_TM_QuerySize(destroyed_team()), 0); }
static void put_late(void) { PT_OK(gex_RMA_PutBlockingVal(destroyed_team(), 0, pt.base, 1, 8, 0)); }
static void message_late(void) { PT_OK(gex_AM_RequestShort0(destroyed_team(), 0, 200, 0)); }

static void put_rank(void) { PT_OK(gex_RMA_PutBlockingVal(team_of_all(), 1, pt.base, 1, 8, 0)); }
static void message_rank(void) { PT_OK(gex_AM_RequestShort0(team_of_all(), 1, 200, 0)); }
static void translated_rank(void) { PT_LE(gex_TM_TranslateRankToJobrank(team_of_all(), 1), 0); }

static void
in_handler(gex_Token_t token)
{
	(void)token;
	split(0, NULL, 0, NO_SCRATCH);
}

static void handler(void) { pt_misuse_ask(200); }

/* -- segments that are lent ------------------------------------------------------------------ */

static void
scratch_gone(void)
{
	gex_Segment_t segment;
	gex_Addr_t scratch;
	gex_EP_t ep;

	PT_OK(gex_EP_Create(&ep, pt.client, GEX_EP_CAPABILITY_ALL, 0));
	PT_OK(gex_Segment_Create(&segment, pt.client, NULL, GASNET_PAGESIZE, GEX_MK_HOST, 0));
	PT_OK(gex_EP_BindSegment(ep, segment, 0));
	args[0].gex_ep_index = gex_EP_QueryIndex(ep);
	scratch = gex_Segment_QueryAddr(segment);
	create(1, 1, &scratch, 64, LOCAL);
	gex_Segment_Destroy(segment, 0);
}

/* -- by both ranks --------------------------------------------------------------------------- */

static void
split_and_create(void)
{
	pt_init(NULL, NULL, 0);
	if (pt.rank)
		split(0, NULL, 0, NO_SCRATCH);
	else
		create(1, 1, NULL, 0, NO_SCRATCH);
}

static void
split_and_set(void)
{
	pst_sem_set_t set;

	pt_init(NULL, NULL, 0);
	if (pt.rank)
		split(0, NULL, 0, NO_SCRATCH);
	else
		(void)pst_sem_set_create(pt.tm, 1, PST_SEM_INTEGER, &set, 0);
}

static void split_it(gex_TM_t tm) { (void)gex_TM_Split(new_tms, tm, 0, 0, NULL, 0, NO_SCRATCH); }
static void start_barrier(gex_TM_t tm) { gex_Event_Wait(gex_Coll_BarrierNB(tm, 0)); }
static void start_pst_barrier(gex_TM_t tm) { pst_barrier(tm, 0); }

static void
get_broadcast(gex_TM_t tm)
{
	int word;

	gex_Event_Wait(gex_Coll_BroadcastNB(tm, 0, &word, NULL, sizeof(word), 0));
}

/* Rank 0 ends the team, and rank 1 makes a call over it; one of them 200 ms after the other has
 * said that it begins. */
static void
destroy_while(void (*call)(gex_TM_t), gex_Rank_t first)
{
	gex_TM_t tm;

	pt_start(NULL, NULL, NULL, 0, GASNET_PAGESIZE);
	tm = team_of_all();
	if (pt.rank == first) {
		pt_word_put(1 - first, 0, 1);
	} else {
		for (unsigned left = 200; left; left -= (unsigned)pt_word_get(pt.rank, 0)) {
			gasnet_AMPoll();
			pt_sleep_ms(1);
		}
	}
	if (pt.rank)
		call(tm);
	else
		(void)gex_TM_Destroy(tm, NULL, 0);
}

static void destroy_early(void) { destroy_while(split_it, 0); }
static void barrier_late(void) { destroy_while(start_barrier, 0); }
static void pst_barrier_late(void) { destroy_while(start_pst_barrier, 0); }
static void broadcast_late(void) { destroy_while(get_broadcast, 0); }
static void destroy_in_use(void) { destroy_while(split_it, 1); }
static void destroy_in_barrier(void) { destroy_while(start_barrier, 1); }
static void destroy_in_broadcast(void) { destroy_while(get_broadcast, 1); }

/* Rank 0 ends the team while a thread uses it; rank 1 lets them, and takes in nothing. */
static void
destroy_under(void *(*fn)(void *))
{
	gex_TM_t tm;
	pthread_t id;

	pt_start(NULL, NULL, NULL, 0, GASNET_PAGESIZE);
	tm = team_of_all();
	if (pt.rank) {
		pt_word_put(0, 0, 1);
		pt_sleep_ms(5000);
		return;
	}
	while (!pt_word_get(0, 0))
		pt_sleep_ms(1);
	PT_EQ(pthread_create(&id, NULL, fn, tm), 0);
	pt_sleep_ms(700);       /* until the other is in the call */
	(void)gex_TM_Destroy(tm, NULL, 0);
}

static void *
split_in_thread(void *tm)
{
	split_it((gex_TM_t)tm);
	return NULL;
}

static void destroy_under_split(void) { destroy_under(split_in_thread); }

static void *
put_in_thread(void *tm)
{
	PT_OK(gex_RMA_PutBlockingVal((gex_TM_t)tm, 1, pt.peers[1].owner, 1, 8, 0));
	return NULL;
}

/* By messages, so that the put waits for rank 1. */
static void
destroy_under_put(void)
{
	setenv("PST_TEST_CONDUIT_MASK", "put", 1);
	destroy_under(put_in_thread);
}

static void *
send_in_thread(void *tm)
{
	while (gex_AM_RequestShort0((gex_TM_t)tm, 1, 200, 0) == GASNET_OK)
		;
	return NULL;
}

static void destroy_under_messages(void) { destroy_under(send_in_thread); }

/* The copy comes to a page that it may not read. */
static void
on_fault(int signal)
{
	(void)signal;
	pt_sleep_ms(5000);
}

static void *
copy_in_thread(void *tm)
{
	const struct sigaction action = { .sa_handler = on_fault };
	void *page = mmap(NULL, GASNET_PAGESIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	PT_CHECK(page != MAP_FAILED);
	PT_EQ(sigaction(SIGSEGV, &action, NULL), 0);
	PT_OK(gex_RMA_PutBlocking((gex_TM_t)tm, 0, pt.base, page, GASNET_PAGESIZE, 0));
	return NULL;
}

static void destroy_under_copy(void) { destroy_under(copy_in_thread); }

static void
scratch_sizes(void)
{
	pt_start(NULL, NULL, NULL, 0, GASNET_PAGESIZE);
	split(0, pt.base, 64 + pt.rank, 0);
}

static void
other_list(void)
{
	pt_init(NULL, NULL, 0);
	args[1].gex_rank = 1;
	create(1, 1 + pt.rank, NULL, 0, NO_SCRATCH);
}

static void
other_number(void)
{
	pt_init(NULL, NULL, 0);
	args[1].gex_rank = 1;
	create(pt.rank == 0, pt.rank ? 0 : 2, NULL, 0, NO_SCRATCH);
}

#define SPLIT   "gex_TM_Split: "
#define CREATE  "gex_TM_Create: "
#define DESTROY "gex_TM_Destroy: "
#define PAIR    "called with a pair of endpoints; pass a team"
#define GONE    "the team at 0x* was destroyed before; destroy it when nothing uses it any more"
#define ORDER   "; all make the same calls in the same order"
#define RANK_1  "rank 1 does not exist, the team has 1; count from 0"
#define LIST    "; all members give one list"
#define IN      "another thread is in "
#define BY      " by the team; destroy it when no call uses it any more"
#define LATE \
	"rank 1 makes a collective call over a team that was destroyed here; let all members " \
	"finish such calls before gex_TM_Destroy"
#define IN_USE \
	"another member is in a collective call over the team; let all members finish such " \
	"calls before"

static const struct pt_misuse cases[] = {
	{ "split_none", PT_ALWAYS, 1, split_none, "no team split",
	  SPLIT "called with GEX_TM_INVALID; pass one that the library gave", 0 },
	{ "split_pair", PT_ALWAYS, 1, split_pair, "a pair of endpoints split", SPLIT PAIR, 0 },
	{ "split_flag", PT_ALWAYS, 1, split_flag, "a flag of `gex_TM_Create` at a split",
	  SPLIT "flags 0x8 have no meaning in this call, which takes those of 0x*; leave them out",
	  0 },
	{ "color", PT_ALWAYS, 1, color, "a negative color",
	  SPLIT "color is -1; pass one from 0, or NULL for new_tm_p to join no team", 0 },
	{ "handler", PT_CHECKED, 1, handler, "a team split in a handler",
	  SPLIT "called in handler 200 (in_handler); a handler may only reply and lock, so let "
	  "another thread do the rest",
	  0 },
	{ "least", PT_REFUSED, 1, least, "the deprecated question about scratch",
	  SPLIT "GEX_FLAG_TM_SCRATCH_SIZE_MIN is deprecated; pass "
	        "GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED",
	  0 },
	{ "scratch_none", PT_CHECKED, 1, scratch_none, "no scratch, and no flag that says so",
	  SPLIT "scratch_size is 0; pass what the call with GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED "
	        "gives, or GEX_FLAG_TM_NO_SCRATCH",
	  0 },
	{ "scratch_outside", PT_CHECKED, 1, scratch_outside, "scratch outside the segment",
	  SPLIT "64 bytes of scratch at 0x* do not lie in the segment of the endpoint; pass a part "
	        "of it",
	  0 },
	{ "scratch_gone", PT_CHECKED, 1, scratch_gone,
	  "a segment's end before that of the team it "
	  "serves",
	  "gex_Segment_Destroy: a part of the segment is scratch memory of a team; destroy the "
	  "team first",
	  0 },
	{ "scratch_sizes", PT_CHECKED, 2, scratch_sizes, "scratch of two sizes in one team",
	  SPLIT "scratch of * bytes here, and of * at another member of the new team; all give the "
	        "same size, or GEX_FLAG_TM_NO_SCRATCH",
	  1 },
	{ "no_list", PT_ALWAYS, 1, no_list, "a team without the list of its members",
	  CREATE "args is NULL, but should have 1 entries; pass the list", 0 },
	{ "long_list", PT_ALWAYS, 1, long_list, "a team of more members than there are endpoints",
	  CREATE "numargs is 4000000000, and 1 processes have * endpoints at most; pass the number "
	         "of members that args has",
	  0 },
	{ "no_way", PT_ALWAYS, 1, no_way, "a team created without a word on scratch",
	  CREATE "flags 0x0 must have exactly one way to give scratch; pass one of "
	         "GEX_FLAG_TM_SYMMETRIC_SCRATCH, LOCAL_SCRATCH, GLOBAL_SCRATCH and NO_SCRATCH",
	  0 },
	{ "two_ways", PT_ALWAYS, 1, two_ways, "two ways to give scratch",
	  CREATE "flags 0x28 must have exactly one way to give scratch; pass one of "
	         "GEX_FLAG_TM_SYMMETRIC_SCRATCH, LOCAL_SCRATCH, GLOBAL_SCRATCH and NO_SCRATCH",
	  0 },
	{ "number", PT_ALWAYS, 1, number, "room for more members than are in this process",
	  CREATE "num_new_tms is 2, and args have 1 endpoint of this process; pass their number",
	  0 },
	{ "no_addrs", PT_ALWAYS, 1, no_addrs, "scratch at no address",
	  CREATE "new_tms or scratch_addrs is NULL; pass arrays with an entry for each", 0 },
	{ "twice", PT_ALWAYS, 1, twice, "a member named twice",
	  CREATE "args name endpoint 0 of process 0 twice; a team has an endpoint once", 0 },
	{ "member_rank", PT_ALWAYS, 1, member_rank, "a member that is not in the parent",
	  CREATE "member 0 of args is rank 1, endpoint 0, which the parent does not have; count "
	         "its ranks from 0, or pass GEX_FLAG_RANK_IS_JOBRANK",
	  0 },
	{ "member_job", PT_ALWAYS, 1, member_job, "a member of a process that is not in the parent",
	  CREATE "member 0 of args is rank 1, endpoint 0, a process without a member of the "
	         "parent; name processes that have one",
	  0 },
	{ "member_endpoint", PT_ALWAYS, 1, member_endpoint, "a member that is no endpoint",
	  CREATE "member 0 of args is rank 0, endpoint 60000, an endpoint that does not exist; "
	         "create it first",
	  0 },
	{ "other_list", PT_ALWAYS, 2, other_list, "two lists of one team",
	  CREATE "rank * of the parent gave other args for the same team" LIST, 1 },
	{ "other_number", PT_ALWAYS, 2, other_number, "a member that gave no list",
	  CREATE "1 of the 2 members that args name were given by their processes" LIST, 1 },
	{ "split_and_create", PT_ALWAYS, 2, split_and_create, "a split here and a creation there",
	  "rank * of the parent is in another collective call over it" ORDER, 1 },
	{ "split_and_set", PT_ALWAYS, 2, split_and_set,
	  "a split here and another collective call "
	  "there",
	  "members of a team of 2 are in different collective calls over it" ORDER, 1 },
	{ "destroy_held", PT_ALWAYS, 1, destroy_held,
	  "a team's end before that of its atomic "
	  "domain",
	  DESTROY "1 collective calls, plans and atomic domains of the team are not over; "
	          "synchronise the ones and destroy the others first",
	  0 },
	{ "destroy_under_split", PT_ALWAYS, 2, destroy_under_split,
	  "a team's end while a thread "
	  "splits it",
	  DESTROY "1 collective calls, plans and atomic domains of the team are not over; "
	          "synchronise the ones and destroy the others first",
	  1 },
	{ "destroy_under_put", PT_THREADS, 2, destroy_under_put,
	  "a team's end while a thread "
	  "waits in a put by it",
	  DESTROY IN "gex_RMA_PutBlocking" BY, 1 },
	{ "destroy_under_copy", PT_THREADS, 2, destroy_under_copy, "the same while a put copies",
	  DESTROY IN "gex_RMA_PutBlocking" BY, 1 },
	{ "destroy_under_messages", PT_THREADS, 2, destroy_under_messages,
	  "a team's end while a thread waits to send by it", DESTROY IN "gex_AM_RequestShort" BY,
	  1 },
	{ "destroy_early", PT_ALWAYS, 2, destroy_early,
	  "a call over a team that another member "
	  "has destroyed",
	  LATE, 1 },
	{ "broadcast_late", PT_CHECKED, 2, broadcast_late, "the same, a broadcast", LATE, 1 },
	{ "barrier_late", PT_CHECKED, 2, barrier_late, "the same, a barrier",
	  "gex_Coll_BarrierNB: another member has destroyed the team; let all members finish their "
	  "calls before gex_TM_Destroy",
	  1 },
	{ "pst_barrier_late", PT_CHECKED, 2, pst_barrier_late, "the same, a barrier of penstock.h",
	  "pst_barrier: another member has destroyed the team; let all members finish their calls "
	  "before gex_TM_Destroy",
	  1 },
	{ "destroy_in_use", PT_ALWAYS, 2, destroy_in_use,
	  "a team's end while another member is in "
	  "a call over it",
	  DESTROY IN_USE, 1 },
	{ "destroy_in_broadcast", PT_ALWAYS, 2, destroy_in_broadcast, "the same, in a broadcast",
	  DESTROY IN_USE, 1 },
	{ "destroy_in_barrier", PT_ALWAYS, 2, destroy_in_barrier, "the same, in a barrier",
	  DESTROY IN_USE, 1 },
	{ "destroy_primordial", PT_ALWAYS, 1, destroy_primordial, "the primordial team destroyed",
	  DESTROY "the primordial team lives as long as the job; leave it", 0 },
	{ "destroy_pair", PT_ALWAYS, 1, destroy_pair, "a pair of endpoints destroyed", DESTROY PAIR,
	  0 },
	{ "destroy_flag", PT_ALWAYS, 1, destroy_flag, "unknown flags at a team's end",
	  DESTROY "flags 0x1 have no meaning in this call, which takes those of 0x80; leave them "
	          "out",
	  0 },
	{ "destroy_twice", PT_CHECKED, 1, destroy_twice, "a team destroyed twice", DESTROY GONE,
	  0 },
	{ "query_late", PT_CHECKED, 1, query_late, "a question about a destroyed team",
	  "gex_TM_QuerySize: " GONE, 0 },
	{ "put_late", PT_CHECKED, 1, put_late, "a put by a destroyed team",
	  "gex_RMA_PutBlocking: " GONE, 0 },
	{ "message_late", PT_CHECKED, 1, message_late, "a message by a destroyed team",
	  "gex_AM_RequestShort: " GONE, 0 },
	{ "put_rank", PT_ALWAYS, 1, put_rank, "a put to a rank that is not in the team",
	  "gex_RMA_PutBlocking: " RANK_1, 0 },
	{ "message_rank", PT_ALWAYS, 1, message_rank, "a message to a rank that is not in the team",
	  "gex_AM_RequestShort: " RANK_1, 0 },
	{ "translated_rank", PT_ALWAYS, 1, translated_rank, "the translation of such a rank",
	  "gex_TM_TranslateRankToJobrank: " RANK_1, 0 },
};

static gex_AM_Entry_t handlers[] = { PT_HANDLER(200, in_handler, PT_REQ_SHORT, 0) };
const struct pt_misuse_set pt_misuse_acts = {
	.cases = cases,
	.count = PT_COUNT(cases),
	.handlers = handlers,
	.handler_count = PT_COUNT(handlers),
};
