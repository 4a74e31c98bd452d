/*
 * The members of a parent team exchange offers when new teams are made of it.  This declares the
 * offers and what is computed from them (team_create.c).
 */
#ifndef PSI_TEAM_OFFER_H
#define PSI_TEAM_OFFER_H

#include "runtime/team/team.h"

enum psi_offer_kind { PSI_OFFER_SPLIT, PSI_OFFER_CREATE };

/* The offer of one member of the parent team. */
struct psi_offer {
	uint32_t kind;
	uint32_t joins;                 /* 0: no team */
	int32_t color, key;             /* of a split */
	gex_EP_Location_t first;        /* of a created one: its rank 0, */
	uint64_t list;                  /* psi_group_digest */
	uint32_t members_here;          /* and how many are the caller's */
	gex_Flags_t flags;
	uint64_t scratch_bytes;
	uint64_t id;                    /* for the new team whose rank 0 is the caller's, */
	uint32_t lent;                  /* number of what its members lend to it; 0: none */
};

/* A member of a split's new team. */
struct psi_chosen {
	int32_t key;
	gex_Rank_t rank;                /* in the parent */
};

/* Zeroed; ends the job if there is none. */
void *psi_team_memory(size_t count, size_t bytes);

/* Sends this member's offer, with an id of this process's, to all members of the parent.  Returns
 * the offers of all, by rank. */
struct psi_offer *psi_offers_exchange(gex_TM_t parent, const struct psi_offer *own,
                                      const char *call);
/* Ends the job if two members of one new team disagree on its scratch.  Only PST_CHECK calls it. */
void psi_offers_agree(const struct psi_offer *own, const struct psi_offer *other, const char *call);
/* Checks that all processes of a created team named the same list.  Returns the offer that has the
 * team's id. */
const struct psi_offer *psi_offers_settle(gex_TM_t parent, const struct psi_offer *offers,
                                          const struct psi_group *group, const char *call);

/* Sorts by key, and by rank within a key. */
void psi_chosen_sort(struct psi_chosen *chosen, size_t count);

/* Allocates a group for this many members.  The caller fills the locations, then finishes it. */
struct psi_group *psi_group_new(gex_Rank_t size);
void psi_group_finish(struct psi_group *group, const char *call);
/* Members that are endpoints of this process. */
gex_Rank_t psi_group_here(const struct psi_group *group);
/* A digest of the locations in their order.  Different lists almost never have the same digest. */
uint64_t psi_group_digest(const struct psi_group *group);

#endif
