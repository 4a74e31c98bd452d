/*
 * What becomes of a team's device steps, counted by each member that leads.  A team's counts go to
 * the file that PST_OFFLOAD_STATSFILE names, when the team or the job ends; those of all teams
 * together are among the counters of the process (runtime/conduit/counters.h).
 */
#ifndef POFF_COUNT_H
#define POFF_COUNT_H

#include <stdint.h>

/* ID, name, counter of the process, meaning. */
#define POFF_COUNT_LIST(X)                                                                        \
	X(OFFERED, "offered", OFFLOAD_OFFERED, "steps that a device might have done")             \
	X(TAKEN, "taken", OFFLOAD_TAKEN, "steps that the device has done")                        \
	X(NO_TREE, "declined_no_tree", OFFLOAD_DECLINED, "the team has no tree")                  \
	X(QUERY, "declined_query", OFFLOAD_DECLINED, "the device does not take the shape")        \
	X(COST, "declined_cost", OFFLOAD_DECLINED, "software is faster")                          \
	X(LENGTH, "declined_length", OFFLOAD_DECLINED, "the payload is too long")                 \
	X(SHAPES, "declined_shapes", OFFLOAD_DECLINED, "the team has too many shapes")            \
	X(FAILED, "declined_failed", OFFLOAD_DECLINED, "the device has failed before")            \
	X(RERUN, "rerun", OFFLOAD_RERUN, "steps that the device began and software did")          \
	X(REPAIRED_BYTES, "repaired_bytes", OFFLOAD_REPAIRED_BYTES,                               \
	  "bytes of results that came from another member")                                       \
	X(JOINS, "joins", OFFLOAD_JOINS, "trees joined")                                          \
	X(JOINS_REFUSED, "joins_refused", OFFLOAD_JOINS_REFUSED, "joins that failed")             \
	X(EVICTIONS, "evictions", OFFLOAD_EVICTIONS, "trees left for other teams")                \
	X(FAILURES, "failures", OFFLOAD_FAILURES, "failures of the device")

enum poff_count {
#define POFF_COUNT_ENUM(id, name, counter, help) POFF_COUNT_##id,
	POFF_COUNT_LIST(POFF_COUNT_ENUM)
#undef POFF_COUNT_ENUM
	POFF_COUNTS
};

struct poff_team;
struct poff_device;

/* Of the team and of this process. */
void poff_count_add(struct poff_team *team, enum poff_count which, uint64_t amount);

static inline void
poff_count(struct poff_team *team, enum poff_count which)
{
	poff_count_add(team, which, 1);
}

/* The team ends: its counts go to the file, if there is one. */
void poff_stats_team(const struct poff_team *team);
/* The job ends: the counts of a device. */
void poff_stats_device(const struct poff_device *device);

#endif
