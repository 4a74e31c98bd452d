/*
 * What travels: messages on connections, and hellos, by which connections are made.
 *
 * A message is a struct pibv_header, then its arguments, then at a multiple of 16 bytes its tail,
 * if its category has one, and its payload.  The queue pair on which it comes says that a process
 * of this job has sent it, since that process has shown the job's secret when the two were
 * connected.
 */
#ifndef PIBV_WIRE_H
#define PIBV_WIRE_H

#include "runtime/util/message.h"

#include <string.h>

enum {
	PIBV_WIRE = 5,          /* raised when anything here, cards or the rules of credit change */
	PIBV_ALIGN = 16,        /* of payloads */
	PIBV_RAILS = 4,         /* ports that a process uses at most */
	/* Categories beside those of the runtime; PSI_LONG has a tail too. */
	PIBV_CREDIT = 3,        /* only pays credits */
	PIBV_SIGNAL = 4,        /* a signal, perhaps with a payload for the receiver's memory */
};

/* All hosts of a job have one byte order; the exchange shows where not, since PIBV_WIRE reads
 * differently there. */
struct pibv_header {
	uint32_t source;        /* place of the sender */
	uint32_t len_bytes;     /* of the payload that travels in the message */
	uint16_t to;            /* index of the port at the receiver */
	uint8_t credits;        /* that the source pays to the receiver's process */
	uint8_t number;         /* of the messages of the connection; wraps */
	union {
		struct {        /* in the order of struct psi_am and struct psi_arrival */
			uint8_t handler, category, network, nargs;
		};
		uint32_t kind;  /* all of these */
	};
};
_Static_assert(sizeof(struct pibv_header) == 16, "it is a sixth of what is sent inline");

/* Stands behind the arguments of a Long or a signal. */
struct pibv_tail {
	uint64_t dest;          /* address at the receiver to which the payload belongs */
	union {
		/* Long: of its payload; where none travels, a write brought it */
		uint64_t long_bytes;
		uint64_t packed;        /* the signal */
	};
};

_Static_assert(offsetof(struct psi_am, nargs) == offsetof(struct psi_am, handler) + 3 &&
	       offsetof(struct psi_arrival, nargs) == offsetof(struct psi_arrival, handler) + 3,
	       "the four bytes are copied as one word");

/* The kind of a message of the runtime, whose network and category are those that travel. */
static inline uint32_t
pibv_kind_of(const struct psi_am *am)
{
	uint32_t kind;

	memcpy(&kind, &am->handler, sizeof kind);
	return kind;
}

/* That of a struct psi_arrival. */
static inline uint64_t
pibv_arrival_word(const struct pibv_header *header)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return header->source | (uint64_t)header->kind << 32;
#else
	return (uint64_t)header->source << 32 | header->kind;
#endif
}

static inline size_t
pibv_aligned(size_t len_bytes)
{
	return (len_bytes + PIBV_ALIGN - 1) & ~(size_t)(PIBV_ALIGN - 1);
}

static inline bool
pibv_has_tail(unsigned category)
{
	return category == PSI_LONG || category == PIBV_SIGNAL;
}

/* Where tail and payload begin, and the length of a message. */
static inline size_t
pibv_tail_at(unsigned nargs)
{
	return pibv_aligned(sizeof(struct pibv_header) + nargs * sizeof(int32_t));
}

static inline size_t
pibv_payload_at(unsigned category, unsigned nargs)
{
	return pibv_tail_at(nargs) + (pibv_has_tail(category) ? sizeof(struct pibv_tail) : 0);
}

static inline size_t
pibv_message_bytes(unsigned category, unsigned nargs, size_t len_bytes)
{
	if (!len_bytes && !pibv_has_tail(category))
		return sizeof(struct pibv_header) + nargs * sizeof(int32_t);
	return pibv_payload_at(category, nargs) + len_bytes;
}

/*
 * A hello goes by datagrams, which may be lost, come twice, or out of order (pibv_hello.c).  Both
 * sides send the same form, with the queue pairs that each has made for the other.
 */
struct pibv_hello {
	uint64_t tag;           /* the job's secret */
	uint32_t wire;          /* PIBV_WIRE */
	uint32_t process;       /* that sends it */
	uint32_t to;            /* that it is for */
	uint32_t qp[PIBV_RAILS], psn[PIBV_RAILS];       /* of the sender's queue pairs, by rail */
	uint8_t reads;          /* of the receiver's that the sender's device serves at once */
	uint8_t ready;          /* the sender's queue pair receives */
	uint8_t connected;      /* the sender knows that the receiver's does: asks for no answer */
	uint8_t unused;
};

#endif
