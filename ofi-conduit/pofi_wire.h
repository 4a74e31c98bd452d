/*
 * What a message of the ofi conduit looks like: a struct pofi_header; for Longs, the address of the
 * payload at its owner; the arguments, without the upper bytes that are 0; the payload, at a
 * multiple of 16 bytes.  In whole lines.
 *
 * Providers inject messages of a line, which need no completion (64 bytes over tcp;ofi_rxm).  So
 * what is often 0 is not sent: notes of collectives have 16 arguments, of which most are small.
 */
#ifndef POFI_WIRE_H
#define POFI_WIRE_H

#include "runtime/util/message.h"

#include <stddef.h>
#include <string.h>

enum {
	POFI_WIRE = 3,                  /* raised when headers or the rules of credit change */
	POFI_ALIGN = 16,                /* of payloads */
	POFI_LINE = 64,
	POFI_CREDIT = 3,                /* category of a message that only pays credits */
	POFI_LONG_HEAD = 4,             /* ... of a Long whose payload a write brings */
};

/* What a message begins with.  All hosts of a job have the same byte order; the exchange shows
 * where not, since POFI_WIRE reads differently there. */
struct pofi_header {
	uint64_t tag;                   /* the job's secret */
	uint32_t source;                /* place of the sender */
	uint32_t len_bytes;             /* of the payload; Long: it does not travel here */
	uint16_t to;                    /* index of the port at the receiver */
	uint16_t credits;               /* that the source pays to the receiver's process */
	uint8_t handler, category, network, nargs;
	uint32_t sizes;                 /* of the arguments, two bits each: 0, 1, 2 or 4 bytes */
	uint16_t records;               /* of the receiver that the source's process has taken */
};

/* What of it travels: all but the padding behind it. */
#define POFI_HEADER_BYTES (offsetof(struct pofi_header, records) + sizeof(uint16_t))

#define POFI_SIZES_MOST UINT32_MAX
_Static_assert(2 * PSI_MAX_ARGS == 8 * sizeof(uint32_t), "a size for each argument");

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

/* -- arguments --------------------------------------------------------------------------------- */

static inline uint32_t
pofi_sizes_of(unsigned nargs, const int32_t *args)
{
	uint32_t sizes = 0;

	for (unsigned i = 0; i < nargs; i++) {
		const uint32_t arg = (uint32_t)args[i];

		sizes |= (uint32_t)((arg > 0) + (arg > 0xff) + (arg > 0xffff)) << 2 * i;
	}
	return sizes;
}

/* Sizes of the bits 01 are 1 byte, 10 are 2, 11 are 4. */
static inline size_t
pofi_args_bytes(uint32_t sizes)
{
	const uint32_t low = sizes & 0x55555555, high = sizes >> 1 & 0x55555555;

	return (size_t)__builtin_popcount(low) + 2 * (size_t)__builtin_popcount(high) +
	       (size_t)__builtin_popcount(low & high);
}

/* Returns the end of what it wrote. */
static inline char *
pofi_args_pack(char *to, unsigned nargs, const int32_t *args)
{
	for (unsigned i = 0; i < nargs; i++) {
		const uint32_t arg = (uint32_t)args[i];

		if (arg > 0)
			*to++ = (char)arg;
		if (arg > 0xff)
			*to++ = (char)(arg >> 8);
		if (arg > 0xffff) {
			*to++ = (char)(arg >> 16);
			*to++ = (char)(arg >> 24);
		}
	}
	return to;
}

static inline void
pofi_args_unpack(const char *from, unsigned nargs, uint32_t sizes, int32_t *args_out)
{
	for (unsigned i = 0; i < nargs; i++, sizes >>= 2) {
		const unsigned bytes = (sizes & 3) + ((sizes & 3) == 3);
		uint32_t arg = 0;

		for (unsigned k = 0; k < bytes; k++)
			arg |= (uint32_t)(unsigned char)*from++ << 8 * k;
		args_out[i] = (int32_t)arg;
	}
}

/* -- parts ------------------------------------------------------------------------------------- */

static inline bool
pofi_has_dest(unsigned category)
{
	return category == PSI_LONG || category == POFI_LONG_HEAD;
}

static inline bool
pofi_has_payload(unsigned category)
{
	return category == PSI_MEDIUM || category == POFI_LONG_HEAD;
}

/* Where the arguments begin, the payload, and the length of the message. */
static inline size_t
pofi_args_at(unsigned category)
{
	return POFI_HEADER_BYTES + (pofi_has_dest(category) ? sizeof(uint64_t) : 0);
}

static inline size_t
pofi_payload_at(unsigned category, uint32_t sizes)
{
	return pofi_aligned(pofi_args_at(category) + pofi_args_bytes(sizes));
}

static inline size_t
pofi_message_bytes(unsigned category, uint32_t sizes, size_t len_bytes)
{
	const size_t bytes = pofi_payload_at(category, sizes) +
	                     (pofi_has_payload(category) ? len_bytes : 0);

	return (bytes + POFI_LINE - 1) & ~(size_t)(POFI_LINE - 1);
}

#endif
