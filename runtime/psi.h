/*
 * The runtime's own view of a process: the job, messages, waiting, and the rest.  Included by runtime,
 * extended-ref and coll; conduits see runtime/conduit/conduit.h alone.
 */
#ifndef PSI_H
#define PSI_H

#include "runtime/am/am.h"
#include "runtime/process/job.h"
#include "runtime/team/team.h"
#include "runtime/wait/waiting.h"

/* -- events (event.c) ------------------------------------------------------------------------ */

struct gex_Event_s {
	/* Has it happened?  No polling.  Called with the owner's two words.  NULL: no event. */
	bool (*done)(const void *object, uint64_t number);
	const void *object;
	uint64_t number;
	enum psi_wait_kind kind;        /* what a wait for it is for */
	gex_EP_t ep;                    /* where that arrives; NULL: at the thread's own; or _SEVERAL */
	bool leaf;                      /* of an operation (op.h); syncing it ends nothing */
	bool found;                     /* done, in the array that is being looked at */
};

/* A root event that is done when done(object, number) says so; any thread.  For what is no operation
 * of parts (op.h). */
gex_Event_t psi_event_new(bool (*done)(const void *, uint64_t), const void *object,
                          uint64_t number, enum psi_wait_kind kind, gex_EP_t ep);

/* -- segments (segment.c, board.c, shmem.c) -------------------------------------------------- */

/* Memory that all processes of the host share; the same calls in the same order on all.  Ends the job
 * where there is none. */
void *psi_host_memory(size_t most_bytes, size_t least_bytes, size_t *len_out);
/* The ranges so made, in order: where it is mapped, or NULL past the last. */
void *psi_host_memory_made(unsigned number, uint64_t *key_out, size_t *len_out);

/* An endpoint that is about to end: its segment is no longer known nor mapped here. */
void psi_segment_forget(uint32_t place);

/* Is the address in a segment of this process or in a mapping of a peer's?  Signal safe. */
bool psi_segment_covers(const void *addr);

/* As the service of that name in conduit.h. */
void *psi_endpoint_memory(uint32_t place, size_t len_bytes);

/* -- endpoints (endpoint.c) ------------------------------------------------------------------- */

/* Endpoint i of process r has place i * size + r. */
static inline gex_Rank_t
psi_jobrank_of(uint32_t place)
{
	return PSI_LIKELY(place < psi.boot.size) ? place : place % psi.boot.size;
}

static inline gex_EP_Index_t
psi_index_of(uint32_t place)
{
	return (gex_EP_Index_t)(PSI_LIKELY(place < psi.boot.size) ? 0 : place / psi.boot.size);
}

/* This process's endpoint at a place, or NULL. */
static inline gex_EP_t
psi_ep_at(uint32_t place)
{
	return psi_jobrank_of(place) == psi.boot.rank ? psi_ep_of(psi_index_of(place)) : NULL;
}

/* For who makes endpoints, one at a time: kept for the next of its index; one that psi_ep_of finds, and no
 * longer. */
void psi_ep_keep(gex_EP_t ep);
void psi_ep_announce(gex_EP_t ep);
void psi_ep_withdraw(gex_EP_t ep);

/* "rank 3", or "endpoint 2 of rank 3". */
enum { PSI_PLACE_TEXT = 48 };
void psi_place_text(uint32_t place, char text[PSI_PLACE_TEXT]);

/* Above the highest index that this process has, or had. */
unsigned psi_ep_count(void);
/* The same of any process of this host. */
unsigned psi_ep_count_of(gex_Rank_t jobrank);
/* What gex_EP_Create does, of any index from `first' on; NULL if there is no room.  held: a thread that will
 * come alone serves it (serve.h). */
gex_EP_t psi_ep_make(unsigned first, gex_Flags_t flags, bool serial, bool held);
/* Its end; no thread is bound to it, and nothing in flight. */
void psi_ep_unmake(gex_EP_t ep);

/* -- the job's places (queries.c) ------------------------------------------------------------- */

/* Fills what the queries answer; after boot and settings. */
void psi_places_open(void);
bool psi_in_my_nbrhd(uint32_t rank);

/* -- the parts of init and exit --------------------------------------------------------------- */

/* Chooses, opens and connects the conduit and the endpoint's port; ends the job on failure. */
void psi_conduit_open(gex_EP_t ep);
/* From now on exit() and return from main end the job. */
void psi_exit_open(void);
/* Ends this rank as the others ask, in a handler; what it has printed goes out. */
void psi_exit_told(int status) __attribute__((noreturn));
/* PST_CHECK, or what the library was built for. */
bool psi_rules_wanted(void);
/* The table of the inline transfers becomes visible. */
void psi_inline_open(void);
void psi_inline_close(void);

/* The hooks of report.c, for the keeper that this process may become. */
void psi_reports_open(void);
/* The same report, printed by the rank of a job that has no keeper. */
void psi_report_alone(uint64_t waited_ns, bool quiet);
/* The end of such a job: its counters, if somebody asked for them. */
void psi_report_alone_ended(void);

/* -- threads (thread.c) ---------------------------------------------------------------------- */

/* A thread's operations (op.c). */
struct psi_op_pool {
	struct psi_op *first, *last;    /* to be used again */
	unsigned spare;
	struct psi_op *set;             /* its implicit ones; made when first needed */
	struct psi_op *region;          /* open, or NULL */
};

/* A wait that is about to sleep where the process has several endpoints (serve.c). */
struct psi_armed {
	const struct psi_wait *wait;
	gex_EP_t on;                            /* whose word it sleeps on */
	uint64_t watched[(GASNET_MAXEPS + 63) / 64];    /* by index; those that ring the first one too */
};

/* Waits of a thread, one inside the other; those beyond do not sleep. */
enum { PSI_ARMED_WAITS = 4 };

/* What the calling thread keeps between calls. */
struct psi_thread {
	struct psi_op_pool ops;
	struct gex_AM_SrcDesc_s descriptors[PSI_NETWORKS];
	void *buffers[PSI_NETWORKS];            /* for Longs with a library buffer, and messages to self */
	size_t buffer_bytes[PSI_NETWORKS];
	void *signal_stack;                     /* psi_signals_stack_open */
	unsigned empty_polls;
	gex_EP_t bound;                         /* the endpoint that it polls (serve.c) */
	unsigned polls;                         /* of it, where there are several */
	struct psi_armed armed[PSI_ARMED_WAITS];
};

struct psi_thread *psi_thread_self(void);

/* 16-aligned memory of this thread, at least len_bytes, contents lost when it grows. */
void *psi_thread_buffer(unsigned network, size_t len_bytes);

/* The calling thread will wait for others of this process (1), or has done so (-1): it does not count
 * among those that may crowd the CPUs. */
void psi_thread_park(int by);

/* In PAR, before any thread is counted. */
void psi_threads_open(void);

/* Are there more ranks, or threads of ranks like this one, than CPUs? */
static inline bool
psi_is_crowded(void)
{
	return psi.crowded || atomic_load_explicit(&psi.threads_crowd, memory_order_relaxed);
}

/* May other threads of this process sleep?  Ordered behind what the caller wrote, as far as those
 * threads are concerned that are not counted by now. */
bool psi_thread_others(void);

#endif
