/*
 * Huge pages for segments (PST_HUGEPAGES).  With thp the kernel is advised, for any range, to use
 * transparent huge pages.  With hugetlb a range takes pages of the kernel's pool: it lies in a
 * second file of the rank, which the rank makes and gives to the keeper.  If the pool has no free
 * page, the range takes ordinary pages, and one line says so.
 */
#ifndef PBOOT_HUGE_H
#define PBOOT_HUGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Makes a range of the pool's pages.  NULL: use ordinary pages.  The caller holds a lock. */
void *pboot_huge_make(size_t len_bytes, uint64_t *key_out);

/* Is this the key of a range of the pool's pages? */
bool pboot_huge_is(uint64_t key);

/* These map and unmap such a range, as pboot_range_map and pboot_range_unmap do. */
void *pboot_huge_map(unsigned rank, uint64_t key, size_t len_bytes);
void pboot_huge_unmap(void *base, size_t len_bytes);

void pboot_huge_advise(void *base, size_t len_bytes);

#endif
