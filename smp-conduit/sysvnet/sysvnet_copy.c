/*
 * Copying a payload to memory that the receiver will read, by what lines cost between the two CPUs.
 */
#include "smp-conduit/sysvnet/sysvnet_port.h"

#include "runtime/util/distance.h"

void
sysvnet_copy_over(struct sysvnet_port *port, struct sysvnet_out *out, void *to, const void *from,
                  size_t len_bytes)
{
	const struct sysvnet_callbacks *calls = &port->net->calls;

	psi_distance_copy(&out->distance, calls->copy_owning, calls->copy_far, to, from, len_bytes);
}
