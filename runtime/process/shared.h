/*
 * What the runtime keeps in memory that all processes of the host map, the keeper included when it
 * reports: the segment table, and per thread a block with its counts and what it is doing.  It
 * is the first thing in the control arena.  Memory comes zero-filled, and zero is the right initial
 * value of everything here.
 */
#ifndef PSI_SHARED_H
#define PSI_SHARED_H

#include "runtime/conduit/conduit.h"
#include "runtime/process/moved.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum {
	PSI_SHARED_MAGIC = 0x50535348,
	PSI_SHARED_ABI = 24,
	/* Blocks per rank for threads.  Most are never touched; see runtime/process/block.c. */
	PSI_BLOCKS = 256,
	PSI_WHERE_WORDS = 24, PSI_WHERE_BYTES = 8 * PSI_WHERE_WORDS,
	PSI_SHARED_CPUS = 1024,
	/* Ranges of a rank's own file with blocks for more threads: 256 in the first, in each twice
	 * as many as in the one before. */
	PSI_MORE_RANGES = 8,
	PSI_BARRIER_AREAS = 2,          /* of the job: sequences of barriers
	                         * (coll/pcoll_barrier_shared.c) */
	PSI_FLIGHTS = 16,       /* words that signals are under way to (runtime/signal/flight.c) */
	PSI_WORD_THRESHOLDS = 32,       /* words that threads sleep for
	                                 * (runtime/signal/threshold.c) */
	PSI_LENT = 32,          /* numbers that an endpoint lends to its teams
	                         * (coll/pcoll_lend.c) */
	PSI_CELL_TEAMS = PSI_LENT + 1,          /* the primordial team's cells come first */
	PSI_CELLS = 16,                 /* of a member; a power of two */
	PSI_CELL_LINE_BYTES = 48,       /* that fit in a cell's line ... */
	PSI_CELL_NAMED_BYTES = 40,      /* ... of one that names its reader */
	PSI_CELL_MORE_BYTES = 64,       /* ... in its second line */
	PSI_CELL_ROOM_BYTES = 32768,    /* ... in its room, where longer contents go */
	PSI_DEVICE_TREES = 256,
	PSI_CALL_WORDS = 3,             /* name of a provider's function */
	PSI_CELL_ROOMS_BYTES = PSI_CELLS * PSI_CELL_ROOM_BYTES, /* of one member */
	PSI_BARRIER_FLAGS = 4,  /* Up to so many ranks have a flag each; reading these is then as
	                         * fast as counting in one word. */
};

/* Memory of a process that its peers read, for the probe of runtime/segment/vm.h. */
struct psi_vm_card {
	uint64_t pid;
	uint64_t secret, secret_at;     /* a random word, and its address */
	uint64_t echo_at;               /* of a word that peers may write, the secret alone */
};

/* One entry of the segment table, which all ranks of this host map.  The owner writes it before a
 * barrier; the others read it after that.  Ranks of other hosts get it by message. */
struct psi_segment_entry {
	uint64_t base, size_bytes, key;
	uint64_t mappable;      /* 0: client memory, which others cannot map */
	struct psi_segment_name name;   /* over a network */
	struct psi_vm_card card;
	uint64_t failed;        /* 1: no memory for the segment that is to be attached */
};

/* The reason of a long wait. */
enum psi_wait_kind {
	PSI_FOR_CONDITION,      /* of the client's; only it knows */
	PSI_FOR_ROOM,           /* at a peer, for a message of a category and network */
	PSI_FOR_BUFFER,         /* at a peer, for a prepared message */
	PSI_FOR_BARRIER,        /* phase `number' of gex_Coll_BarrierNB */
	PSI_FOR_BARRIER_NAMED,  /* ... of the named barrier */
	PSI_FOR_EVENTS,         /* several */
	PSI_FOR_COLLECTIVE,     /* of a team */
	PSI_FOR_DESCRIBED,      /* what stands in place of `where' */
	PSI_FOR_TEAM,           /* a place in an exchange over team `number' */
	PSI_FOR_THREADS,        /* that the program runs; may take any time */
	/* Signals, which peers apply without a message: to a semaphore of slot `number', `peer'
	 * posts; to one of `number' semaphores; to the word at `number'; to one of `number'
	 * words. */
	PSI_FOR_POST,
	PSI_FOR_POSTS,
	PSI_FOR_WORD,
	PSI_FOR_WORDS,
};

/*
 * A wait that has lasted for long, for people.  Only its thread writes it, and a reader may find it
 * half written: turn is odd meanwhile, and a reader that sees it change reads again.
 */
struct psi_wait_record {
	_Atomic uint64_t turn;
	_Atomic uint64_t since_ns;      /* when the wait was first looked at; 0: no long wait */
	/* kind, category << 8, network << 16, index of the endpoint that the thread is bound to <<
	 * 24, peer << 32 */
	_Atomic uint64_t kind_peer;
	_Atomic uint64_t number;
	_Atomic uint64_t where[PSI_WHERE_WORDS];        /* text, cut to fit, NUL at its end */
};

/*
 * One thread of a rank; in SEQ and PARSYNC, the process.
 *
 * moved     puts and gets that inlines counted, which are in addition to those among count
 * handler   the message whose handler runs, the innermost: the first 8 bytes of its psi_arrival; 0:
 *           none runs, since no handler has index 0.
 * watched   since when others have seen that handler run, see runtime/wait/handler_age.h; written
 *           by any process.
 */
struct psi_block {
	_Alignas(64) uint64_t count[PSI_COUNTERS];
	struct psi_moved moved;
	_Atomic uint64_t handler;
	_Alignas(64) struct psi_wait_record note;
	_Atomic uint64_t watched;
};

/* Reads a counter of the thread; any process may.  (counters.c) */
uint64_t psi_block_count(const struct psi_block *block, enum psi_counter which);

/*
 * A barrier (coll/pcoll_barrier_shared.c).
 *
 * arrived   names, and how many have entered, or how many groups of them; of many ranks
 * complete  names, and the lower bits of the phase that was completed last; of many ranks
 * flags     of one rank each: names, and the lower bits of the last phase of that parity; of many
 *           ranks, the first word of one group each: as `arrived'
 * left      members that will not look again; of a team
 */
struct psi_barrier_area {
	_Alignas(64) _Atomic uint64_t arrived;
	_Atomic uint32_t left;
	_Alignas(64) _Atomic uint64_t complete;
	struct {
		_Alignas(64) _Atomic uint64_t entered[2];
	} flags[PSI_BARRIER_FLAGS];
};

/* The head is in one line with contents of up to 48 bytes.  Longer ones, up to 64, are in the
 * second line, which costs less than a room: it has no page of its own.  The line of the next cell
 * is 128 bytes on: it would come later if it were 64 (docs/performance.md, Collectives). */
struct psi_cell_line {
	/* first, so that operators of clients find operands of any alignment up to 64 */
	_Alignas(64) union {
		unsigned char bytes[PSI_CELL_LINE_BYTES];
		struct {
			uint64_t src;           /* address at its owner */
			uint64_t gap_ticks;     /* as in a room's */
			_Atomic uint64_t copied;        /* the phase plus 1: its room is
			                                 * filled too */
		} direct;
		struct {
			/* In teams of two, where the contents are in the room: how long its owner
			 * took to fill that, and the time since its last such call. */
			uint64_t filled_ticks, gap_ticks;
		} room;
		struct {
			unsigned char bytes[PSI_CELL_NAMED_BYTES];
			uint64_t reader;        /* the rank that it is for */
		} named;
		struct {
			unsigned char bytes[PSI_CELL_NAMED_BYTES];
			uint64_t all_bytes;     /* of its blocks (coll/cells_blocks.c) */
		} listed;
	};
	_Atomic uint64_t head;
	uint64_t call;                  /* which operation of how many bytes */
	unsigned char more[PSI_CELL_MORE_BYTES];        /* contents that do not fit above */
};
_Static_assert(offsetof(struct psi_cell_line, more) == 64, "each line is one of the CPU's");

/*
 * What one member of a team gives the others in collectives (coll/cells.h).  The member alone
 * writes there, but for `left' and `rest'.
 *
 * taken     phases that it has passed, the lower bits
 * started   phases of the calls that it has made, the lower bits; for diagnosis
 * room_key  of the range with the rooms of its cells, plus 1; 0: it has none yet
 * refused   the last phase in which it could not read where a direct cell said, plus 1
 * left      members that will not look again
 * rooms_wanted
 *           bit i: for lengths of paces[i] it wants rooms in place of direct cells that the kernel
 *           reads (coll/cells_kernel.c)
 * card      of its process, from its first direct cell or offer on
 * rest      its offer: the giver may write from rest_dst on what is rest_at bytes behind the start
 *           of the block, and says in rest_ticks how long that took
 *           (coll/cells_halves.c)
 */
struct psi_cells {
	_Alignas(64) _Atomic uint32_t taken;
	_Atomic uint32_t started;
	_Atomic uint64_t room_key;
	_Atomic uint64_t refused;
	_Alignas(64) _Atomic uint32_t left;
	_Atomic uint32_t rooms_wanted;
	struct psi_vm_card card;
	_Alignas(64) _Atomic uint64_t rest;
	uint64_t rest_dst, rest_at;
	uint64_t rest_ticks;
	struct psi_cell_line line[PSI_CELLS];
};

/* What an endpoint lends to the collectives of its teams; by number, from 1 on
 * (coll/pcoll_lend.c). */
struct psi_lent {
	struct psi_barrier_area barriers[PSI_LENT];     /* number - 1 */
	struct psi_cells cells[PSI_CELL_TEAMS];         /* number; 0 is the primordial team's */
};

/*
 * A tree of a device that a rank of this host leads in (offload/evict.c).
 *
 * used   the number of the step in which it was used last, of all of this host
 * asked  1: its team shall leave, for another team wants a tree
 * uses   how often it was given back
 */
struct psi_device_tree {
	_Atomic uint32_t owner, asked;  /* owner: the rank plus 1; 0: it is nobody's */
	_Atomic uint64_t used, uses;
};

/* The call into a provider of offload that is under way (offload/calls.c). */
struct psi_device_call {
	_Atomic uint64_t since_ns;      /* 0: none */
	_Atomic uint64_t function[PSI_CALL_WORDS];      /* its name */
};

/*
 * What one rank keeps in shared memory.
 *
 * joined  1 once its init has come so far, 2 when init is done
 * blocks  number of blocks, from the first, that were ever in use.  The last block has no owner: it
 *         holds what those threads counted that came when all others were taken.
 * more, more_key  number of blocks beyond these that were ever in use, and the keys of their
 *         ranges.  What they count is not seen by others, but joined to the last one.
 *         Pairs: C3 (block_made) -> C4 (psi_more_in_use)   a range's key
 * endpoints  one more than the highest index that an endpoint of it has, or had
 * sem_key  key of the range with its first endpoint's semaphores, plus 1; 0: it has none.
 *         Pairs: Z3 (table_open) -> Z4 (table_map_peer)   a range that is there
 * lent  what its first endpoint lends
 */
struct psi_rank_shared {
	_Alignas(64) _Atomic uint32_t joined;
	_Atomic uint32_t blocks;
	_Atomic uint32_t endpoints;
	_Atomic uint64_t sem_key;
	_Atomic uint64_t flights[PSI_FLIGHTS];  /* with checks */
	uint64_t word_thresholds[PSI_WORD_THRESHOLDS];
	_Atomic uint32_t more;
	uint64_t more_key[PSI_MORE_RANGES];
	_Alignas(64) struct psi_device_call device_call;
	struct psi_lent lent;
	struct psi_block block[PSI_BLOCKS + 1];
};

/* How many to look at. */
static inline unsigned
psi_blocks_in_use(const struct psi_rank_shared *rank)
{
	const uint32_t count = atomic_load_explicit(&rank->blocks, memory_order_relaxed);

	return count <= PSI_BLOCKS + 1 ? count : PSI_BLOCKS + 1;
}

static inline uint32_t
psi_more_in_use(const struct psi_rank_shared *rank)
{
	return atomic_load_explicit(&rank->more,
	                            memory_order_acquire); /* C4: acquire, from C3 in block_made */
}

/* Blocks in the ranges before that one, and in it. */
static inline uint32_t
psi_more_before(unsigned range)
{
	return ((uint32_t)PSI_BLOCKS << range) - PSI_BLOCKS;
}

static inline uint32_t
psi_more_count(unsigned range)
{
	return (uint32_t)PSI_BLOCKS << range;
}

/*
 * What one endpoint beyond a process's first keeps in shared memory.  lent_key is of the range with
 * its psi_lent, plus 1, or 0 if it has lent nothing yet.  Offers of new teams, which are messages,
 * come behind it (R1).
 *
 * Pairs: E1 (psi_endpoint_memory) -> E2 (psi_further_is_open)   key and length, before opened
 */
struct psi_further {
	_Alignas(64) struct psi_segment_entry segment;
	uint64_t queue_key, queue_bytes;
	_Atomic uint32_t opened;
	_Atomic uint64_t sem_key;       /* as in psi_rank_shared */
	_Atomic uint64_t lent_key;
};

static inline bool
psi_further_is_open(const struct psi_further *further)
{
	return atomic_load_explicit(
		&further->opened,
		memory_order_acquire); /* E2: acquire, from E1 in psi_endpoint_memory */
}

/* Turns on a CPU (wait/turns.c).
 *
 * last      the key of the thread that had the last turn
 * lowest    the key at which the order descended last
 * descents  how often that was another key than the time before, less the times it was the same
 * asked     how often threads were asked to take their positions; asked_epoch: and when
 * rest      epochs until they may be asked again
 */
struct psi_turns {
	_Atomic uint32_t last, lowest, descents, asked, asked_epoch, rest;
};

/* Each host of a job has one.  All in it that is counted or indexed by rank is so by host index. */
struct psi_host_shared {
	/* Written by the first rank of the host during init; magic last. */
	_Atomic uint32_t magic;
	uint32_t abi, size;                     /* ranks of this host */
	uint32_t job_size;                      /* of all hosts */
	char conduit[16];       /* of ranks that share memory */
	char network[16];       /* of the others; empty: there are none */
	uint64_t conduit_key, conduit_bytes;    /* of the range that the conduit asked for first */
	_Atomic uint64_t watch_due_ns;          /* handlers are looked at again; any rank that
	                                         * waits */
	_Atomic uint32_t turns_work;            /* a thread came to its position (wait/turns.c) */
	/* The simulated unit of the host (offload/cau/): its trees that are taken, as bits, and
	 * until when it is busy. */
	struct {
		_Alignas(64) _Atomic uint64_t trees, busy_until_ns;
	} unit;
	struct {
		_Alignas(64) _Atomic uint64_t steps;
		struct psi_device_tree tree[PSI_DEVICE_TREES];
	} trees;
	/* By CPU, threads of all ranks: those that wait there by yielding (wait.c; modulo the
	 * number of CPUs here), and those that have yielded in an epoch, of two epochs (spread.c;
	 * of CPUs beyond nobody is counted), and whose turn it was.  Hints: a thread may have been
	 * moved since it counted itself. */
	struct {
		_Alignas(64) _Atomic int32_t yielders;
		struct psi_turns turns;
		_Atomic uint64_t yielded[2];
	} cpus[PSI_SHARED_CPUS];
	struct psi_barrier_area barriers[PSI_BARRIER_AREAS];
	/* [size], then psi_shared_rank(0) ..., then psi_shared_further(1, 0) ... */
	_Alignas(64) struct psi_segment_entry segments[];
};

static inline size_t
psi_shared_ranks_offset(uint32_t size)
{
	const size_t line = 64, end = sizeof(struct psi_host_shared) +
	                              size * sizeof(struct psi_segment_entry);

	return (end + line - 1) / line * line;
}

static inline size_t
psi_shared_further_offset(uint32_t size)
{
	return psi_shared_ranks_offset(size) + size * sizeof(struct psi_rank_shared);
}

/* The number of endpoints per process beyond the first. */
static inline size_t
psi_shared_bytes(uint32_t size, uint32_t further)
{
	return psi_shared_further_offset(size) +
	       (size_t)size * further * sizeof(struct psi_further);
}

/* The endpoint of that index, at least 1, of a rank of the host. */
static inline struct psi_further *
psi_shared_further(const struct psi_host_shared *shared, uint32_t size, unsigned index,
                   uint32_t host_index)
{
	uintptr_t at = (uintptr_t)shared + psi_shared_further_offset(size);

	return (struct psi_further *)at + (size_t)(index - 1) * size + host_index;
}

static inline struct psi_rank_shared *
psi_shared_rank(const struct psi_host_shared *shared, uint32_t size, uint32_t host_index)
{
	uintptr_t at = (uintptr_t)shared + psi_shared_ranks_offset(size);

	return (struct psi_rank_shared *)at + host_index;
}

#endif
