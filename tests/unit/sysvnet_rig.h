/*
 * A rig for sysvnet: several of it in one process, on one mapping, with threads or plain calls in
 * the roles of ranks.  It has callbacks of its own, so nothing of the runtime takes part.
 *
 * Ranks are opened by threads of their own, as processes would; one rig is opened at a time.
 */
#ifndef PT_SYSVNET_RIG_H
#define PT_SYSVNET_RIG_H

#include "smp-conduit/sysvnet/sysvnet_inline.h"

struct rig_rank;

/* Runs for each message that arrives at a rank, on the thread that polls. */
typedef void rig_handler(struct rig_rank *rank, const struct psi_arrival *arrival);

struct rig_rank {
	struct rig *rig;
	uint32_t place;
	struct sysvnet *net;
	struct sysvnet_port *port;
	rig_handler *handler;
	void *data;                     /* the test's */
	uint64_t counts[SYSVNET_COUNTERS];
};

struct rig {
	uint32_t ranks;
	unsigned char *arena;           /* of all ranks, zero-filled */
	size_t arena_bytes;
	uint32_t *host_index;
	uint8_t *local;
	struct rig_rank *rank;          /* [ranks] */
};

struct rig_options {
	uint32_t ranks;
	bool threaded;                  /* ports for several threads each (PAR) */
	bool crowded;                   /* senders fence; else membarrier where there is one */
	rig_handler *handler;
};

struct rig *rig_open(const struct rig_options *options);
void rig_close(struct rig *rig);

/* Sleeps on a descriptor of the rank's, without a bound, unless it was woken after the ticket; one
 * thread of a rank at a time. */
void rig_sleep_on_fd(struct rig_rank *rank, uint32_t ticket);

/* Called by the copy service before it copies, on the sender's thread; NULL: nothing. */
extern void (*rig_before_copy)(void);

/* Is there memory for further endpoints, of places below RIG_FURTHER? */
enum { RIG_FURTHER = 16 };
extern bool rig_has_further;

/* Sends a Medium whose argument is its number, and whose bytes are the number's pattern. */
int rig_send_number(struct rig *rig, uint32_t from, uint32_t to, unsigned network,
                    size_t len_bytes, uint32_t number);

/* Prints the queue states of all ranks on stderr. */
void rig_dump(const struct rig *rig);

/* A counter of a rank's. */
static inline uint64_t
rig_count(const struct rig_rank *rank, enum sysvnet_counter which)
{
	return __atomic_load_n(&rank->counts[which], __ATOMIC_RELAXED);
}

/* Bytes that depend on seed and position, from a table: at most RIG_PATTERN_BYTES of them. */
enum { RIG_PATTERN_BYTES = 128 * 1024 };
const unsigned char *rig_pattern(uint32_t seed);

#endif
