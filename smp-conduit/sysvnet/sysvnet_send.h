/*
 * What the ways of sending share: a message takes one slot of the lane to its receiver.  For
 * sysvnet_send.c and sysvnet_buffer.c alone.
 *
 * Body of a slot, after the header (8 bytes):
 *     Short            args
 *     Medium, inline   args, then the payload at the next multiple of 16 in the slot
 *     Medium, else     where (8), args       where: payload ring offset or buffer name
 *     Long             dest (8), length (8), args
 */
#ifndef SYSVNET_SEND_H
#define SYSVNET_SEND_H

#include "smp-conduit/sysvnet/sysvnet_inline.h"

static inline void
sysvnet_put_word(unsigned char *at, uint64_t value)
{
	memcpy(at, &value, sizeof value);
}

static inline int
sysvnet_refuse(struct sysvnet_port *port)
{
	sysvnet_count(port, SYSVNET_COUNT_REFUSED);
	return PSI_AGAIN;
}

/* Promises one slot of the lane to the caller, who then copies without the lock (RESERVE). */
static inline bool
sysvnet_out_reserve(struct sysvnet_out *out)
{
	bool room;

	sysvnet_lock_out(out);
	room = sysvnet_out_has_room(out);
	out->reserved += room;
	sysvnet_unlock_out(out);
	return room;
}

/* Publishes a Medium whose payload lies elsewhere, at that offset or in that buffer.  The caller
 * holds the lock and has seen room. */
static inline void
sysvnet_publish_elsewhere(struct sysvnet_port *port, struct sysvnet_out *out,
                          const struct psi_am *am, enum sysvnet_where where, uint64_t at)
{
	const uint32_t tag = psi_am_tag(am->network, am->handler, am->nargs);
	struct sysvnet_slot *slot = sysvnet_out_slot(out);

	sysvnet_put_word(slot->body, at);
	sysvnet_put_args(slot->body + 8, am->args, am->nargs);
	sysvnet_out_publish(out, sysvnet_header_of(port, PSI_MEDIUM, tag, am->len_bytes, where));
}

/* sysvnet_buffer.c */
int sysvnet_send_in_buffer(struct sysvnet_port *port, struct sysvnet_out *out,
                           const struct psi_am *am);

#endif
