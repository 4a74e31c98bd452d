/*
 * Sending.  The payload of a message goes into its slot, the lane's payload ring, a buffer of the
 * receiver (sysvnet_buffer.c), or (Long) straight to its destination.
 */
#include "smp-conduit/sysvnet/sysvnet_send.h"

static bool
message_fits_in_slot(unsigned nargs, size_t len_bytes)
{
	return sysvnet_inline_offset(nargs) + len_bytes <= SYSVNET_SLOT_BYTES;
}

static inline uint32_t
message_tag_of(const struct psi_am *am)
{
	return psi_am_tag(am->network, am->handler, am->nargs);
}

/* Locks the lane if there is room. */
static inline bool
out_lock_with_room(struct sysvnet_out *out)
{
	sysvnet_lock_out(out);
	if (sysvnet_out_has_room(out))
		return true;
	sysvnet_unlock_out(out);
	return false;
}

/* ------------------------------------------------------------------- in the slot --- */

static inline __attribute__((always_inline)) int
send_short(struct sysvnet_port *port, struct sysvnet_out *out, uint32_t tag, const int32_t *args)
{
	if (!out_lock_with_room(out))
		return sysvnet_refuse(port);
	return sysvnet_send_in_slot(port, out, PSI_SHORT, tag, args, NULL, 0);
}

static inline __attribute__((always_inline)) int
send_medium(struct sysvnet_port *port, struct sysvnet_out *out, uint32_t tag, const int32_t *args,
            const void *payload, size_t len_bytes)
{
	if (!out_lock_with_room(out))
		return sysvnet_refuse(port);
	return sysvnet_send_in_slot(port, out, PSI_MEDIUM, tag, args, payload, len_bytes);
}

/* ------------------------------------------------------------------- elsewhere --- */

static int
message_send_long(struct sysvnet_port *port, struct sysvnet_out *out, const struct psi_am *am)
{
	unsigned char *body;

	if (!sysvnet_out_reserve(out))
		return sysvnet_refuse(port);
	if (am->len_bytes && am->dest_here) {
		sysvnet_copy_over(port, out, am->dest_here, am->payload, am->len_bytes);
		psi_handed_to_process(am->dest_here);
	}
	sysvnet_lock_out(out);
	out->reserved--;
	body = sysvnet_out_slot(out)->body;
	sysvnet_put_word(body, (uint64_t)(uintptr_t)am->dest);
	sysvnet_put_word(body + 8, am->len_bytes);
	sysvnet_put_args(body + 16, am->args, am->nargs);
	sysvnet_out_publish(
		out, sysvnet_header_of(port, PSI_LONG, message_tag_of(am), 0, SYSVNET_INLINE));
	sysvnet_unlock_out(out);
	return sysvnet_notify(port, out, am->network);
}

/* The lines of a small one were asked for behind the message before; a larger one asks for its
 * own. */
static inline void
payload_copy_to_ring(struct sysvnet_port *port, struct sysvnet_out *out, unsigned char *data,
                     const struct psi_am *am)
{
	if (am->len_bytes <= SYSVNET_OWN_BYTES)
		memcpy(data, am->payload, am->len_bytes);
	else
		sysvnet_copy_over(port, out, data, am->payload, am->len_bytes);
}

/* Tries the payload ring: OK, AGAIN when the lane or an ample ring is full, UNSUPPORTED when
 * another ring is. */
static int
message_send_in_ring(struct sysvnet_port *port, struct sysvnet_out *out, const struct psi_am *am)
{
	unsigned char *data;
	uint32_t offset;
	int result = PSI_OK;

	if (!out_lock_with_room(out))
		return PSI_AGAIN;
	data = sysvnet_out_data(out, (uint32_t)am->len_bytes, &offset);
	if (data) {
		payload_copy_to_ring(port, out, data, am);
		sysvnet_publish_elsewhere(port, out, am, SYSVNET_DATA_RING, offset);
		if (am->len_bytes <= SYSVNET_OWN_BYTES)
			sysvnet_out_own_next(out, (uint32_t)am->len_bytes);
		sysvnet_count(port, SYSVNET_COUNT_IN_RING);
	} else if (out->window.most_bytes >= SYSVNET_WINDOW_AMPLE_BYTES) {
		result = PSI_AGAIN;
	} else {
		result = PSI_UNSUPPORTED;
	}
	sysvnet_unlock_out(out);
	return result;
}

/* Sends a message that does not fit in a slot. */
static int
message_send_larger(struct sysvnet_port *port, struct sysvnet_out *out, const struct psi_am *am)
{
	if (sysvnet_data_ring_takes(port->net, out, am->len_bytes)) {
		const int result = message_send_in_ring(port, out, am);

		if (result == PSI_OK)
			return sysvnet_notify(port, out, am->network);
		if (result == PSI_AGAIN)
			return sysvnet_refuse(port);
	}
	return sysvnet_send_in_buffer(port, out, am);
}

/* ------------------------------------------------------------------- any message --- */

static int
message_send_by(struct sysvnet_port *port, struct sysvnet_out *out, const struct psi_am *am)
{
	if (!out)
		return PSI_FAILED;
	if (am->category == PSI_SHORT)
		return send_short(port, out, message_tag_of(am), am->args);
	if (am->category == PSI_LONG)
		return message_send_long(port, out, am);
	if (message_fits_in_slot(am->nargs, am->len_bytes))
		return send_medium(port, out, message_tag_of(am), am->args, am->payload,
		                   am->len_bytes);
	return message_send_larger(port, out, am);
}

int
sysvnet_send(struct sysvnet_port *port, const struct psi_am *am)
{
	return message_send_by(port, sysvnet_out_of(port, am->peer, am->network), am);
}

int
sysvnet_send_alone(struct sysvnet_port *port, const struct psi_am *am)
{
	if (am->peer < port->net->job.places)
		return sysvnet_send(port, am);
	return message_send_by(port, sysvnet_out_further(port, port->alone, am->peer, am->network),
	                       am);
}

int
sysvnet_send_short_anyhow(struct sysvnet_port *port, uint32_t peer, uint32_t tag,
                          const int32_t *args)
{
	struct sysvnet_out *out = sysvnet_out_of(port, peer, psi_am_tag_network(tag));

	return out ? send_short(port, out, tag, args) : PSI_FAILED;
}

int
sysvnet_send_medium_anyhow(struct sysvnet_port *port, uint32_t peer, uint32_t tag,
                           const int32_t *args, const void *payload, size_t len_bytes)
{
	const struct psi_am am = psi_am_medium(peer, tag, args, payload, len_bytes);

	return sysvnet_send(port, &am);
}
