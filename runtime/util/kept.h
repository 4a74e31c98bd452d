/*
 * Messages that wait for their port to be polled: copies of them, in the order of their arrival.
 * The caller's lock protects a queue; its count alone may be read without it.
 */
#ifndef PSI_UTIL_KEPT_H
#define PSI_UTIL_KEPT_H

#include "runtime/util/message.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct psi_kept {
	struct psi_kept *next;
	size_t len_bytes;
	_Alignas(16) char message[];    /* as payloads are in the message where it arrived */
};

struct psi_kept_queue {
	struct psi_kept *first, **last;
	_Atomic uint32_t count;
};

void psi_kept_init(struct psi_kept_queue *queue);
/* A message of that length, to be filled, and freed with free; NULL: no memory. */
struct psi_kept *psi_kept_new(size_t len_bytes);
void psi_kept_add(struct psi_kept_queue *queue, struct psi_kept *kept);
/* The oldest; NULL: there is none. */
struct psi_kept *psi_kept_take(struct psi_kept_queue *queue);

/* A port has one for each network.  The oldest of those that the networks' bits name, of replies
 * first. */
struct psi_kept *psi_kept_take_of(struct psi_kept_queue queues[PSI_NETWORKS], unsigned networks);

static inline uint32_t
psi_kept_count(const struct psi_kept_queue *queue)
{
	return atomic_load_explicit(&queue->count, memory_order_relaxed);
}

/* Is there one in a queue that the networks' bits name? */
static inline bool
psi_kept_any(const struct psi_kept_queue queues[PSI_NETWORKS], unsigned networks)
{
	for (unsigned network = 0; network < PSI_NETWORKS; network++)
		if (networks >> network & 1 && psi_kept_count(&queues[network]))
			return true;
	return false;
}

#endif
