/*
 * The place of a thread among those that yield on its CPU: what Linux keeps of it, and how to
 * change it (virtual_time.c).
 */
#ifndef PSI_VIRTUAL_TIME_H
#define PSI_VIRTUAL_TIME_H

#include <stdbool.h>
#include <stdint.h>

/* The calling thread's virtual time, and its slice, by which a yield advances it; in ns of that
 * time. */
struct psi_virtual_time {
	uint64_t now, slice;
};

/* False: this kernel does not tell, or the thread is not scheduled so. */
bool psi_virtual_time_read(struct psi_virtual_time *out);

/* Yields, and advances the virtual time by so much more than a slice; less than one.  False: this
 * kernel has no such slices, or does not let the thread have one. */
bool psi_virtual_time_yield(const struct psi_virtual_time *time, uint64_t more);

#endif
