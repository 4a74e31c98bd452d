/* What penstock-info says of conduits. */
#ifndef TOOLS_CONDUITS_H
#define TOOLS_CONDUITS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Prints each conduit of this build: whether a job can use it here, what it has found and chosen,
 * or what is missing.  Then a table: what a process keeps for the ranks of a job that it reaches by
 * a network, for jobs of that many ranks, or of several sizes where `ranks' is 0.
 */
void conduits_tell(uint32_t ranks, bool csv);

#endif
