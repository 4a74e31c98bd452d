/*
 * What an active message is to those who carry it: one to send, one that arrived, and a buffer
 * claimed for one.  The runtime, the contract of conduits and the message queue of a host (sysvnet)
 * share these types, so that a message passes from one to the other without a copy.
 *
 * A *port* is the carrier's side of one endpoint of this process.  Peers are named by *place*:
 * endpoint i of process r of n has place i * n + r.
 */
#ifndef PSI_UTIL_MESSAGE_H
#define PSI_UTIL_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum psi_result {
	PSI_OK = 0,
	PSI_AGAIN,              /* nothing consumed; poll and try again */
	PSI_UNSUPPORTED,        /* not by this provider; the caller has another way, or ends */
	PSI_FAILED,             /* this operation failed; the port lives */
	PSI_FATAL,              /* the port is dead; the runtime ends the job */
};

enum psi_category { PSI_SHORT, PSI_MEDIUM, PSI_LONG };

/* Requests and replies travel on networks that cannot block each other. */
enum psi_network { PSI_REQUESTS, PSI_REPLIES, PSI_NETWORKS };
enum { PSI_BOTH_NETWORKS = 1 << PSI_REQUESTS | 1 << PSI_REPLIES };
/* To arm, beside networks: memory too, which peers write and then look at the sleep word. */
enum { PSI_PEERS_MEMORY = 1 << PSI_NETWORKS };

enum { PSI_MAX_ARGS = 16 };

#define PSI_NO_PEER UINT32_MAX

/* The tag of a message is a word: network, handler, and number of arguments. */
static inline uint32_t
psi_am_tag(unsigned network, unsigned handler, unsigned nargs)
{
	return handler | nargs << 8 | network << 16;
}

static inline unsigned psi_am_tag_handler(uint32_t tag) { return tag & 0xff; }
static inline unsigned psi_am_tag_nargs(uint32_t tag) { return tag >> 8 & 0xff; }
static inline unsigned psi_am_tag_network(uint32_t tag) { return tag >> 16; }

/* One active message to send.  The runtime has checked limits, target range and handler index. */
struct psi_am {
	uint32_t peer;
	uint8_t handler, category, network, nargs;
	const int32_t *args;            /* [nargs] */
	const void *payload;            /* readable until the call returns */
	size_t len_bytes;
	/* Long: the destination's address at its owner, and the same memory as it is mapped here;
	 * NULL: the payload is there already. */
	void *dest;
	void *dest_here;
};

static inline struct psi_am
psi_am_of(uint32_t peer, unsigned category, uint32_t tag, const int32_t *args)
{
	return (struct psi_am){
		.peer = peer,
		.handler = (uint8_t)psi_am_tag_handler(tag),
		.category = (uint8_t)category,
		.network = (uint8_t)psi_am_tag_network(tag),
		.nargs = (uint8_t)psi_am_tag_nargs(tag),
		.args = args,
	};
}

static inline struct psi_am
psi_am_medium(uint32_t peer, uint32_t tag, const int32_t *args, const void *payload,
              size_t len_bytes)
{
	struct psi_am am = psi_am_of(peer, PSI_MEDIUM, tag, args);

	am.payload = payload;
	am.len_bytes = len_bytes;
	return am;
}

/* One active message that arrived; all pointers are valid until `deliver' returns. */
struct psi_arrival {
	union {
		struct {
			uint32_t source;
			uint8_t handler, category, network, nargs;
		};
		uint64_t word;          /* all of these, written as one (psi_arrival_word) */
	};
	const int32_t *args;
	void *payload;                  /* Medium: 16-aligned and writable; Long: as sent */
	size_t len_bytes;
};

/* Parts of a word that were stored one by one could not be loaded as the word at once. */
static inline uint64_t
psi_arrival_word(uint32_t source, unsigned handler, unsigned category, unsigned network,
                 unsigned nargs)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return source | (uint64_t)handler << 32 | (uint64_t)category << 40 |
	       (uint64_t)network << 48 | (uint64_t)nargs << 56;
#else
	return (uint64_t)source << 32 | handler << 24 | category << 16 | network << 8 | nargs;
#endif
}

/* A buffer for a message whose size, handler and arguments are decided later. */
struct psi_claim {
	uint32_t peer;
	uint8_t network;
	bool alone;                             /* by the one thread that uses a serial port */
	size_t least_bytes, most_bytes;         /* asked for */
	void *buffer;                           /* granted: 16-aligned, writable */
	size_t size_bytes;
	uint64_t cookie;                        /* the conduit's */
};

#endif
