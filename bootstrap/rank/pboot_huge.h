/*
 * Huge pages for segments (PST_HUGEPAGES).  Transparent ones are advice to the kernel for any
 * range.  Those of the kernel's pool lie in a second file of the rank, which it makes itself and
 * gives the keeper; where the pool has none, ranges are ordinary ones, with one line.
 */
#ifndef PBOOT_HUGE_H
#define PBOOT_HUGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A range of the pool's pages, or NULL: take others.  Calls come one at a time. */
void *pboot_huge_make(size_t len_bytes, uint64_t *key_out);

/* Whether a range's key is one of these. */
bool pboot_huge_is(uint64_t key);

/* As pboot_range_map and pboot_range_unmap. */
void *pboot_huge_map(unsigned rank, uint64_t key, size_t len_bytes);
void pboot_huge_unmap(void *base, size_t len_bytes);

void pboot_huge_advise(void *base, size_t len_bytes);

#endif
