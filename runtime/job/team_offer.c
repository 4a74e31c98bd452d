/* Offers and groups: each process says which new team it joins, and groups follow from all
 * offers. */
#include "runtime/job/team_offer.h"

#include <stdlib.h>

void *
psi_team_memory(size_t count, size_t bytes)
{
	void *memory = calloc(count, bytes);

	if (!memory)
		psi_fatal("no memory for a team of %zu", count);
	return memory;
}

/* -- groups ---------------------------------------------------------------------------------- */

struct psi_group *
psi_group_new(gex_Rank_t size)
{
	struct psi_group *group = psi_team_memory(1, sizeof *group);

	group->size = size;
	group->locations = psi_team_memory(size, sizeof *group->locations);
	group->places = psi_team_memory(size, sizeof *group->places);
	group->by_process = psi_team_memory(size, sizeof *group->by_process);
	group->lent = psi_team_memory(size, sizeof *group->lent);
	return group;
}

/* An entry of offer_by_process while it is sorted. */
struct sorted {
	gex_EP_Location_t at;
	gex_Rank_t rank;
};

static int
offers_compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int
offer_by_process(const void *left, const void *right)
{
	const struct sorted *a = left, *b = right;

	return a->at.gex_rank != b->at.gex_rank ? offers_compare(a->at.gex_rank, b->at.gex_rank)
	                                        : offers_compare(a->rank, b->rank);
}

static int
offer_by_endpoint(const void *left, const void *right)
{
	const struct sorted *a = left, *b = right;

	return a->at.gex_rank != b->at.gex_rank
	               ? offers_compare(a->at.gex_rank, b->at.gex_rank)
	               : offers_compare(a->at.gex_ep_index, b->at.gex_ep_index);
}

void
psi_group_finish(struct psi_group *group, const char *call)
{
	struct sorted *sorted = psi_team_memory(group->size, sizeof *sorted);

	for (gex_Rank_t rank = 0; rank < group->size; rank++) {
		const gex_EP_Location_t at = group->locations[rank];

		sorted[rank] = (struct sorted){ at, rank };
		group->places[rank] = psi_place_of(at.gex_rank, at.gex_ep_index);
	}
	qsort(sorted, group->size, sizeof *sorted, offer_by_endpoint);
	for (gex_Rank_t i = 1; i < group->size; i++)
		if (offer_by_endpoint(&sorted[i - 1], &sorted[i]) == 0)
			psi_fatal("%s: args name endpoint %u of process %u twice; a team has an "
			          "endpoint once",
			          call, sorted[i].at.gex_ep_index, sorted[i].at.gex_rank);
	qsort(sorted, group->size, sizeof *sorted, offer_by_process);
	for (gex_Rank_t i = 0; i < group->size; i++)
		group->by_process[i] = sorted[i].rank;
	free(sorted);
}

gex_Rank_t
psi_group_here(const struct psi_group *group)
{
	gex_Rank_t count = 0;

	for (gex_Rank_t rank = 0; rank < group->size; rank++)
		count += group->locations[rank].gex_rank == psi.boot.rank;
	return count;
}

/* FNV-1a over the numbers. */
uint64_t
psi_group_digest(const struct psi_group *group)
{
	const uint64_t prime = 0x100000001b3;
	uint64_t digest = 0xcbf29ce484222325;

	for (gex_Rank_t rank = 0; rank < group->size; rank++) {
		digest = (digest ^ group->locations[rank].gex_rank) * prime;
		digest = (digest ^ group->locations[rank].gex_ep_index) * prime;
	}
	return (digest ^ group->size) * prime;
}

/* -- offers ---------------------------------------------------------------------------------- */

struct psi_offer *
psi_offers_exchange(gex_TM_t parent, const struct psi_offer *own, const char *call)
{
	static _Atomic uint32_t given;
	struct psi_offer *all = psi_team_memory(parent->size, sizeof *all), mine = *own;

	/* Numbers begin with 1; 0 is the primordial team's. */
	mine.id = (uint64_t)psi.boot.rank << 32 |
	          (atomic_fetch_add_explicit(&given, 1, memory_order_relaxed) + 1);
	psi_team_gather(parent, &mine, sizeof mine, all, call);
	for (gex_Rank_t rank = 0; rank < parent->size; rank++)
		if (all[rank].kind != own->kind)
			psi_fatal("%s: rank %u of the parent is in another collective call over "
			          "it; all make the same calls in the same order", call, rank);
	return all;
}

void
psi_offers_agree(const struct psi_offer *own, const struct psi_offer *other, const char *call)
{
	if (psi.checks && (own->scratch_bytes != other->scratch_bytes ||
	                   (own->flags ^ other->flags) & GEX_FLAG_TM_NO_SCRATCH))
		psi_fatal("%s: scratch of %llu bytes here, and of %llu at another member of the "
		          "new team; all give the same size, or GEX_FLAG_TM_NO_SCRATCH", call,
		          (unsigned long long)own->scratch_bytes,
		          (unsigned long long)other->scratch_bytes);
}

static bool
offers_are_same(gex_EP_Location_t a, gex_EP_Location_t b)
{
	return a.gex_rank == b.gex_rank && a.gex_ep_index == b.gex_ep_index;
}

const struct psi_offer *
psi_offers_settle(gex_TM_t parent, const struct psi_offer *offers, const struct psi_group *group,
                  const char *call)
{
	const struct psi_offer *own = &offers[parent->rank], *first = NULL;
	gex_Rank_t members = 0;

	for (gex_Rank_t rank = 0; rank < parent->size; rank++) {
		const struct psi_offer *offer = &offers[rank];

		if (!offer->joins || !offers_are_same(offer->first, own->first))
			continue;
		if (offer->list != own->list)
			psi_fatal("%s: rank %u of the parent gave other args for the same team; "
			          "all members give one list", call, rank);
		psi_offers_agree(own, offer, call);
		members += offer->members_here;
		if (psi_team_location(parent, rank).gex_rank == own->first.gex_rank)
			first = offer;
	}
	if (members != group->size || !first)
		psi_fatal("%s: %u of the %u members that args name were given by their processes; "
		          "all members give one list", call, members, group->size);
	return first;
}

static int
chosen_by_key(const void *left, const void *right)
{
	const struct psi_chosen *a = left, *b = right;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return a->rank < b->rank ? -1 : a->rank > b->rank;
}

void
psi_chosen_sort(struct psi_chosen *chosen, size_t count)
{
	qsort(chosen, count, sizeof *chosen, chosen_by_key);
}
