/*
 * The providers that there are: those that the library has in itself, then those of plug-ins.  Each
 * is looked at once in a process, when somebody asks first.
 */
#ifndef POFF_PROVIDER_H
#define POFF_PROVIDER_H

#include "penstock_offload.h"

#include <limits.h>
#include <stdbool.h>

enum { POFF_PROVIDERS = 16, POFF_NAME_BYTES = 32, POFF_WHY_BYTES = 256 };

struct poff_provider {
	char name[POFF_NAME_BYTES];     /* empty where a plug-in did not come so far */
	char from[PATH_MAX];            /* the plug-in's file; or "built in" */
	bool is_built_in;
	bool taken;                     /* it may be used */
	bool unwanted;                  /* not, since PST_OFFLOAD does not name it */
	int turn;                       /* the place at which it is tried */
	char why[POFF_WHY_BYTES];       /* not; or nothing */
	pst_off_provider_t calls;       /* if it is taken; what its table does not have is NULL */
};

/* Up to a NULL (built_in.c).  They are simulations, which only PST_OFFLOAD by name takes. */
extern const pst_off_provider_t *const poff_built_in[];

/*
 * Returns how many there are: those taken first, in the order in which they are tried, then the
 * others.  Any thread.  Where and which is said by PST_OFFLOAD and PST_OFFLOAD_PATH.
 */
unsigned poff_providers(const struct poff_provider **list_out);

#endif
