/* Each thread of a process makes teams of its own with the same threads elsewhere, all at once. */
#include "tests/conformance/tm_members.h"

enum { THREADS = 4 };

static gex_TM_t own_parent[THREADS];
static unsigned long rounds;

/* A thread writes to its own quarter of the rank's slot. */
static void
use(const struct tm_members *team, unsigned thread, uint64_t key)
{
	tm_check_queries(team, GEX_FLAG_TM_NO_SCRATCH);
	tm_check_translation(team);
	for (gex_Rank_t rank = 0; rank < team->size; rank++)
		tm_transfers(team, rank, 32 * (size_t)thread, key + rank);
}

static void
in_thread(unsigned thread, void *unused)
{
	struct tm_members team;
	(void)unused;

	for (unsigned long i = 0; i < rounds; i++) {
		/* all but the rank that is left out, in rank order */
		const gex_Rank_t out = (gex_Rank_t)(i + thread) % pt.size;
		const int joins = pt.size == 1 || pt.rank != out;

		team.tm = GEX_TM_INVALID;
		team.size = team.me = 0;
		for (gex_Rank_t rank = 0; rank < pt.size; rank++) {
			if (rank == pt.rank)
				team.me = team.size;
			if (pt.size == 1 || rank != out)
				team.who[team.size++] = rank;
		}
		(void)gex_TM_Split(joins ? &team.tm : NULL, own_parent[thread], 0, 0, NULL, 0,
		                   GEX_FLAG_TM_NO_SCRATCH);
		if (!joins)
			continue;
		use(&team, thread, i * 1000 + thread);
		tm_destroy(&team, 0, NULL, 0);
	}
}

int
main(int argc, char **argv)
{
	gex_AM_Entry_t table[] = { TM_HANDLERS };

	pt_start(&argc, &argv, table, PT_COUNT(table), TM_SEGMENT_BYTES);
	PT_LE(pt.size, TM_MOST);
	rounds = pt_scale(20, 100);
	for (unsigned i = 0; i < THREADS; i++)
		(void)gex_TM_Split(&own_parent[i], pt.tm, 0, 0, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
	pt_threads(THREADS, in_thread, NULL);
	for (unsigned i = 0; i < THREADS; i++)
		PT_EQ(gex_TM_Destroy(own_parent[i], NULL, 0), 0);
	pt_finish();
}
