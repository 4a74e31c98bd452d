#include "coll/scratch.h"

#include "coll/coll.h"

#include "runtime/process/process.h"

#include <stdlib.h>

enum {
	ALIGN_BYTES = 4096, ALWAYS_KEPT_BYTES = 256 << 10, SCRATCH_KEPT_BYTES = 16 << 20,
};

static atomic_size_t all_bytes;         /* of all records */

static void
scratch_free(struct pcoll_scratch *scratch)
{
	pcoll_unname(&scratch->named);
	free(scratch->base);
	atomic_fetch_sub_explicit(&all_bytes, scratch->room_bytes, memory_order_relaxed);
	*scratch = (struct pcoll_scratch){ .base = NULL };
}

void
pcoll_scratch_make(struct pcoll_scratch *scratch, size_t len_bytes, bool far)
{
	if (len_bytes > scratch->room_bytes) {
		scratch_free(scratch);
		scratch->room_bytes = (len_bytes + ALIGN_BYTES - 1) / ALIGN_BYTES * ALIGN_BYTES;
		atomic_fetch_add_explicit(&all_bytes, scratch->room_bytes, memory_order_relaxed);
		scratch->base = aligned_alloc(ALIGN_BYTES, scratch->room_bytes);
		if (!scratch->base)
			psi_fatal("no memory for a collective, which takes %zu bytes", len_bytes);
	}
	if (far && !scratch->named.registration && len_bytes > PCOLL_EAGER_BYTES)
		pcoll_name(&scratch->named, scratch->base, scratch->room_bytes);
}

void
pcoll_scratch_done(struct pcoll_scratch *scratch)
{
	if (PSI_UNLIKELY(scratch->room_bytes > ALWAYS_KEPT_BYTES) &&
	    atomic_load_explicit(&all_bytes, memory_order_relaxed) > SCRATCH_KEPT_BYTES)
		scratch_free(scratch);
}
