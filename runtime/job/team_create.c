/*
 * Making and ending teams.  All members of the parent exchange offers over it; each then computes
 * its own team from the offers of all.  The process of the new rank 0 gives the id: its rank and a
 * count of its own, so no other process gives the same.  A second exchange over the parent ends
 * when all members know their teams, so no message names a team that its receiver does not have.
 *
 * Scratch memory is lent by the client.  The library does not need it: it is checked, kept, and
 * given back by gex_TM_Destroy.
 */
#include "runtime/job/team_offer.h"
#include "runtime/process/endpoint.h"
#include "runtime/process/process.h"
#include "runtime/process/rules.h"
#include "runtime/settings/settings_tables.h"
#include "runtime/team/team.h"

#include <stdlib.h>
#include <string.h>

enum {
	SCRATCH_BYTES = 64,     /* recommended where the user says 0: a line's alignment stays */
	QUERY_FLAGS = GEX_FLAG_TM_SCRATCH_SIZE_MIN | GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED,
	SPLIT_FLAGS = QUERY_FLAGS | GEX_FLAG_TM_NO_SCRATCH | GEX_FLAG_RANK_IS_JOBRANK,
	SCRATCH_FLAGS = GEX_FLAG_TM_SYMMETRIC_SCRATCH | GEX_FLAG_TM_LOCAL_SCRATCH |
	                GEX_FLAG_TM_GLOBAL_SCRATCH | GEX_FLAG_TM_NO_SCRATCH,
	CREATE_FLAGS = QUERY_FLAGS | SCRATCH_FLAGS | GEX_FLAG_RANK_IS_JOBRANK |
	               GEX_FLAG_SCRATCH_SEG_OFFSET,
};

static const struct psi_setting rows[] = {
	{ .name = "GASNET_COLL_SCRATCH_SIZE",
	  .kind = PSI_SETTING_SIZE,
	  .default_text = "64",
	  .unit = "B",
	  .help = "scratch memory that gex_TM_Split and gex_TM_Create recommend; nothing here "
	          "needs any" },
};

const struct psi_setting_table psi_settings_teams = PSI_SETTING_TABLE("Teams", rows);

static gex_TM_t
team_check_parent(gex_TM_t parent, const char *call)
{
	psi_need_init(call);
	psi_rule_call(call);
	return psi_team_live(parent, call);
}

/* Is it a question about scratch alone? */
static bool
team_is_query(gex_TM_t parent, gex_Flags_t flags, const char *call)
{
	if (flags & GEX_FLAG_TM_SCRATCH_SIZE_MIN && parent->rank == 0)
		psi_log("%s: GEX_FLAG_TM_SCRATCH_SIZE_MIN is deprecated; pass "
		        "GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED", call);
	return flags & QUERY_FLAGS;
}

/* Never 0, which would mean that the caller joins no team. */
static size_t
team_recommended_bytes(void)
{
	const uint64_t bytes = psi_setting_size(&rows[0]);

	return bytes ? bytes : SCRATCH_BYTES;
}

/* -- members --------------------------------------------------------------------------------- */

/* The number that all members of a created team take that are of this process. */
static uint32_t
team_lend_created(const struct psi_group *group)
{
	gex_EP_Index_t here[GASNET_MAXEPS];
	uint32_t count = 0;

	for (gex_Rank_t rank = 0; rank < group->size; rank++)
		if (group->locations[rank].gex_rank == psi.boot.rank)
			here[count++] = group->locations[rank].gex_ep_index;
	return psi.team_lender->take(here, count);
}

/* What the members of a created team lend: a process has one offer for all of its members. */
static void
team_settle_created(gex_TM_t parent, struct psi_group *group, const struct psi_offer *offers)
{
	const struct psi_offer *own = &offers[parent->rank];

	for (gex_Rank_t rank = 0; rank < group->size; rank++)
		for (gex_Rank_t from = 0; from < parent->size; from++)
			if (offers[from].joins && offers[from].list == own->list &&
			    psi_team_location(parent, from).gex_rank ==
			            group->locations[rank].gex_rank)
				group->lent[rank] = offers[from].lent;
	psi.team_lender->settle(group);
}

static void
team_check_scratch(gex_EP_t ep, const void *addr, size_t bytes, const char *call)
{
	const gex_Segment_t segment = ep->segment;
	const uintptr_t from = (uintptr_t)addr;

	if (!bytes)
		psi_fatal("%s: scratch_size is 0; pass what the call with "
		          "GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED gives, or GEX_FLAG_TM_NO_SCRATCH",
		          call);
	if (!segment || bytes > segment->size ||
	    from - (uintptr_t)segment->base > segment->size - bytes)
		psi_fatal("%s: %zu bytes of scratch at %p do not lie in the segment of the "
		          "endpoint; pass a part of it", call, bytes, addr);
}

static gex_TM_t
member_new(gex_TM_t parent, gex_EP_t ep, struct psi_group *group, uint64_t id, gex_Rank_t rank,
           gex_Flags_t flags)
{
	gex_TM_t tm = NULL;

	if (posix_memalign((void **)&tm, _Alignof(struct gex_TM_s), sizeof *tm) != 0)
		psi_fatal("no memory for a team of %u", group->size);
	memset(tm, 0, sizeof *tm);
	tm->size = group->size;
	tm->rank = rank;
	tm->places = group->places;
	tm->client = parent->client;
	tm->ep = ep;
	tm->flags = flags;
	tm->id = id;
	tm->group = group;
	psi_group_join(group);
	psi.team_lender->join(group, rank);
	return tm;
}

static void
member_lend_scratch(gex_TM_t tm, void *addr, size_t bytes, const char *call)
{
	if (tm->flags & GEX_FLAG_TM_NO_SCRATCH)
		return;
	if (psi.checks)
		team_check_scratch(tm->ep, addr, bytes, call);
	tm->scratch = (gex_Memvec_t){ .gex_addr = addr, .gex_len = bytes };
}

/* -- gex_TM_Split ---------------------------------------------------------------------------- */

/* The parent's ranks with that color, by key; returns how many.  They come in parent order. */
static gex_Rank_t
members_choose(const struct psi_offer *offers, gex_Rank_t count, int32_t color,
               struct psi_chosen *chosen)
{
	gex_Rank_t size = 0;

	for (gex_Rank_t rank = 0; rank < count; rank++)
		if (offers[rank].joins && offers[rank].color == color)
			chosen[size++] = (struct psi_chosen){ offers[rank].key, rank };
	psi_chosen_sort(chosen, size);
	return size;
}

static gex_TM_t
team_split_off(gex_TM_t parent, const struct psi_offer *offers, gex_Flags_t flags, const char *call)
{
	const struct psi_offer *own = &offers[parent->rank];
	struct psi_chosen *chosen = psi_team_memory(parent->size, sizeof *chosen);
	const gex_Rank_t size = members_choose(offers, parent->size, own->color, chosen);
	struct psi_group *group = psi_group_new(size);
	gex_Rank_t rank = 0;
	gex_TM_t tm;

	for (gex_Rank_t i = 0; i < size; i++) {
		psi_offers_agree(own, &offers[chosen[i].rank], call);
		group->locations[i] = psi_team_location(parent, chosen[i].rank);
		group->lent[i] = offers[chosen[i].rank].lent;
		if (chosen[i].rank == parent->rank)
			rank = i;
	}
	psi_group_finish(group, call);
	psi.team_lender->settle(group);
	tm = member_new(parent, parent->ep, group, offers[chosen[0].rank].id, rank, flags);
	free(chosen);
	return tm;
}

size_t
gex_TM_Split(gex_TM_t *new_tm_p, gex_TM_t parent_tm, int color, int key, void *scratch_addr,
             size_t scratch_size, gex_Flags_t flags)
{
	const char *call = "gex_TM_Split";
	gex_TM_t parent = team_check_parent(parent_tm, call), tm;
	struct psi_offer *offers;

	psi_check_flags(flags, SPLIT_FLAGS, call);
	if (team_is_query(parent, flags, call))
		return new_tm_p ? team_recommended_bytes() : 0;
	if (new_tm_p && color < 0)
		psi_fatal("%s: color is %d; pass one from 0, or NULL for new_tm_p to join no team",
		          call, color);
	psi_team_hold(parent);
	offers = psi_offers_exchange(parent, &(struct psi_offer){
		.kind = PSI_OFFER_SPLIT, .joins = new_tm_p != NULL, .color = color, .key = key,
		.flags = flags, .scratch_bytes = flags & GEX_FLAG_TM_NO_SCRATCH ? 0 : scratch_size,
		.lent = new_tm_p ? psi.team_lender->take(&parent->ep->index, 1) : 0,
	}, call);
	if (new_tm_p) {
		tm = team_split_off(parent, offers, flags, call);
		member_lend_scratch(tm, scratch_addr, scratch_size, call);
		psi_team_add(tm);
	}
	free(offers);
	psi_team_gather(parent, NULL, 0, NULL, call);
	psi_team_release(parent);
	if (new_tm_p)
		*new_tm_p = tm;
	return 0;
}

/* -- gex_TM_Create --------------------------------------------------------------------------- */

/* Names a member of args as the caller did. */
static void __attribute__((noreturn, cold))
bad_member(size_t i, const gex_EP_Location_t *arg, const char *what, const char *call)
{
	psi_fatal("%s: member %zu of args is rank %u, endpoint %u, %s", call, i, arg->gex_rank,
	          arg->gex_ep_index, what);
}

static gex_Rank_t
team_process_of(gex_TM_t parent, const gex_EP_Location_t *arg, size_t i, gex_Flags_t flags,
                const char *call)
{
	if (flags & GEX_FLAG_RANK_IS_JOBRANK) {
		if (psi_team_rank_of(parent, arg->gex_rank) == GEX_RANK_INVALID)
			bad_member(i, arg, "a process without a member of the parent; name "
			           "processes that have one", call);
		return arg->gex_rank;
	}
	if (arg->gex_rank >= parent->size)
		bad_member(i, arg, "which the parent does not have; count its ranks from 0, or "
		           "pass GEX_FLAG_RANK_IS_JOBRANK", call);
	return psi_team_location(parent, arg->gex_rank).gex_rank;
}

/* The list as it is given, with process ranks. */
static struct psi_group *
team_group_of_args(gex_TM_t parent, const gex_EP_Location_t *args, size_t count, gex_Flags_t flags,
                   const char *call)
{
	struct psi_group *group;

	if (count > (size_t)psi.boot.size * GASNET_MAXEPS)
		psi_fatal("%s: numargs is %zu, and %u processes have %zu endpoints at most; pass "
		          "the number of members that args has", call, count, psi.boot.size,
		          (size_t)psi.boot.size * GASNET_MAXEPS);
	psi_check_list(args, count, sizeof *args, "args", call);
	group = psi_group_new((gex_Rank_t)count);
	for (size_t i = 0; i < count; i++) {
		group->locations[i].gex_rank = team_process_of(parent, &args[i], i, flags, call);
		group->locations[i].gex_ep_index = args[i].gex_ep_index;
		if (psi_place_of(group->locations[i].gex_rank, args[i].gex_ep_index) == PSI_NO_PEER)
			bad_member(i, &args[i], "an endpoint that does not exist; create it first",
			           call);
	}
	psi_group_finish(group, call);
	return group;
}

static void
team_check_create(size_t num_new_tms, const gex_TM_t *new_tms, const struct psi_group *group,
                  const gex_Addr_t *scratch_addrs, gex_Flags_t flags, const char *call)
{
	const gex_Flags_t scratch = flags & SCRATCH_FLAGS;
	const gex_Rank_t here = psi_group_here(group);

	if (!scratch || scratch & (scratch - 1))
		psi_fatal("%s: flags 0x%x must have exactly one way to give scratch; pass one of "
		          "GEX_FLAG_TM_SYMMETRIC_SCRATCH, LOCAL_SCRATCH, GLOBAL_SCRATCH and "
		          "NO_SCRATCH", call, flags);
	if (num_new_tms != here)
		psi_fatal("%s: num_new_tms is %zu, and args have %u endpoint%s of this process; "
		          "pass their number", call, num_new_tms, here, here == 1 ? "" : "s");
	if (here && (!new_tms || (!scratch_addrs && scratch != GEX_FLAG_TM_NO_SCRATCH)))
		psi_fatal("%s: new_tms or scratch_addrs is NULL; pass arrays with an entry for "
		          "each", call);
}

/* The location that a local member lends; `here' counts local members in rank order. */
static void *
team_scratch_of(const gex_TM_t tm, const gex_Addr_t *addrs, size_t here)
{
	size_t index = 0;
	uintptr_t base = 0;

	if (tm->flags & GEX_FLAG_TM_NO_SCRATCH)
		return NULL;
	if (tm->flags & GEX_FLAG_TM_LOCAL_SCRATCH)
		index = here;
	else if (tm->flags & GEX_FLAG_TM_GLOBAL_SCRATCH)
		index = tm->rank;
	if (tm->flags & GEX_FLAG_SCRATCH_SEG_OFFSET && tm->ep->segment)
		base = (uintptr_t)tm->ep->segment->base;
	return (void *)(base + (uintptr_t)addrs[index]);
}

/* The caller's members, in rank order. */
static void
team_make_members(gex_TM_t *new_tms, gex_TM_t parent, struct psi_group *group, uint64_t id,
                  const gex_Addr_t *scratch_addrs, size_t scratch_size, gex_Flags_t flags,
                  const char *call)
{
	size_t here = 0;

	for (gex_Rank_t rank = 0; rank < group->size; rank++) {
		gex_EP_t ep = psi_ep_of(group->locations[rank].gex_ep_index);
		gex_TM_t tm;

		if (group->locations[rank].gex_rank != psi.boot.rank)
			continue;
		tm = member_new(parent, ep, group, id, rank, flags);
		member_lend_scratch(tm, team_scratch_of(tm, scratch_addrs, here), scratch_size,
		                    call);
		psi_team_add(tm);
		new_tms[here++] = tm;
	}
}

size_t
gex_TM_Create(gex_TM_t *new_tms, size_t num_new_tms, gex_TM_t parent_tm, gex_EP_Location_t *args,
              size_t numargs, gex_Addr_t *scratch_addrs, size_t scratch_size, gex_Flags_t flags)
{
	const char *call = "gex_TM_Create";
	gex_TM_t parent = team_check_parent(parent_tm, call);
	struct psi_offer own = { .kind = PSI_OFFER_CREATE, .flags = flags };
	struct psi_group *group = NULL;
	const struct psi_offer *first;
	struct psi_offer *offers;

	psi_check_flags(flags, CREATE_FLAGS, call);
	if (team_is_query(parent, flags, call))
		return numargs ? team_recommended_bytes() : 0;
	if (numargs) {
		group = team_group_of_args(parent, args, numargs, flags, call);
		team_check_create(num_new_tms, new_tms, group, scratch_addrs, flags, call);
		own.joins = 1;
		own.members_here = (uint32_t)num_new_tms;
		own.first = group->locations[0];
		own.list = psi_group_digest(group);
		own.lent = team_lend_created(group);
		own.scratch_bytes = flags & GEX_FLAG_TM_NO_SCRATCH ? 0 : scratch_size;
	}
	psi_team_hold(parent);
	offers = psi_offers_exchange(parent, &own, call);
	if (group) {
		first = psi_offers_settle(parent, offers, group, call);
		team_settle_created(parent, group, offers);
		team_make_members(new_tms, parent, group, first->id, scratch_addrs, scratch_size,
		                  flags, call);
	}
	free(offers);
	psi_team_gather(parent, NULL, 0, NULL, call);
	psi_team_release(parent);
	return 0;
}

/* -- gex_TM_Destroy -------------------------------------------------------------------------- */

/*
 * A member ends without waiting for others, so that one thread may end several members in turn.
 * When all its calls have ended, no message for it is under way.  Exchanges and barriers end with
 * the last message that is sent to them.  A collective ends when its notes have been taken and the
 * data that it requested has come.  The barrier area lasts until all members have left it.
 */
static void
team_check_quiet(gex_TM_t tm, const char *call)
{
	const uint32_t users = atomic_load_explicit(&tm->users, memory_order_relaxed);
	const char *caller;

	if (users)
		psi_fatal("%s: %u collective calls, plans and atomic domains of the team are not "
		          "over; synchronise the ones and destroy the others first", call, users);
	if (!atomic_load_explicit(&tm->callers.count, memory_order_relaxed))
		return;
	/* the last, as far as seen */
	caller = atomic_load_explicit(&tm->callers.call, memory_order_relaxed);
	psi_fatal("%s: another thread is in %s by the team; destroy it when no call uses it any "
	          "more",
	          call, caller ? caller : "a call");
}

int
gex_TM_Destroy(gex_TM_t tm, gex_Memvec_t *scratch_p, gex_Flags_t flags)
{
	const char *call = "gex_TM_Destroy";
	gex_Memvec_t scratch;

	(void)team_check_parent(tm, call);
	psi_check_flags(flags, GEX_FLAG_GLOBALLY_QUIESCED, call);
	if (tm == psi.tm)
		psi_fatal("%s: the primordial team lives as long as the job; leave it", call);
	team_check_quiet(tm, call);
	scratch = tm->scratch;
	psi_team_remove(tm, call);
	if (!scratch_p || !scratch.gex_addr)
		return 0;
	*scratch_p = scratch;
	return 1;
}
