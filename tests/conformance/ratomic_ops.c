/*
 * Each operation of each type, fetching and not, against what C computes: with a code that the
 * compiler knows and one that it does not, explicit, implicit and in an access region, with all
 * flags.
 */
#include "tests/conformance/ratomic.h"

enum { WORDS = 4, TARGET = 1 }; /* of 8 bytes, for each initiator at each owner */

static char *
own_words(gex_Rank_t owner)
{
	return pt.peers[owner].owner + (size_t)pt.rank * WORDS * 8;
}

/* Where it is, how it is called, how it is waited for. */
struct way {
	gex_AD_t ad;
	gex_Rank_t rank;
	gex_OP_t op;
	gex_Flags_t flags;
	int known; /* is the code a constant where the call stands? */
	enum { EXPLICIT, IMPLICIT, IN_REGION, MANNERS } manner;
};

static gex_Flags_t
some_flags(struct pt_rng *rng, gex_Rank_t rank)
{
	gex_Flags_t flags = 0;

	if (pt_rand_below(rng, 2))
		flags |= GEX_FLAG_AD_REL;
	if (pt_rand_below(rng, 2))
		flags |= GEX_FLAG_AD_ACQ;
	if (pt_rand_below(rng, 4) == 0)
		flags |= GEX_FLAG_IMMEDIATE;
	if (pt_rand_below(rng, 4) == 0 && ratomic_of_job())
		flags |= GEX_FLAG_RANK_IS_JOBRANK;
	switch (pt_rand_below(rng, 4)) {
	case 0:
		if (rank == pt.rank)
			flags |= GEX_FLAG_AD_MY_RANK;
		break;
	case 1:
		if (pt.peers[rank].local)
			flags |= GEX_FLAG_AD_MY_NBRHD;
	}
	return flags;
}

static struct way
some_way(struct pt_rng *rng, gex_AD_t ad, gex_Rank_t rank, gex_OP_t op)
{
	struct way way = { .ad = ad, .rank = rank, .op = op, .flags = some_flags(rng, rank) };

	way.known = (int)pt_rand_below(rng, 2);
	way.manner = (unsigned)pt_rand_below(rng, MANNERS);
	return way;
}

#define NB_CASE(code, T, type)                                                                     \
	case GEX_OP_##code:                                                                        \
		return gex_AD_OpNB_##T(way->ad, result, way->rank, target, GEX_OP_##code, a, b,    \
		                       flags);
#define NBI_CASE(code, T, type)                                                                    \
	case GEX_OP_##code:                                                                        \
		return gex_AD_OpNBI_##T(way->ad, result, way->rank, target, GEX_OP_##code, a, b,   \
		                        flags);

/* What the operation leaves behind. */
#define AFTER_ARITHMETIC(T, type, wrap) \
	static type \
	after_arithmetic_##T(gex_OP_t op, type before, type a, type b) \
	{ \
		switch (GEX_OP_TO_FETCHING(op)) { \
		case GEX_OP_FADD: return (type)((wrap)before + (wrap)a); \
		case GEX_OP_FSUB: return (type)((wrap)before - (wrap)a); \
		case GEX_OP_FMULT: return (type)((wrap)before * (wrap)a); \
		case GEX_OP_FINC: return (type)((wrap)before + 1); \
		case GEX_OP_FDEC: return (type)((wrap)before - 1); \
		case GEX_OP_FMIN: return before < a ? before : a; \
		case GEX_OP_FMAX: return before > a ? before : a; \
		case GEX_OP_SWAP: return a; \
		case GEX_OP_FCAS: return memcmp(&before, &a, sizeof(a)) == 0 ? b : before; \
		default: return before; \
		} \
	}

#define INTEGER(T, type, wrap, codes) \
	AFTER_ARITHMETIC(T, type, wrap) \
	static type \
	after_##T(gex_OP_t op, type before, type a, type b) \
	{ \
		switch (GEX_OP_TO_FETCHING(op)) { \
		case GEX_OP_FAND: return before & a; \
		case GEX_OP_FOR: return before | a; \
		case GEX_OP_FXOR: return before ^ a; \
		default: return after_arithmetic_##T(op, before, a, b); \
		} \
	} \
	static type \
	some_##T(struct pt_rng *rng) \
	{ \
		const wrap top = (wrap)1 << (sizeof(type) * 8 - 1); \
		const wrap values[] = { 0, 1, (wrap)-1, top, top - 1, 3, (wrap)-7 }; \
		const uint64_t pick = pt_rand_below(rng, 2 * PT_COUNT(values)); \
\
		return (type)(pick < PT_COUNT(values) ? values[pick] : (wrap)pt_rand(rng)); \
	}
INTEGER_TYPES(INTEGER)

/* Values whose sums and products are exact. */
#define FLOAT(T, type, wrap, codes) \
	AFTER_ARITHMETIC(T, type, wrap) \
	static type \
	after_##T(gex_OP_t op, type before, type a, type b) \
	{ \
		return after_arithmetic_##T(op, before, a, b); \
	} \
	static type \
	some_##T(struct pt_rng *rng) \
	{ \
		return (type)((double)pt_rand_below(rng, 2001) - 1000) / 4; \
	}
FLOAT_TYPES(FLOAT)

/* One call, waited for; an IMMEDIATE one that is refused has changed nothing, and is made again. */
#define STEPS(T, type, wrap, codes) \
	static gex_Event_t \
	nb_##T(const struct way *way, type *result, void *target, type a, type b, \
	       gex_Flags_t flags) \
	{ \
		if (way->known) \
			switch (way->op) { codes(NB_CASE, T, type) } \
		return gex_AD_OpNB_##T(way->ad, result, way->rank, target, way->op, a, b, flags); \
	} \
	static int \
	nbi_##T(const struct way *way, type *result, void *target, type a, type b, \
	        gex_Flags_t flags) \
	{ \
		if (way->known) \
			switch (way->op) { codes(NBI_CASE, T, type) } \
		return gex_AD_OpNBI_##T(way->ad, result, way->rank, target, way->op, a, b, flags); \
	} \
	static void \
	call_##T(const struct way *way, type *result, void *target, type a, type b) \
	{ \
		const gex_Flags_t again = way->flags & ~(gex_Flags_t)GEX_FLAG_IMMEDIATE; \
		gex_Event_t event; \
\
		if (way->manner == EXPLICIT) { \
			event = nb_##T(way, result, target, a, b, way->flags); \
			if (event == GEX_EVENT_NO_OP) \
				event = nb_##T(way, result, target, a, b, again); \
			gex_Event_Wait(event); \
			return; \
		} \
		if (way->manner == IN_REGION) \
			gex_NBI_BeginAccessRegion(0); \
		if (nbi_##T(way, result, target, a, b, way->flags)) \
			PT_EQ(nbi_##T(way, result, target, a, b, again), 0); \
		if (way->manner == IN_REGION) \
			gex_Event_Wait(gex_NBI_EndAccessRegion(0)); \
		else \
			gex_NBI_Wait(ratomic_category(way->op), 0); \
	} \
	static void \
	same_##T(type got, type wanted, const struct way *way, const char *what) \
	{ \
		if (memcmp(&got, &wanted, sizeof(got))) \
			PT_FAIL("operation 0x%x of " #T " at rank %u, flags 0x%x, manner %d, " \
			        "known %d: %s is %.17g, not %.17g", way->op, way->rank, way->flags,\
			        (int)way->manner, way->known, what, (double)got, (double)wanted); \
	} \
	static void \
	step_##T(struct pt_rng *rng, gex_AD_t ad, gex_Rank_t rank, gex_OP_t op) \
	{ \
		const struct way set = some_way(rng, ad, rank, GEX_OP_SET); \
		const struct way get = some_way(rng, ad, rank, GEX_OP_GET); \
		const struct way way = some_way(rng, ad, rank, op); \
		type before = some_##T(rng), a = some_##T(rng), b = some_##T(rng), result = 77; \
		char *target = own_words(rank) + TARGET * 8 + (pt_rand(rng) & 4 & sizeof(type)); \
\
		if (pt_rand_below(rng, 2)) \
			a = before; \
		call_##T(&set, NULL, target, before, 0); \
		call_##T(&way, ratomic_fetches(op) || pt_rand_below(rng, 2) ? &result : NULL, \
		         target, a, b); \
		same_##T(result, ratomic_fetches(op) ? before : 77, &way, "the result"); \
		call_##T(&get, &result, target, b, a); \
		same_##T(result, after_##T(op, before, a, b), &way, "what it leaves"); \
		PT_CHECK(1); \
	} \
	static void \
	all_##T(struct pt_rng *rng) \
	{ \
		const gex_OP_t ops = ratomic_all_ops(GEX_DT_##T); \
		gex_AD_t ad; \
\
		pt_phase(#T); \
		gex_AD_Create(&ad, pt.tm, GEX_DT_##T, ops, 0); \
		for (gex_Rank_t rank = 0; rank < pt.size; rank++) \
			for (gex_OP_t op = 1; op; op <<= 1) \
				for (unsigned long i = pt_scale(3, 10); ops & op && i > 0; i--) \
					step_##T(rng, ad, rank, op); \
		pt_barrier(); \
		gex_AD_Destroy(ad); \
	}
TYPES(STEPS)

/* Words beside the targets stay. */
static const uint64_t guard = UINT64_C(0x5a5a5a5a5a5a5a5a);

static void
put_guards(void)
{
	for (gex_Rank_t rank = 0; rank < pt.size; rank++)
		for (size_t word = 0; word < WORDS; word++)
			PT_OK(gex_RMA_PutBlockingVal(pt.tm, rank, own_words(rank) + word * 8, guard,
			                             8, 0));
}

static void
check_guards(void)
{
	for (gex_Rank_t rank = 0; rank < pt.size; rank++)
		for (size_t word = 0; word < WORDS; word++)
			if (word != TARGET)
				PT_CHECK(gex_RMA_GetBlockingVal(pt.tm, rank,
				                                own_words(rank) + word * 8, 8,
				                                0) == guard);
}

int
main(int argc, char **argv)
{
	struct pt_rng rng;
	const int guarded = argc < 2 || strcmp(argv[1], "client");

	ratomic_start(argc, argv, 64 * WORDS * 8);
	rng = pt_rng_make(pt.rank);
	if (guarded)
		put_guards();
#define ALL(T, type, wrap, codes) all_##T(&rng);
	TYPES(ALL)
	if (guarded)
		check_guards();
	pt_finish();
}
