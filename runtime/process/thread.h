/* What the calling thread keeps between calls. */
#ifndef PSI_THREAD_H
#define PSI_THREAD_H

#include "runtime/process/process.h"

/* A thread's operations (op.c). */
struct psi_op_pool {
	struct psi_op *first, *last;    /* to be used again */
	unsigned spare;
	struct psi_op *set;             /* its implicit ones; made when first needed */
	struct psi_op *region;          /* open, or NULL */
};

/* A wait's `turns': is it patient, does its team know of it (rules.h), does it look once before it
 * first yields where more than two ranks share a CPU, and the polls that found messages while it
 * lasts. */
enum { PSI_WAIT_PATIENT = 1, PSI_WAIT_BY_TEAM = 2, PSI_WAIT_LOOKS_ONCE = 4, PSI_WAIT_TURN = 8 };

/* A wait that is about to sleep where the process has several endpoints (pollset.c). */
struct psi_armed {
	const struct psi_wait *wait;
	gex_EP_t on;                            /* whose word it sleeps on */
	uint64_t watched[(GASNET_MAXEPS + 63) / 64];    /* further endpoints, by index, whose
	                                                 * senders wake the first one too */
};

/* The number of nested waits of a thread that may sleep; a deeper one only polls. */
enum { PSI_ARMED_WAITS = 4 };

/* What the calling thread keeps between calls. */
struct psi_thread {
	struct psi_op_pool ops;
	struct gex_AM_SrcDesc_s descriptors[PSI_NETWORKS];
	void *buffers[PSI_NETWORKS];            /* for Longs with a library buffer, and messages to
	                                         * self */
	size_t buffer_bytes[PSI_NETWORKS];
	unsigned empty_polls;
	unsigned yields;                        /* while ranks share CPUs */
	uint32_t counted_cpu;                   /* at which it was counted last, and when */
	uint64_t counted_epoch;                 /* (runtime/wait/spread.h) */
	uint64_t moved_epoch, rest_epochs;      /* when it moved last, and when it may again */
	bool is_dealt;                          /* it has a CPU of its number, and is not spread */
	struct {
		uint32_t epoch, cpu_and_1, asked;       /* when, where and at which request it took
		                                         * its position last (wait/turns.c) */
		uint64_t sleeps;                        /* how often it had slept then */
	} position;
	gex_EP_t bound;                         /* the endpoint that it polls (pollset.c) */
	unsigned polls;                         /* of it, where there are several */
	struct psi_armed armed[PSI_ARMED_WAITS];
	void *signal_stack;                     /* psi_signals_stack_open */
};

struct psi_thread *psi_thread_self(void);
/* NULL if the thread has called nothing yet that needs one; allocates nothing, so that a signal's
 * handler may ask. */
struct psi_thread *psi_thread_known(void);

/* 16-aligned memory of this thread, at least len_bytes, contents lost when it grows. */
void *psi_thread_buffer(unsigned network, size_t len_bytes);

/* Says that the calling thread starts (1) or ends (-1) a wait for other threads of this process.
 * Meanwhile it does not count among the threads that may crowd the CPUs. */
void psi_thread_park(int by);

/* Notes how crowded the CPUs are, psi.sharers and psi.sharers_cpus being known. */
void psi_threads_note_crowd(void);

/* Called in PAR before any thread is counted. */
void psi_threads_open(void);

/* Are there more ranks, or threads of ranks like this one, than CPUs? */
static inline bool
psi_is_crowded(void)
{
	return psi.crowded || atomic_load_explicit(&psi.threads_crowd, memory_order_relaxed);
}

/* May other threads of this process sleep?  Towards threads that are not counted yet, the look is
 * ordered after what the caller wrote. */
bool psi_thread_others(void);

#endif
