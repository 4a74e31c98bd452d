/*
 * gex_TM_Create from random lists: several disjoint ones at once, in any order of ranks, named by rank
 * of the parent or of the job, with every way to give scratch.
 */
#include "tests/conformance/tm_members.h"

struct plan {
	gex_Rank_t team_of[TM_MOST]; /* by parent rank; 0 joins none */
	gex_Rank_t order[TM_MOST];   /* of the parent's ranks in all lists */
	gex_Flags_t flags;
};

/* Symmetric scratch is at one address in all members. */
static int
same_base(void)
{
	for (gex_Rank_t rank = 0; rank < pt.size; rank++)
		if (pt.peers[rank].owner != pt.peers[0].owner)
			return 0;
	return 1;
}

/* The same on all members of the parent. */
static void
draw(struct pt_rng *rng, struct plan *plan, gex_Rank_t size)
{
	static const gex_Flags_t ways[] = {
		GEX_FLAG_TM_SYMMETRIC_SCRATCH, GEX_FLAG_TM_LOCAL_SCRATCH, GEX_FLAG_TM_GLOBAL_SCRATCH,
		GEX_FLAG_TM_NO_SCRATCH, GEX_FLAG_TM_LOCAL_SCRATCH | GEX_FLAG_SCRATCH_SEG_OFFSET,
	};
	const unsigned teams = 1 + (unsigned)pt_rand_below(rng, 4);

	for (gex_Rank_t rank = 0; rank < size; rank++) {
		const gex_Rank_t other = (gex_Rank_t)pt_rand_below(rng, rank + 1);

		plan->team_of[rank] = (gex_Rank_t)pt_rand_below(rng, teams + 1);
		plan->order[rank] = plan->order[other];
		plan->order[other] = rank;
	}
	plan->flags = ways[pt_rand_below(rng, PT_COUNT(ways))];
	if (plan->flags == GEX_FLAG_TM_SYMMETRIC_SCRATCH && !same_base())
		plan->flags = GEX_FLAG_TM_LOCAL_SCRATCH;
	if (pt_rand_below(rng, 2))
		plan->flags |= GEX_FLAG_RANK_IS_JOBRANK;
}

/* The list of the caller's team, as the team should be and as it is asked for. */
static void
list(const struct plan *plan, const struct tm_members *parent, struct tm_members *child,
     gex_EP_Location_t *args)
{
	for (gex_Rank_t i = 0; i < parent->size; i++) {
		const gex_Rank_t rank = plan->order[i];

		if (plan->team_of[rank] != plan->team_of[parent->me])
			continue;
		if (rank == parent->me)
			child->me = child->size;
		args[child->size].gex_rank =
			plan->flags & GEX_FLAG_RANK_IS_JOBRANK ? parent->who[rank] : rank;
		args[child->size].gex_ep_index = 0;
		child->who[child->size++] = parent->who[rank];
	}
}

/* What the caller says of scratch; its own is the same each time. */
static void
lend(const struct tm_members *child, gex_Flags_t flags, gex_Addr_t *addrs)
{
	if (flags & GEX_FLAG_TM_GLOBAL_SCRATCH)
		for (gex_Rank_t rank = 0; rank < child->size; rank++)
			addrs[rank] = pt.peers[child->who[rank]].owner + TM_SCRATCH_AT;
	else if (flags & GEX_FLAG_SCRATCH_SEG_OFFSET)
		addrs[0] = (gex_Addr_t)(uintptr_t)TM_SCRATCH_AT;
	else
		addrs[0] = tm_scratch();
}

static void
create(const struct tm_members *parent, unsigned depth, struct pt_rng rng)
{
	struct tm_members child = { GEX_TM_INVALID, 0, 0, { 0 } };
	gex_EP_Location_t args[TM_MOST];
	gex_Addr_t addrs[TM_MOST];
	struct plan plan;
	size_t bytes;

	draw(&rng, &plan, parent->size);
	if (!plan.team_of[parent->me]) {
		PT_EQ(gex_TM_Create(NULL, 0, parent->tm, NULL, 0, NULL, 0,
		                    plan.flags | GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED), 0);
		(void)gex_TM_Create(NULL, 0, parent->tm, NULL, 0, NULL, 0, plan.flags);
		return;
	}
	list(&plan, parent, &child, args);
	bytes = gex_TM_Create(&child.tm, 1, parent->tm, args, child.size, NULL, 0,
	                      plan.flags | GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED);
	PT_CHECK(bytes != 0 && child.tm == GEX_TM_INVALID);
	if (getenv("GASNET_COLL_SCRATCH_SIZE"))
		PT_EQ(bytes, 3000); /* as `programs' has it */
	lend(&child, plan.flags, addrs);
	(void)gex_TM_Create(&child.tm, 1, parent->tm, args, child.size, addrs, bytes, plan.flags);
	tm_check(&child, plan.flags, rng.state);
	if (depth)
		create(&child, depth - 1, pt_rng_make(rng.state ^ child.who[0]));
	tm_destroy(&child, 0, tm_scratch(), plan.flags & GEX_FLAG_TM_NO_SCRATCH ? 0 : bytes);
}

int
main(int argc, char **argv)
{
	gex_AM_Entry_t table[] = { TM_HANDLERS };

	pt_start(&argc, &argv, table, PT_COUNT(table), TM_SEGMENT_BYTES);
	tm_rounds(pt.size > 16 ? pt_scale(1, 4) : pt_scale(8, 30), 1000, create);
}
