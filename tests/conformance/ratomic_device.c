/*
 * Domains whose operations a network's device may make: there is nothing but additions, and compare
 * and swap, of words of 64 bits.  Over conduit ibv, where no two ranks share memory, they are the
 * device's; elsewhere the processor's, with the same results.
 *
 * PT_DEVICE=1 says that they are the device's.  Then they are made while their target makes no
 * call.  PT_DEVICE=0 says that they are not, though this rank's device has them.
 */
#include "tests/conformance/ratomic.h"

enum { ROUNDS = 40, DEAF_MS = 4000, LINE = 64 };

/* Words of each rank; behind them, a byte for each ticket that it has given away. */
enum word { TICKETS, LOCK, GUARDED, OWN, WORDS };

static PT_OWN gex_AD_t ad;

static uint64_t *
word_of(gex_Rank_t rank, enum word word)
{
	return (uint64_t *)(void *)(pt.peers[rank].owner + (size_t)word * LINE);
}

static uint64_t
make(gex_Rank_t rank, enum word word, gex_OP_t op, uint64_t operand1, uint64_t operand2)
{
	uint64_t before = 77;

	gex_Event_Wait(gex_AD_OpNB_U64(ad, &before, rank, word_of(rank, word), op, operand1,
	                               operand2, 0));
	return before;
}

/* No ticket of a rank is given twice, and none is left out. */
static void
tickets(void)
{
	const char taken = 1;

	for (unsigned round = 0; round < ROUNDS; round++) {
		for (gex_Rank_t rank = 0; rank < pt.size; rank++) {
			const uint64_t ticket = make(rank, TICKETS, GEX_OP_FINC, 0, 0);

			PT_CHECK(ticket < (uint64_t)ROUNDS * pt.size);
			PT_EQ(gex_RMA_PutBlocking(pt.tm, rank,
			                          pt.peers[rank].owner + (size_t)WORDS * LINE +
			                                  ticket,
			                          (void *)(uintptr_t)&taken, 1, 0), 0);
		}
	}
	pt_barrier();
	PT_EQ(make(pt.rank, TICKETS, GEX_OP_GET, 0, 0), (uint64_t)ROUNDS * pt.size);
	for (unsigned ticket = 0; ticket < ROUNDS * pt.size; ticket++)
		PT_EQ(pt.base[(size_t)WORDS * LINE + ticket], 1);
}

/* A lock of rank 0's guards a word that is read and written by transfers. */
static void
lock(void)
{
	for (unsigned round = 0; round < ROUNDS / 4; round++) {
		uint64_t value;

		while (make(0, LOCK, GEX_OP_FCAS, 0, pt.rank + 1) != 0)
			gasnet_AMPoll();
		PT_EQ(gex_RMA_GetBlocking(pt.tm, &value, 0, word_of(0, GUARDED), sizeof value, 0),
		      0);
		value++;
		PT_EQ(gex_RMA_PutBlocking(pt.tm, 0, word_of(0, GUARDED), &value, sizeof value, 0),
		      0);
		PT_EQ(make(0, LOCK, GEX_OP_FCAS, pt.rank + 1, 0), pt.rank + 1);
	}
	pt_barrier();
	PT_EQ(make(0, LOCK, GEX_OP_GET, 0, 0), 0);
	if (pt.rank == 0)
		PT_EQ(*(uint64_t *)(void *)(pt.base + (size_t)GUARDED * LINE),
		      ROUNDS / 4 * pt.size);
}

/* Each code on a word of the rank itself, and of its neighbour in turn. */
static void
codes(gex_Rank_t rank)
{
	static const struct {
		gex_OP_t op;
		uint64_t operand1, operand2, after;
	} steps[] = {
		{ GEX_OP_FADD, 100, 0, 100 }, { GEX_OP_ADD, UINT64_MAX, 0, 99 },
		{ GEX_OP_SUB, 9, 0, 90 },     { GEX_OP_FSUB, 91, 0, UINT64_MAX },
		{ GEX_OP_INC, 0, 0, 0 },      { GEX_OP_FINC, 0, 0, 1 },
		{ GEX_OP_FDEC, 0, 0, 0 },     { GEX_OP_DEC, 0, 0, UINT64_MAX },
		{ GEX_OP_CAS, 5, 6, UINT64_MAX }, { GEX_OP_FCAS, UINT64_MAX, 8, 8 },
		{ GEX_OP_CAS, 8, 0, 0 },
	};
	uint64_t now = 0;

	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
		const uint64_t before = make(rank, OWN, steps[i].op, steps[i].operand1,
		                             steps[i].operand2);

		PT_EQ(before, ratomic_fetches(steps[i].op) ? now : 77);
		now = steps[i].after;
		PT_EQ(make(rank, OWN, GEX_OP_GET, 0, 0), now);
	}
	/* many under way at once */
	for (unsigned i = 0; i < 300; i++)
		PT_EQ(gex_AD_OpNBI_U64(ad, NULL, rank, word_of(rank, OWN), GEX_OP_ADD, i, 0, 0), 0);
	gex_NBI_Wait(GEX_EC_RMW, 0);
	PT_EQ(make(rank, OWN, GEX_OP_FSUB, 300 * 299 / 2, 0), 300 * 299 / 2);
}

/* The first rank asks while the others make no call. */
static void
deaf(int by_device)
{
	const uint64_t began_ns = pt_now_ns();

	pt_barrier();
	if (pt.rank) {
		pt_spin_ms(DEAF_MS);
	} else {
		for (gex_Rank_t rank = 1; rank < pt.size; rank++)
			for (unsigned i = 0; i < 10; i++)
				(void)make(rank, OWN, GEX_OP_FADD, 0, 0);
		if (by_device)
			PT_UNDER(pt_now_ns() - began_ns, DEAF_MS * UINT64_C(1000000) / 2);
		else
			PT_CHECK(pt_now_ns() - began_ns >= DEAF_MS * UINT64_C(1000000) / 2);
	}
	pt_barrier();
}

int
main(int argc, char **argv)
{
	const char *const by_device = getenv("PT_DEVICE");

	ratomic_start(argc, argv, (size_t)GASNET_PAGESIZE * 2);
	memset(pt.base, 0, (size_t)WORDS * LINE + (size_t)ROUNDS * pt.size);
	pt_barrier();
	gex_AD_Create(&ad, pt.tm, GEX_DT_U64,
	              GEX_OP_GET | GEX_OP_ADD | GEX_OP_FADD | GEX_OP_SUB | GEX_OP_FSUB |
	                      GEX_OP_INC | GEX_OP_FINC | GEX_OP_DEC | GEX_OP_FDEC | GEX_OP_CAS |
	                      GEX_OP_FCAS, 0);
	tickets();
	lock();
	codes(pt.rank);
	pt_barrier();
	codes((pt.rank + 1) % pt.size);
	if (by_device)
		deaf(*by_device == '1');
	pt_barrier();
	gex_AD_Destroy(ad);
	pt_finish();
}
