/*
 * A rank that ends before all ranks have passed the engine's fence leaves the others waiting there,
 * since not every process manager takes that for a failure.  So each rank watches another one of
 * its host while it waits: the next in the ring of those that the same process of the engine has
 * started.  Whatever rank ends, one of those that are left watches one that has ended.  One that
 * ended before this rank began is seen by counting, if it is known how many there should be.
 */
#ifndef PBOOT_SIBLINGS_H
#define PBOOT_SIBLINGS_H

#include <stdbool.h>
#include <stdint.h>

/* Begins to watch, as early as possible.  Both are names of environment variables: of the rank's
 * number, and of the job's name or NULL.  Nobody is watched if no such rank is found. */
void pboot_siblings_open(const char *rank_name, const char *job_name);

/* Does the name of the process that has started the ranks begin so? */
bool pboot_siblings_engine_is(const char *name);

/* So many ranks of the job are on this host; 0: that is not known. */
void pboot_siblings_expect(uint32_t count);

/* How many that are by Slurm's variables: ranks of each host, such as 2(x3),1, and the number of
 * this host among them; 0: they do not say. */
uint32_t pboot_siblings_of_slurm(const char *ranks_of_hosts, const char *host);

/*
 * Waits for a fence.  over waits for at most this many ms, and returns whether the fence is over.
 * Prints a line when it has taken PBOOT_ENGINE_HINT_S.  Returns false, after a line that says so,
 * when it has taken PST_START_LIMIT, or will never be over, since another rank of this host has
 * ended.
 */
bool pboot_siblings_await(bool (*over)(int limit_ms), uint32_t rank, uint32_t size);

#endif
