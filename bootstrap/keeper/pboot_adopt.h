/*
 * A keeper for ranks that an engine has started.  The lowest rank of a host forks it.  It serves
 * these ranks as a launcher's keeper does, with three differences.  It is not their parent: it
 * learns of their ends by a pidfd or by looking, and cannot know their status.  It has no launcher
 * and no guard: it watches the process that has started the lowest rank, which is the engine's as a
 * rule.  And ranks that have asked to end with a status other than 0 wait until it releases them,
 * since an engine may kill all others when the first one ends so.
 */
#ifndef PBOOT_ADOPT_H
#define PBOOT_ADOPT_H

#include "bootstrap/share/pboot_wire.h"

#include <stdint.h>
#include <sys/types.h>

/* What the keeper is told of a rank. */
struct pboot_adopted {
	pid_t pid;
	int messages;		/* pboot_wire_file of its stderr */
};

struct pboot_adoption {
	uint32_t size;
	const struct pboot_adopted *ranks;	/* [size] */
	pid_t parent;		/* process of the engine; 0: it cannot be watched */
	int listener;		/* socket at which ranks connect by this name */
	char name[PBOOT_NAME_BYTES];
};

/* Forks the keeper, which is no child of the caller's.  The listener stays open here.  Returns 0 or
 * an errno value. */
int pboot_adopt(const struct pboot_adoption *adoption);

#endif
