/* gex_Coll_BroadcastNB: any size, root and alignment, in place, early and late, many at once. */
#include <gasnet_coll.h>

#include "tests/lib/pt.h"

enum { GUARD = 64, OPEN = 48 };

/* Random text around and under what is to come, so that a byte too many or too few is seen. */
static unsigned char *
make_buffer(size_t nbytes, size_t shift, uint64_t key)
{
	unsigned char *buf = (unsigned char *)malloc(nbytes + shift + 2 * GUARD);

	PT_CHECK(buf != NULL);
	pt_fill(buf, nbytes + shift + 2 * GUARD, key);
	return buf;
}

static void
check_buffer(const unsigned char *buf, size_t nbytes, size_t shift, uint64_t key, uint64_t around)
{
	const size_t whole = nbytes + shift + 2 * GUARD;

	PT_MEM(buf + GUARD + shift, nbytes, key);
	for (size_t i = 0; i < GUARD + shift; i++)
		PT_EQ(buf[i], pt_byte(around, i));
	for (size_t i = whole - GUARD; i < whole; i++)
		PT_EQ(buf[i], pt_byte(around, i));
}

/* The root's buffer is dst at once if in_place. */
static void
one(gex_Rank_t root, size_t nbytes, size_t shift, int in_place, uint64_t key)
{
	const uint64_t around = key + 1000 + pt.rank;
	unsigned char *dst = make_buffer(nbytes, shift, around);
	unsigned char *src = NULL;
	void *to = dst + GUARD + shift;

	if (pt.rank == root && in_place) {
		pt_fill(to, nbytes, key);
	} else if (pt.rank == root) {
		src = make_buffer(nbytes, 0, around);
		pt_fill(src + GUARD, nbytes, key);
	}
	gex_Event_Wait(gex_Coll_BroadcastNB(pt.tm, root, to, src ? src + GUARD : to, nbytes, 0));
	check_buffer(dst, nbytes, shift, key, around);
	if (src)
		check_buffer(src, nbytes, 0, key, around);
	free(src);
	free(dst);
}

static void
sizes(void)
{
	const size_t medium = gex_AM_LUBRequestMedium();
	const size_t list[] = { 0, 1, 7, 8, 63, 64, 65, 1000, medium - 1, medium, medium + 1,
		                3 * medium + 5, 16 * medium, 16 * medium + 1, 40 * medium + 3 };

	for (size_t i = 0; i < PT_COUNT(list); i++)
		one((gex_Rank_t)(i % pt.size), list[i], i % 5, i % 3 == 1, i + 1);
	for (gex_Rank_t root = 0; root < pt.size; root++)
		one(root, 100, root % 3, 0, root + 100);
	one(pt.size - 1, pt_scale(1, 8) << 20, 3, 0, 77);
}

/* A root does not wait for the others to call, nor a member for its siblings. */
static void
early_and_late(gex_Rank_t late)
{
	uint64_t word = pt.rank == 0 ? 4711 : 0;
	gex_Event_t event;

	pt_barrier();
	if (pt.rank == late)
		pt_sleep_ms(3);
	event = gex_Coll_BroadcastNB(pt.tm, 0, &word, &word, sizeof word, 0);
	gex_Event_Wait(event);
	PT_EQ(word, 4711);
}

/* Synced in another order on each rank, while different roots send different sizes. */
static void
many_open(unsigned round)
{
	struct pt_rng rng = pt_rng_make(pt.rank + 1), same = pt_rng_make(1000 + round);
	gex_Event_t events[OPEN];
	unsigned char *buf[OPEN];
	size_t nbytes[OPEN];
	int at[OPEN];

	for (int i = 0; i < OPEN; i++) {
		const gex_Rank_t root = (gex_Rank_t)pt_rand_below(&same, pt.size);

		nbytes[i] = 1 + (size_t)pt_rand_below(&same, i % 8 ? 2000 : 100000);
		at[i] = i;
		buf[i] = (unsigned char *)malloc(nbytes[i]);
		PT_CHECK(buf[i] != NULL);
		pt_fill(buf[i], nbytes[i], pt.rank == root ? (uint64_t)i : 999);
		events[i] = gex_Coll_BroadcastNB(pt.tm, root, buf[i], buf[i], nbytes[i], 0);
	}
	for (int left = OPEN; left > 0; left--) {
		const int pick = (int)pt_rand_below(&rng, (uint64_t)left), which = at[pick];

		while (left % 3 == 0 && gex_Event_Test(events[which]) != GASNET_OK)
			gasnet_AMPoll();
		if (left % 3 != 0)
			gex_Event_Wait(events[which]);
		PT_MEM(buf[which], nbytes[which], which);
		free(buf[which]);
		at[pick] = at[left - 1];
	}
}

/* Calls whose events are thrown into one array, among barriers. */
static void
with_barriers(void)
{
	gex_Event_t events[6];
	uint32_t a = pt.rank == 0 ? 17 : 0, b = pt.rank == pt.size - 1 ? 18 : 0;

	events[0] = gex_Coll_BarrierNB(pt.tm, 0);
	events[1] = gex_Coll_BroadcastNB(pt.tm, 0, &a, &a, sizeof a, 0);
	events[2] = gex_Coll_BarrierNB(pt.tm, 0);
	events[3] = gex_Coll_BroadcastNB(pt.tm, pt.size - 1, &b, &b, sizeof b, 0);
	events[4] = gex_Coll_BarrierNB(pt.tm, 0);
	events[5] = gex_Coll_BroadcastNB(pt.tm, 0, &a, &a, 0, 0);
	gex_Event_WaitAll(events, PT_COUNT(events), 0);
	PT_EQ(a, 17);
	PT_EQ(b, 18);
}

int
main(int argc, char **argv)
{
	pt_start(&argc, &argv, NULL, 0, 4096);
	sizes();
	for (gex_Rank_t late = 0; late < pt.size && late < 8; late++)
		early_and_late(late);
	for (unsigned round = 0; round < pt_scale(2, 6); round++) {
		many_open(round);
		with_barriers();
	}
	pt_finish();
}
