/*
 * What lies in the arena: the shared block of an endpoint, lane controls, slots.
 *
 * Memory comes zero-filled, and zero is the right initial value of everything here.
 */
#ifndef SYSVNET_SHARED_H
#define SYSVNET_SHARED_H

#include "smp-conduit/sysvnet/sysvnet_layout.h"

#include <stdatomic.h>
#include <stdint.h>

enum sysvnet_size { SYSVNET_LARGE, SYSVNET_SMALL, SYSVNET_SIZES };

#define SYSVNET_NETWORK_BUFFER_BYTES ((size_t)SYSVNET_LARGE_COUNT * SYSVNET_LARGE_BYTES + \
	                              (size_t)SYSVNET_SMALL_COUNT * SYSVNET_SMALL_BYTES)

#define SYSVNET_LINE_ALIGNED _Alignas(SYSVNET_LINE_BYTES)

/*
 * The block of one receiving endpoint.  Each group has lines of its own.
 *
 * wake          bit 0: a thread of the owner sleeps or is about to; bit 1: one of them sleeps on a
 *               descriptor.  The owner's threads set the bits (arm, fd_sleep_begin); a thread that
 *               wakes them clears both and adds one to the rest, a count (sysvnet_sleep.c).
 * far_sleepers  threads that sleep on the word of their process's first endpoint and are to hear of
 *               this one as well; a thread that wakes this one then wakes that one too.
 * top           per network, bit w: word w of that network has bits.  Senders set, the owner takes.
 * room_top      the same of the words for room.  Waiters set, a thread that makes room takes.
 * busy          per network and size, bit b: buffer b is taken.  Senders set, the thread that
 *               consumes the message (or cancels the claim) clears.
 * words         first those for room, bit s: a thread of process s waits for room here.  Then per
 *               network, bit s: the lane from s has a message and the owner is not polling it.
 */
enum { SYSVNET_ASLEEP = 1, SYSVNET_ON_FD = 2 };

struct sysvnet_shared {
	SYSVNET_LINE_ALIGNED _Atomic uint32_t wake;
	_Atomic uint32_t far_sleepers;
	SYSVNET_LINE_ALIGNED _Atomic uint64_t top[2];
	SYSVNET_LINE_ALIGNED _Atomic uint64_t room_top;
	SYSVNET_LINE_ALIGNED _Atomic uint64_t busy[2][SYSVNET_SIZES];
	SYSVNET_LINE_ALIGNED _Atomic uint64_t words[];  /* [3][layout.words]: room, two networks */
};

/* The words of a network. */
static inline _Atomic uint64_t *
sysvnet_words_of(struct sysvnet_shared *shared, const struct sysvnet_layout *layout,
                 unsigned network)
{
	return shared->words + (1 + network) * layout->words;
}

static inline size_t
sysvnet_shared_bytes(uint32_t words)
{
	return sizeof(struct sysvnet_shared) + 3 * (size_t)words * sizeof(uint64_t);
}

/*
 * The control line of a lane, written by the receiver, read by the sender.
 *
 * polled    1 while the receiver looks at the lane on every poll; else the sender tells.
 * consumed  how many messages the receiver has done with; told in steps, not one by one.
 */
struct sysvnet_control {
	SYSVNET_LINE_ALIGNED _Atomic uint32_t polled;
	_Atomic uint32_t consumed;
};

/*
 * A slot of a lane.  The header says by its lap number whether the slot is full for this round, so
 * position p of the lane is full when the header's lap is that of p.  A header is rewritten once
 * per round and at no other place, so payload is never mistaken for one.
 *
 * Pairs:  R1 (publish) -> A1 (peek)     body, payload and buffers before the header
 *         R2 (retire)  -> A2 (refresh)  last read of slot and payload before they are reused
 */
struct sysvnet_slot {
	_Alignas(SYSVNET_SLOT_BYTES) _Atomic uint64_t header;
	unsigned char body[SYSVNET_SLOT_BYTES - sizeof(uint64_t)];
};

enum {
	SYSVNET_ARENA_MAGIC = 0x50534d50,
	SYSVNET_ABI = 8,        /* of all that lies in shared memory */
};

/* Once per arena, first page. */
struct sysvnet_header {
	_Atomic uint32_t magic;
	uint32_t abi, processes;
	_Atomic uint32_t slots;         /* of a lane, in use; 0 until all have opened */
	uint64_t total_bytes;
};

_Static_assert(sizeof(struct sysvnet_control) == SYSVNET_LINE_BYTES, "a control is one line");
_Static_assert(sizeof(struct sysvnet_slot) == SYSVNET_SLOT_BYTES, "a slot is two lines");
_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2 && ATOMIC_INT_LOCK_FREE == 2,
               "words shared by processes need lock-free atomics");

#endif
