/*
 * Teams over several endpoints of each process: gex_TM_Create from random lists of them,
 * translation both ways, and messages and transfers between all members. In PAR each member has a
 * thread, which splits the team at random, and ends what it made; or one thread ends all of the
 * process's members.
 */
#include <gasnet_coll.h>

#include "tests/lib/pt.h"

#include <penstock.h>

enum { EPS = 3, MOST = 5 * EPS, REQ = 128, REP, SLOT_BYTES = 64 };

/* A team as it should be. */
struct members {
	gex_Rank_t size;
	gex_EP_Location_t at[MOST];
};

static gex_EP_t eps[EPS];
static char *bases[MOST];       /* of all endpoints, by process, then index */
static pt_count answers[EPS];   /* by endpoint */

static unsigned number_of(gex_EP_Location_t at) { return at.gex_rank * EPS + at.gex_ep_index; }

/* -- messages -------------------------------------------------------------------------------- */

static unsigned
own_index(gex_Token_t token)
{
	gex_Token_Info_t info;

	PT_CHECK(gex_Token_Info(token, &info, GEX_TI_EP) & GEX_TI_EP);
	return gex_EP_QueryIndex(info.gex_ep);
}

/* From and to are numbers of endpoints. */
static void
req(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t from, gex_AM_Arg_t to)
{
	PT_EQ(to, pt.rank * EPS + own_index(token));
	PT_EQ(number_of(pst_token_source(token)), from);
	PT_EQ(pt_source(token), from / EPS);
	PT_MEM(buf, nbytes, from);
	PT_OK(gex_AM_ReplyShort0(token, REP, 0));
}

static void rep(gex_Token_t token) { PT_INC(answers[own_index(token)]); }

/* To all members, from the caller's. */
static void
traffic(const struct members *team, gex_TM_t tm)
{
	const gex_EP_Location_t own = team->at[gex_TM_QueryRank(tm)];
	const unsigned me = number_of(own);
	const int before = PT_GET(answers[own.gex_ep_index]);
	char block[SLOT_BYTES / 2], back[SLOT_BYTES / 2];

	pt_fill(block, sizeof(block), me);
	for (gex_Rank_t rank = 0; rank < team->size; rank++) {
		const unsigned other = number_of(team->at[rank]);
		char *there = bases[other] + me * SLOT_BYTES;

		PT_OK(gex_AM_RequestMedium2(tm, rank, REQ, block, sizeof(block), GEX_EVENT_NOW, 0,
		                            (gex_AM_Arg_t)me, (gex_AM_Arg_t)other));
		PT_OK(gex_AM_RequestLong2(tm, rank, REQ, block, sizeof(block), there, GEX_EVENT_NOW,
		                          0, (gex_AM_Arg_t)me, (gex_AM_Arg_t)other));
		PT_OK(gex_RMA_PutBlockingVal(tm, rank, there + SLOT_BYTES / 2, me * 100 + other, 8,
		                             0));
		PT_EQ(gex_RMA_GetBlockingVal(tm, rank, there + SLOT_BYTES / 2, 8, 0),
		      me * 100 + other);
		PT_OK(gex_RMA_GetBlocking(tm, back, rank, there + SLOT_BYTES / 2, 8, 0));
	}
	GASNET_BLOCKUNTIL(PT_GET(answers[own.gex_ep_index]) == before + 2 * (int)team->size);
}

/* -- what holds of a member ------------------------------------------------------------------ */

static void
check(const struct members *team, gex_TM_t tm, gex_Rank_t me, gex_Flags_t flags)
{
	gex_Rank_t lowest[MOST];

	PT_EQ(gex_TM_QueryRank(tm), me);
	PT_EQ(gex_TM_QuerySize(tm), team->size);
	PT_EQ(gex_TM_QueryFlags(tm), flags);
	PT_CHECK(gex_TM_QueryEP(tm) == eps[team->at[me].gex_ep_index]);
	for (gex_Rank_t process = 0; process < pt.size; process++)
		lowest[process] = GEX_RANK_INVALID;
	for (gex_Rank_t rank = 0; rank < team->size; rank++) {
		const gex_EP_Location_t want = team->at[rank];
		const gex_EP_Location_t got = gex_TM_TranslateRankToEP(tm, rank, 0);

		PT_EQ(got.gex_rank, want.gex_rank);
		PT_EQ(got.gex_ep_index, want.gex_ep_index);
		PT_EQ(gex_TM_TranslateRankToJobrank(tm, rank), want.gex_rank);
		if (lowest[want.gex_rank] == GEX_RANK_INVALID)
			lowest[want.gex_rank] = rank;
	}
	for (gex_Rank_t process = 0; process < pt.size; process++)
		PT_EQ(gex_TM_TranslateJobrankToRank(tm, process), lowest[process]);
}

/* -- ends ------------------------------------------------------------------------------------ */

/* By one thread, while members elsewhere may still be in their last collective. */
static void
end_one_by_one(const gex_TM_t *tms, unsigned here)
{
	for (unsigned i = 0; i < here; i++)
		PT_EQ(gex_TM_Destroy(tms[(i + pt.rank) % here], NULL, 0), 0);
}

/* -- splits by all members, each in a thread ------------------------------------------------- */

#ifdef GASNET_PAR
static struct {
	struct members team;
	gex_TM_t tms[EPS];
	uint64_t stream;
	unsigned long rounds;
} shared;

/* The members of one color, which all draw alike; by key, then by rank. */
static gex_Rank_t
choose(const struct members *team, struct pt_rng *rng, gex_Rank_t me, int *color, int *key,
       struct members *child)
{
	int colors[MOST], keys[MOST];
	gex_Rank_t rank_of_me = 0;

	for (gex_Rank_t rank = 0; rank < team->size; rank++) {
		colors[rank] = (int)pt_rand_below(rng, 3);
		keys[rank] = (int)pt_rand_below(rng, 4);
	}
	*color = colors[me];
	*key = keys[me];
	child->size = 0;
	for (int k = 0; k < 4; k++) {
		for (gex_Rank_t rank = 0; rank < team->size; rank++) {
			if (colors[rank] != *color || keys[rank] != k)
				continue;
			if (rank == me)
				rank_of_me = child->size;
			child->at[child->size++] = team->at[rank];
		}
	}
	return rank_of_me;
}

static void
in_thread(unsigned index, void *unused)
{
	const gex_TM_t tm = shared.tms[index];
	struct pt_rng rng = pt_rng_make(shared.stream);
	struct members child;
	gex_Rank_t me;

	(void)unused;
	me = gex_TM_QueryRank(tm);
	pst_thread_bind(gex_TM_QueryEP(tm));
	for (unsigned long i = 0; i < shared.rounds; i++) {
		gex_TM_t new_tm = GEX_TM_INVALID;
		int color, key;
		const gex_Rank_t rank = choose(&shared.team, &rng, me, &color, &key, &child);

		(void)gex_TM_Split(&new_tm, tm, color, key, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
		check(&child, new_tm, rank, GEX_FLAG_TM_NO_SCRATCH);
		traffic(&child, new_tm);
		PT_EQ(gex_TM_Destroy(new_tm, NULL, 0), 0);
	}
	gex_Coll_BarrierBlocking(tm, 0);        /* others want their messages taken in */
	PT_EQ(gex_TM_Destroy(tm, NULL, 0), 0);
}

static void
live(const struct members *team, const gex_TM_t *tms, unsigned here, uint64_t stream)
{
	if (stream % 4 == 1) {
		end_one_by_one(tms, here);
		return;
	}
	shared.team = *team;
	shared.stream = stream;
	shared.rounds = pt_scale(3, 8);
	memcpy(shared.tms, tms, here * sizeof(*tms));
	pt_threads(here, in_thread, NULL);
}
#else
static void
live(const struct members *team, const gex_TM_t *tms, unsigned here, uint64_t stream)
{
	(void)team;
	if (stream % 2) {
		end_one_by_one(tms, here);
		return;
	}
	pt_barrier();
	for (unsigned i = 0; i < here; i++)
		PT_EQ(gex_TM_Destroy(tms[i], NULL, GEX_FLAG_GLOBALLY_QUIESCED), 0);
}
#endif

/* -- creation -------------------------------------------------------------------------------- */

/* Most endpoints of the job in some order. */
static void
draw(struct pt_rng *rng, struct members *team)
{
	unsigned order[MOST];
	const unsigned all = pt.size * EPS;

	team->size = 0;
	for (unsigned i = 0; i < all; i++) {
		const unsigned other = (unsigned)pt_rand_below(rng, i + 1);

		order[i] = order[other];
		order[other] = i;
	}
	for (unsigned i = 0; i < all; i++) {
		if (i && pt_rand_below(rng, 4) == 0)
			continue;
		team->at[team->size].gex_rank = order[i] / EPS;
		team->at[team->size++].gex_ep_index = (gex_EP_Index_t)(order[i] % EPS);
	}
}

/* One thread calls for several members, and syncs them in another order than it called. */
static void
collectives(const struct members *team, gex_TM_t *tms, const gex_Rank_t *ranks, unsigned here)
{
	enum { CALLS = 6 };
	gex_Event_t events[EPS][CALLS];
	uint32_t own[EPS], sum[EPS], text[EPS];

	for (unsigned i = 0; i < here; i++) {
		own[i] = ranks[i] + 1;
		text[i] = ranks[i] == team->size - 1 ? 77 : 0;
		events[i][0] = gex_Coll_BarrierNB(tms[i], 0);
		events[i][1] = gex_Coll_BarrierNB(tms[i], 0);
		events[i][2] = gex_Coll_ReduceToAllNB(tms[i], &sum[i], &own[i], GEX_DT_U32, 4, 1,
		                                      GEX_OP_ADD, NULL, NULL, 0);
		events[i][3] = gex_Coll_BarrierNB(tms[i], 0);
		events[i][4] =
			gex_Coll_BroadcastNB(tms[i], team->size - 1, &text[i], &text[i], 4, 0);
		events[i][5] = gex_Coll_BarrierNB(tms[i], 0);
	}
	for (unsigned i = here; i-- > 0; ) {
		for (unsigned k = CALLS; k-- > 0; )
			gex_Event_Wait(events[i][k]);
		PT_EQ(sum[i], team->size * (team->size + 1) / 2);
		PT_EQ(text[i], 77);
	}
}

static void
create(uint64_t stream)
{
	struct pt_rng rng = pt_rng_make(stream);
	const gex_Flags_t flags =
		GEX_FLAG_TM_NO_SCRATCH | (stream % 2 ? GEX_FLAG_RANK_IS_JOBRANK : 0);
	gex_Rank_t ranks[EPS];
	gex_TM_t tms[EPS];
	struct members team;
	unsigned here = 0;

	draw(&rng, &team);
	for (gex_Rank_t rank = 0; rank < team.size; rank++)
		if (team.at[rank].gex_rank == pt.rank)
			ranks[here++] = rank;
	(void)gex_TM_Create(tms, here, pt.tm, team.at, here ? team.size : 0, NULL, 0, flags);
	for (unsigned i = 0; i < here; i++) {
		check(&team, tms[i], ranks[i], flags);
		traffic(&team, tms[i]);
	}
	collectives(&team, tms, ranks, here);
	live(&team, tms, here, stream);
	pt_barrier();
}

static void
make_endpoints(void)
{
	gex_AM_Entry_t table[] = {
		PT_HANDLER(REQ, req, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_MEDLONG, 2),
		PT_HANDLER(REP, rep, PT_REP_SHORT, 0),
	};
	gex_Segment_t segment;

	eps[0] = pt.ep;
	for (unsigned i = 0; i < EPS; i++) {
		if (i) {
			PT_OK(gex_EP_Create(&eps[i], pt.client, GEX_EP_CAPABILITY_ALL, 0));
			PT_OK(gex_Segment_Create(&segment, pt.client, NULL, MOST * SLOT_BYTES,
			                         GEX_MK_HOST, 0));
			PT_OK(gex_EP_BindSegment(eps[i], segment, 0));
		}
		PT_OK(gex_EP_RegisterHandlers(eps[i], table, PT_COUNT(table)));
	}
	PT_OK(gex_EP_PublishBoundSegment(pt.tm, eps, EPS, 0));
	for (gex_Rank_t rank = 0; rank < pt.size; rank++) {
		for (unsigned i = 0; i < EPS; i++) {
			void *base = NULL;

			gex_Event_Wait(gex_EP_QueryBoundSegmentNB(
				gex_TM_Pair(pt.ep, (gex_EP_Index_t)i), rank, &base, NULL, NULL, 0));
			bases[rank * EPS + i] = (char *)base;
		}
	}
	pt_barrier();
}

int
main(int argc, char **argv)
{
	unsigned long rounds;

	pt_start(&argc, &argv, NULL, 0, MOST * SLOT_BYTES);
	PT_LE(pt.size * EPS, MOST);
	make_endpoints();
	rounds = pt_scale(6, 20);
	if (pt.rank == 0)
		printf("seed %llu\n", (unsigned long long)pt.seed);
	for (unsigned long i = 0; i < rounds; i++)
		create(i);
	pt_finish();
}
