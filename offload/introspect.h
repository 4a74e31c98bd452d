/* What penstock-info --offload tells: the providers that there are, and what became of them. */
#ifndef POFF_INTROSPECT_H
#define POFF_INTROSPECT_H

#include <stdbool.h>

struct poff_fact {
	const char *name;               /* "-" where the plug-in did not come so far */
	const char *from;               /* its file, or "built in" */
	bool taken;
	const char *why;                /* it is not; or what its device offers */
};

/* Tells of each provider, by the settings in force, and opens the devices of those that are taken.
 * Needs no job. */
void poff_introspect(void (*tell)(const struct poff_fact *fact, void *arg), void *arg);

#endif
