/*
 * Random collectives of random teams, several under way at once, compared with what each rank works
 * out for itself.  Teams are split off the job's, used, and ended at any time.
 *
 * PT_CALLS calls (as the level says), over PT_TEAMS splits at a time (6); with PT_TURN, one split
 * after the other has so many calls; with PT_REPRODUCIBLE=1, reductions are.
 * tests/job/t_offload_random runs it over devices with faults.
 */
#include <penstock.h>

#include "tests/lib/pt.h"

#include <stdbool.h>

enum { OPEN = 4, MOST_RANKS = 64, MOST_ELEMS = 700, MOST_TEAMS = 256 };
enum kind {
	BARRIER, BCAST, SUM_U32, MAX_I64, XOR_U64, MIN_DBL, SUM_FLT,
	GATHER_U32, GATHER_I64, PARTS_U32, PARTS_I64,   /* of all to all; of a sum, one to each */
	KINDS
};

/* One part of a split, with the calling rank in it. */
struct team {
	gex_TM_t tm;
	gex_Rank_t size, ranks[MOST_RANKS];     /* of pt.tm */
};

struct call {
	gex_Event_t event;
	const struct team *team;
	enum kind kind;
	uint64_t number;
	gex_Rank_t root;
	bool in_place;                  /* one with blocks */
	size_t elems;                   /* of a block */
	union {
		uint32_t u32[MOST_ELEMS];
		int64_t i64[MOST_ELEMS];
		uint64_t u64[MOST_ELEMS];
		double dbl[MOST_ELEMS];
		float flt[MOST_ELEMS];
	} src, dst;
};

static PT_OWN struct team teams[MOST_TEAMS];
static PT_OWN unsigned team_count;
static PT_OWN struct call calls[OPEN];
static PT_OWN gex_Flags_t flags;        /* of reductions */

/* -- teams ------------------------------------------------------------------------------------- */

static void
team_end(struct team *team)
{
	if (team->tm)
		gex_TM_Destroy(team->tm, NULL, 0);
	team->tm = NULL;
}

/* Ranks take themselves to one of a few parts, which differ from split to split. */
static void
team_make(struct team *team, uint64_t draw)
{
	const uint64_t parts = draw % 3 ? 1 : 2;
	const uint64_t own = (draw >> 8) ^ pt.rank * 0x9e3779b97f4a7c15u;

	team->tm = pt_split(pt.tm, (int)((own >> 20) % parts), (int)(draw >> 40 & 1 ? -(int)pt.rank
	                                                                           : (int)pt.rank));
	team->size = gex_TM_QuerySize(team->tm);
	PT_LE(team->size, MOST_RANKS);
	for (gex_Rank_t rank = 0; rank < team->size; rank++)
		team->ranks[rank] = pt_rank_in(team->tm, rank);
}

/* -- operands and results ---------------------------------------------------------------------- */

static bool
gathers(const struct call *call)
{
	return call->kind == GATHER_U32 || call->kind == GATHER_I64;
}

static bool
has_parts(const struct call *call)
{
	return call->kind == PARTS_U32 || call->kind == PARTS_I64;
}

static size_t
elem_bytes(enum kind kind)
{
	return kind == GATHER_I64 || kind == PARTS_I64 ? 8 : 4;
}

/* How many elements a member gives, and gets. */
static size_t
elems_given(const struct call *call)
{
	return call->elems * (has_parts(call) ? call->team->size : 1);
}

static size_t
elems_got(const struct call *call)
{
	return call->kind == BARRIER ? 0 : call->elems * (gathers(call) ? call->team->size : 1);
}

/* A call in place has this rank's own block within the vector of all blocks. */
static char *
own_block(const struct call *call, void *blocks)
{
	return (char *)blocks +
	       gex_TM_QueryRank(call->team->tm) * call->elems * elem_bytes(call->kind);
}

/* Small numbers, so that sums of floats are exact in any order. */
static int64_t
operand(const struct call *call, gex_Rank_t rank, size_t i)
{
	const uint64_t x = (call->number * 131 + rank * 17 + i + 1) * 0x9e3779b97f4a7c15u;

	return (int64_t)(x >> 48) - 30000;
}

static void
elem_set(struct call *call, size_t i, int64_t value)
{
	switch (call->kind) {
	case GATHER_I64:
	case PARTS_I64:
	case MAX_I64: call->src.i64[i] = value; break;
	case XOR_U64: call->src.u64[i] = (uint64_t)value; break;
	case MIN_DBL: call->src.dbl[i] = (double)value; break;
	case SUM_FLT: call->src.flt[i] = (float)value; break;
	default: call->src.u32[i] = (uint32_t)value; break;
	}
}

static int64_t
combined(enum kind kind, int64_t a, int64_t b)
{
	switch (kind) {
	case PARTS_I64:
	case MAX_I64: return a > b ? a : b;
	case MIN_DBL: return a < b ? a : b;
	case XOR_U64: return (int64_t)((uint64_t)a ^ (uint64_t)b);
	default: return a + b;
	}
}

static int64_t
expected(const struct call *call, size_t i)
{
	int64_t result;

	if (gathers(call))
		return operand(call, call->team->ranks[i / call->elems], i % call->elems);
	if (has_parts(call))
		i += gex_TM_QueryRank(call->team->tm) * call->elems;
	result = operand(call, call->team->ranks[call->kind == BCAST ? call->root : 0], i);
	for (gex_Rank_t rank = 1; call->kind != BCAST && rank < call->team->size; rank++)
		result = combined(call->kind, result, operand(call, call->team->ranks[rank], i));
	return result;
}

static void
elem_check(const struct call *call, size_t i)
{
	const int64_t value = expected(call, i);

	switch (call->kind) {
	case GATHER_I64:
	case PARTS_I64:
	case MAX_I64: PT_EQ(call->dst.i64[i], value); break;
	case XOR_U64: PT_EQ(call->dst.u64[i], value); break;
	case MIN_DBL: PT_EQ(call->dst.dbl[i], value); break;
	case SUM_FLT: PT_EQ(call->dst.flt[i], value); break;
	default: PT_EQ(call->dst.u32[i], (uint32_t)value); break;
	}
}

/* -- calls ------------------------------------------------------------------------------------- */

#define ALLREDUCE(dt, bytes, op) \
	pst_allreduce_nb(tm, &call->dst, &call->src, dt, bytes, call->elems, op, NULL, NULL, flags)

static gex_Event_t
gather_start(struct call *call)
{
	const size_t block_bytes = call->elems * elem_bytes(call->kind);
	void *src = &call->src;

	if (call->in_place)
		src = memcpy(own_block(call, &call->dst), src, block_bytes);
	return pst_gather_all_nb(call->team->tm, &call->dst, src, block_bytes, 0);
}

/* A call in place leaves its result in src; it is copied to dst when the call is over. */
static gex_Event_t
parts_start(struct call *call)
{
	void *dst = call->in_place ? own_block(call, &call->src) : (void *)&call->dst;

	return pst_reduce_scatter_nb(call->team->tm, dst, &call->src,
	                             call->kind == PARTS_I64 ? GEX_DT_I64 : GEX_DT_U32,
	                             elem_bytes(call->kind), call->elems,
	                             call->kind == PARTS_I64 ? GEX_OP_MAX : GEX_OP_ADD, NULL, NULL,
	                             flags);
}

static gex_Event_t
call_start(struct call *call)
{
	const gex_TM_t tm = call->team->tm;

	switch (call->kind) {
	case BARRIER: return pst_barrier_nb(tm, 0);
	case BCAST: return pst_bcast_nb(tm, call->root, &call->dst, &call->src, 4 * call->elems, 0);
	case SUM_U32: return ALLREDUCE(GEX_DT_U32, 4, GEX_OP_ADD);
	case MAX_I64: return ALLREDUCE(GEX_DT_I64, 8, GEX_OP_MAX);
	case XOR_U64: return ALLREDUCE(GEX_DT_U64, 8, GEX_OP_XOR);
	case GATHER_U32:
	case GATHER_I64: return gather_start(call);
	case PARTS_U32:
	case PARTS_I64: return parts_start(call);
	case MIN_DBL: return ALLREDUCE(GEX_DT_DBL, 8, GEX_OP_MIN);
	default: return ALLREDUCE(GEX_DT_FLT, 4, GEX_OP_ADD);
	}
}

static void
call_finish(struct call *call)
{
	if (!call->team)
		return;
	gex_Event_Wait(call->event);
	if (has_parts(call) && call->in_place)
		memcpy(&call->dst, own_block(call, &call->src),
		       call->elems * elem_bytes(call->kind));
	for (size_t i = 0; i < elems_got(call); i++)
		elem_check(call, i);
	call->team = NULL;
}

static void
call_begin(struct call *call, const struct team *team, uint64_t number, uint64_t draw)
{
	call_finish(call);
	call->team = team;
	call->number = number;
	call->kind = (enum kind)(draw % KINDS);
	call->root = (gex_Rank_t)((draw >> 8) % team->size);
	call->in_place = draw >> 60 & 1;
	call->elems = draw >> 32 & 7 ? 1 + (draw >> 40) % 8 : 1 + (draw >> 40) % MOST_ELEMS;
	if ((gathers(call) || has_parts(call)) && call->elems > MOST_ELEMS / team->size)
		call->elems = MOST_ELEMS / team->size;
	memset(&call->dst, 0xee, sizeof call->dst);
	for (size_t i = 0; i < elems_given(call); i++)
		elem_set(call, i, operand(call, pt.rank, i));
	call->event = call_start(call);
}

static unsigned long
setting(const char *name, unsigned long otherwise)
{
	const char *text = getenv(name);

	return text ? strtoul(text, NULL, 10) : otherwise;
}

/* One of some calls makes way for a new team instead. */
static void
step(uint64_t number, unsigned long turn, struct pt_rng *same)
{
	const uint64_t draw = pt_rand(same), which = pt_rand(same);
	struct team *team = &teams[(turn ? number / turn : which) % team_count];

	if (!turn && pt_rand_below(same, 40) == 0) {
		for (unsigned i = 0; i < OPEN; i++)
			if (calls[i].team == team)
				call_finish(&calls[i]);
		team_end(team);
		team_make(team, draw);
	} else {
		call_begin(&calls[number % OPEN], team, number, draw);
	}
}

int
main(int argc, char **argv)
{
	struct pt_rng same;
	unsigned long count, turn;

	pt_start(&argc, &argv, NULL, 0, 4096);
	count = setting("PT_CALLS", pt_scale(200, 1000));
	turn = setting("PT_TURN", 0);
	flags = setting("PT_REPRODUCIBLE", 0) ? PST_REPRODUCIBLE : 0;
	team_count = (unsigned)setting("PT_TEAMS", 6);
	PT_LE(team_count, MOST_TEAMS);
	same = pt_rng_make(1);
	for (unsigned i = 0; i < team_count; i++)
		team_make(&teams[i], turn ? 1 : pt_rand(&same));
	for (uint64_t number = 0; number < count; number++)
		step(number, turn, &same);
	for (unsigned i = 0; i < OPEN; i++)
		call_finish(&calls[i]);
	for (unsigned i = 0; i < team_count; i++)
		team_end(&teams[i]);
	pt_finish();
}
