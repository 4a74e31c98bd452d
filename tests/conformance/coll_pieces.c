/*
 * Collectives with payloads around the sizes at which the library goes over to another way, more of
 * them under way than it has room for, and members that come late or wait for nothing.
 */
#include <gasnet_coll.h>

#include "tests/lib/pt.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = (1 << 20) + 24, AHEAD = 100 };

static const size_t lens[] = {
	1, 8, 40, 48, 49, 56, 57, 64, 1000, 4096, 8192, 16392, 32760, 32768, 32769, 65536, 200001,
	MOST,
};

static PT_OWN unsigned char *source, *result;

static unsigned char
byte_of(gex_Rank_t rank, size_t at, unsigned round)
{
	return (unsigned char)(rank * 31 + at * 7 + at / 251 + round * 13);
}

static void
fill(unsigned char *bytes, size_t len, gex_Rank_t rank, unsigned round)
{
	for (size_t i = 0; i < len; i++)
		bytes[i] = byte_of(rank, i, round);
}

static void
check(const unsigned char *bytes, size_t len, gex_Rank_t rank, size_t from, unsigned round)
{
	for (size_t i = 0; i < len; i++)
		if (bytes[i] != byte_of(rank, from + i, round))
			PT_FAIL("byte %zu of %zu is %u, not %u", i, len, bytes[i],
			        byte_of(rank, from + i, round));
}

/* -- broadcast --------------------------------------------------------------------------------- */

static void
broadcast(size_t len, unsigned round)
{
	const gex_Rank_t root = round % pt.size;
	const bool in_place = round % 2;

	if (pt.rank == root)
		fill(in_place ? result : source, len, root, round);
	gex_Event_Wait(gex_Coll_BroadcastNB(pt.tm, root, result, in_place ? result : source, len,
	                                    0));
	check(result, len, root, 0, round);
	PT_EQ(result[len], 0xee);
}

/* -- reductions -------------------------------------------------------------------------------- */

static void
reduce(size_t len, unsigned round)
{
	const size_t count = len / 8;
	const gex_Rank_t root = round % pt.size;
	const uint64_t n = pt.size;
	uint64_t *in = (uint64_t *)(void *)source, *out = (uint64_t *)(void *)result;
	const bool in_place = round % 2;

	if (count == 0)
		return;
	for (size_t i = 0; i < count; i++)
		(in_place ? out : in)[i] = (pt.rank + 1) * (uint64_t)(i + 1);
	gex_Event_Wait(gex_Coll_ReduceToAllNB(pt.tm, out, in_place ? out : in, GEX_DT_U64, 8, count,
	                                      GEX_OP_ADD, NULL, NULL, 0));
	for (size_t i = 0; i < count; i++)
		PT_EQ(out[i], n * (n + 1) / 2 * (i + 1));
	for (size_t i = 0; i < count; i++)
		in[i] = pt.rank + i;
	gex_Event_Wait(gex_Coll_ReduceToOneNB(pt.tm, root, out, in, GEX_DT_U64, 8, count,
	                                      GEX_OP_MAX, NULL, NULL, 0));
	for (size_t i = 0; i < count && pt.rank == root; i++)
		PT_EQ(out[i], n - 1 + i);
	for (size_t i = 0; i < count; i++)
		PT_EQ(in[i], pt.rank + i);
}

/* left ? right = left, unless left is 0: associative, and says in which order it was applied. */
static void
first_of(const void *left, void *out, size_t count, const void *cdata)
{
	const uint64_t *from = left;
	uint64_t *to = out;

	(void)cdata;
	for (size_t i = 0; i < count; i++)
		to[i] = from[i] ? from[i] : to[i];
}

static void
reduce_in_order(size_t len, unsigned round)
{
	const size_t count = len / 8;
	const gex_Rank_t first = round % pt.size;
	uint64_t *in = (uint64_t *)(void *)source, *out = (uint64_t *)(void *)result;

	for (size_t i = 0; i < count; i++)
		in[i] = pt.rank >= first ? pt.rank + 1 : 0;
	if (count)
		gex_Event_Wait(gex_Coll_ReduceToAllNB(pt.tm, out, in, GEX_DT_USER, 8, count,
		                                      GEX_OP_USER_NC, first_of, NULL, 0));
	for (size_t i = 0; i < count; i++)
		PT_EQ(out[i], first + 1);
}

/* -- ahead ------------------------------------------------------------------------------------- */

/* A root that waits for nobody, and members that come late: each event is its own. */
static void
ahead(unsigned round)
{
	const gex_Rank_t root = round % pt.size;
	const size_t len = round % 2 ? 6000 : 8;
	gex_Event_t event[AHEAD];

	if (pt.rank != root)
		pt_sleep_ms(pt.rank % 3 * 10);
	for (unsigned i = 0; i < AHEAD; i++) {
		if (pt.rank == root)
			fill(source + i * len, len, root, i);
		event[i] = gex_Coll_BroadcastNB(pt.tm, root, result + i * len, source + i * len,
		                                len, 0);
	}
	for (unsigned i = AHEAD; i-- > 0;) {
		gex_Event_Wait(event[i]);
		check(result + i * len, len, root, 0, i);
	}
}

/* Members that only poll let the others go on. */
static void
polled(unsigned round)
{
	const gex_Rank_t lazy = round % pt.size;
	uint64_t in[64], out[64];
	gex_Event_t event[64];

	for (unsigned i = 0; i < 64; i++) {
		in[i] = pt.rank;
		event[i] = gex_Coll_ReduceToAllNB(pt.tm, &out[i], &in[i], GEX_DT_U64, 8, 1,
		                                  GEX_OP_ADD, NULL, NULL, 0);
	}
	if (pt.rank == lazy) {
		while (gex_Event_Test(event[63]) != GASNET_OK)
			PT_OK(gasnet_AMPoll());
		event[63] = GEX_EVENT_INVALID;
	}
	for (unsigned i = 0; i < 64; i++) {
		gex_Event_Wait(event[i]);
		PT_EQ(out[i], (uint64_t)pt.size * (pt.size - 1) / 2);
	}
}

int
main(int argc, char **argv)
{
	unsigned char *memory;

	pt_start(&argc, &argv, NULL, 0, 2 * (MOST + 8));
	memory = malloc(2 * (MOST + 8));
	PT_CHECK(memory);
	source = memory;
	result = source + MOST + 8;
	ahead(0);                       /* before members have heard of each other */
	for (unsigned round = 0; round < pt_scale(2, 5); round++)
		for (unsigned i = 0; i < PT_COUNT(lens); i++) {
			source = round % 2 ? (unsigned char *)pt.base : memory;
			result = source + MOST + 8;
			memset(result, 0xee, MOST + 8);
			broadcast(lens[i], round + i);
			reduce(lens[i], round + i);
			reduce_in_order(lens[i], round + i);
		}
	for (unsigned round = 0; round < pt_scale(4, 20); round++) {
		ahead(round);
		polled(round);
	}
	free(memory);
	pt_finish();
}
