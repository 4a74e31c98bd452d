#include "runtime/util/kept.h"

#include <stdlib.h>

void
psi_kept_init(struct psi_kept_queue *queue)
{
	queue->first = NULL;
	queue->last = &queue->first;
	atomic_init(&queue->count, 0);
}

struct psi_kept *
psi_kept_new(size_t len_bytes)
{
	struct psi_kept *kept = malloc(offsetof(struct psi_kept, message) + len_bytes);

	if (kept)
		kept->len_bytes = len_bytes;
	return kept;
}

void
psi_kept_add(struct psi_kept_queue *queue, struct psi_kept *kept)
{
	kept->next = NULL;
	*queue->last = kept;
	queue->last = &kept->next;
	atomic_fetch_add_explicit(&queue->count, 1, memory_order_relaxed);
}

struct psi_kept *
psi_kept_take(struct psi_kept_queue *queue)
{
	struct psi_kept *kept = queue->first;

	if (!kept)
		return NULL;
	queue->first = kept->next;
	if (!kept->next)
		queue->last = &queue->first;
	atomic_fetch_sub_explicit(&queue->count, 1, memory_order_relaxed);
	return kept;
}

struct psi_kept *
psi_kept_take_of(struct psi_kept_queue queues[PSI_NETWORKS], unsigned networks)
{
	for (unsigned network = PSI_NETWORKS; network-- > 0;)
		if (networks >> network & 1 && queues[network].first)
			return psi_kept_take(&queues[network]);
	return NULL;
}
