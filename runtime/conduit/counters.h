/*
 * What a rank counts, always: one list for the runtime and its conduits.
 *
 * Counts stand in blocks of shared memory (runtime/process/shared.h), one per thread in PAR and
 * one per process otherwise, and are written by their owner alone with plain additions, so they
 * are exact.  Those of the groups `queue' and `wake' are the conduit's.  Anybody who maps the
 * blocks may read them at any moment.
 */
#ifndef PSI_COUNTERS_H
#define PSI_COUNTERS_H

#include <stdint.h>

/* How a count is summed up over threads and ranks. */
enum psi_counter_sum { PSI_SUM, PSI_MOST };

/*
 * ID, name, unit, group, sum, help.  The first four have their places in include/gasnet_ex_rma.h.
 * Kinds of messages stand in the order [network][category].
 */
#define PSI_COUNTER_LIST(X)                                                                       \
	X(PUTS, "puts", "calls", "put", PSI_SUM, "blocking puts")                                 \
	X(GETS, "gets", "calls", "get", PSI_SUM, "blocking gets")                                 \
	X(ATOMICS, "atomics", "calls", "atomic", PSI_SUM, "operations of atomic domains")         \
	X(SIGNALS, "signals", "calls", "signal", PSI_SUM, "posts, and puts and gets with signal") \
	X(PUT_BYTES, "put_bytes", "bytes", "put", PSI_SUM, "put")  \
	X(GET_BYTES, "get_bytes", "bytes", "get", PSI_SUM, "got")  \
	X(SENT, "sent_request_short", "messages", "am", PSI_SUM, "Short requests sent")           \
	X(SENT_1, "sent_request_medium", "messages", "am", PSI_SUM, "Medium requests sent")       \
	X(SENT_2, "sent_request_long", "messages", "am", PSI_SUM, "Long requests sent")           \
	X(SENT_3, "sent_reply_short", "messages", "am", PSI_SUM, "Short replies sent")            \
	X(SENT_4, "sent_reply_medium", "messages", "am", PSI_SUM, "Medium replies sent")          \
	X(SENT_5, "sent_reply_long", "messages", "am", PSI_SUM, "Long replies sent")              \
	X(RECEIVED, "received_request_short", "messages", "am", PSI_SUM, "Short requests handled") \
	X(RECEIVED_1, "received_request_medium", "messages", "am", PSI_SUM,                       \
	  "Medium requests handled")                                                              \
	X(RECEIVED_2, "received_request_long", "messages", "am", PSI_SUM, "Long requests handled") \
	X(RECEIVED_3, "received_reply_short", "messages", "am", PSI_SUM, "Short replies handled") \
	X(RECEIVED_4, "received_reply_medium", "messages", "am", PSI_SUM,                 \
	  "Medium replies handled")                                                       \
	X(RECEIVED_5, "received_reply_long", "messages", "am", PSI_SUM, "Long replies handled")   \
	X(RECEIVED_INTERNAL, "received_internal", "messages", "barrier", PSI_SUM,                 \
	  "messages of the library's own handled")                                                \
	X(SENT_BYTES, "sent_bytes", "bytes", "am", PSI_SUM, "payload of messages sent")           \
	X(RECEIVED_BYTES, "received_bytes", "bytes", "am", PSI_SUM, "payload of messages handled") \
	X(POLLS, "polls", "calls", "poll", PSI_SUM, "looks for messages")                         \
	X(POLLS_FULL, "polls_full", "calls", "poll", PSI_SUM, "looks that found messages")        \
	X(PUTS_CALLED, "puts_called", "calls", "put", PSI_SUM,                                    \
	  "puts that the library made, the others being inlined: every 256th, a thread's first, " \
	  "those of no bytes and those that it alone can make")                                   \
	X(GETS_CALLED, "gets_called", "calls", "get", PSI_SUM, "gets that the library made")      \
	X(ATOMICS_CALLED, "atomics_called", "calls", "atomic", PSI_SUM,                           \
	  "atomics that the library made, the others being inlined")                              \
	X(SINGLE_COPIES, "single_copies", "copies", "put", PSI_SUM,                               \
	  "transfers and payloads copied by process_vm_readv and process_vm_writev")              \
	X(SIGNALS_CALLED, "signals_called", "calls", "signal", PSI_SUM,                           \
	  "signals that the library made, the others being inlined")                              \
	X(SIGNAL_MSG, "signal_msg", "signals", "signal", PSI_SUM,                                 \
	  "signals that travelled as a message, with their payload or behind it")                 \
	X(ROOM_WAITS, "room_waits", "messages", "am", PSI_SUM, "messages that waited for room")   \
	X(IMMEDIATE_REFUSED, "immediate_refused", "messages", "am", PSI_SUM,                      \
	  "messages refused by GEX_FLAG_IMMEDIATE")                                               \
	X(BARRIERS, "barriers", "phases", "barrier", PSI_SUM,                             \
	  "phases of gex_Coll_BarrierNB entered")                                         \
	X(BARRIERS_NAMED, "barriers_named", "phases", "barrier", PSI_SUM,                         \
	  "phases of gasnet_barrier_notify entered")                                              \
	X(COLLECTIVES, "collectives", "calls", "coll", PSI_SUM,                                   \
	  "collectives started, but for barriers of the job")                                     \
	X(LONG_WAITS, "long_waits", "waits", "wait", PSI_SUM,                             \
	  "waits that slept more than once")                                              \
	X(WAITED_NS, "waited_ns", "ns", "wait", PSI_SUM, "time of these waits")                   \
	X(LONGEST_WAIT_NS, "longest_wait_ns", "ns", "wait", PSI_MOST, "the longest of them")      \
	X(CPU_MOVES, "cpu_moves", "moves", "wait", PSI_SUM,                                       \
	  "moves of a waiting thread to another CPU")                                \
	X(TURNS_ORDERED, "turns_ordered", "times", "wait", PSI_SUM,                               \
	  "positions taken in the order of ranks among the waiters of a CPU")                     \
	X(IN_SLOT, "payload_in_slot", "messages", "queue", PSI_SUM,                       \
	  "Mediums with payload in the slot")                                             \
	X(IN_RING, "payload_in_ring", "messages", "queue", PSI_SUM,                               \
	  "Mediums with payload in the lane's ring")                                              \
	X(IN_BUFFER, "payload_in_buffer", "messages", "queue", PSI_SUM,                           \
	  "Mediums with payload in a buffer of the receiver")                                     \
	X(CLAIMED, "claimed", "buffers", "queue", PSI_SUM, "buffers claimed by prepared messages") \
	X(REFUSED, "refused", "tries", "queue", PSI_SUM, "sends and claims that found no room")   \
	X(ANNOUNCED, "announced", "messages", "queue", PSI_SUM,                                   \
	  "messages to a receiver that did not look at the lane")                                 \
	X(UNPOLLED, "unpolled", "lanes", "queue", PSI_SUM, "quiet lanes no longer looked at")     \
	X(COPIED_OUT, "copied_out", "messages", "queue", PSI_SUM,                                 \
	  "Mediums copied out of their lane before the handler ran")                              \
	X(ARMED, "armed", "times", "wake", PSI_SUM, "announcements of a sleep")                   \
	X(SLEEPS, "sleeps", "times", "wake", PSI_SUM, "sleeps")                                   \
	X(WAKEUPS_SENT, "wakeups_sent", "times", "wake", PSI_SUM, "sleepers woken")               \
	X(WAKEUPS_RECEIVED, "wakeups_received", "times", "wake", PSI_SUM, \
	  "sleeps that a wake-up ended")                                                          \
	X(DROPPED, "dropped", "messages", "queue", PSI_SUM,                                       \
	  "messages at a network's port that were not of this job")                              \
	X(OFFLOAD_OFFERED, "offload_offered", "steps", "offload", PSI_SUM,                        \
	  "steps of collectives that a device might have done, of members that lead")            \
	X(OFFLOAD_TAKEN, "offload_taken", "steps", "offload", PSI_SUM, "... that one has done")   \
	X(OFFLOAD_DECLINED, "offload_declined", "steps", "offload", PSI_SUM,                      \
	  "... that software did from the start")                                                \
	X(OFFLOAD_RERUN, "offload_rerun", "steps", "offload", PSI_SUM,                            \
	  "... that a device began and software did")                                            \
	X(OFFLOAD_REPAIRED_BYTES, "offload_repaired_bytes", "bytes", "offload", PSI_SUM,          \
	  "results of devices that came from another member")                                    \
	X(OFFLOAD_JOINS, "offload_joins", "trees", "offload", PSI_SUM, "trees of devices joined") \
	X(OFFLOAD_JOINS_REFUSED, "offload_joins_refused", "trees", "offload", PSI_SUM,            \
	  "... that could not be joined")                                                        \
	X(OFFLOAD_EVICTIONS, "offload_evictions", "trees", "offload", PSI_SUM,                    \
	  "... left for other teams")                                                            \
	X(OFFLOAD_FAILURES, "offload_failures", "failures", "offload", PSI_SUM,                   \
	  "failures of devices")                                                                 \
	X(OFFLOAD_MISBEHAVED, "offload_misbehaved", "breaches", "offload", PSI_SUM,               \
	  "breaches of their contracts by providers")

enum psi_counter {
#define PSI_COUNTER_ENUM(id, name, unit, group, sum, help) PSI_COUNT_##id,
	PSI_COUNTER_LIST(PSI_COUNTER_ENUM)
#undef PSI_COUNTER_ENUM
	PSI_COUNTERS
};

/* The counter of a kind of message; `first' is the first one of SENT or of RECEIVED. */
static inline enum psi_counter
psi_count_of_kind(enum psi_counter first, unsigned network, unsigned category)
{
	enum { CATEGORIES = 3 };

	return (enum psi_counter)((unsigned)first + network * CATEGORIES + category);
}

/* The values of several owners become one. */
uint64_t psi_counter_join(enum psi_counter which, uint64_t a, uint64_t b);

/* Adds to a count of the caller's own; readers see whole numbers. */
static inline void
psi_count_add(uint64_t *counts, enum psi_counter which, uint64_t amount)
{
	uint64_t value = __atomic_load_n(&counts[which], __ATOMIC_RELAXED);

	__atomic_store_n(&counts[which], value + amount, __ATOMIC_RELAXED);
}

/* Takes back what was counted of an IMMEDIATE call before it turned out to be refused. */
static inline void
psi_count_back(uint64_t *counts, enum psi_counter which, uint64_t amount)
{
	psi_count_add(counts, which, 0 - amount);
}

static inline void
psi_count(uint64_t *counts, enum psi_counter which)
{
	psi_count_add(counts, which, 1);
}

#endif
