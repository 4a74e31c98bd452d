/*
 * All ranks, and in PAR several threads of each, at the same words: sums, products, extremes, bits,
 * chains of swaps and of compare and swap come out as if the operations had been made one after the
 * other.
 */
#include "tests/conformance/ratomic.h"

enum { THREADS = 3, MOST_TOKENS = 4096 };

/* Words of rank 0, each in a line of its own. */
enum word {
	COUNTER,
	SUM,
	PRODUCT,
	BITS,
	TOGGLED,
	LEAST,
	MOST,
	FLOAT_SUM,
	DOUBLE_SUM,
	CHAIN,
	TICKET_SUM,
	SWAPPED,
	WORD_COUNT
};

/* Of a rank, and of its threads. */
static PT_OWN struct own {
	gex_AD_t integers, floats, doubles, singles;
	unsigned long rounds;
} own;

static char *at(enum word word) { return pt.peers[0].owner + (size_t)word * 64; }

static uint64_t
get(enum word word)
{
	uint64_t value = 0;

	gex_Event_Wait(gex_AD_OpNB_U64(own.integers, &value, 0, at(word), GEX_OP_GET, 0, 0, 0));
	return value;
}

static void
set(enum word word, uint64_t value)
{
	gex_Event_Wait(gex_AD_OpNB_U64(own.integers, NULL, 0, at(word), GEX_OP_SET, value, 0, 0));
}

static uint64_t
fetching(enum word word, gex_OP_t op, uint64_t a, uint64_t b)
{
	uint64_t before = 0;

	gex_Event_Wait(gex_AD_OpNB_U64(own.integers, &before, 0, at(word), op, a, b, 0));
	return before;
}

/* Each member of the crowd: a thread of a rank. */
static unsigned crowd(void) { return pt.size * THREADS; }

/* Tickets are given out once each: their sum says so. */
static void
tickets(uint64_t member)
{
	uint64_t sum = 0, last = 0, ticket;

	(void)member;
	for (unsigned long i = 0; i < own.rounds; i++) {
		gex_Event_Wait(gex_AD_OpNB_U64(own.integers, &ticket, 0, at(COUNTER), GEX_OP_FINC,
		                               0, 0, 0));
		PT_CHECK(i == 0 || ticket > last);
		last = ticket;
		sum += ticket;
	}
	gex_Event_Wait(
		gex_AD_OpNB_U64(own.integers, NULL, 0, at(TICKET_SUM), GEX_OP_ADD, sum, 0, 0));
}

/* What does not depend on the order, many under way at a time. */
static void
commutative(uint64_t member)
{
	for (unsigned long i = 0; i < own.rounds; i++) {
		const uint64_t value = member * own.rounds + i;
		const gex_OP_t add = i % 2 ? GEX_OP_ADD : GEX_OP_SUB; /* not known to the
		                                                       * compiler */

		PT_EQ(gex_AD_OpNBI_U64(own.integers, NULL, 0, at(SUM), add, i % 2 ? value : -value,
		                       0, 0),
		      0);
		PT_EQ(gex_AD_OpNBI_U64(own.integers, NULL, 0, at(PRODUCT), GEX_OP_MULT,
		                       2 * value + 1, 0, 0),
		      0);
		PT_EQ(gex_AD_OpNBI_U64(own.integers, NULL, 0, at(BITS), GEX_OP_OR,
		                       UINT64_C(1) << (value % 64), 0, 0), 0);
		PT_EQ(gex_AD_OpNBI_U64(own.integers, NULL, 0, at(TOGGLED), GEX_OP_XOR,
		                       value * UINT64_C(0x9e3779b97f4a7c15), 0, 0), 0);
		PT_EQ(gex_AD_OpNBI_U64(own.integers, NULL, 0, at(LEAST), GEX_OP_MIN, value + 5, 0,
		                       0),
		      0);
		PT_EQ(gex_AD_OpNBI_U64(own.integers, NULL, 0, at(MOST), GEX_OP_MAX, value, 0, 0),
		      0);
		PT_EQ(gex_AD_OpNBI_FLT(own.floats, NULL, 0, at(FLOAT_SUM), GEX_OP_ADD, 0.5f, 0, 0),
		      0);
		PT_EQ(gex_AD_OpNBI_DBL(own.doubles, NULL, 0, at(DOUBLE_SUM), GEX_OP_DEC, 0, 0, 0),
		      0);
		if (i % 32 == 31)
			gex_NBI_Wait(GEX_EC_RMW, 0);
	}
	gex_NBI_Wait(GEX_EC_ALL, 0);
}

/* A counter kept by compare and swap alone: half of the members look at the result. */
static void
chain(uint64_t member)
{
	uint64_t seen = 0;
	int32_t half;

	for (unsigned long i = 0; i < own.rounds; i++) {
		uint64_t before;

		while ((before = fetching(CHAIN, GEX_OP_FCAS, seen, seen + 1)) != seen)
			seen = before;
		seen++;
		half = (int32_t)member;
		gex_Event_Wait(gex_AD_OpNB_I32(own.singles, &half, 0, at(CHAIN) + 8, GEX_OP_FADD, 1,
		                               0, GEX_FLAG_AD_REL | GEX_FLAG_AD_ACQ));
	}
}

/* Everybody hands on what it finds, so all tokens are somewhere: in a word or with a member. */
static void
swaps(uint64_t member)
{
	uint64_t token = member + 1;

	for (unsigned long i = 0; i < own.rounds; i++)
		token = fetching(SWAPPED, GEX_OP_SWAP, token, 0);
	gex_Event_Wait(gex_AD_OpNB_U64(own.integers, NULL, 0, at(SUM), GEX_OP_ADD, token, 0, 0));
}

struct act {
	const char *name;
	void (*body)(uint64_t member);
	struct own own;
};

static void
member_in_thread(unsigned index, void *arg)
{
	const struct act *act = (const struct act *)arg;

	own = act->own;
	act->body((uint64_t)pt.rank * THREADS + index);
}

/* A rank that is a thread may be the only one that its endpoint allows. */
static void
one_by_one(struct act *act)
{
	for (unsigned i = 0; i < THREADS; i++)
		member_in_thread(i, act);
}

/* The act by all members, between barriers. */
static void
together(const char *name, void (*body)(uint64_t member))
{
	struct act act = { name, body, own };

	pt_phase(act.name);
	pt_barrier();
#ifdef GASNET_PAR
	if (!pt_is_thread())
		pt_threads(THREADS, member_in_thread, &act);
	else
#endif
		one_by_one(&act);
	pt_barrier();
}

static void
prepare(void)
{
	if (pt.rank)
		return;
	for (enum word word = 0; word < WORD_COUNT; word++)
		set(word, word == PRODUCT ? 1 : word == LEAST ? UINT64_MAX : 0);
	gex_Event_Wait(gex_AD_OpNB_I32(own.singles, NULL, 0, at(CHAIN) + 8, GEX_OP_SET, 0, 0, 0));
}

static void
check_commutative(void)
{
	const uint64_t values = crowd() * own.rounds;
	uint64_t product = 1, bits = 0, toggled = 0;
	float halves;
	double ones;

	for (uint64_t value = 0; value < values; value++) {
		product *= 2 * value + 1;
		bits |= UINT64_C(1) << (value % 64);
		toggled ^= value * UINT64_C(0x9e3779b97f4a7c15);
	}
	PT_EQ(get(SUM), values * (values - 1) / 2);
	PT_EQ(get(PRODUCT), product);
	PT_EQ(get(BITS), bits);
	PT_EQ(get(TOGGLED), toggled);
	PT_EQ(get(LEAST), 5);
	PT_EQ(get(MOST), values - 1);
	gex_Event_Wait(gex_AD_OpNB_FLT(own.floats, &halves, 0, at(FLOAT_SUM), GEX_OP_GET, 0, 0, 0));
	PT_CHECK(halves == (float)values / 2);
	gex_Event_Wait(gex_AD_OpNB_DBL(own.doubles, &ones, 0, at(DOUBLE_SUM), GEX_OP_GET, 0, 0, 0));
	PT_CHECK(ones == -(double)values);
}

int
main(int argc, char **argv)
{
	int32_t half = 0;

	ratomic_start(argc, argv, GASNET_PAGESIZE);
	own.rounds = pt_scale(64, 1000) / pt.size;
	gex_AD_Create(&own.integers, pt.tm, GEX_DT_U64, ALL_INTEGER_OPS, 0);
	gex_AD_Create(&own.singles, pt.tm, GEX_DT_I32, GEX_OP_FADD | GEX_OP_SET | GEX_OP_GET, 0);
	gex_AD_Create(&own.floats, pt.tm, GEX_DT_FLT, GEX_OP_ADD | GEX_OP_GET, 0);
	gex_AD_Create(&own.doubles, pt.tm, GEX_DT_DBL, GEX_OP_DEC | GEX_OP_GET, 0);
	prepare();

	together("tickets", tickets);
	PT_EQ(get(COUNTER), crowd() * own.rounds);
	PT_EQ(get(TICKET_SUM), get(COUNTER) * (get(COUNTER) - 1) / 2);
	together("commutative", commutative);
	check_commutative();
	together("chain", chain);
	PT_EQ(get(CHAIN), crowd() * own.rounds);
	gex_Event_Wait(gex_AD_OpNB_I32(own.singles, &half, 0, at(CHAIN) + 8, GEX_OP_GET, 0, 0, 0));
	PT_EQ(half, crowd() * own.rounds);
	pt_barrier();
	if (pt.rank == 0)
		set(SUM, 0);
	together("swaps", swaps);
	PT_EQ(get(SUM) + get(SWAPPED), (uint64_t)crowd() * (crowd() + 1) / 2);

	pt_barrier();
	gex_AD_Destroy(own.doubles);
	gex_AD_Destroy(own.floats);
	gex_AD_Destroy(own.singles);
	gex_AD_Destroy(own.integers);
	pt_finish();
}
