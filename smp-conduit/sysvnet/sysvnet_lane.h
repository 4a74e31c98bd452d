/*
 * One lane: a ring of slots with one sender (a process, or one endpoint of it) and one receiver (an
 * endpoint), a ring of payload bytes that belongs to the slots, and the two sides' private
 * knowledge of it.
 *
 * Within a process the callers serialise: the sender side by out->lock where out->needs_lock, the
 * receiver side by the port's poll lock of that network (neither in SEQ and PARSYNC, nor for one
 * thread at a time by promise).
 *
 * The pairs R1 -> A1 and R2 -> A2 are listed at struct sysvnet_slot; tests/model/lane.pml proves
 * them, and the steps RESERVE, TAIL and TELL.
 */
#ifndef SYSVNET_LANE_H
#define SYSVNET_LANE_H

#include "runtime/util/delay.h"
#include "runtime/util/distance.h"
#include "runtime/util/prefetch.h"
#include "runtime/util/spinlock.h"
#include "smp-conduit/sysvnet/sysvnet_shared.h"
#include "smp-conduit/sysvnet/sysvnet_window.h"

#include <stdbool.h>

/*
 * The two sides.  Each is its owner's alone; both lie in the arena so that others can look at them
 * when the owner hangs, for which next, limit and mask are enough.
 */

/* The sender's side. */
struct sysvnet_out {
	struct psi_spinlock lock;
	bool needs_lock;                /* several threads send here */
	uint32_t host_index;            /* of the receiver's process */
	uint32_t sender;                /* its number among the receiver's */
	uint32_t mask;                  /* slots - 1 */
	uint32_t shift;                 /* log2 of slots */
	_Atomic uint32_t next;          /* position to publish next; hints read it unlocked */
	uint32_t limit;                 /* first position that is not free, as far as known */
	uint32_t reserved;              /* slots promised to sends that copy outside the lock */
	struct sysvnet_window window;      /* of the payload ring */
	uint32_t *data_end;             /* [slots]: window.head after that slot's message */
	unsigned char *region;          /* the receiver's */
	/* Hints, written by whichever thread copies. */
	struct psi_distance distance;   /* of its receiver */
	struct sysvnet_slot *slots;
	unsigned char *data;
	struct sysvnet_control *control;
	_Atomic uint64_t *words;        /* the receiver's, of this network */
};

/* The receiver's side. */
struct sysvnet_in {
	uint32_t place;                 /* of the sender's process */
	uint16_t host_index;            /* the same one's */
	uint16_t shift;                 /* log2 of slots */
	uint32_t mask;                  /* slots - 1 */
	_Atomic uint32_t next;          /* position to take next */
	uint32_t done;                  /* messages retired */
	uint32_t told;                  /* value of control->consumed */
	uint32_t least_bytes;           /* of the payload ring's window */
	uint32_t data_done;             /* payload ring bytes of messages retired since told */
	uint32_t quiet;                 /* sweeps since the last message */
	uint32_t active;                /* in the port's list of polled lanes */
	struct sysvnet_slot *slots;
	unsigned char *data;
	struct sysvnet_control *control;
};

enum sysvnet_where { SYSVNET_INLINE, SYSVNET_DATA_RING, SYSVNET_BUFFER };

enum { SYSVNET_HEADER_BYTES = sizeof(uint64_t), SYSVNET_PAYLOAD_ALIGN = 16 };

/* Offset in the slot of an inline payload behind so many arguments. */
static inline size_t
sysvnet_inline_offset(unsigned nargs)
{
	return (SYSVNET_HEADER_BYTES + nargs * sizeof(int32_t) + SYSVNET_PAYLOAD_ALIGN - 1) &
	       ~(size_t)(SYSVNET_PAYLOAD_ALIGN - 1);
}

/* A header, unpacked. */
struct sysvnet_header_fields {
	uint32_t len_bytes;             /* of a Medium; below 2^24 */
	uint8_t handler, nargs, category, where;
	uint32_t index;                 /* of the endpoint that sends, in its process; below 2^7 */
};

enum {
	SYSVNET_LAP_BITS = 16,
	SYSVNET_INDEX_AT = 57,
	SYSVNET_OWN_BYTES = 2048,       /* lines of so small a payload are asked for ahead */
	SYSVNET_SLOTS_AHEAD = 3,
};

static inline uint64_t
sysvnet_lap(uint32_t position, uint32_t shift)
{
	return ((position >> shift) + 1) & ((1u << SYSVNET_LAP_BITS) - 1);
}

/* Packs a header, without its lap. */
static inline uint64_t
sysvnet_header_pack(const struct sysvnet_header_fields *f)
{
	return (uint64_t)f->len_bytes << 16 | (uint64_t)f->handler << 40 |
	       (uint64_t)f->nargs << 48 | (uint64_t)f->category << 53 | (uint64_t)f->where << 55 |
	       (uint64_t)f->index << SYSVNET_INDEX_AT;
}

static inline struct sysvnet_header_fields
sysvnet_header_unpack(uint64_t header)
{
	return (struct sysvnet_header_fields){
		.len_bytes = (uint32_t)(header >> 16) & 0xffffff,
		.handler = (uint8_t)(header >> 40),
		.nargs = (header >> 48) & 31,
		.category = (header >> 53) & 3,
		.where = (header >> 55) & 3,
		.index = (uint32_t)(header >> SYSVNET_INDEX_AT),
	};
}

/* Bytes that a payload takes of the payload ring. */
static inline uint32_t
sysvnet_data_bytes(uint32_t len_bytes)
{
	return (len_bytes + SYSVNET_LINE_BYTES - 1) & ~(uint32_t)(SYSVNET_LINE_BYTES - 1);
}

/* Bytes that the message takes of it, but for what a wrap leaves out. */
static inline uint32_t
sysvnet_header_data_bytes(uint64_t header)
{
	const struct sysvnet_header_fields fields = sysvnet_header_unpack(header);

	if (fields.where != SYSVNET_DATA_RING)
		return 0;
	return sysvnet_data_bytes(fields.len_bytes);
}

/* ------------------------------------------------------------------------- sender --- */

static inline uint32_t
sysvnet_out_next(const struct sysvnet_out *out)
{
	return atomic_load_explicit(&out->next, memory_order_relaxed);
}

/* Reads how much the receiver has consumed since. */
static inline void
sysvnet_out_refresh(struct sysvnet_out *out)
{
	uint32_t consumed = atomic_load_explicit(
		&out->control->consumed,
		memory_order_acquire); /* A2: acquire, from R2 in sysvnet_in_retire */

	if (consumed + out->mask + 1 == out->limit)
		return;
	out->limit = consumed + out->mask + 1;
	out->window.tail = out->data_end[(consumed - 1) & out->mask]; /* TAIL */
}

/* Is there a slot beyond those promised? */
static inline bool
sysvnet_out_has_room(struct sysvnet_out *out)
{
	if (out->limit - sysvnet_out_next(out) > out->reserved)
		return true;
	sysvnet_out_refresh(out);
	return out->limit - sysvnet_out_next(out) > out->reserved;
}

/* Space for len_bytes in the payload ring, in one piece; NULL if there is none.  It belongs to the
 * message that is published next.  Only after sysvnet_out_has_room said yes. */
static inline unsigned char *
sysvnet_out_data(struct sysvnet_out *out, uint32_t len_bytes, uint32_t *offset_out)
{
	const uint32_t need = sysvnet_data_bytes(len_bytes);

	if (!sysvnet_window_in_lap(&out->window, need) || !sysvnet_window_has(&out->window, need)) {
		sysvnet_out_refresh(out);
		if (!sysvnet_window_has(&out->window, need) &&
		    !sysvnet_window_widen(&out->window, need))
			return NULL;
	}
	*offset_out = sysvnet_window_take(&out->window, need);
	return out->data + *offset_out;
}

/*
 * Asks for the lines that a next message of this size would take in the payload ring, so that it
 * need not wait for them one store behind the other; only those that the receiver is known to be
 * done with.
 */
static inline void
sysvnet_out_own_next(const struct sysvnet_out *out, uint32_t len_bytes)
{
	const struct sysvnet_window *window = &out->window;
	const uint32_t need = sysvnet_data_bytes(len_bytes);
	const unsigned char *next;

	if (!sysvnet_window_in_lap(window, need) ||
	    !sysvnet_window_fits(window, window->head, need, window->before, window->bytes))
		return;
	next = out->data + sysvnet_window_offset(window, window->head, need);
	for (uint32_t at = 0; at < need; at += SYSVNET_LINE_BYTES)
		psi_prefetch_write(next + at);
}

/* Asks for the line of the slot that the next message takes: one is likely, and soon.  Not of a
 * slot that the receiver is known to be at; that is not looked at where another thread may be
 * changing it. */
static inline void
sysvnet_out_own_slot(const struct sysvnet_out *out)
{
	if (!out->needs_lock && out->limit == sysvnet_out_next(out))
		return;
	psi_prefetch_write(&out->slots[sysvnet_out_next(out) & out->mask]);
}

/* The slot of the next message, to be filled and published. */
static inline struct sysvnet_slot *
sysvnet_out_slot(struct sysvnet_out *out)
{
	PSI_DELAY_POINT(claim);
	return &out->slots[sysvnet_out_next(out) & out->mask];
}

static inline void
sysvnet_out_publish(struct sysvnet_out *out, uint64_t header)
{
	struct sysvnet_slot *slot = sysvnet_out_slot(out);
	const uint32_t next = sysvnet_out_next(out);

	header |= sysvnet_lap(next, out->shift);
	out->data_end[next & out->mask] = out->window.head;
	atomic_store_explicit(&out->next, next + 1, memory_order_relaxed);
	PSI_DELAY_POINT(fill);
	atomic_store_explicit(&slot->header, header,
	                      memory_order_release); /* R1: release, to A1 in sysvnet_in_peek */
}

/* ----------------------------------------------------------------------- receiver --- */

static inline uint32_t
sysvnet_in_next(const struct sysvnet_in *in)
{
	return atomic_load_explicit(&in->next, memory_order_relaxed);
}

/* The next message's slot if it is there, with its header; else NULL. */
static inline struct sysvnet_slot *
sysvnet_in_peek(const struct sysvnet_in *in, uint64_t *header_out)
{
	const uint32_t next = sysvnet_in_next(in);
	struct sysvnet_slot *slot = &in->slots[next & in->mask];
	uint64_t header = atomic_load_explicit(
		&slot->header,
		memory_order_acquire); /* A1: acquire, from R1 in sysvnet_out_publish */

	if ((header & ((1u << SYSVNET_LAP_BITS) - 1)) != sysvnet_lap(next, in->shift))
		return NULL;
	PSI_DELAY_POINT(take);
	*header_out = header;
	return slot;
}

/* The next message is taken. */
static inline void
sysvnet_in_take(struct sysvnet_in *in)
{
	atomic_store_explicit(&in->next, sysvnet_in_next(in) + 1, memory_order_relaxed);
	in->quiet = 0;
}

/* Asks for the slot of a message some slots on.  Only where the sender is ahead: of a slot that
 * it has yet to fill the line would be taken from it. */
static inline void
sysvnet_in_prefetch(const struct sysvnet_in *in)
{
	__builtin_prefetch(&in->slots[(sysvnet_in_next(in) + SYSVNET_SLOTS_AHEAD) & in->mask]);
}

/*
 * Done with the next message, in order; header is its header.  Tells the sender once a quarter of
 * the slots, or of the bytes of the least window, has come together: a full ring is four such
 * quarters or more, so a sender without a slot, or without payload bytes, always hears of some
 * when the receiver has done with all.  True when the sender was told.
 */
static inline bool
sysvnet_in_retire(struct sysvnet_in *in, uint64_t header)
{
	in->done++;
	in->data_done += sysvnet_header_data_bytes(header);
	if (in->done - in->told < (in->mask + 1) / 4 &&
	    (!in->data_done || in->data_done < in->least_bytes / 4))
		return false;
	in->told = in->done;
	in->data_done = 0; /* TELL: payload bytes alone were enough */
	PSI_DELAY_POINT(retire);
	atomic_store_explicit(&in->control->consumed, in->done,
	                      memory_order_release); /* R2: release, to A2 in sysvnet_out_refresh */
	return true;
}

#endif
