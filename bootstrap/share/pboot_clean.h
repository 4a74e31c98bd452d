/*
 * Removes shared memory that a job left behind.  A file or a SysV segment has a name only for a
 * moment after it was made, so it stays only if all processes of the job are killed in that moment.
 * A named file bears our mark by its directory, a SysV segment by its key.  A file's living owner
 * holds its lock; a segment's owner is its maker.
 */
#ifndef PBOOT_CLEAN_H
#define PBOOT_CLEAN_H

#include "bootstrap/launcher.h"

struct pboot_clean {
	pboot_clean_fn *each;	/* may be NULL */
	void *context;
	unsigned removed;
};

void pboot_clean_removed(struct pboot_clean *clean, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void pboot_clean_kept(struct pboot_clean *clean, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
