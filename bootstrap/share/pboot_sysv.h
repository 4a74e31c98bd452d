/*
 * System V segments.  One has a key, which bears our mark, only from the call that makes it to the
 * next but one, which marks it for removal: then the last process that is attached ends it.
 */
#ifndef PBOOT_SYSV_H
#define PBOOT_SYSV_H

#include <stddef.h>

struct pboot_clean;

/* A new segment, attached; it lives as long as somebody is attached.  NULL with errno set. */
void *pboot_sysv_make(size_t len_bytes, int *id_out);

/* The segment attached here; NULL with errno set. */
void *pboot_sysv_map(int id);

/* Removes what makers that died in between left (pboot_clean.h). */
void pboot_sysv_clean(struct pboot_clean *clean);

#endif
