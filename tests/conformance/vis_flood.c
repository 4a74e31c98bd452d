/*
 * Transfers of many pieces, more than any queue holds, of all ranks to all at once: some that may
 * not wait, and in between Longs, which share the room.
 */
#include <gasnet_vis.h>

#include "tests/lib/pt.h"

enum { REQ_LONG = 128, REP_LONG };
enum { PIECE = 48, STEP = 64, LONG_BYTES = 256 * 1024, ROUNDS = 3 };

static PT_OWN size_t pieces, area_bytes;
static PT_OWN pt_count arrived, answered;
static PT_OWN char *packed, *back, *long_source;

static void
rep_long(gex_Token_t token, void *buf, size_t nbytes)
{
	(void)token, (void)buf;
	PT_EQ(nbytes, LONG_BYTES);
	PT_INC(answered);
}

/* Each rank has two areas and a place for Longs and one for answers, at each other. */
static char *
area_at(gex_Rank_t rank, gex_Rank_t of, size_t number)
{
	const size_t each = 2 * area_bytes + 2 * (size_t)LONG_BYTES;

	return pt.peers[rank].owner + of * each + number * area_bytes;
}

static void
req_long(gex_Token_t token, void *buf, size_t nbytes)
{
	const gex_Rank_t from = pt_source(token);

	PT_MEM(buf, nbytes, from + 100);
	PT_OK(gex_AM_ReplyLong0(token, REP_LONG, buf, nbytes,
	                        area_at(from, pt.rank, 2) + LONG_BYTES, GEX_EVENT_NOW, 0));
	PT_INC(arrived);
}

static gex_Event_t
put(gex_Rank_t rank, size_t number, gex_Flags_t flags)
{
	const ptrdiff_t there[] = { STEP }, here[] = { PIECE };

	return gex_VIS_StridedPutNB(pt.tm, rank, area_at(rank, pt.rank, number), there, packed,
	                            here, PIECE, &pieces, 1, flags);
}

static gex_Event_t
get(gex_Rank_t rank, size_t number, char *to)
{
	const ptrdiff_t there[] = { STEP }, here[] = { PIECE };

	return gex_VIS_StridedGetNB(pt.tm, to, here, rank, area_at(rank, pt.rank, number), there,
	                            PIECE, &pieces, 1, 0);
}

/* May be refused any number of times, and then goes whole. */
static gex_Event_t
put_immediately(gex_Rank_t rank, size_t number)
{
	gex_Event_t event;

	while ((event = put(rank, number, GEX_FLAG_IMMEDIATE)) == GEX_EVENT_NO_OP)
		gasnet_AMPoll();
	return event;
}

static void
flood_others(void)
{
	gex_Event_t *events = malloc(2 * pt.size * sizeof *events);

	for (gex_Rank_t step = 0; step < pt.size; step++) {
		const gex_Rank_t to = (pt.rank + step) % pt.size;

		events[2 * step] = put(to, 0, 0);
		events[2 * step + 1] = put_immediately(to, 1);
		PT_OK(gex_AM_RequestLong0(pt.tm, to, REQ_LONG, long_source, LONG_BYTES,
		                          area_at(to, pt.rank, 2), GEX_EVENT_NOW, 0));
	}
	gex_Event_WaitAll(events, 2 * pt.size, 0);
	free(events);
}

static void
check_others(void)
{
	for (gex_Rank_t rank = 0; rank < pt.size; rank++) {
		for (size_t number = 0; number < 2; number++) {
			memset(back, 0, pieces * PIECE);
			gex_Event_Wait(get(rank, number, back));
			PT_MEM(back, pieces * PIECE, pt.rank);
		}
	}
}

int
main(int argc, char **argv)
{
	gex_AM_Entry_t table[] = {
		PT_HANDLER(REQ_LONG, req_long, PT_REQ_LONG, 0),
		PT_HANDLER(REP_LONG, rep_long, PT_REP_LONG, 0),
	};

	pt_init(&argc, &argv, 0);
	pieces = pt_scale(4000, 16000);
	area_bytes = pieces * STEP;
	pt_attach(table, PT_COUNT(table), pt.size * (2 * area_bytes + 2 * (size_t)LONG_BYTES));
	packed = malloc(pieces * PIECE);
	back = malloc(pieces * PIECE);
	long_source = malloc(LONG_BYTES);
	PT_CHECK(packed && back && long_source);
	pt_fill(packed, pieces * PIECE, pt.rank);
	pt_fill(long_source, LONG_BYTES, pt.rank + 100);
	for (int round = 1; round <= ROUNDS; round++) {
		flood_others();
		check_others();
		GASNET_BLOCKUNTIL(PT_GET(arrived) == round * (int)pt.size &&
		                  PT_GET(answered) == round * (int)pt.size);
		pt_barrier();
	}
	free(packed);
	free(back);
	free(long_source);
	pt_finish();
}
