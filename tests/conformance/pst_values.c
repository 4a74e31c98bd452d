/* The collectives of penstock.h that take and give values, and barriers with values. */
#include <penstock.h>

#include "tests/lib/pt.h"

#define VALUES(DT, type)                                                                   \
	static void                                                                        \
	values_##DT(void)                                                                  \
	{                                                                                  \
		const type own = (type)(pt.rank + 1);                                      \
		type sum = 0, before = 7, got = 0, most = 0, scanned = 0;                  \
		gex_Event_t events[3];                                                     \
                                                                                           \
		for (gex_Rank_t rank = 0; rank < pt.size; rank++) {                        \
			if (rank == pt.rank && rank)                                       \
				before = sum;                                              \
			sum = (type)(sum + (type)(rank + 1));                              \
			PT_EQ(pst_bcast_value_##DT(pt.tm, rank, own, 0) == (type)(rank + 1), 1); \
		}                                                                          \
		PT_EQ(pst_allreduce_value_##DT(pt.tm, own, GEX_OP_ADD, 0) == sum, 1);      \
		PT_EQ(pst_exscan_value_##DT(pt.tm, own, GEX_OP_ADD, 7, 0) == before, 1);   \
		events[0] = pst_bcast_value_nb_##DT(pt.tm, pt.size - 1, own, &got, 0);     \
		events[1] = pst_allreduce_value_nb_##DT(pt.tm, own, GEX_OP_MAX, &most, 0); \
		events[2] = pst_exscan_value_nb_##DT(pt.tm, own, GEX_OP_ADD, 7, &scanned,  \
		                                     PST_IN_ALLSYNC);                      \
		for (unsigned i = 3; i-- > 0; )                                            \
			gex_Event_Wait(events[i]);                                         \
		PT_EQ(got == (type)pt.size, 1);                                            \
		PT_EQ(most == (type)pt.size, 1);                                           \
		PT_EQ(scanned == before, 1);                                               \
	}

VALUES(I32, int32_t)
VALUES(U32, uint32_t)
VALUES(I64, int64_t)
VALUES(U64, uint64_t)
VALUES(FLT, float)
VALUES(DBL, double)

/* -- barriers with values ---------------------------------------------------------------------- */

static void
barriers(void)
{
	const int mismatch = pt.size > 1 ? PST_ERR_BARRIER_MISMATCH : GASNET_OK;
	int first = -1, second = -1;
	gex_Event_t events[2];

	PT_EQ(pst_barrier_value(pt.tm, -5, 0), GASNET_OK);
	PT_EQ(pst_barrier_value(pt.tm, (int)pt.rank, PST_BARRIER_ANONYMOUS), GASNET_OK);
	PT_EQ(pst_barrier_value(pt.tm, pt.rank ? (int)pt.rank : 9,
	                        pt.rank ? PST_BARRIER_ANONYMOUS : 0),
	      GASNET_OK);
	gex_System_SetVerboseErrors(0);
	PT_EQ(pst_barrier_value(pt.tm, pt.rank == pt.size - 1, 0), mismatch);
	events[0] = pst_barrier_value_nb(pt.tm, 3, &first, 0);
	events[1] = pst_barrier_value_nb(pt.tm, (int)pt.rank, &second, 0);
	gex_Event_Wait(events[1]);
	gex_Event_Wait(events[0]);
	PT_EQ(first, GASNET_OK);
	PT_EQ(second, mismatch);
	pst_barrier(pt.tm, 0);
	gex_System_SetVerboseErrors(1);
}

/* Nobody leaves before all have entered: the last one to enter has counted the others. */
static PT_OWN uint64_t turns;

static void
nobody_leaves_early(void)
{
	for (turns = 1; turns <= pt_scale(20, 200); turns++) {
		const uint64_t least = pst_allreduce_value_U64(pt.tm, turns, GEX_OP_MIN, 0);

		PT_EQ(least, turns);
		PT_EQ(pst_barrier_value(pt.tm, (int)turns, 0), GASNET_OK);
	}
}

/* Whoever leaves a round finds what all wrote before they entered it. */
static void
words_before_barriers(void)
{
	pst_barrier(pt.tm, 0);
	for (unsigned round = 1; round <= pt_scale(32, 200); round++) {
		if (pt.rank == round % pt.size && round % 4 < 2)
			pt_sleep_ms(1);
		pt_word_put(0, 4 * pt.rank, round);
		if (round % 2)
			pst_barrier(pt.tm, 0);
		else
			gex_Event_Wait(pst_barrier_nb(pt.tm, 0));
		for (gex_Rank_t rank = 0; rank < pt.size; rank++)
			PT_LE(round, pt_word_get(0, 4 * rank));
	}
}

int
main(int argc, char **argv)
{
	pt_start(&argc, &argv, NULL, 0, 4096);
	pt_phase("values");
	values_I32();
	values_U32();
	values_I64();
	values_U64();
	values_FLT();
	values_DBL();
	pt_phase("barriers");
	barriers();
	nobody_leaves_early();
	words_before_barriers();
	pt_finish();
}
