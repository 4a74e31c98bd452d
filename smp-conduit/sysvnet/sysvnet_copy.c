/*
 * Copying a payload to memory that the receiver will read, by what lines cost between the two CPUs.
 */
#include "smp-conduit/sysvnet/sysvnet_port.h"

#include "smp-conduit/sysvnet/sysvnet_distance.h"

#include "runtime/util/clock.h"
#include "runtime/util/fence.h"

/* Copies the first bytes, and learns from the time they take. */
static enum sysvnet_distance
distance_look(const struct sysvnet_callbacks *calls, struct sysvnet_out *out, void *to,
              const void *from, enum sysvnet_distance known)
{
	const uint64_t start = psi_now_ns();
	enum sysvnet_distance now;

	calls->copy_owning(to, from, SYSVNET_LOOK_BYTES);
	psi_stores_drain();
	now = sysvnet_distance_after(known, psi_now_ns() - start);
	atomic_store_explicit(&out->distance, now, memory_order_relaxed);
	return now;
}

static void
payload_copy_large(const struct sysvnet_callbacks *calls, struct sysvnet_out *out, char *to,
                   const char *from, size_t len_bytes)
{
	enum sysvnet_distance known = atomic_load_explicit(&out->distance, memory_order_relaxed);
	uint32_t copies = atomic_load_explicit(&out->large_copies, memory_order_relaxed);
	size_t done = 0;

	atomic_store_explicit(&out->large_copies, copies + 1, memory_order_relaxed);
	if (sysvnet_distance_due(known, copies, len_bytes)) {
		known = distance_look(calls, out, to, from, known);
		done = SYSVNET_LOOK_BYTES;
	}
	(known == SYSVNET_FAR ? calls->copy_far : calls->copy_owning)(to + done, from + done,
	                                                              len_bytes - done);
}

void
sysvnet_copy_over(struct sysvnet_port *port, struct sysvnet_out *out, void *to, const void *from,
                  size_t len_bytes)
{
	const struct sysvnet_callbacks *calls = &port->net->calls;

	if (len_bytes >= SYSVNET_DISTANCE_BYTES)
		payload_copy_large(calls, out, to, from, len_bytes);
	else
		calls->copy_owning(to, from, len_bytes);
}
