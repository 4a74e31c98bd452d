/*
 * The inlined operations of gasnet_ratomic.h: made on the spot exactly where the domain allows it,
 * and otherwise handed to the library, which is this file.
 */
#include "families.h"

#include <gasnet_ratomic.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { WORDS = 8, COUNTS = PSI_RMA_COUNT_ATOMICS + 1 };

/* Rank 1 of 2 owns these words, at other addresses of its own. */
static uint64_t words[WORDS];
static uintptr_t owner_base;
static struct pst_peer owners[2];
static struct gex_AD_s domain;
static uint64_t calls[COUNTS];
static int library_calls;

#if GASNET_PAR
#define COUNT_THERE() (psi_counts_self = calls)
#else
#define COUNT_THERE() (domain.counts = calls)
#endif

#define LIBRARY(DT, type, width)                                                         \
	gex_Event_t psi_AD_OpNB##DT(gex_AD_t ad, type *result_p, gex_Rank_t rank, void *there, \
				     gex_OP_t op, type a, type b, gex_Flags_t flags)     \
	{                                                                                \
		(void)ad, (void)result_p, (void)rank, (void)there, (void)op, (void)a, (void)b; \
		(void)flags;                                                             \
		library_calls++;                                                         \
		return GEX_EVENT_NO_OP;                                                  \
	}                                                                                \
	int psi_AD_OpNBI##DT(gex_AD_t ad, type *result_p, gex_Rank_t rank, void *there, \
			      gex_OP_t op, type a, type b, gex_Flags_t flags)            \
	{                                                                                \
		return psi_AD_OpNB##DT(ad, result_p, rank, there, op, a, b, flags) ==   \
		       GEX_EVENT_NO_OP;                                                  \
	}
PSI_ATOMIC_TYPES(LIBRARY)

static void *
at(size_t offset)
{
	return AS(void *, owner_base + offset);
}

static void
allow(gex_DT_t dt, gex_OP_t ops)
{
	memset(domain.inlined, 0, sizeof(domain.inlined));
	domain.inlined[__builtin_ctz(dt)] = ops;
	domain.size = 2;
	domain.peers = owners;
	owner_base = UINT64_C(0x7fff00002000);
	owners[1].base = owner_base;
	owners[1].size_bytes = sizeof(words);
	owners[1].offset = AS(uintptr_t, words) - owner_base;
	COUNT_THERE();
}

/* Does it stay here? Without an optimiser the compiler knows no code. */
static int
stays(gex_Event_t event)
{
	return event == GEX_EVENT_INVALID;
}
#ifdef __OPTIMIZE__
#define HERE(event) CHECK(stays(event))
#else
#define HERE(event) CHECK(!stays(event))
#endif
#define AWAY(event) CHECK(!stays(event))

#define FADD64(rank, there, op, flags) \
	gex_AD_OpNB_U64(&domain, &before, rank, there, op, 5, 0, flags)

static void
served(void)
{
	uint64_t before = 0;
	double was = 0;

	allow(GEX_DT_U64, GEX_OP_FADD | GEX_OP_ADD | GEX_OP_GET);
	words[2] = 7;
	HERE(FADD64(1, at(16), GEX_OP_FADD, 0));
	HERE(FADD64(1, at(16), GEX_OP_ADD, GEX_FLAG_AD_REL | GEX_FLAG_AD_ACQ | GEX_FLAG_IMMEDIATE));
#ifdef __OPTIMIZE__
	CHECK(before == 7 && words[2] == 17 && words[1] == 0 && words[3] == 0);
	CHECK(calls[PSI_RMA_COUNT_ATOMICS] == 2);
#endif
	allow(GEX_DT_DBL, GEX_OP_FMAX);
	HERE(gex_AD_OpNB_DBL(&domain, &was, 1, at(56), GEX_OP_FMAX, 1.5, 0, 0));
#ifdef __OPTIMIZE__
	memcpy(&was, &words[7], sizeof(was));
	CHECK(was < 1.6 && was > 1.4);
#endif
}

static void
refused(void)
{
	uint64_t before = 0, had[WORDS];
	int32_t word;

	(void)source, (void)target;
	allow(GEX_DT_U64, GEX_OP_FADD | GEX_OP_ADD | GEX_OP_GET);
	memcpy(had, words, sizeof(had));
	calls[PSI_RMA_COUNT_ATOMICS] = 0;
	library_calls = 0;
	AWAY(FADD64(1, at(20), GEX_OP_FADD, 0));
	AWAY(FADD64(1, at(sizeof(words)), GEX_OP_FADD, 0));
	AWAY(FADD64(1, at(0), GEX_OP_SWAP, 0));
	AWAY(FADD64(1, AS(void *, owner_base - 8), GEX_OP_FADD, 0));
	AWAY(FADD64(0, at(0), GEX_OP_FADD, 0));
	AWAY(FADD64(2, at(0), GEX_OP_FADD, 0));
	AWAY(FADD64(1, at(0), GEX_OP_FADD | GEX_OP_GET, 0));
	AWAY(FADD64(1, at(0), GEX_OP_FADD, GEX_FLAG_RANK_IS_JOBRANK));
	AWAY(gex_AD_OpNB_U64(GEX_AD_INVALID, &before, 1, at(0), GEX_OP_FADD, 1, 0, 0));
	AWAY(gex_AD_OpNB_I32(&domain, &word, 1, at(0), GEX_OP_FADD, 1, 0, 0));
	CHECK(gex_AD_OpNBI_I32(&domain, &word, 1, at(0), GEX_OP_FADD, 1, 0, 0) == 1);
	calls[PSI_RMA_COUNT_ATOMICS] = PSI_RMA_CALLS_PER_POLL - 1; /* the one that polls */
	AWAY(FADD64(1, at(0), GEX_OP_FADD, 0));
	CHECK(calls[PSI_RMA_COUNT_ATOMICS] == PSI_RMA_CALLS_PER_POLL - 1);
	CHECK(library_calls == 12);
	CHECK(memcmp(had, words, sizeof(had)) == 0);
}

void
atomics(void)
{
	served();
	refused();
}

#ifdef __cplusplus
}
#endif
