/*
 * gex_TM_Create from random lists: several disjoint ones at once, in any order of ranks, named by
 * rank of the parent or of the job, with every way to give scratch. Where ranks are threads, one of
 * a team's in a process calls for all of them, and tells them; the others take part, and ask for no
 * team.
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
		GEX_FLAG_TM_SYMMETRIC_SCRATCH,
		GEX_FLAG_TM_LOCAL_SCRATCH,
		GEX_FLAG_TM_GLOBAL_SCRATCH,
		GEX_FLAG_TM_NO_SCRATCH,
		GEX_FLAG_TM_LOCAL_SCRATCH | GEX_FLAG_SCRATCH_SEG_OFFSET,
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

static int
is_here(gex_Rank_t member)
{
	return pt.where[member].gex_rank == pt.where[pt.rank].gex_rank;
}

/* Members in the caller's process, and whether it is the first of them. */
static size_t
count_here(const struct tm_members *child, int *first_out)
{
	size_t here = 0;

	for (gex_Rank_t rank = 0; rank < child->size; rank++) {
		if (here == 0 && is_here(child->who[rank]))
			*first_out = rank == child->me;
		here += is_here(child->who[rank]) != 0;
	}
	return here;
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
		args[child->size].gex_rank = plan->flags & GEX_FLAG_RANK_IS_JOBRANK
		                                     ? pt.where[parent->who[rank]].gex_rank
		                                     : rank;
		args[child->size].gex_ep_index = pt.where[parent->who[rank]].gex_ep_index;
		child->who[child->size++] = parent->who[rank];
	}
}

/* What is said of scratch; that of a member is the same each time. */
static void
lend(const struct tm_members *child, gex_Flags_t flags, gex_Addr_t *addrs)
{
	size_t count = 0;

	for (gex_Rank_t rank = 0; rank < child->size; rank++)
		if (flags & GEX_FLAG_TM_GLOBAL_SCRATCH || is_here(child->who[rank]))
			addrs[count++] = flags & GEX_FLAG_SCRATCH_SEG_OFFSET
			                 ? (char *)(uintptr_t)TM_SCRATCH_AT
			                 : pt.peers[child->who[rank]].owner + TM_SCRATCH_AT;
}

/* Of all ranks of this process, by rank of all; a barrier is between those who write and read. */
static struct {
	gex_TM_t tm;
	size_t scratch_bytes;
} made[TM_MOST];

static void
create_for_all(const struct tm_members *child, gex_TM_t parent, gex_EP_Location_t *args,
               size_t here, gex_Flags_t flags)
{
	gex_TM_t tms[TM_MOST] = { GEX_TM_INVALID };
	gex_Addr_t addrs[TM_MOST];
	size_t bytes, next = 0;

	bytes = gex_TM_Create(tms, here, parent, args, child->size, NULL, 0,
	                      flags | GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED);
	PT_CHECK(bytes != 0 && tms[0] == GEX_TM_INVALID);
	if (getenv("GASNET_COLL_SCRATCH_SIZE"))
		PT_EQ(bytes, 3000); /* as `programs' has it */
	lend(child, flags, addrs);
	(void)gex_TM_Create(tms, here, parent, args, child->size, addrs, bytes, flags);
	for (gex_Rank_t rank = 0; rank < child->size; rank++) {
		if (!is_here(child->who[rank]))
			continue;
		made[child->who[rank]].tm = tms[next++];
		made[child->who[rank]].scratch_bytes = bytes;
	}
}

static void
create_none(gex_TM_t parent, gex_Flags_t flags)
{
	PT_EQ(gex_TM_Create(NULL, 0, parent, NULL, 0, NULL, 0,
	                    flags | GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED), 0);
	(void)gex_TM_Create(NULL, 0, parent, NULL, 0, NULL, 0, flags);
}

static void
create(const struct tm_members *parent, unsigned depth, struct pt_rng rng)
{
	struct tm_members child = { GEX_TM_INVALID, 0, 0, { 0 } };
	gex_EP_Location_t args[TM_MOST];
	struct plan plan;
	int joins, is_first = 0;
	size_t here = 0;

	draw(&rng, &plan, parent->size);
	joins = plan.team_of[parent->me] != 0;
	if (joins) {
		list(&plan, parent, &child, args);
		here = count_here(&child, &is_first);
	}
	if (is_first)
		create_for_all(&child, parent->tm, args, here, plan.flags);
	else
		create_none(parent->tm, plan.flags);
	gex_Coll_BarrierBlocking(parent->tm, 0);
	if (!joins)
		return;
	child.tm = made[pt.rank].tm;
	tm_check(&child, plan.flags, rng.state);
	if (depth)
		create(&child, depth - 1, pt_rng_make(rng.state ^ child.who[0]));
	tm_destroy(&child, 0, tm_scratch(),
	           plan.flags & GEX_FLAG_TM_NO_SCRATCH ? 0 : made[pt.rank].scratch_bytes);
}

int
main(int argc, char **argv)
{
	gex_AM_Entry_t table[] = { TM_HANDLERS };

	pt_start(&argc, &argv, table, PT_COUNT(table), TM_SEGMENT_BYTES);
	tm_rounds(pt.size > 16 ? pt_scale(1, 4) : pt_scale(8, 30), 1000, create);
}
