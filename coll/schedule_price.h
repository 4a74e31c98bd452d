/*
 * What a schedule costs, by the model LogGP.
 *
 * Source: A. Alexandrov, M. Ionescu, K. Schauser, C. Scheiman, "LogGP: incorporating long messages
 * into the LogP model", 1995.
 */
#ifndef PCOLL_SCHEDULE_PRICE_H
#define PCOLL_SCHEDULE_PRICE_H

#include "coll/schedule.h"

/* What messages between two members cost, in picoseconds. */
struct pcoll_link {
	uint64_t latency_ps;            /* L: from one member to another */
	uint64_t overhead_ps;           /* o: of the processor, for each message, at both ends */
	uint64_t gap_ps;                /* g: between two messages of a member */
	uint64_t byte_ps;               /* G: for each byte of a message */
};

struct pcoll_costs {
	struct pcoll_link far, near;    /* near: of one neighbourhood */
	uint64_t copy_byte_ps, combine_byte_ps;
	size_t eager_bytes;             /* larger messages wait until the receiver has asked */
};

/* The time of an algorithm for shape->size members, from the start of all to the end of the last
 * one; shape->rank and ->target are ignored, and a permutation is a ring.  Without a layout all
 * are near where there is one host, and far where there are several.  UINT64_MAX if the schedules
 * do not end (schedule_model.h), or memory is missing. */
uint64_t pcoll_builder_price_ps(const struct pcoll_builder *builder,
                                const struct pcoll_shape *shape, const struct pcoll_costs *costs);

#endif
