/*
 * gex_TM_Split on random partitions, nested: members, ranks, translation both ways, and messages
 * and transfers by the new ranks, against a naive choice of who is where.
 */
#include "tests/conformance/tm_members.h"

enum { MOST_COLORS = 5 };

struct drawn {
	int color, key, joins;
};

/* The same on all members of the team. */
static void
draw(struct pt_rng *rng, struct drawn *drawn, gex_Rank_t size)
{
	const unsigned colors = 1 + (unsigned)pt_rand_below(rng, MOST_COLORS);
	const unsigned keys = 1 + (unsigned)pt_rand_below(rng, 2 * size);

	for (gex_Rank_t rank = 0; rank < size; rank++) {
		drawn[rank].color = (int)pt_rand_below(rng, colors);
		if (drawn[rank].color == 3)
			drawn[rank].color = 0x7fffffff;
		drawn[rank].key = (int)pt_rand_below(rng, keys) - (int)size;
		drawn[rank].joins = pt_rand_below(rng, 8) != 0;
	}
}

/* The members that have the caller's color, the lowest key first, then the lowest rank. */
static void
expect(const struct tm_members *parent, const struct drawn *drawn, struct tm_members *child)
{
	char taken[TM_MOST] = { 0 };

	for (child->size = 0;; child->size++) {
		gex_Rank_t best = GEX_RANK_INVALID;

		for (gex_Rank_t rank = 0; rank < parent->size; rank++)
			if (!taken[rank] && drawn[rank].joins &&
			    drawn[rank].color == drawn[parent->me].color &&
			    (best == GEX_RANK_INVALID || drawn[rank].key < drawn[best].key))
				best = rank;
		if (best == GEX_RANK_INVALID)
			return;
		taken[best] = 1;
		if (best == parent->me)
			child->me = child->size;
		child->who[child->size] = parent->who[best];
	}
}

static void nest(const struct tm_members *parent, unsigned depth, struct pt_rng rng);

/* Life of a new team, of which the caller is a member. */
static void
live(const struct tm_members *team, unsigned depth, struct pt_rng rng, gex_Flags_t flags,
     size_t scratch_bytes)
{
	tm_check(team, flags, rng.state);
	if (depth) {
		rng = pt_rng_make(pt_rand(&rng) ^ team->who[0]);
		nest(team, depth - 1, rng);
		nest(team, 0, pt_rng_make(rng.state + 1));
	}
	tm_destroy(team, 0, tm_scratch(), scratch_bytes);
}

static void
nest(const struct tm_members *parent, unsigned depth, struct pt_rng rng)
{
	const gex_Flags_t flags = pt_rand_below(&rng, 2) ? GEX_FLAG_TM_NO_SCRATCH : 0;
	gex_TM_t untouched = gex_TM_Pair(pt.ep, 7);
	struct drawn drawn[TM_MOST], *own = &drawn[parent->me];
	struct tm_members child = { untouched, 0, 0, { 0 } };
	size_t scratch_bytes;

	draw(&rng, drawn, parent->size);
	scratch_bytes =
		gex_TM_Split(own->joins ? &child.tm : NULL, parent->tm, own->color, own->key, NULL,
	                     0, flags | GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED);
	PT_CHECK(child.tm == untouched);
	PT_EQ(scratch_bytes != 0, own->joins);
	if (own->joins && getenv("GASNET_COLL_SCRATCH_SIZE"))
		PT_EQ(scratch_bytes, 4096); /* as `programs' has it */
	PT_LE(scratch_bytes, TM_SEGMENT_BYTES - TM_SCRATCH_AT);
	(void)gex_TM_Split(own->joins ? &child.tm : NULL, parent->tm, own->color, own->key,
	                   flags ? NULL : tm_scratch(), flags ? 0 : scratch_bytes, flags);
	if (!own->joins) {
		PT_CHECK(child.tm == untouched);
		return;
	}
	expect(parent, drawn, &child);
	live(&child, depth, rng, flags, flags ? 0 : scratch_bytes);
}

int
main(int argc, char **argv)
{
	gex_AM_Entry_t table[] = { TM_HANDLERS };

	pt_start(&argc, &argv, table, PT_COUNT(table), TM_SEGMENT_BYTES);
	tm_rounds(pt.size > 16 ? pt_scale(1, 3) : pt_scale(5, 15), 0, nest);
}
