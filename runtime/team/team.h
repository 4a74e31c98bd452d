/*
 * Teams.  A team is a list of members.  A member is an endpoint of a process, given by its location
 * (process rank, endpoint index), from which follows its place; messages and transfers name places.
 * Each member has a gex_TM_s of its own.  What the members of one process have in common is in one
 * psi_group.
 *
 * The primordial team has the first endpoints of all processes, in the order of job ranks.  Its
 * lists would be the identity, and are not stored.
 *
 * The id of a team is the same on all members.  No other team of the job has it or had it.  The
 * primordial team's is 0.
 */
#ifndef PSI_TEAM_H
#define PSI_TEAM_H

#include "runtime/process/endpoint.h"
#include "runtime/process/process.h"
#include "runtime/process/rules.h"
#include "runtime/util/spinlock.h"

#include <stdatomic.h>
#include <stdbool.h>

/* The description of a team that its members in one process share.  It is constant, except their
 * number, which the lock of team.c protects. */
struct psi_group {
	uint32_t members_here;
	gex_Rank_t size;
	gex_EP_Location_t *locations;   /* [size], by rank; gex_rank is the process's */
	uint32_t *places;               /* [size] */
	gex_Rank_t *by_process;         /* [size]: ranks, by their process, then by rank */
	uint32_t *lent;                 /* [size]: the number of what each member lends; 0:
	                                 * nothing */
	struct psi_barrier_area *barrier_area; /* for barriers, in memory that all share;
	                                                * NULL: none */
	struct psi_cells **cells;       /* [size]: of each member, for other collectives; NULL:
	                                 * none */
};

enum { PSI_GATHER_ROUNDS = 32, PSI_DEVICE_LINES = 5 };

/* One exchange under way (exchange.c). */
struct psi_gather_phase {
	uint32_t number;                /* 0: none */
	size_t block_bytes, room_bytes;
	unsigned char *blocks;          /* [size], this member's first, then those of the ranks
	                                 * above it */
	size_t got_bytes[PSI_GATHER_ROUNDS];
};

struct gex_TM_s {
	/* As the headers' inlines read it, struct pst_team. */
	_Alignas(16) gex_Rank_t size;
	gex_Rank_t rank;
	const uint32_t *places;         /* [size]; NULL: the rank itself */

	gex_Client_t client;
	gex_EP_t ep;
	void *cdata;
	gex_Flags_t flags;
	uint64_t id;
	struct psi_group *group;        /* NULL: the identity */
	gex_Memvec_t scratch;           /* the client's loan; gex_addr NULL: none */
	_Atomic uint32_t users;         /* see psi_team_hold */
	uint32_t collectives; /* that this member has called; under the lock of coll/, but for
	                                 * barriers in the barrier area without checks, which take
	                                 * none */
	struct pcoll_barrier *barrier;  /* of teams with a barrier area; NULL before its first
	                                 * barrier */
	struct pcoll_cells *cells;      /* of teams that have some; NULL before the first call */
	struct pcoll_cached *schedules; /* of the last collectives by messages */
	struct pcoll_layout *layout;    /* the same: NULL before the first; under their lock */
	/* By line (coll/schedule.h): its use of a device, NULL before the first; and the device
	 * steps that its calls have.  Under the lock of offload/. */
	struct poff_team *offload[PSI_DEVICE_LINES];
	uint64_t device_steps[PSI_DEVICE_LINES];
	bool is_plan;                   /* a plan's own (coll/plan.c); for reports */
	uint32_t ahead_bytes;           /* what its calls since all met may have left with members
	                                 * behind (coll/schedule_cache.c) */
	uint64_t pst_barriers;          /* with checks, under the lock of coll/: bit k % 64 is set
	                                 * if call k was a pst_barrier by flags, 64 calls back */
	gex_TM_t next;                  /* in the list of team.c */
	struct psi_team_callers callers;
	struct psi_spinlock gather_lock;        /* the phases but for their blocks */
	uint32_t gathered;              /* exchanges that this member has started */
	struct psi_gather_phase gathers[2];     /* by parity of number */
};

_Static_assert(offsetof(struct gex_TM_s, size) == offsetof(struct pst_team, size) &&
               offsetof(struct gex_TM_s, places) == offsetof(struct pst_team, places),
               "a team begins as the inlines expect");

/* -- places and targets ---------------------------------------------------------------------- */

/* Where a message or transfer by (tm, rank) goes. */
struct psi_target {
	gex_EP_t ep;            /* the local one */
	uint32_t place;
};

/* A pair other than that of the primordial endpoints, and all that names nothing, which ends the
 * job. */
struct psi_target psi_target_far(gex_TM_t tm, gex_Rank_t rank, const char *call);
void psi_target_bad(gex_TM_t tm, gex_Rank_t rank, const char *call) __attribute__((noreturn));

/* True if the value names a pair of endpoints rather than a team. */
static inline bool psi_tm_is_pair(gex_TM_t tm) { return (uintptr_t)tm & 1; }

/* Where a message or transfer by (tm, rank) goes; ends the job if it names nothing. */
static inline struct psi_target
psi_target_of(gex_TM_t tm, gex_Rank_t rank, const char *call)
{
	if (PSI_LIKELY(!psi_tm_is_pair(tm) && tm && rank < tm->size))
		return (struct psi_target){ tm->ep, tm->places ? tm->places[rank] : rank };
	if (PSI_LIKELY(tm == PSI_TM_LEGACY && rank < psi.places))
		return (struct psi_target){ psi.ep, rank };
	return psi_target_far(tm, rank, call);
}

/* -- members --------------------------------------------------------------------------------- */

/* The argument of a call that takes a team and no pair; ends the job if it is none. */
gex_TM_t psi_team_live(gex_TM_t tm, const char *call);

/* rank < tm->size */
gex_EP_Location_t psi_team_location(gex_TM_t tm, gex_Rank_t rank);
/* The lowest rank of that process, or GEX_RANK_INVALID. */
gex_Rank_t psi_team_rank_of(gex_TM_t tm, gex_Rank_t jobrank);

/* The member of a team at an endpoint of this process, for messages that name it; NULL if none. */
gex_TM_t psi_team_find(uint64_t id, gex_EP_t ep);

/* One member more shares the group. */
void psi_group_join(struct psi_group *group);
/* Frees a group that nobody shares, with its lists. */
void psi_group_free(struct psi_group *group);
/* Messages may name the team after this call, which comes before any peer knows its id. */
void psi_team_add(gex_TM_t tm);
/* Ends the member and frees it; with checks it is kept aside. */
void psi_team_remove(gex_TM_t tm, const char *call);
/* Is it a team of this process, or was it?  Reads nothing through the pointer. */
bool psi_team_is_known(gex_TM_t tm);
bool psi_team_was_destroyed(gex_TM_t tm);
/* Writes which team it is, in the same words at all its members, and for no other team of the job:
 * "the team of all ranks", or "team 2.1 of 3 (ranks 2, 5, 6)": its id, size and processes. */
void psi_team_describe(gex_TM_t tm, char *text_out, size_t text_bytes);
/* A team whose scratch memory begins in these bytes, or NULL. */
gex_TM_t psi_team_borrowing(const void *addr, size_t bytes);
/* Called in a child that the client forked: its teams have no ranks. */
void psi_teams_forget(void);

/* Counts what uses a team and must end before it: collectives under way, atomic domains, calls that
 * make teams of it.  gex_TM_Destroy refuses a team that is held. */
static inline void
psi_team_count(gex_TM_t tm, uint32_t more)
{
	if (psi.threaded)
		atomic_fetch_add_explicit(&tm->users, more, memory_order_relaxed);
	else
		atomic_store_explicit(&tm->users,
		                      atomic_load_explicit(&tm->users, memory_order_relaxed) + more,
		                      memory_order_relaxed);
}

static inline void psi_team_hold(gex_TM_t tm) { psi_team_count(tm, 1); }
static inline void psi_team_release(gex_TM_t tm) { psi_team_count(tm, (uint32_t)-1); }

/* Both end the job.  A member uses a team that the rank of `source' has destroyed; or the caller
 * destroys a team on which another member still has a call. */
void psi_team_is_gone(uint32_t source) __attribute__((noreturn, cold));
void psi_team_in_use(const char *call) __attribute__((noreturn, cold));

/*
 * Memory for the collectives of a team, which its members lend; handed down by coll
 * (coll/pcoll_lend.c).
 *
 * take    for members of a team that is being made, at `count' endpoints of this process: a number
 *         for all of these, or 0 if there is none
 * settle  the group's `lent' says which numbers the members have taken.  The group gets what it can
 *         use of them.
 * join    behind that, for each member of this process that took a number by this call: the number
 *         is given back if the group does not use it.
 */
struct psi_team_lender {
	uint32_t (*take)(const gex_EP_Index_t *indices, uint32_t count);
	void (*settle)(struct psi_group *group);
	void (*join)(const struct psi_group *group, gex_Rank_t rank);
};

/* -- exchange (exchange.c) ---------------------------------------------------------------- */

/*
 * All members give `bytes' bytes, the same number each; out, [tm->size] blocks, gets them by rank.
 * With 0 bytes it is a barrier; in and out may be NULL.  Collective: one call at a time per member,
 * in the same order on all, from outside handlers; serves messages meanwhile.  `call' is what the
 * client called, for reports.
 */
void psi_team_gather(gex_TM_t tm, const void *in, size_t bytes, void *out, const char *call);

extern const struct psi_module psi_exchange_module;

#endif
