/*
 * What a schedule costs, by the model LogGP.
 *
 * Source: A. Alexandrov, M. Ionescu, K. Schauser, C. Scheiman, "LogGP: incorporating long messages
 * into the LogP model", 1995.
 */
#ifndef PCOLL_SCHEDULE_PRICE_H
#define PCOLL_SCHEDULE_PRICE_H

#include "coll/schedule.h"

/* Of a team whose members are equally far from each other.  In picoseconds. */
struct pcoll_costs {
	uint64_t latency_ps;            /* L: from one member to another */
	uint64_t overhead_ps;           /* o: of the processor, for each message, at both ends */
	uint64_t gap_ps;                /* g: between two messages of a member */
	uint64_t byte_ps;               /* G: for each byte of a message */
	uint64_t copy_byte_ps, combine_byte_ps;
	size_t eager_bytes;             /* larger messages wait until the receiver has asked */
};

/* The time from the start of all members to the end of the last one; UINT64_MAX if the schedules
 * do not end (schedule_model.h). */
uint64_t pcoll_price_ps(const struct pcoll_schedule *schedules, uint32_t size,
                        const struct pcoll_costs *costs);

/* The same of an algorithm, for shape->size members; shape->rank and ->target are ignored, and a
 * permutation is a ring.  UINT64_MAX also where memory is missing. */
uint64_t pcoll_builder_price_ps(const struct pcoll_builder *builder,
                                const struct pcoll_shape *shape, const struct pcoll_costs *costs);

#endif
