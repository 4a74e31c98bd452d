/* Blocking put and get against a plain copy: random places, lengths, flags and spellings. */
#include <gasnet.h>

#include "tests/lib/pt.h"

enum { MAX_BYTES = 40000 };

static PT_OWN size_t area_bytes;
static PT_OWN unsigned char *model; /* what our area at each peer must hold */

/* Our own area in the segment of rank; only we write to it. */
static char *
area(gex_Rank_t rank)
{
	return pt.peers[rank].owner + (size_t)pt.rank * area_bytes;
}

static gex_Flags_t
some_flags(struct pt_rng *rng, gex_Rank_t rank)
{
	static const gex_Flags_t sets[] = { 0, GEX_FLAG_SELF_SEG_UNKNOWN, GEX_FLAG_PEER_SEG_BOUND,
		                            GEX_FLAG_PEER_SEG_SOME | GEX_FLAG_SELF_SEG_UNKNOWN };
	gex_Flags_t flags = sets[pt_rand_below(rng, PT_COUNT(sets))];

	if (rank != pt.rank && pt_rand_below(rng, 2))
		flags |= GEX_FLAG_PEER_NEVER_SELF;
	return flags;
}

static size_t
some_length(struct pt_rng *rng)
{
	switch (pt_rand_below(rng, 4)) {
	case 0:
		return pt_rand_below(rng, 20);
	case 1:
		return pt_rand_below(rng, 300);
	case 2:
		return (size_t)1 << pt_rand_below(rng, 15);
	}
	return pt_rand_below(rng, MAX_BYTES);
}

static void
one_put(struct pt_rng *rng, gex_Rank_t rank, size_t at, const char *src, size_t nbytes)
{
	gex_Flags_t flags = some_flags(rng, rank);

	switch (pt_is_thread() ? 2 + pt_rand_below(rng, 2) : pt_rand_below(rng, 4)) {
	case 0:
		gasnet_put(rank, area(rank) + at, src, nbytes);
		break;
	case 1:
		gasnet_put_bulk(rank, area(rank) + at, src, nbytes);
		break;
	case 2:
		if (gex_RMA_PutBlocking(pt.tm, rank, area(rank) + at, src, nbytes,
		                        flags | GEX_FLAG_IMMEDIATE) == 0)
			break;
		/* refused: nothing was started */
		__attribute__((fallthrough));
	default:
		PT_OK(gex_RMA_PutBlocking(pt.tm, rank, area(rank) + at, src, nbytes, flags));
	}
}

static void
one_get(struct pt_rng *rng, gex_Rank_t rank, size_t at, char *dest, size_t nbytes)
{
	gex_Flags_t flags = some_flags(rng, rank);

	switch (pt_is_thread() ? 2 + pt_rand_below(rng, 2) : pt_rand_below(rng, 4)) {
	case 0:
		gasnet_get(dest, rank, area(rank) + at, nbytes);
		break;
	case 1:
		gasnet_get_bulk(dest, rank, area(rank) + at, nbytes);
		break;
	case 2:
		if (gex_RMA_GetBlocking(pt.tm, dest, rank, area(rank) + at, nbytes,
		                        flags | GEX_FLAG_IMMEDIATE) == 0)
			break;
		__attribute__((fallthrough));
	default:
		PT_OK(gex_RMA_GetBlocking(pt.tm, dest, rank, area(rank) + at, nbytes, flags));
	}
}

static void
random_transfers(gex_Rank_t rank)
{
	struct pt_rng rng = pt_rng_make(pt.rank * 1000 + rank);
	char *buf = malloc(MAX_BYTES + 64);
	unsigned long count = pt_scale(200, 3000);

	PT_CHECK(buf != NULL);
	memset(model, 0x3c, area_bytes);
	PT_OK(gex_RMA_PutBlocking(pt.tm, rank, area(rank), model, area_bytes, 0));
	for (unsigned long i = 0; i < count; i++) {
		size_t nbytes = some_length(&rng), shift = pt_rand_below(&rng, 64);
		size_t at = pt_rand_below(&rng, area_bytes - nbytes + 1);

		if (pt_rand_below(&rng, 2)) {
			pt_fill(buf + shift, nbytes, pt_rand(&rng));
			memcpy(model + at, buf + shift, nbytes);
			one_put(&rng, rank, at, buf + shift, nbytes);
		} else {
			memset(buf, 0x5c, MAX_BYTES + 64);
			one_get(&rng, rank, at, buf + shift, nbytes);
			PT_EQ(memcmp(buf + shift, model + at, nbytes), 0);
			if (shift)
				PT_EQ(buf[shift - 1], 0x5c);
			if (shift + nbytes < MAX_BYTES + 64)
				PT_EQ(buf[shift + nbytes], 0x5c);
		}
		if (i % 64 == 63 && pt.peers[rank].local)
			PT_EQ(memcmp(pt.peers[rank].local + (size_t)pt.rank * area_bytes, model,
			             area_bytes),
			      0);
	}
	free(buf);
	buf = malloc(area_bytes);
	PT_CHECK(buf != NULL);
	PT_OK(gex_RMA_GetBlocking(pt.tm, buf, rank, area(rank), area_bytes, 0));
	PT_EQ(memcmp(buf, model, area_bytes), 0);
	free(buf);
}

/* Values of 1 to 8 bytes at any alignment; neighbours stay. */
static void
values(gex_Rank_t rank)
{
	struct pt_rng rng = pt_rng_make(pt.rank * 1000 + rank + 500);

	for (size_t nbytes = 1; nbytes <= SIZEOF_GEX_RMA_VALUE_T; nbytes++) {
		for (size_t at = 8; at < 24; at++) {
			gex_RMA_Value_t value = pt_rand(&rng), mask = ~(gex_RMA_Value_t)0;
			gex_RMA_Value_t low, stored = 0;
			unsigned char block[40];

			if (nbytes < sizeof(value))
				mask = ((gex_RMA_Value_t)1 << (8 * nbytes)) - 1;
			low = value & mask;
			memset(block, 0xa5, sizeof(block));
			PT_OK(gex_RMA_PutBlocking(pt.tm, rank, area(rank), block, sizeof(block),
			                          0));
			if (at % 2 || pt_is_thread())
				PT_OK(gex_RMA_PutBlockingVal(pt.tm, rank, area(rank) + at, value,
				                             nbytes, 0));
			else
				gasnet_put_val(rank, area(rank) + at, value, nbytes);
			PT_EQ(gex_RMA_GetBlockingVal(pt.tm, rank, area(rank) + at, nbytes, 0), low);
			if (!pt_is_thread())
				PT_EQ(gasnet_get_val(rank, area(rank) + at, nbytes), low);
			PT_OK(gex_RMA_GetBlocking(pt.tm, block, rank, area(rank), sizeof(block),
			                          0));
			memcpy(&stored, block + at,
			       nbytes); /* little-endian machines only are built for */
			PT_EQ(stored, low);
			for (size_t i = 0; i < sizeof(block); i++)
				if (i < at || i >= at + nbytes)
					PT_EQ(block[i], 0xa5);
		}
	}
}

/* Nothing is moved, and the addresses do not matter. */
static void
empty_transfers(gex_Rank_t rank)
{
	char byte = 'k';
	void *odd = (void *)(uintptr_t)0x1;

	PT_OK(gex_RMA_PutBlocking(pt.tm, rank, area(rank), &byte, 1, 0));
	PT_OK(gex_RMA_PutBlocking(pt.tm, rank, NULL, NULL, 0, 0));
	PT_OK(gex_RMA_GetBlocking(pt.tm, NULL, rank, NULL, 0, 0));
	PT_OK(gex_RMA_PutBlocking(pt.tm, rank, odd, odd, 0, GEX_FLAG_IMMEDIATE));
	PT_OK(gex_RMA_GetBlocking(pt.tm, odd, rank, odd, 0, GEX_FLAG_IMMEDIATE));
	if (!pt_is_thread()) {
		gasnet_put(rank, odd, odd, 0);
		gasnet_get(odd, rank, odd, 0);
	}
	PT_EQ(gex_RMA_GetBlockingVal(pt.tm, rank, area(rank), 1, 0), 'k');
}

/* Large transfers in one call. */
static void
large(gex_Rank_t rank)
{
	size_t nbytes = area_bytes - 3;
	char *from = malloc(nbytes + 1), *to = malloc(nbytes + 7);

	PT_CHECK(from != NULL && to != NULL);
	pt_fill(from + 1, nbytes, pt.rank * 64 + rank);
	PT_OK(gex_RMA_PutBlocking(pt.tm, rank, area(rank) + 3, from + 1, nbytes, 0));
	memset(from, 0, nbytes + 1);
	PT_OK(gex_RMA_GetBlocking(pt.tm, to + 7, rank, area(rank) + 3, nbytes, 0));
	PT_MEM(to + 7, nbytes, pt.rank * 64 + rank);
	free(from);
	free(to);
}

/* A put that has returned is seen by loads after a barrier. */
static void
seen_by_owner(void)
{
	size_t bytes = area_bytes / 2;

	pt_barrier();
	for (gex_Rank_t rank = 0; rank < pt.size; rank++) {
		pt_fill(model, bytes, pt.rank * 64 + rank);
		PT_OK(gex_RMA_PutBlocking(pt.tm, rank, area(rank), model, bytes, 0));
	}
	pt_barrier();
	for (gex_Rank_t rank = 0; rank < pt.size; rank++)
		PT_MEM(pt.base + (size_t)rank * area_bytes, bytes, rank * 64 + pt.rank);
}

int
main(int argc, char **argv)
{
	pt_init(&argc, &argv, GEX_FLAG_USES_GASNET1);
	area_bytes = pt_scale(100000, 1u << 20);
	pt_attach(NULL, 0, (size_t)pt.size * area_bytes);
	model = malloc(area_bytes);
	PT_CHECK(model != NULL);
	for (gex_Rank_t step = 0; step < pt.size; step++) {
		gex_Rank_t rank = (pt.rank + step) % pt.size;

		pt_phase("random transfers");
		random_transfers(rank);
		pt_phase("values");
		values(rank);
		pt_phase("empty transfers");
		empty_transfers(rank);
		pt_phase("large transfers");
		large(rank);
	}
	pt_phase("seen by the owner");
	seen_by_owner();
	free(model);
	pt_finish();
}
