/*
 * System V segments.  A segment has a key, which bears our mark, for a moment only: shmget makes
 * it, shmat attaches it, and shmctl marks it for removal.  From then on it ends with the last
 * process that is attached.
 */
#ifndef PBOOT_SYSV_H
#define PBOOT_SYSV_H

#include <stddef.h>

struct pboot_clean;

/* Makes and attaches a segment; it lives while a process is attached.  NULL with errno set. */
void *pboot_sysv_make(size_t len_bytes, int *id_out);

/* Attaches a segment; NULL with errno set. */
void *pboot_sysv_map(int id);

/* Removes segments whose makers died in that moment (pboot_clean.h). */
void pboot_sysv_clean(struct pboot_clean *clean);

#endif
