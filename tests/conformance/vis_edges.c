/*
 * Vector, indexed and strided transfers at their edges: nothing to move, one piece, arguments that
 * are ignored, very many dimensions, source bytes taken twice, access regions, and a handler at the
 * target.
 */
#include <gasnet.h>
#include <gasnet_vis.h>

#include "tests/lib/pt.h"

enum { AREA = 8192, TELL = 200, NO_RANK = 1000000 };

static PT_OWN gex_Rank_t peer;
static PT_OWN char *remote;                    /* our area at the peer */
static PT_OWN unsigned char local[AREA], back[AREA];

static PT_OWN pt_count told;
static PT_OWN size_t told_bytes;
static PT_OWN unsigned char told_first;
static PT_OWN int told_data;

static void
on_tell(gex_Token_t token, void *buf, size_t nbytes)
{
	const gex_Rank_t from = pt_source(token);
	const unsigned char *area = (unsigned char *)pt.base + (size_t)from * AREA;

	told_bytes = nbytes;
	told_first = nbytes ? *(unsigned char *)buf : 0;
	told_data = area[0];
	PT_INC(told);
}

static gex_AM_Entry_t handlers[] = { PT_HANDLER(TELL, on_tell, PT_REP_MEDIUM, 0) };

static void
read_back(void)
{
	PT_OK(gex_RMA_GetBlocking(pt.tm, back, peer, remote, AREA, 0));
}

static void
clear(void)
{
	memset(back, 0, AREA);
	PT_OK(gex_RMA_PutBlocking(pt.tm, peer, remote, back, AREA, 0));
	for (size_t i = 0; i < AREA; i++)
		local[i] = pt_byte(7, i);
}

/* -- nothing ---------------------------------------------------------------------------------- */

static void
nothing_strided(void)
{
	const size_t counts[] = { 3, 0, 2 };
	const ptrdiff_t strides[] = { 1, 1, 1 };

	PT_OK(gex_VIS_StridedPutBlocking(GEX_TM_INVALID, NO_RANK, NULL, NULL, NULL, NULL, 0, NULL,
	                                 5, 0));
	PT_OK(gex_VIS_StridedGetNBI(GEX_TM_INVALID, NULL, NULL, NO_RANK, NULL, NULL, 0, NULL, 5,
	                            0));
	gex_Event_Wait(gex_VIS_StridedPutNB(GEX_TM_INVALID, NO_RANK, NULL, strides, NULL, strides,
	                                    8, counts, 3, GEX_FLAG_ENABLE_LEAF_LC));
	PT_OK(gex_VIS_StridedGetBlocking(GEX_TM_INVALID, NULL, strides, NO_RANK, NULL, strides, 8,
	                                 counts, 3, 0));
	if (!pt_is_thread())
		gasnet_puts_bulk(peer, NULL, NULL, NULL, NULL, &counts[1], 2);
	gex_NBI_Wait(GEX_EC_ALL, 0);
}

static void
nothing_listed(void)
{
	const gex_Memvec_t empty[] = { { NULL, 0 }, { NULL, 0 } };
	void *const addresses[] = { NULL, NULL };

	PT_OK(gex_VIS_VectorPutBlocking(pt.tm, peer, 0, NULL, 0, NULL, 0));
	PT_OK(gex_VIS_VectorPutBlocking(pt.tm, peer, 2, empty, 0, NULL, 0));
	PT_OK(gex_VIS_VectorGetBlocking(pt.tm, 0, NULL, peer, 2, empty, 0));
	PT_OK(gex_VIS_IndexedPutBlocking(pt.tm, peer, 0, NULL, 8, 2, addresses, 0, 0));
	PT_OK(gex_VIS_IndexedGetBlocking(pt.tm, 2, addresses, 0, peer, 0, NULL, 16, 0));
	if (pt_is_thread())
		return;
	gasnet_putv_bulk(peer, 0, NULL, 0, NULL);
	gasnet_geti_bulk(0, NULL, 0, peer, 0, NULL, 0);
}

/* -- one, and very many ----------------------------------------------------------------------- */

/* Of stridelevels 0 the arrays are ignored. */
static void
one_piece(void)
{
	const size_t legacy[] = { 100 };

	clear();
	PT_OK(gex_VIS_StridedPutBlocking(pt.tm, peer, remote, NULL, local, NULL, 1000, NULL, 0, 0));
	if (pt_is_thread())     /* legacy calls name processes */
		PT_OK(gex_RMA_PutBlocking(pt.tm, peer, remote + 2000, local + 2000, legacy[0], 0));
	else
		gasnet_puts_bulk(peer, remote + 2000, NULL, local + 2000, NULL, legacy, 0);
	read_back();
	PT_MEM(back, 1000, 7);
	PT_EQ(back[1000], 0);
	PT_EQ(memcmp(back + 2000, local + 2000, 100), 0);
	PT_EQ(back[2100], 0);
	memset(local, 0, AREA);
	PT_OK(gex_VIS_StridedGetBlocking(pt.tm, local, NULL, peer, remote, NULL, 1000, NULL, 0, 0));
	PT_MEM(local, 1000, 7);
	PT_EQ(local[1000], 0);
}

/* Dimensions of one point mean nothing, however many; 12 of two points reverse the bits of an
 * index. */
static void
many_dimensions(void)
{
	enum { BITS = 12, ALL = 1 << BITS, ONES = 200 };
	ptrdiff_t dst[BITS + ONES], src[BITS + ONES];
	size_t counts[BITS + ONES];

	clear();
	for (size_t k = 0; k < BITS + ONES; k++) {
		const size_t bit = k / 2;
		const int real = k % 2 && bit < BITS;

		counts[k] = real ? 2 : 1;
		dst[k] = real ? (ptrdiff_t)1 << bit : (ptrdiff_t)1 << 62;
		src[k] = real ? (ptrdiff_t)1 << (BITS - 1 - bit) : 3;
	}
	PT_OK(gex_VIS_StridedPutBlocking(pt.tm, peer, remote, dst, local, src, 1, counts,
	                                 BITS + ONES, 0));
	read_back();
	for (size_t i = 0; i < ALL; i++) {
		size_t reversed = 0;

		for (unsigned bit = 0; bit < BITS; bit++)
			reversed |= (i >> bit & 1) << (BITS - 1 - bit);
		PT_EQ(back[i], local[reversed]);
	}
}

/* A source byte may go to many places: by stride 0, and by a list that names it often. */
static void
spread(void)
{
	enum { TIMES = 50 };
	const size_t counts[] = { TIMES };
	const ptrdiff_t apart[] = { 10 }, still[] = { 0 };
	void *same[TIMES], *to[] = { remote + 4000 };

	clear();
	PT_OK(gex_VIS_StridedPutBlocking(pt.tm, peer, remote, apart, local, still, 8, counts, 1,
	                                 0));
	for (size_t i = 0; i < TIMES; i++)
		same[i] = local + 3;
	PT_OK(gex_VIS_IndexedPutBlocking(pt.tm, peer, 1, to, 5 * TIMES, TIMES, same, 5, 0));
	read_back();
	for (size_t i = 0; i < TIMES; i++) {
		PT_EQ(memcmp(back + 10 * i, local, 8), 0);
		PT_EQ(back[10 * i + 8] | back[10 * i + 9], 0);
		PT_EQ(memcmp(back + 4000 + 5 * i, local + 3, 5), 0);
	}
}

/* -- with other operations -------------------------------------------------------------------- */

/* All implicit ones belong to the region, through a pair of endpoints too. */
static void
in_a_region(void)
{
	const gex_TM_t pair = pt_pair(peer);
	const gex_Memvec_t to = { remote + 100, 50 }, from = { local + 300, 50 };
	const size_t counts[] = { 5 };
	const ptrdiff_t strides[] = { 16 };
	gex_Event_t event;

	clear();
	gex_NBI_BeginAccessRegion(0);
	PT_OK(gex_VIS_VectorPutNBI(pair, gex_TM_TranslateRankToJobrank(pt.tm, peer), 1, &to, 1,
	                           &from, 0));
	PT_OK(gex_VIS_StridedPutNBI(pt.tm, peer, remote + 1000, strides, local, strides, 4, counts,
	                            1, GEX_FLAG_ENABLE_LEAF_LC));
	event = gex_NBI_EndAccessRegion(0);
	gex_Event_Wait(gex_Event_QueryLeaf(event, GEX_EC_LC));
	gex_Event_Wait(event);
	read_back();
	PT_EQ(memcmp(back + 100, local + 300, 50), 0);
	for (size_t i = 0; i < 5; i++)
		PT_EQ(memcmp(back + 1000 + 16 * i, local + 16 * i, 4), 0);
}

/* Many at once, synchronised in any order. */
static void
many_events(void)
{
	enum { EVENTS = 60, BYTES = 120 };
	gex_Event_t events[EVENTS];
	gex_Memvec_t to[EVENTS], from[EVENTS][2];

	clear();
	for (size_t i = 0; i < EVENTS; i++) {
		unsigned char *source = local + BYTES * i;

		to[i] = (gex_Memvec_t){ remote + BYTES * (EVENTS - 1 - i), BYTES };
		from[i][0] = (gex_Memvec_t){ source + BYTES / 2, BYTES / 2 };
		from[i][1] = (gex_Memvec_t){ source, BYTES / 2 };
		events[i] = gex_VIS_VectorPutNB(pt.tm, peer, 1, &to[i], 2, from[i], 0);
	}
	gex_Event_WaitAll(events, EVENTS, 0);
	read_back();
	for (size_t i = 0; i < EVENTS; i++) {
		const unsigned char *got = back + BYTES * (EVENTS - 1 - i);

		PT_EQ(memcmp(got, local + BYTES * i + BYTES / 2, BYTES / 2), 0);
		PT_EQ(memcmp(got + BYTES / 2, local + BYTES * i, BYTES / 2), 0);
	}
}

/* -- without waiting -------------------------------------------------------------------------- */

enum { DEAF_PIECE = 1000, DEAF_STEP = 1024, DEAF_PIECES = 3000 };

/* The upper half of the ranks calls nothing until the lower has started all; were that to wait for
 * room at the peer, it would be for ever. */
static void
deaf_peer(int put)
{
	volatile char *const heard = pt.base + AREA * pt.size;
	const gex_Rank_t half = pt.size / 2,
			 other = pt.rank < half ? pt.rank + half : pt.rank - half;
	char *const there = pt.peers[other].owner + AREA * (pt.size + 1);
	const ptrdiff_t far[] = { DEAF_STEP }, near[] = { DEAF_PIECE };
	const size_t counts[] = { DEAF_PIECES };
	char *here = malloc((size_t)DEAF_PIECE * DEAF_PIECES);
	gex_Event_t event;

	PT_CHECK(here != NULL);
	*heard = 0;
	pt_barrier();
	if (pt.rank >= half) {
		while (!*heard)
			pt_spin_ms(1);
	} else {
		memset(here, 0x31, (size_t)DEAF_PIECE * DEAF_PIECES);
		event = put ? gex_VIS_StridedPutNB(pt.tm, other, there, far, here, near, DEAF_PIECE,
		                                   counts, 1,
		                                   GEX_FLAG_IMMEDIATE | GEX_FLAG_ENABLE_LEAF_LC)
		            : gex_VIS_StridedGetNB(pt.tm, here, near, other, there, far, DEAF_PIECE,
		                                   counts, 1, GEX_FLAG_IMMEDIATE);
		PT_CHECK(event != GEX_EVENT_NO_OP);
		pt.peers[other].local[AREA * pt.size] = 1;
		if (put) {
			gex_Event_Wait(gex_Event_QueryLeaf(event, GEX_EC_LC));
			memset(here, 0, (size_t)DEAF_PIECE * DEAF_PIECES);
		}
		gex_Event_Wait(event);
		for (size_t i = 0; i < DEAF_PIECES; i++)
			PT_EQ(here[DEAF_PIECE * i + i % DEAF_PIECE], put ? 0 : 0x31);
	}
	pt_barrier();
	for (size_t i = 0; i < DEAF_PIECES && pt.rank >= half; i++) {
		const char *piece = pt.base + AREA * (pt.size + 1) + DEAF_STEP * i;

		PT_EQ(piece[0] & piece[i % DEAF_PIECE] & piece[DEAF_PIECE - 1], 0x31);
		PT_EQ(piece[DEAF_PIECE], 0);
	}
	free(here);
	pt_barrier();
}

static void
deaf_peers(void)
{
	pt_phase("peers that do not listen");
	if (pt.size % 2 || !pt.peers[(pt.rank + pt.size / 2) % pt.size].local)
		return;
	memset(pt.base + AREA * (pt.size + 1), 0, (size_t)DEAF_STEP * DEAF_PIECES);
	deaf_peer(1);
	deaf_peer(0);
}

/* -- a handler at the target ------------------------------------------------------------------ */

/* Every rank tells the one above it, and is told by the one below. */
static void
wait_told(int times, size_t nbytes, int first, int data)
{
	GASNET_BLOCKUNTIL(PT_GET(told) >= times);
	pt_barrier();
	PT_EQ(PT_GET(told), times);
	PT_EQ(told_bytes, nbytes);
	PT_EQ(told_first, first);
	PT_EQ(told_data, data);
	pt_barrier();
}

static void
peer_completion(void)
{
	unsigned char payload[GEX_VIS_MAX_PEERCOMPLETION], data = 77;
	const gex_Memvec_t to = { remote, 1 }, from = { &data, 1 };
	gex_Event_t event;

	memset(payload, 55, sizeof(payload));
	clear();
	pt_barrier();
	gex_VIS_SetPeerCompletionHandler(TELL, payload, sizeof(payload), 0);
	PT_OK(gex_VIS_VectorPutBlocking(pt.tm, peer, 1, &to, 1, &from, 0));
	wait_told(1, sizeof(payload), 55, 77);

	gex_VIS_SetPeerCompletionHandler(TELL, NULL, 0, 0);     /* not consumed by other calls */
	PT_OK(gex_RMA_PutBlockingVal(pt.tm, peer, remote, 78, 1, 0));
	event = gex_VIS_VectorPutNB(pt.tm, peer, 0, NULL, 0, NULL, 0);
	wait_told(2, 0, 0, 78);
	gex_Event_Wait(event);

	gex_VIS_SetPeerCompletionHandler(TELL, payload, 1, 0);
	gex_VIS_SetPeerCompletionHandler(0, NULL, 0, 0);
	data = 79;
	PT_OK(gex_VIS_VectorPutNBI(pt.tm, peer, 1, &to, 1, &from, 0));
	gex_NBI_Wait(GEX_EC_PUT, 0);
	wait_told(2, 0, 0, 78);
	gex_VIS_SetPeerCompletionHandler(TELL, payload, 1, 0);
	data = 80;
	PT_OK(gex_VIS_VectorPutNBI(pt.tm, peer, 1, &to, 1, &from, GEX_FLAG_ENABLE_LEAF_LC));
	gex_NBI_Wait(GEX_EC_ALL, 0);
	wait_told(3, 1, 55, 80);
}

int
main(int argc, char **argv)
{
	pt_start(&argc, &argv, handlers, PT_COUNT(handlers), 64 * AREA + DEAF_STEP * DEAF_PIECES);
	peer = (pt.rank + 1) % pt.size;
	remote = pt.peers[peer].owner + (size_t)pt.rank * AREA;
	nothing_strided();
	nothing_listed();
	one_piece();
	many_dimensions();
	spread();
	in_a_region();
	many_events();
	pt_barrier();
	peer_completion();
	if (!pt_is_thread())
		deaf_peers();
	pt_finish();
}
