/* What penstock-info --coll tells: how a collective goes, and which algorithms it has by
 * messages. */
#ifndef PCOLL_INTROSPECT_H
#define PCOLL_INTROSPECT_H

#include "coll/modes.h"
#include "coll/operation.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A team whose ranks follow each other on hosts, as evenly as they go. */
struct pcoll_team {
	uint32_t ranks, hosts;          /* 1 <= hosts <= ranks */
	const char *mode;               /* as in rules (tuning.txt) */
};

struct pcoll_fact {
	const char *operation;
	const char *algorithm;          /* also "cells", and "flags" of a barrier: shared memory */
	const char *summary;
	size_t bytes;
	uint32_t radix;                 /* 0: the algorithm has none */
	size_t piece_bytes;             /* 0: all is one piece */
	uint64_t predicted_ns;          /* UINT64_MAX: not computed */
	const char *rule;               /* that takes it: "user", "library"; "-": none does */
};

/* Tells of each operation and of some lengths for a team, by the settings in force: of the
 * algorithm that is taken, and, if `all', of the others with some parameters.  Needs no job.
 * Returns false if memory is missing. */
bool pcoll_introspect(const struct pcoll_team *team, bool all,
                      void (*tell)(const struct pcoll_fact *fact, void *arg), void *arg);

/* The predicted time of a collective of one rank on each of so many hosts, in software; as that of
 * the largest number for which there are predictions. */
uint64_t pcoll_predict_ns(enum pcoll_operation operation, uint32_t members, bool are_near,
                          size_t len_bytes);

#endif
