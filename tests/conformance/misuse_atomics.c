/* Atomic domains and their operations that are used as they may not be. */
#include <gasnet_ratomic.h>

#include "tests/lib/pt_misuse.h"

static uint64_t result;

static gex_AD_t
domain_of(gex_DT_t dt, gex_OP_t ops)
{
	gex_AD_t ad;

	gex_AD_Create(&ad, pt.tm, dt, ops, 0);
	return ad;
}

/* A domain of 64-bit words that adds and reads. */
static gex_AD_t
adder(void)
{
	return domain_of(GEX_DT_U64, GEX_OP_ADD | GEX_OP_FADD | GEX_OP_GET);
}

/* One operation with one thing wrong. */
static void
add(gex_AD_t ad, gex_Rank_t rank, void *target, gex_OP_t op, gex_Flags_t flags)
{
	gex_Event_Wait(gex_AD_OpNB_U64(ad, &result, rank, target, op, 1, 0, flags));
}

static void create_type(void) { (void)domain_of(GEX_DT_I32 | GEX_DT_U32, GEX_OP_ADD); }
static void create_user_type(void) { (void)domain_of(GEX_DT_USER, GEX_OP_ADD); }
static void create_no_ops(void) { (void)domain_of(GEX_DT_I32, 0); }
static void create_bits_of_float(void) { (void)domain_of(GEX_DT_FLT, GEX_OP_ADD | GEX_OP_FXOR); }
static void create_nowhere(void) { gex_AD_Create(NULL, pt.tm, GEX_DT_I32, GEX_OP_ADD, 0); }

static void
create_over_pair(void)
{
	gex_AD_t ad;

	gex_AD_Create(&ad, gex_TM_Pair(pt.ep, 0), GEX_DT_I32, GEX_OP_ADD, 0);
}

static void
create_two_hints(void)
{
	gex_AD_t ad;

	gex_AD_Create(&ad, pt.tm, GEX_DT_I32, GEX_OP_ADD,
	              GEX_FLAG_AD_FAVOR_MY_RANK | GEX_FLAG_AD_FAVOR_REMOTE);
}

static void
create_flag(void)
{
	gex_AD_t ad;

	gex_AD_Create(&ad, pt.tm, GEX_DT_I32, GEX_OP_ADD, GEX_FLAG_IMMEDIATE);
}

/* Each rank its own type. */
static void
create_differently(void)
{
	pt_init(NULL, NULL, 0);
	(void)domain_of(pt.rank ? GEX_DT_I64 : GEX_DT_U64, GEX_OP_ADD);
	pt_barrier();
}

static void no_domain(void) { add(GEX_AD_INVALID, 0, pt.base, GEX_OP_FADD, 0); }
static void query_no_domain(void) { PT_LE(gex_AD_QueryOps(GEX_AD_INVALID), 0); }
static void foreign_domain(void) { PT_LE(gex_AD_QueryOps((gex_AD_t)(void *)&result), 0); }
static void wrong_op(void) { add(adder(), 0, pt.base, GEX_OP_FSUB, 0); }
static void two_ops(void) { add(adder(), 0, pt.base, GEX_OP_ADD | GEX_OP_GET, 0); }
static void misaligned(void) { add(adder(), 0, pt.base + 4, GEX_OP_FADD, 0); }
static void outside(void) { add(adder(), 0, pt.base + pt.segment_bytes, GEX_OP_FADD, 0); }
static void before_segment(void) { add(adder(), 0, pt.base - 8, GEX_OP_ADD, 0); }
static void no_rank(void) { add(adder(), 7, pt.base, GEX_OP_FADD, 0); }
static void unknown_flag(void) { add(adder(), 0, pt.base, GEX_OP_FADD, GEX_FLAG_PEER_SEG_OFFSET); }
static void
two_places(void)
{
	add(adder(), 0, pt.base, GEX_OP_ADD, GEX_FLAG_AD_MY_RANK | GEX_FLAG_AD_MY_NBRHD);
}

static void
wrong_type(void)
{
	int64_t before;

	gex_Event_Wait(gex_AD_OpNB_I64(adder(), &before, 0, pt.base, GEX_OP_FADD, 1, 0, 0));
}

static void
wrong_type_nbi(void)
{
	PT_EQ(gex_AD_OpNBI_FLT(adder(), NULL, 0, pt.base, GEX_OP_ADD, 1, 0, 0), 0);
}

static void
no_result(void)
{
	gex_Event_Wait(gex_AD_OpNB_U64(adder(), NULL, 0, pt.base, GEX_OP_GET, 0, 0, 0));
}

static void
not_mine(void)
{
	gex_AD_t ad;

	pt_init(NULL, NULL, 0);
	pt_attach(NULL, 0, 1);
	ad = adder();
	if (pt.rank == 0)
		add(ad, 1, pt.peers[1].owner, GEX_OP_FADD, GEX_FLAG_AD_MY_RANK);
	pt_barrier();
}

/* A domain of a team of one's own. */
static void
other_team(void)
{
	gex_TM_t tm;
	gex_AD_t ad;

	pt_init(NULL, NULL, 0);
	pt_attach(NULL, 0, 1);
	(void)gex_TM_Split(&tm, pt.tm, (int)pt.rank, 0, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
	gex_AD_Create(&ad, tm, GEX_DT_U64, GEX_OP_FADD, 0);
	if (pt.rank == 0)
		add(ad, 1, pt.peers[1].owner, GEX_OP_FADD, GEX_FLAG_RANK_IS_JOBRANK);
	pt_barrier();
}

static void
not_near(void)
{
	gex_AD_t ad;

	setenv("GASNET_SUPERNODE_MAXSIZE", "1", 1);
	pt_init(NULL, NULL, 0);
	pt_attach(NULL, 0, 1);
	ad = adder();
	if (pt.rank == 0)
		add(ad, 1, pt.peers[1].owner, GEX_OP_FADD, GEX_FLAG_AD_MY_NBRHD);
	pt_barrier();
}

static void
after_destroy(void)
{
	gex_AD_t ad = adder();

	gex_AD_Destroy(ad);
	add(ad, 0, pt.base, GEX_OP_FADD, 0);
}

static void
destroy_twice(void)
{
	gex_AD_t ad = adder();

	gex_AD_Destroy(ad);
	gex_AD_Destroy(ad);
}

static void
in_handler(gex_Token_t token)
{
	(void)token;
	gex_AD_Destroy(GEX_AD_INVALID);
}

static void handler_destroys(void) { pt_misuse_ask(GEX_AM_INDEX_BASE); }

#define CREATE "gex_AD_Create: "
#define U64    "gex_AD_OpNB_U64: "
#define GIVEN  "called with GEX_AD_INVALID; pass one that the library gave"
#define BOUNDS "do not lie in the segment of rank 0, which is * bytes at 0x*; " \
	"gex_EP_QueryBoundSegmentNB tells its bounds"
#define DESTROYED \
	"the atomic domain was destroyed before; destroy it when all ranks have completed their " \
	"operations, and passed a barrier"

static const struct pt_misuse cases[] = {
	{ "create_type", PT_ALWAYS, 1, create_type, "an atomic domain of two types",
	  CREATE "data type 0x3 is not one for atomics; pass one of GEX_DT_I32, U32, I64, U64, "
	         "FLT and DBL",
	  0 },
	{ "create_user_type", PT_ALWAYS, 1, create_user_type,
	  "an atomic domain of the client's "
	  "own type",
	  CREATE "data type 0x40 is not one for atomics; pass one of GEX_DT_I32, U32, I64, U64, "
	         "FLT and DBL",
	  0 },
	{ "create_no_ops", PT_ALWAYS, 1, create_no_ops, "an atomic domain without operations",
	  CREATE "operations 0x0 are none at all; pass those that will be used, of 0x*", 0 },
	{ "create_bits_of_float", PT_ALWAYS, 1, create_bits_of_float, "bits of a floating type",
	  CREATE "operations 0x20000 do not exist for the type; pass those that will be used, of "
	         "0x*",
	  0 },
	{ "create_nowhere", PT_ALWAYS, 1, create_nowhere, "an atomic domain without a place for it",
	  CREATE "ad_p is NULL; pass where the domain goes", 0 },
	{ "create_over_pair", PT_ALWAYS, 1, create_over_pair, "an atomic domain over a pair",
	  CREATE "called with a pair of endpoints; pass a team", 0 },
	{ "create_two_hints", PT_ALWAYS, 1, create_two_hints, "two hints for an atomic domain",
	  CREATE "flags 0x* favour several at once; pass one of GEX_FLAG_AD_FAVOR_* at most", 0 },
	{ "create_flag", PT_ALWAYS, 1, create_flag, "unknown flags for an atomic domain",
	  CREATE "flags 0x1 have no meaning in this call, which takes those of 0x*; leave them "
	         "out",
	  0 },
	{ "create_differently", PT_ALWAYS, 2, create_differently,
	  "an atomic domain of another type on each rank",
	  CREATE "type 0x*, operations 0x8, flags 0x0, but rank * of the team passes 0x*, 0x8, "
	         "0x0; pass the same in all ranks",
	  1 },
	{ "no_domain", PT_ALWAYS, 1, no_domain, "an atomic operation of no domain", U64 GIVEN, 0 },
	{ "query_no_domain", PT_ALWAYS, 1, query_no_domain, "a question about no domain",
	  "gex_AD_QueryOps: " GIVEN, 0 },
	{ "foreign_domain", PT_CHECKED, 1, foreign_domain, "a domain of another process",
	  "gex_AD_QueryOps: 0x* is no atomic domain of this process; pass what gex_AD_Create wrote "
	  "here",
	  0 },
	{ "wrong_op", PT_ALWAYS, 1, wrong_op, "an operation that the domain was not created for",
	  U64 "GEX_OP_FSUB is not among the operations 0x* of the domain; name it when the domain "
	      "is created",
	  0 },
	{ "two_ops", PT_ALWAYS, 1, two_ops, "two operations at once",
	  U64 "operation 0x8000008 is not one code; pass exactly one of GEX_OP_*", 0 },
	{ "misaligned", PT_ALWAYS, 1, misaligned, "a target that is not aligned",
	  U64 "the target at 0x* is not aligned to the 8 bytes of its type; align it", 0 },
	{ "outside", PT_ALWAYS, 1, outside, "a target behind the segment",
	  U64 "8 bytes at 0x* " BOUNDS, 0 },
	{ "before_segment", PT_ALWAYS, 1, before_segment, "a target before the segment",
	  U64 "8 bytes at 0x* " BOUNDS, 0 },
	{ "no_rank", PT_ALWAYS, 1, no_rank, "an atomic at a rank that is not there",
	  U64 "rank 7 does not exist, the team has 1; count from 0", 0 },
	{ "other_team", PT_ALWAYS, 2, other_team,
	  "an atomic at a rank that is not in the domain's "
	  "team",
	  U64 "rank 1 of the job is not in the domain's team; name one that is", 1 },
	{ "unknown_flag", PT_ALWAYS, 1, unknown_flag, "unknown flags on an atomic",
	  U64 "flags 0x400 have no meaning in this call, which takes those of 0x*; leave them out",
	  0 },
	{ "two_places", PT_CHECKED, 1, two_places, "a target said to be in two places",
	  U64 "flags say both GEX_FLAG_AD_MY_RANK and GEX_FLAG_AD_MY_NBRHD; pass one at most", 0 },
	{ "not_mine", PT_CHECKED, 2, not_mine, "a target said to be the caller's own",
	  U64 "GEX_FLAG_AD_MY_RANK, but the target is rank 1; leave it out", 1 },
	{ "not_near", PT_CHECKED, 2, not_near, "a target said to be near, which is not",
	  U64 "GEX_FLAG_AD_MY_NBRHD, but rank 1 is in another neighbourhood; leave it out", 1 },
	{ "wrong_type", PT_ALWAYS, 1, wrong_type, "a call of another type than the domain's",
	  "gex_AD_OpNB_I64: the domain's type is GEX_DT_U64; call gex_AD_OpNB_U64", 0 },
	{ "wrong_type_nbi", PT_ALWAYS, 1, wrong_type_nbi, "the same, implicit",
	  "gex_AD_OpNBI_FLT: the domain's type is GEX_DT_U64; call gex_AD_OpNBI_U64", 0 },
	{ "no_result", PT_CHECKED, 1, no_result, "an operation that fetches to nowhere",
	  U64 "GEX_OP_GET writes to result_p, which is *; pass the address of a variable of the "
	      "type",
	  0 },
	{ "after_destroy", PT_CHECKED, 1, after_destroy, "a domain used after its end",
	  U64 DESTROYED, 0 },
	{ "destroy_twice", PT_CHECKED, 1, destroy_twice, "a domain destroyed twice",
	  "gex_AD_Destroy: " DESTROYED, 0 },
	{ "handler_destroys", PT_CHECKED, 1, handler_destroys, "a domain destroyed by a handler",
	  "gex_AD_Destroy: called in handler 128 (in_handler); a handler may only reply and lock, "
	  "so let another thread do the rest",
	  0 },
};

static gex_AM_Entry_t handlers[] = { PT_HANDLER(GEX_AM_INDEX_BASE, in_handler, PT_REQ_SHORT, 0) };
const struct pt_misuse_set pt_misuse_acts = {
	.cases = cases,
	.count = PT_COUNT(cases),
	.handlers = handlers,
	.handler_count = PT_COUNT(handlers),
};
