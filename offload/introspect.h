/* What penstock-info --offload tells: the providers that there are, and what became of them; and
 * what became of the calls of jobs. */
#ifndef POFF_INTROSPECT_H
#define POFF_INTROSPECT_H

#include <stdbool.h>
#include <stdint.h>

struct poff_fact {
	const char *name;               /* "-" where the plug-in did not come so far */
	const char *from;               /* its file, or "built in" */
	bool taken;
	const char *why;                /* it is not; or what its device offers */
};

/* Tells of each provider, by the settings in force, and opens the devices of those that are taken.
 * Needs no job. */
void poff_introspect(void (*tell)(const struct poff_fact *fact, void *arg), void *arg);

/* -- the counts that jobs have left in a file (count.h) ---------------------------------------- */

enum { POFF_STAT_TEXT_BYTES = 256 };

/* A count over all teams and all members that led. */
struct poff_stat {
	char provider[32], counter[64];
	bool of_device;                 /* the provider's own */
	uint32_t teams;                 /* rows of the file */
	uint64_t value;
	char note[POFF_STAT_TEXT_BYTES];        /* the first reason; or nothing */
};

/* Returns NULL, or what is wrong with the file. */
const char *poff_stats(const char *file, void (*tell)(const struct poff_stat *stat, void *arg),
                       void *arg);

#endif
