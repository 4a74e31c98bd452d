/*
 * What a job leaves behind when all its processes are killed at one instant: nothing, but for the
 * moments in which a thing has a name.  A named file bears our mark by its directory, a SysV
 * segment by its key; a living owner holds the file's lock, or is the segment's maker.
 */
#ifndef PBOOT_CLEAN_H
#define PBOOT_CLEAN_H

#include "bootstrap/launcher.h"

struct pboot_clean {
	pboot_clean_fn *tell;	/* NULL: nobody listens */
	void *context;
	unsigned removed;
};

void pboot_clean_removed(struct pboot_clean *clean, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void pboot_clean_kept(struct pboot_clean *clean, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
