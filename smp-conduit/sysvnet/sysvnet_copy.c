/*
 * Copying a payload to memory that the receiver will read, by what lines cost between the two CPUs.
 */
#include "smp-conduit/sysvnet/sysvnet_port.h"

#include "smp-conduit/sysvnet/sysvnet_distance.h"

#include "runtime/util/clock.h"
#include "runtime/util/fence.h"

/* Copies the first bytes, and learns from the time they take. */
static enum psmp_distance
look_how_far(const struct psi_services *services, struct psmp_out *out, void *to, const void *from,
             enum psmp_distance known)
{
	const uint64_t start = psi_now_ns();
	enum psmp_distance now;

	services->copy_owning(to, from, PSMP_LOOK_BYTES);
	psi_stores_land();
	now = psmp_distance_after(known, psi_now_ns() - start);
	atomic_store_explicit(&out->distance, now, memory_order_relaxed);
	return now;
}

static void
copy_large(const struct psi_services *services, struct psmp_out *out, char *to, const char *from,
           size_t len_bytes)
{
	enum psmp_distance known = atomic_load_explicit(&out->distance, memory_order_relaxed);
	uint32_t copies = atomic_load_explicit(&out->large_copies, memory_order_relaxed);
	size_t done = 0;

	atomic_store_explicit(&out->large_copies, copies + 1, memory_order_relaxed);
	if (psmp_distance_due(known, copies, len_bytes)) {
		known = look_how_far(services, out, to, from, known);
		done = PSMP_LOOK_BYTES;
	}
	(known == PSMP_FAR ? services->copy_far : services->copy_owning)(to + done, from + done,
	                                                          len_bytes - done);
}

void
psmp_copy_over(struct psi_port *port, struct psmp_out *out, void *to, const void *from, size_t len_bytes)
{
	const struct psi_services *services = port->conduit->services;

	if (len_bytes >= PSMP_DISTANCE_BYTES)
		copy_large(services, out, to, from, len_bytes);
	else
		services->copy_owning(to, from, len_bytes);
}
