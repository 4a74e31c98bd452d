/*
 * Buffers of the receiver as their sender uses them: for a Medium that goes by no lane, and for
 * claims.
 *
 * Whoever has taken one (A3) gives it back in the end: the receiver when it has consumed the
 * message, or the sender when it cancels.
 */
#include "smp-conduit/sysvnet/sysvnet_send.h"

/* Takes a buffer that holds least_bytes, as large as most_bytes if there is one. */
static bool
buffer_take(struct sysvnet_port *port, const struct sysvnet_out *out, struct psi_claim *claim)
{
	_Atomic uint64_t *busy = sysvnet_receiver_of(out)->busy[claim->network];
	enum sysvnet_size size = claim->most_bytes > SYSVNET_SMALL_BYTES ? SYSVNET_LARGE
	                                                                 : SYSVNET_SMALL;
	enum sysvnet_size other = size == SYSVNET_LARGE ? SYSVNET_SMALL : SYSVNET_LARGE;
	int number = sysvnet_pool_take(&busy[size], size);
	size_t bytes;

	if (number == SYSVNET_NO_BUFFER && sysvnet_buffer_bytes(other) >= claim->least_bytes) {
		size = other;
		number = sysvnet_pool_take(&busy[size], size);
	}
	if (number == SYSVNET_NO_BUFFER)
		return false;
	bytes = sysvnet_buffer_bytes(size);
	claim->cookie = sysvnet_buffer_name(size, (unsigned)number);
	claim->size_bytes = claim->most_bytes < bytes ? claim->most_bytes : bytes;
	claim->buffer = sysvnet_buffers_at(sysvnet_layout_of(port->net, claim->peer), out->region,
	                                   claim->network) +
	                sysvnet_buffer_offset((uint32_t)claim->cookie);
	return true;
}

/* Another thread of this process may have gone to sleep for want of that slot. */
static void
out_unreserve(struct sysvnet_port *port, struct sysvnet_out *out)
{
	sysvnet_lock_out(out);
	out->reserved--;
	sysvnet_unlock_out(out);
	if (out->needs_lock)
		sysvnet_wake(port); /* UNRESERVE */
}

/* The slot is reserved, the buffer filled. */
static void
buffer_publish(struct sysvnet_port *port, struct sysvnet_out *out, const struct psi_am *am,
               uint64_t name)
{
	struct sysvnet_shared *receiver = sysvnet_receiver_of(out);

	psi_handed_to_process(&receiver->busy[am->network][name >> 16]);
	sysvnet_lock_out(out);
	out->reserved--;
	sysvnet_publish_elsewhere(port, out, am, SYSVNET_BUFFER, name);
	sysvnet_count(port, SYSVNET_COUNT_IN_BUFFER);
	sysvnet_unlock_out(out);
	(void)sysvnet_notify(port, out, am->network);
}

int
sysvnet_send_in_buffer(struct sysvnet_port *port, struct sysvnet_out *out, const struct psi_am *am)
{
	struct psi_claim claim = {
		.peer = am->peer, .network = am->network,
		.least_bytes = am->len_bytes, .most_bytes = am->len_bytes,
	};

	if (!sysvnet_out_reserve(out))
		return sysvnet_refuse(port);
	if (!buffer_take(port, out, &claim)) {
		out_unreserve(port, out);
		return sysvnet_refuse(port);
	}
	sysvnet_copy_over(port, out, claim.buffer, am->payload, am->len_bytes);
	buffer_publish(port, out, am, claim.cookie);
	return PSI_OK;
}

/* ----------------------------------------------------------------------------- claims --- */

static struct sysvnet_out *
claim_out_of(struct sysvnet_port *port, const struct psi_claim *claim)
{
	if (claim->alone && claim->peer >= port->net->job.places)
		return sysvnet_out_further(port, port->alone, claim->peer, claim->network);
	return sysvnet_out_of(port, claim->peer, claim->network);
}

int
sysvnet_claim(struct sysvnet_port *port, struct psi_claim *claim)
{
	const struct sysvnet_out *out = claim_out_of(port, claim);

	if (!out)
		return PSI_FAILED;
	if (!buffer_take(port, out, claim))
		return sysvnet_refuse(port);
	sysvnet_count(port, SYSVNET_COUNT_CLAIMED);
	return PSI_OK;
}

int
sysvnet_publish(struct sysvnet_port *port, const struct psi_claim *claim, const struct psi_am *am)
{
	struct sysvnet_out *out = claim_out_of(port, claim);

	if (!out)       /* the claim was by another lane, and there is no memory for this one */
		return PSI_FAILED;
	if (!sysvnet_out_reserve(out))
		return sysvnet_refuse(port);
	buffer_publish(port, out, am, claim->cookie);
	return PSI_OK;
}

void
sysvnet_cancel(struct sysvnet_port *port, const struct psi_claim *claim)
{
	struct sysvnet_shared *receiver = sysvnet_receiver_of(claim_out_of(port, claim));
	uint32_t name = (uint32_t)claim->cookie;

	sysvnet_pool_give(&receiver->busy[claim->network][name >> 16], name & 0xffff);
	sysvnet_room_made(port, receiver);
}
