/*
 * Sending.  A message takes one slot of the lane to its receiver; its payload goes into the slot, the
 * lane's payload ring, a buffer of the receiver, or (Long) straight to its destination.
 *
 * Body of a slot, after the header (8 bytes):
 *     Short            args
 *     Medium, inline   args, then the payload at the next multiple of 16 in the slot
 *     Medium, else     where (8), args       where: payload ring offset or buffer name
 *     Long             dest (8), length (8), args
 */
#include "smp-conduit/sysvnet/sysvnet_port.h"

#include "runtime/util/fence.h"

#include <string.h>

enum {
	SMALL_BYTES = 16,       /* fits in a slot behind any number of arguments */
};

static bool
fits_inline(unsigned nargs, size_t len_bytes)
{
	return psmp_inline_offset(nargs) + len_bytes <= PSMP_SLOT_BYTES;
}

static void
put_word(unsigned char *at, uint64_t value)
{
	memcpy(at, &value, sizeof value);
}

static inline void
put_args(unsigned char *at, const int32_t *args, unsigned nargs)
{
	for (unsigned i = 0; i < nargs; i++)
		memcpy(at + i * sizeof(int32_t), &args[i], sizeof(int32_t));
}

/* Two words or fewer, without a call: words that overlap, or single bytes. */
static inline void
put_small(unsigned char *at, const unsigned char *from, size_t len_bytes)
{
	uint64_t first, last;

	if (PSMP_LIKELY(len_bytes >= sizeof first)) {
		memcpy(&first, from, sizeof first);
		memcpy(&last, from + len_bytes - sizeof last, sizeof last);
		memcpy(at + len_bytes - sizeof last, &last, sizeof last);
		memcpy(at, &first, sizeof first);
		return;
	}
	for (size_t i = 0; i < len_bytes; i++)
		at[i] = from[i];
}

static inline uint32_t
what_of(const struct psi_am *am)
{
	return psi_what(am->network, am->handler, am->nargs);
}

/* Of a message that goes out from this port. */
static inline uint64_t
header_of(const struct psi_port *port, unsigned category, uint32_t what, size_t medium_bytes,
          enum psmp_where where)
{
	const struct psmp_header_fields fields = {
		.len_bytes = (uint32_t)medium_bytes,
		.handler = (uint8_t)psi_what_handler(what),
		.nargs = (uint8_t)psi_what_nargs(what),
		.category = (uint8_t)category,
		.where = (uint8_t)where,
		.index = port->index,
	};

	return psmp_header_pack(&fields);
}

/* After publishing: if the receiver does not look at this lane, tell it.  The lock of the lane is not
 * needed, and not held.  PSI_OK. */
static inline int
notify(struct psi_port *port, const struct psmp_out *out, unsigned network)
{
	PSI_DELAY_POINT(publish);
	if (port->conduit->senders_fence)
		psi_store_load_fence(); /* D1_SEND */
	else
		atomic_signal_fence(memory_order_seq_cst); /* D1_ORDER */
	if (!atomic_load_explicit(&out->control->polled, memory_order_relaxed))
		return psmp_announce(port, out, network);
	return PSI_OK;
}

static int
refuse(struct psi_port *port)
{
	psmp_count(port, PSI_COUNT_REFUSED);
	return PSI_AGAIN;
}

/* ------------------------------------------------------- room for later, outside the lock --- */

/* Promises one place of the lane to the caller, who then copies without the lock (RESERVE). */
static bool
reserve(struct psmp_out *out)
{
	bool room;

	psmp_lock_out(out);
	room = psmp_out_has_room(out);
	out->reserved += room;
	psmp_unlock_out(out);
	return room;
}

/* Another thread of this process may have gone to sleep for want of that place. */
static void
unreserve(struct psi_port *port, struct psmp_out *out)
{
	psmp_lock_out(out);
	out->reserved--;
	psmp_unlock_out(out);
	if (out->locked)
		psmp_ring(port); /* UNRESERVE */
}

/* ------------------------------------------------------------------- by category --- */

static inline __attribute__((always_inline)) int
send_short(struct psi_port *port, struct psmp_out *out, uint32_t what, const int32_t *args)
{
	psmp_lock_out(out);
	if (!psmp_out_has_room(out)) {
		psmp_unlock_out(out);
		return refuse(port);
	}
	put_args(psmp_out_slot(out)->body, args, psi_what_nargs(what));
	psmp_out_publish(out, header_of(port, PSI_SHORT, what, 0, PSMP_INLINE));
	psmp_unlock_out(out);
	return notify(port, out, psi_what_network(what));
}

static int
send_long(struct psi_port *port, struct psmp_out *out, const struct psi_am *am)
{
	unsigned char *body;

	if (!reserve(out))
		return refuse(port);
	if (am->len_bytes && am->dest_here) {
		psmp_copy_over(port, out, am->dest_here, am->payload, am->len_bytes);
		psi_handed_to_process(am->dest_here);
	}
	psmp_lock_out(out);
	out->reserved--;
	body = psmp_out_slot(out)->body;
	put_word(body, (uint64_t)(uintptr_t)am->dest);
	put_word(body + 8, am->len_bytes);
	put_args(body + 16, am->args, am->nargs);
	psmp_out_publish(out, header_of(port, PSI_LONG, what_of(am), 0, PSMP_INLINE));
	psmp_unlock_out(out);
	return notify(port, out, am->network);
}

/* What fits in a slot. */
static inline __attribute__((always_inline)) int
send_inline(struct psi_port *port, struct psmp_out *out, uint32_t what, const int32_t *args,
            const void *payload, size_t len_bytes)
{
	const unsigned nargs = psi_what_nargs(what);
	struct psmp_slot *slot;

	psmp_lock_out(out);
	if (!psmp_out_has_room(out)) {
		psmp_unlock_out(out);
		return refuse(port);
	}
	slot = psmp_out_slot(out);
	put_args(slot->body, args, nargs);
	if (len_bytes)
		memcpy(slot->body + psmp_inline_offset(nargs) - PSMP_HEADER_BYTES, payload, len_bytes);
	psmp_out_publish(out, header_of(port, PSI_MEDIUM, what, len_bytes, PSMP_INLINE));
	psmp_count(port, PSI_COUNT_IN_SLOT);
	psmp_unlock_out(out);
	return notify(port, out, psi_what_network(what));
}

/* The caller holds the lock and has seen room. */
static void
publish_elsewhere(struct psi_port *port, struct psmp_out *out, const struct psi_am *am,
                  enum psmp_where where, uint64_t place)
{
	struct psmp_slot *slot = psmp_out_slot(out);

	put_word(slot->body, place);
	put_args(slot->body + 8, am->args, am->nargs);
	psmp_out_publish(out, header_of(port, PSI_MEDIUM, what_of(am), am->len_bytes, where));
}

/* The lines of a small one were asked for behind the message before; a larger one asks for its own. */
static inline void
copy_to_ring(struct psi_port *port, struct psmp_out *out, unsigned char *data, const struct psi_am *am)
{
	if (am->len_bytes <= PSMP_OWN_BYTES)
		memcpy(data, am->payload, am->len_bytes);
	else
		psmp_copy_over(port, out, data, am->payload, am->len_bytes);
}

/* Tries the payload ring: OK, AGAIN when the lane or an ample ring is full, UNSUPPORTED when another ring is. */
static int
send_in_ring(struct psi_port *port, struct psmp_out *out, const struct psi_am *am)
{
	unsigned char *data;
	uint32_t offset;
	int result = PSI_OK;

	psmp_lock_out(out);
	if (!psmp_out_has_room(out)) {
		result = PSI_AGAIN;
	} else if ((data = psmp_out_data(out, (uint32_t)am->len_bytes, &offset))) {
		copy_to_ring(port, out, data, am);
		publish_elsewhere(port, out, am, PSMP_DATA_RING, offset);
		if (am->len_bytes <= PSMP_OWN_BYTES)
			psmp_out_own_next(out, (uint32_t)am->len_bytes);
		psmp_count(port, PSI_COUNT_IN_RING);
	} else {
		result = out->window.most_bytes >= PSMP_WINDOW_AMPLE_BYTES ? PSI_AGAIN : PSI_UNSUPPORTED;
	}
	psmp_unlock_out(out);
	return result;
}

/* Takes a buffer that holds least_bytes, as large as most_bytes if there is one. */
static bool
take_buffer(struct psi_port *port, const struct psmp_out *out, struct psi_claim *claim)
{
	struct psmp_shared *receiver = psmp_receiver_of(out);
	enum psmp_size size = claim->most_bytes > PSMP_SMALL_BYTES ? PSMP_LARGE : PSMP_SMALL;
	enum psmp_size other = size == PSMP_LARGE ? PSMP_SMALL : PSMP_LARGE;
	int number = psmp_pool_take(&receiver->busy[claim->network][size], size);

	if (number == PSMP_NO_BUFFER && psmp_buffer_bytes(other) >= claim->least_bytes) {
		size = other;
		number = psmp_pool_take(&receiver->busy[claim->network][size], size);
	}
	if (number == PSMP_NO_BUFFER)
		return false;
	claim->cookie = psmp_buffer_name(size, (unsigned)number);
	claim->size_bytes = claim->most_bytes < psmp_buffer_bytes(size) ? claim->most_bytes
	                                                                : psmp_buffer_bytes(size);
	claim->buffer = psmp_buffers_at(psmp_layout_of(port->conduit, claim->peer), out->region,
	                                claim->network) +
	                psmp_buffer_offset((uint32_t)claim->cookie);
	return true;
}

/* The place is reserved, the buffer filled. */
static void
publish_buffer(struct psi_port *port, struct psmp_out *out, const struct psi_am *am, uint64_t name)
{
	struct psmp_shared *receiver = psmp_receiver_of(out);

	psi_handed_to_process(&receiver->busy[am->network][name >> 16]);
	psmp_lock_out(out);
	out->reserved--;
	publish_elsewhere(port, out, am, PSMP_BUFFER, name);
	psmp_count(port, PSI_COUNT_IN_BUFFER);
	psmp_unlock_out(out);
	(void)notify(port, out, am->network);
}

static int
send_in_buffer(struct psi_port *port, struct psmp_out *out, const struct psi_am *am)
{
	struct psi_claim claim = {
		.peer = am->peer, .network = am->network,
		.least_bytes = am->len_bytes, .most_bytes = am->len_bytes,
	};

	if (!reserve(out))
		return refuse(port);
	if (!take_buffer(port, out, &claim)) {
		unreserve(port, out);
		return refuse(port);
	}
	psmp_copy_over(port, out, claim.buffer, am->payload, am->len_bytes);
	publish_buffer(port, out, am, claim.cookie);
	return PSI_OK;
}

/* What does not fit in a slot. */
static int
send_larger(struct psi_port *port, struct psmp_out *out, const struct psi_am *am)
{
	if (psmp_ring_takes(port->conduit, out, am->len_bytes)) {
		const int result = send_in_ring(port, out, am);

		if (result == PSI_OK)
			return notify(port, out, am->network);
		if (result == PSI_AGAIN)
			return refuse(port);
	}
	return send_in_buffer(port, out, am);
}

/* ------------------------------------------------------------------------ the table --- */

size_t
psmp_am_max_medium(struct psi_port *port, uint32_t peer, unsigned network, unsigned nargs)
{
	(void)port, (void)peer, (void)network, (void)nargs;
	return PSMP_LARGE_BYTES;
}

static int
send_by(struct psi_port *port, struct psmp_out *out, const struct psi_am *am)
{
	if (!out)
		return PSI_FAILED;
	if (am->category == PSI_SHORT)
		return send_short(port, out, what_of(am), am->args);
	if (am->category == PSI_LONG)
		return send_long(port, out, am);
	if (fits_inline(am->nargs, am->len_bytes))
		return send_inline(port, out, what_of(am), am->args, am->payload, am->len_bytes);
	return send_larger(port, out, am);
}

int
psmp_am_send(struct psi_port *port, const struct psi_am *am)
{
	return send_by(port, psmp_out_of(port, am->peer, am->network), am);
}

int
psmp_am_send_alone(struct psi_port *port, const struct psi_am *am)
{
	if (am->peer < port->conduit->job.places)
		return psmp_am_send(port, am);
	return send_by(port, psmp_out_further(port, port->alone, am->peer, am->network), am);
}

static int __attribute__((noinline))
send_short_anyhow(struct psi_port *port, uint32_t peer, uint32_t what, const int32_t *args)
{
	struct psmp_out *out = psmp_out_of(port, peer, psi_what_network(what));

	return out ? send_short(port, out, what, args) : PSI_FAILED;
}

static int __attribute__((noinline))
send_medium_anyhow(struct psi_port *port, uint32_t peer, uint32_t what, const int32_t *args,
                   const void *payload, size_t len_bytes)
{
	const struct psi_am am = psi_am_medium(peer, what, args, payload, len_bytes);

	return psmp_am_send(port, &am);
}

/* The lane to that place, locked if it is several threads', if it has been made, nobody is at it and it is known
 * to have room; else NULL.  With it, the two calls below call nothing in the common case, so that they need no
 * frame. */
static inline struct psmp_out *
free_lane(struct psi_port *port, uint32_t peer, uint32_t what)
{
	const struct psi_conduit_job *job = &port->conduit->job;
	const unsigned network = psi_what_network(what);
	struct psmp_out *out = PSMP_LIKELY(peer < job->places)
	                       ? &port->out[network][job->host_index[peer]]
	                       : psmp_out_made(port, port->further, peer, network);

	if (PSMP_UNLIKELY(!out))
		return NULL;
	if (out->locked && PSMP_UNLIKELY(!psi_spinlock_try(&out->lock)))
		return NULL;
	if (PSMP_LIKELY(out->limit - psmp_out_next(out) > out->reserved))
		return out;
	psmp_unlock_out(out);
	return NULL;
}

int
psmp_am_short(struct psi_port *port, uint32_t peer, uint32_t what, const int32_t *args)
{
	struct psmp_out *out = free_lane(port, peer, what);

	if (PSMP_UNLIKELY(!out))
		return send_short_anyhow(port, peer, what, args);
	put_args(psmp_out_slot(out)->body, args, psi_what_nargs(what));
	psmp_out_publish(out, header_of(port, PSI_SHORT, what, 0, PSMP_INLINE));
	psmp_unlock_out(out);
	return notify(port, out, psi_what_network(what));
}

int
psmp_am_medium(struct psi_port *port, uint32_t peer, uint32_t what, const int32_t *args,
               const void *payload, size_t len_bytes)
{
	const unsigned nargs = psi_what_nargs(what);
	struct psmp_out *out = len_bytes <= SMALL_BYTES ? free_lane(port, peer, what) : NULL;
	unsigned char *body;

	if (PSMP_UNLIKELY(!out))
		return send_medium_anyhow(port, peer, what, args, payload, len_bytes);
	body = psmp_out_slot(out)->body;
	put_args(body, args, nargs);
	put_small(body + psmp_inline_offset(nargs) - PSMP_HEADER_BYTES, payload, len_bytes);
	psmp_out_publish(out, header_of(port, PSI_MEDIUM, what, len_bytes, PSMP_INLINE));
	psmp_unlock_out(out);
	psmp_count(port, PSI_COUNT_IN_SLOT);
	return notify(port, out, psi_what_network(what));
}

static struct psmp_out *
out_of_claim(struct psi_port *port, const struct psi_claim *claim)
{
	if (claim->alone && claim->peer >= port->conduit->job.places)
		return psmp_out_further(port, port->alone, claim->peer, claim->network);
	return psmp_out_of(port, claim->peer, claim->network);
}

int
psmp_am_claim(struct psi_port *port, struct psi_claim *claim)
{
	const struct psmp_out *out = out_of_claim(port, claim);

	if (!out)
		return PSI_FAILED;
	if (!take_buffer(port, out, claim))
		return refuse(port);
	psmp_count(port, PSI_COUNT_CLAIMED);
	return PSI_OK;
}

int
psmp_am_publish(struct psi_port *port, const struct psi_claim *claim, const struct psi_am *am)
{
	struct psmp_out *out = out_of_claim(port, claim);

	if (!out)       /* the claim was by another lane, and there is no memory for this one */
		return PSI_FAILED;
	if (!reserve(out))
		return refuse(port);
	publish_buffer(port, out, am, claim->cookie);
	return PSI_OK;
}

void
psmp_am_cancel(struct psi_port *port, const struct psi_claim *claim)
{
	struct psmp_shared *receiver = psmp_receiver_of(out_of_claim(port, claim));
	uint32_t name = (uint32_t)claim->cookie;

	psmp_pool_give(&receiver->busy[claim->network][name >> 16], name & 0xffff);
	psmp_room_made(port, receiver);
}
