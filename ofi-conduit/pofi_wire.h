/*
 * What a message of the ofi conduit looks like: a struct pofi_header, then its arguments, then its
 * payload at a multiple of 16 bytes; in whole lines.
 */
#ifndef POFI_WIRE_H
#define POFI_WIRE_H

#include "runtime/util/message.h"

enum {
	POFI_WIRE = 2,                  /* raised when headers or the rules of credit change */
	POFI_ALIGN = 16,                /* of payloads */
	POFI_LINE = 64,
	POFI_CREDIT = 3,                /* category of a message that only pays credits */
	POFI_LONG_HEAD = 4,             /* ... of a Long whose payload a write brings */
};

/* What a message begins with.  All hosts of a job have the same byte order; the exchange shows
 * where not, since POFI_WIRE reads differently there. */
struct pofi_header {
	uint64_t tag;                   /* the job's secret */
	uint64_t dest;                  /* Long: address at its owner */
	uint32_t source;                /* place of the sender */
	uint32_t len_bytes;             /* of the payload; Long: it does not travel here */
	uint16_t to;                    /* index of the port at the receiver */
	uint16_t credits;               /* that the source pays to the receiver's process */
	uint8_t handler, category, network, nargs;
};
_Static_assert(sizeof(struct pofi_header) % 8 == 0, "arguments follow at once");

/* The payload of a message that is the head of a Long. */
struct pofi_tail {
	uint64_t number;                /* that the write brings too */
	uint32_t len_bytes;             /* of the Long */
	uint32_t unused;
};

static inline size_t
pofi_aligned(size_t len_bytes)
{
	return (len_bytes + POFI_ALIGN - 1) & ~(size_t)(POFI_ALIGN - 1);
}

/* Where the payload begins, and the length of the message. */
static inline size_t
pofi_payload_at(unsigned nargs)
{
	return pofi_aligned(sizeof(struct pofi_header) + nargs * sizeof(int32_t));
}

static inline bool
pofi_has_payload(unsigned category)
{
	return category == PSI_MEDIUM || category == POFI_LONG_HEAD;
}

static inline size_t
pofi_message_bytes(unsigned category, unsigned nargs, size_t len_bytes)
{
	const size_t bytes =
		pofi_payload_at(nargs) + (pofi_has_payload(category) ? len_bytes : 0);

	return (bytes + POFI_LINE - 1) & ~(size_t)(POFI_LINE - 1);
}

#endif
