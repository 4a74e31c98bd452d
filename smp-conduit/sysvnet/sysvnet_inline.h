/*
 * The three calls that most messages take, inlined into their caller: sending a Short, sending a
 * Medium, polling.  What is rare in them is called.
 */
#ifndef SYSVNET_INLINE_H
#define SYSVNET_INLINE_H

#include "runtime/util/fence.h"
#include "smp-conduit/sysvnet/sysvnet_port.h"

#include <string.h>

enum { SYSVNET_BRIEF_BYTES = 16 };      /* fits in a slot behind any number of arguments */

/* ------------------------------------------------------------ what a slot is filled with --- */

static inline void
sysvnet_put_args(unsigned char *at, const int32_t *args, unsigned nargs)
{
	for (unsigned i = 0; i < nargs; i++)
		memcpy(at + i * sizeof(int32_t), &args[i], sizeof(int32_t));
}

/* Two words or fewer, without a call: words that overlap, or single bytes. */
static inline void
sysvnet_put_brief(unsigned char *at, const unsigned char *from, size_t len_bytes)
{
	uint64_t first, last;

	if (SYSVNET_LIKELY(len_bytes >= sizeof first)) {
		memcpy(&first, from, sizeof first);
		memcpy(&last, from + len_bytes - sizeof last, sizeof last);
		memcpy(at + len_bytes - sizeof last, &last, sizeof last);
		memcpy(at, &first, sizeof first);
		return;
	}
	for (size_t i = 0; i < len_bytes; i++)
		at[i] = from[i];
}

/* The header of a message that goes out from this port. */
static inline uint64_t
sysvnet_header_of(const struct sysvnet_port *port, unsigned category, uint32_t tag,
                  size_t medium_bytes, enum sysvnet_where where)
{
	const struct sysvnet_header_fields fields = {
		.len_bytes = (uint32_t)medium_bytes,
		.handler = (uint8_t)psi_am_tag_handler(tag),
		.nargs = (uint8_t)psi_am_tag_nargs(tag),
		.category = (uint8_t)category,
		.where = (uint8_t)where,
		.index = port->index,
	};

	return sysvnet_header_pack(&fields);
}

/* After publishing: tells the receiver if it does not look at this lane.  The lock of the lane
 * is not needed, and not held.  PSI_OK. */
static inline int
sysvnet_notify(struct sysvnet_port *port, const struct sysvnet_out *out, unsigned network)
{
	PSI_DELAY_POINT(publish);
	if (port->net->senders_fence)
		psi_store_load_fence(); /* D1_SEND: pairs with D1_FENCE in lanes_fence_senders */
	else
		atomic_signal_fence(memory_order_seq_cst); /* D1_ORDER: pairs with D1_ALL there */
	if (!atomic_load_explicit(&out->control->polled, memory_order_relaxed))
		return sysvnet_announce(port, out, network);
	return PSI_OK;
}

/* Sends a Short, or a Medium that fits in the slot.  The caller has locked the lane and has seen
 * room; the lane is not locked any more at return.  PSI_OK. */
static inline __attribute__((always_inline)) int
sysvnet_send_in_slot(struct sysvnet_port *port, struct sysvnet_out *out, enum psi_category category,
                     uint32_t tag, const int32_t *args, const void *payload, size_t len_bytes)
{
	const unsigned nargs = psi_am_tag_nargs(tag);
	unsigned char *body = sysvnet_out_slot(out)->body;
	unsigned char *data = body + sysvnet_inline_offset(nargs) - SYSVNET_HEADER_BYTES;

	sysvnet_put_args(body, args, nargs);
	if (category == PSI_MEDIUM && SYSVNET_LIKELY(len_bytes <= SYSVNET_BRIEF_BYTES))
		sysvnet_put_brief(data, payload, len_bytes);
	else if (category == PSI_MEDIUM)
		memcpy(data, payload, len_bytes);
	sysvnet_out_publish(out,
	                    sysvnet_header_of(port, category, tag, len_bytes, SYSVNET_INLINE));
	sysvnet_unlock_out(out);
	if (category == PSI_MEDIUM)
		sysvnet_count(port, SYSVNET_COUNT_IN_SLOT);
	return sysvnet_notify(port, out, psi_am_tag_network(tag));
}

/* ------------------------------------------------------------------------- sending --- */

/* sysvnet_send.c: the same where that lane is not free, or the payload is longer. */
int sysvnet_send_short_anyhow(struct sysvnet_port *port, uint32_t peer, uint32_t tag,
                              const int32_t *args);
int sysvnet_send_medium_anyhow(struct sysvnet_port *port, uint32_t peer, uint32_t tag,
                               const int32_t *args, const void *payload, size_t len_bytes);

/* The lane to that place, if it has been made, has no lock that another thread holds, and is known
 * to have room; else NULL.  Takes the lock where the lane has one.  With it, the two calls below
 * call nothing in the common case, so that they need no frame. */
static inline struct sysvnet_out *
sysvnet_free_lane(struct sysvnet_port *port, uint32_t peer, uint32_t tag)
{
	const struct sysvnet_job *job = &port->net->job;
	const unsigned network = psi_am_tag_network(tag);
	struct sysvnet_out *out = SYSVNET_LIKELY(peer < job->places)
	                          ? &port->out[network][job->host_index[peer]]
	                          : sysvnet_out_made(port, port->further, peer, network);

	if (SYSVNET_UNLIKELY(!out))
		return NULL;
	if (out->needs_lock && SYSVNET_UNLIKELY(!psi_spinlock_try(&out->lock)))
		return NULL;
	if (SYSVNET_LIKELY(out->limit - sysvnet_out_next(out) > out->reserved))
		return out;
	sysvnet_unlock_out(out);
	return NULL;
}

/* sysvnet_send of a Short without a descriptor: psi_am_tag has made `tag'. */
static inline int
sysvnet_send_short(struct sysvnet_port *port, uint32_t peer, uint32_t tag, const int32_t *args)
{
	struct sysvnet_out *out = sysvnet_free_lane(port, peer, tag);

	if (SYSVNET_UNLIKELY(!out))
		return sysvnet_send_short_anyhow(port, peer, tag, args);
	return sysvnet_send_in_slot(port, out, PSI_SHORT, tag, args, NULL, 0);
}

/* The same of a Medium. */
static inline int
sysvnet_send_medium(struct sysvnet_port *port, uint32_t peer, uint32_t tag, const int32_t *args,
                    const void *payload, size_t len_bytes)
{
	struct sysvnet_out *out = len_bytes <= SYSVNET_BRIEF_BYTES
	                          ? sysvnet_free_lane(port, peer, tag) : NULL;

	if (SYSVNET_UNLIKELY(!out))
		return sysvnet_send_medium_anyhow(port, peer, tag, args, payload, len_bytes);
	return sysvnet_send_in_slot(port, out, PSI_MEDIUM, tag, args, payload, len_bytes);
}

/* ----------------------------------------------------------------------- receiving --- */

enum { SYSVNET_KEPT_LANES = 2 };        /* up to so many active lanes cost next to nothing */

/* sysvnet_poll.c: where there is something, by one thread at a time or by several; where there
 * is not. */
unsigned sysvnet_receive_in_place(struct sysvnet_port *port, unsigned network, unsigned budget);
unsigned sysvnet_receive_threaded(struct sysvnet_port *port, unsigned network, unsigned budget);
void sysvnet_found_nothing(struct sysvnet_port *port, unsigned network);

/* A handler's reply may poll, but only the other network. */
static inline unsigned
sysvnet_poll_network(struct sysvnet_port *port, unsigned network, unsigned budget)
{
	if (!port->needs_lock && port->polled[network])
		return 0;
	if (sysvnet_has_any(port, network))
		return port->needs_lock ? sysvnet_receive_threaded(port, network, budget)
		                    : sysvnet_receive_in_place(port, network, budget);
	if (sysvnet_active_count(port, network) > SYSVNET_KEPT_LANES)
		sysvnet_found_nothing(port, network);
	return 0;
}

/*
 * Delivers at most about budget messages of the networks in the mask; how many it delivered.  Of
 * several threads that poll one port, one finds the work; the others return 0.  No lock is held
 * while a handler runs.
 *
 * Replies first: they free what requests wait for, and are waited for themselves.  So after some
 * the caller looks at once whether that was all, and requests wait for the next poll, though not
 * for a second one.
 */
static inline unsigned
sysvnet_poll(struct sysvnet_port *port, unsigned networks, unsigned budget)
{
	unsigned delivered = 0;

	if (networks & 1u << PSI_REPLIES)
		delivered = sysvnet_poll_network(port, PSI_REPLIES, budget);
	if (!(networks & 1u << PSI_REQUESTS))
		return delivered;
	if (delivered && !atomic_load_explicit(&port->requests_waited, memory_order_relaxed)) {
		atomic_store_explicit(&port->requests_waited, true, memory_order_relaxed);
		return delivered;
	}
	if (atomic_load_explicit(&port->requests_waited, memory_order_relaxed))
		atomic_store_explicit(&port->requests_waited, false, memory_order_relaxed);
	return delivered + sysvnet_poll_network(port, PSI_REQUESTS, budget);
}

#endif
