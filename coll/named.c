#include "coll/named.h"

#include "runtime/process/process.h"
#include "runtime/segment/reach.h"

#include <stdatomic.h>

/* Longer memory would need several names with some networks. */
static const size_t most_bytes = (size_t)64 << 20;

bool
pcoll_name(struct pcoll_named *named, void *base, size_t len_bytes)
{
	static atomic_bool has_no_room;
	int result;

	if (!psi.attributes.puts_longs || len_bytes > most_bytes ||
	    psi_way_is_masked(PSI_WAY_LONG) ||
	    atomic_load_explicit(&has_no_room, memory_order_relaxed))
		return false;
	result = psi.ops->segment_bind(psi.conduit, base, len_bytes, &named->name,
	                               &named->registration);
	if (result == PSI_OK)
		return true;
	named->registration = NULL;
	if (result == PSI_FAILED)
		atomic_store_explicit(&has_no_room, true, memory_order_relaxed);
	return false;
}

void
pcoll_unname(struct pcoll_named *named)
{
	if (named->registration)
		psi.ops->segment_release(psi.conduit, named->registration);
	named->registration = NULL;
}
