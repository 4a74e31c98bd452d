/*
 * The first peer that a network lost, and why.  It is told of after a while only: by then the
 * keepers have usually ended the job and named the cause.  The caller's lock protects it; `any'
 * alone may be read without it.
 */
#ifndef PSI_UTIL_LOST_PEER_H
#define PSI_UTIL_LOST_PEER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PSI_LOST_WHY_BYTES = 240 };

struct psi_lost_peer {
	_Atomic bool any;
	uint32_t place;                 /* or PSI_NO_PEER */
	uint64_t tell_at_ns;
	char why[PSI_LOST_WHY_BYTES];
};

/* Notes the first; later ones change nothing. */
void psi_lost_peer_note(struct psi_lost_peer *lost, uint32_t place, uint64_t tell_at_ns,
                        const char *format, ...) __attribute__((format(printf, 4, 5)));

static inline bool
psi_lost_peer_any(const struct psi_lost_peer *lost)
{
	return atomic_load_explicit(&lost->any, memory_order_relaxed);
}

#endif
