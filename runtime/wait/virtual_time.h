/*
 * What Linux keeps of the order in which threads that yield run, and how a thread changes its own
 * (virtual_time.c).
 */
#ifndef PSI_VIRTUAL_TIME_H
#define PSI_VIRTUAL_TIME_H

#include <stdbool.h>
#include <stdint.h>

/* The calling thread's virtual time and its slice, both in ns of virtual time.  A yield advances
 * the virtual time by one slice. */
struct psi_virtual_time {
	uint64_t now, slice;
};

enum psi_virtual {
	PSI_VIRTUAL_KNOWN,
	PSI_VIRTUAL_LATER,              /* it cannot be read just now */
	PSI_VIRTUAL_NEVER,              /* this kernel does not tell, or the thread has none */
};

enum psi_virtual psi_virtual_time_read(struct psi_virtual_time *out);

/* Yields, and advances the time by so much more than a slice; `more' is less than one.  False: this
 * kernel has no such slices, or does not let the thread have one; it may have yielded. */
bool psi_virtual_time_yield(const struct psi_virtual_time *time, uint64_t more);

#endif
