/* What penstock-info --coll tells: which algorithm a collective by messages would take. */
#ifndef PCOLL_INTROSPECT_H
#define PCOLL_INTROSPECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pcoll_fact {
	const char *operation, *algorithm, *summary;
	size_t bytes;
	uint32_t radix;                 /* 0: the algorithm has none */
	size_t piece_bytes;             /* 0: all is one piece */
	uint64_t predicted_ns;          /* UINT64_MAX: not computed */
	bool by_user;                   /* by a rule of the user's */
};

/* Tells of each operation and of some lengths for a team of that size, by the settings in force.
 * Needs no job. */
void pcoll_introspect(uint32_t ranks, void (*tell)(const struct pcoll_fact *fact, void *arg),
                      void *arg);

#endif
