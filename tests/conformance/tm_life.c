/* What lives how long: many teams at a time, teams of one, of parents that are a part of the job,
 * and ends. */
#include "tests/conformance/tm_members.h"

enum { MANY = 100 };

/* A team of all, in reverse. */
static struct tm_members
reversed(void)
{
	struct tm_members team = { GEX_TM_INVALID, pt.size, pt.size - 1 - pt.rank, { 0 } };

	for (gex_Rank_t rank = 0; rank < pt.size; rank++)
		team.who[rank] = pt.size - 1 - rank;
	(void)gex_TM_Split(&team.tm, pt.tm, 0, -(int)pt.rank, NULL, 0,
	                   GEX_FLAG_TM_NO_SCRATCH | GEX_FLAG_RANK_IS_JOBRANK);
	return team;
}

static gex_TM_t
alone(void)
{
	gex_TM_t tm = GEX_TM_INVALID;

	(void)gex_TM_Split(&tm, pt.tm, (int)pt.rank, 0, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
	return tm;
}

static void
teams_of_one(void)
{
	struct tm_members self = { alone(), 1, 0, { 0 } }, again = self;
	gex_EP_Location_t args = { 0, pt.where[pt.rank].gex_ep_index };

	self.who[0] = again.who[0] = pt.rank;
	tm_check(&self, GEX_FLAG_TM_NO_SCRATCH, 5);
	(void)gex_TM_Create(&again.tm, 1, self.tm, &args, 1, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
	PT_CHECK(again.tm != self.tm);
	tm_destroy(&self, 0, NULL, 0); /* its child lives on */
	tm_check(&again, GEX_FLAG_TM_NO_SCRATCH, 6);
	tm_destroy(&again, GEX_FLAG_GLOBALLY_QUIESCED, NULL, 0);
}

/* More than have memory of their own for it. */
static void
barriers_of(const struct tm_members *teams)
{
	gex_Event_t events[MANY];

	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < MANY; i++)
			events[i] = gex_Coll_BarrierNB(teams[i].tm, 0);
		gex_Event_WaitAll(events, MANY, 0);
	}
}

static void
many_at_a_time(void)
{
	static PT_OWN struct tm_members teams[MANY];

	for (int i = 0; i < MANY; i++) {
		teams[i] = reversed();
		for (int j = 0; j < i; j++)
			PT_CHECK(teams[i].tm != teams[j].tm);
		gex_TM_SetCData(teams[i].tm, &teams[i]);
	}
	for (int i = 0; i < MANY; i++)
		PT_PTR(gex_TM_QueryCData(teams[i].tm), &teams[i]);
	gex_TM_SetCData(teams[0].tm, NULL);
	PT_PTR(gex_TM_QueryCData(teams[1].tm), &teams[1]);
	tm_check_traffic(&teams[MANY / 2], 9);
	barriers_of(teams);
	for (int i = 0; i < MANY; i++) /* not the last one first */
		tm_destroy(&teams[i], 0, NULL, 0);
}

/* What was sent by a team's ranks arrives though the team is gone. */
static void
messages_outlive(void)
{
	struct tm_members team = reversed();
	int before = PT_GET(tm_replies), sent = 0;

	for (gex_Rank_t rank = 0; rank < team.size; rank++)
		sent += tm_messages(&team, rank);
	PT_EQ(gex_TM_Destroy(team.tm, NULL, 0), 0);
	GASNET_BLOCKUNTIL(PT_GET(tm_replies) == before + sent);
	pt_barrier();
}

static void
quiesced(void)
{
	struct tm_members team = reversed();

	tm_check_traffic(&team, 3);
	pt_barrier();
	tm_destroy(&team, GEX_FLAG_GLOBALLY_QUIESCED, NULL, 0);
}

enum { WORD_AT = TM_SEGMENT_BYTES - 8 };        /* in a segment, behind what else is used of it */

/* Teams are made and ended by even ranks, while odd ones do nothing until they are told by
 * memory; over a network they have to poll for that. */
static void
parents_of_a_part(void)
{
	const gex_Rank_t even = (pt.size + 1) / 2;
	gex_TM_t parent = GEX_TM_INVALID, tm = GEX_TM_INVALID;

	pt_word_put(pt.rank, WORD_AT, 0);
	(void)gex_TM_Split(pt.rank % 2 ? NULL : &parent, pt.tm, 0, 0, NULL, 0,
	                   GEX_FLAG_TM_NO_SCRATCH);
	pt_barrier();
	if (pt.rank % 2) {
		while (!pt_word_get(pt.rank, WORD_AT)) {
			pt_sleep_ms(1);
			if (!pt.peers[pt.rank - 1].local)
				PT_OK(gasnet_AMPoll());
		}
		pt_barrier();
		return;
	}
	for (unsigned i = 0; i < 10; i++) {
		const gex_Rank_t rank = gex_TM_QueryRank(parent);

		(void)gex_TM_Split(rank == i % even ? NULL : &tm, parent, 7, 0, NULL, 0,
		                   GEX_FLAG_TM_NO_SCRATCH);
		if (rank == i % even)
			continue;
		PT_EQ(gex_TM_QuerySize(tm), even - 1);
		PT_EQ(gex_TM_Destroy(tm, NULL, 0), 0);
	}
	PT_EQ(gex_TM_QuerySize(parent), even);
	PT_EQ(gex_TM_Destroy(parent, NULL, 0), 0);
	if (pt.rank + 1 < pt.size)
		pt_word_put(pt.rank + 1, WORD_AT, 1);
	pt_barrier();
}

int
main(int argc, char **argv)
{
	gex_AM_Entry_t table[] = { TM_HANDLERS };

	pt_start(&argc, &argv, table, PT_COUNT(table), TM_SEGMENT_BYTES);
	PT_LE(pt.size, TM_MOST);
	pt_phase("teams of one");
	teams_of_one();
	pt_phase("many at a time");
	many_at_a_time();
	pt_phase("messages outlive their team");
	messages_outlive();
	quiesced();
	pt_phase("parents of a part of the job");
	parents_of_a_part();
	pt_finish();
}
