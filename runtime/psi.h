/*
 * The runtime's own view of a process: the job, its client, endpoint, segment and team, and what the
 * calling thread keeps.  Included by runtime and extended-ref; conduits see runtime/conduit.h alone.
 */
#ifndef PSI_H
#define PSI_H

#define PSI_BUILDING_LIBRARY 1

#include "gasnet.h"

#include "bootstrap/bootstrap.h"
#include "runtime/conduit.h"
#include "runtime/shared.h"
#include "runtime/team.h"
#include "runtime/util/log.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

enum { PSI_HANDLERS = 256 };

/* Indices below GEX_AM_INDEX_BASE that the library uses itself. */
enum psi_internal_handler {
	PSI_HANDLER_BARRIER = 1,
	PSI_HANDLER_GATHER,
	PSI_HANDLER_ATOMIC,
	PSI_HANDLER_ATOMIC_DONE,
	PSI_HANDLER_PART_DONE,  /* of an operation (op.h): its two words; what replies that need no more use */
	PSI_HANDLER_PUT,
	PSI_HANDLER_GET,
	PSI_HANDLER_GOT,
	PSI_HANDLER_FILL,
	PSI_HANDLER_COLL_NOTE,
	PSI_HANDLER_COLL_DATA,
	PSI_HANDLER_VIS_PUT,
	PSI_HANDLER_VIS_GET,
	PSI_HANDLER_VIS_GOT,
	PSI_HANDLER_LONG_HEAD,
	PSI_HANDLER_LONG_PIECE,
	PSI_HANDLER_SIGNAL,
	PSI_HANDLER_PUT_SIGNAL,
};

struct gex_Client_s {
	char *name;
	gex_Flags_t flags;
	void *cdata;
};

struct gex_Segment_s {
	gex_Client_t client;
	void *base;
	uintptr_t size;
	void *cdata;
	gex_Flags_t flags;
	bool attached;          /* by gex_Segment_Attach; lives as long as the job */
	bool destroyed;         /* seen only where psi.checks is set */
	gex_Segment_t destroyed_before; /* with checks */
	bool library_memory;    /* a range of this rank's file, else the client's memory */
	uint64_t key;           /* of its range */
};

/* What may be sent to a handler stands beside its address, so that delivery asks one question. */
struct psi_handler {
	gex_AM_Fn_t fn;         /* NULL: not registered */
	uint8_t shapes;         /* bit psi_shape_of() of what it takes; 0: not registered */
	uint8_t nargs;
	uint8_t nargs_mask;     /* 0: any number */
	gex_AM_Entry_t entry;   /* as registered; all zero for internal and legacy ones */
};

struct gex_EP_s {
	gex_Client_t client;
	gex_Segment_t segment;
	void *cdata;
	gex_Flags_t flags;
	gex_EP_Index_t index;
	bool serial;            /* one thread at a time, by promise */
	_Atomic(struct psi_thread *) user;      /* with checks, if serial: who is at it; NULL: nobody */
	_Atomic uint32_t threads;       /* bound to it (serve.c) */
	uint32_t place;
	const struct psi_conduit_ops *ops;
	struct psi_port *port;
	struct psi_handler handlers[PSI_HANDLERS];
};

/* Constant after init, except where said otherwise. */
struct psi_job {
	struct pboot_job boot;
	const char *host;
	pid_t pid;                      /* a child that the client forks is no rank */
	uint32_t thread_mode;           /* PSI_MODE_ */
	uint32_t layout;                /* PSI_INLINE_ABI of the program */
	bool threaded;                  /* PAR */
	bool crowded;                   /* more ranks than CPUs here */
	uint32_t ranks_per_cpu;         /* rounded up; at least 2, for threads may crowd too */
	_Atomic bool threads_crowd;     /* ... or more threads that call; kept by thread.c */
	uint32_t cpus;                  /* that this process may use */
	bool open;                      /* init has finished */
	bool checks;                    /* all rules are looked at (rules.h) */
	bool attach_first;              /* after gasnet_init, until something is attached */
	uint32_t places;                /* first endpoints that messages may name; 0 before init */
	_Atomic bool several;           /* this process has more endpoints than the first */
	bool legacy;                    /* the gasnet_ API is on */
	gex_Client_t client;
	gex_EP_t ep;
	gex_TM_t tm;
	const struct psi_conduit_ops *ops;
	struct psi_conduit *conduit;
	struct psi_attributes attributes;
	struct psi_conduit_job conduit_job;
	struct psi_host_shared *shared;
	struct psi_block *blocks;       /* of this process; before init, one */
	struct psi_block *block;        /* the process's; NULL in PAR, where threads have their own */
	struct psi_board_entry *known;  /* [places]: what was on the board at the last exchange */
	struct pst_peer *peers;         /* [places]; changed by attach and publish */
	struct pst_sem_peer *sems;      /* [places]; lines come with a first post (sem_table.c) */
	bool posts_fence;               /* between a signal and the look at a peer's sleep word */
	uintptr_t max_segment, max_segment_global;
	const char *max_segment_bound;  /* what keeps max_segment from being more, in words */
	uint64_t max_sleep_ns;          /* 0: no bound */
	uint64_t hang_report_ns;        /* 0: never */
	_Atomic int wait_mode;
	_Atomic int verbose_errors;
};

extern struct psi_job psi;

/* A line about this rank, its backtrace if asked for, and abort: errors that no caller can handle. */
void psi_fatal(const char *format, ...) PSI_PRINTF(1, 2) __attribute__((noreturn));

/* Returns code, after one line unless the client turned such lines off. */
int psi_refuse(int code, const char *call, const char *why);

/* A call was made that needs init, with its name. */
void psi_need_init(const char *call);
/* An object that a call was given is the constant which names none. */
void psi_invalid(const char *call, const char *constant) __attribute__((noreturn, cold));
/* Is this a child that the client forked? */
bool psi_is_forked_child(void);

/* Where a message or transfer by (tm, rank) goes; ends the job if it names nothing. */
static inline struct psi_target
psi_target_of(gex_TM_t tm, gex_Rank_t rank, const char *call)
{
	if (PSI_LIKELY(!psi_tm_is_pair(tm) && tm && rank < tm->size))
		return (struct psi_target){ tm->ep, tm->places ? tm->places[rank] : rank };
	if (PSI_LIKELY(tm == PSI_TM_LEGACY && rank < psi.places))
		return (struct psi_target){ psi.ep, rank };
	return psi_target_far(tm, rank, call);
}

/* -- counts (block.c, counters.c) ------------------------------------------------------------- */

/* Where the calling thread counts in PAR, also in the inline transfers; NULL until psi_block_take. */
PSI_API __thread uint64_t *psi_counts_self __attribute__((tls_model("initial-exec")));

/* Memory that all map has come: what was counted before is kept. */
void psi_blocks_open(struct psi_rank_shared *mine);
/* Gives the calling thread a block, in PAR; it goes back when the thread ends. */
void psi_block_take(void);
/* Adds what threads count that others do not see, since there are more of them than blocks. */
void psi_blocks_join_private(uint64_t *counts);
/* The process ends: others see that too. */
void psi_blocks_close(void);

/* The calling thread's block. */
static inline struct psi_block *
psi_block(void)
{
	if (PSI_LIKELY(psi.block != NULL))
		return psi.block;
	if (PSI_UNLIKELY(!psi_counts_self))
		psi_block_take();
	return (struct psi_block *)(void *)psi_counts_self;
}

/* -- waiting (wait.c) ------------------------------------------------------------------------ */

/* In place of an endpoint: what a wait is for arrives at several of the process's. */
#define PSI_EP_SEVERAL ((gex_EP_t)(uintptr_t)8)

/* Signals that a wait lacks, told to who posts them: for less it is not woken. */
struct psi_lack {
	/* asleep: before the sleep is announced; not: when it is over, or does not come. */
	void (*tell)(struct psi_lack *lack, bool asleep);
	bool found;                     /* what was told is there, and other lacks: announce anew */
};

/* What a wait of the library's is for, for hang reports; read while the wait lasts. */
struct psi_reason {
	enum psi_wait_kind kind;
	uint8_t category, network;      /* of the message */
	uint32_t peer;
	uint64_t number;                /* of the phase; for posts, see enum psi_wait_kind */
	gex_EP_t ep;                    /* where it arrives; NULL: at the thread's own; or _SEVERAL */
	uint64_t most_ns;               /* a sleep is no longer; 0: any */
	uint64_t until_ns;              /* nor does it last beyond this moment; 0: any */
	struct psi_lack *lack;          /* NULL: whatever signal comes wakes */
};

#define PSI_WAIT_FOR(what, why) { .where = (what), .reason = (why) }
/* A wait for what all ranks take part in: where they share CPUs it yields rather than sleeps. */
#define PSI_WAIT_FOR_ALL(what, why) \
	{ .where = (what), .turns = PSI_WAIT_PATIENT, .reason = (why) }

/* A wait's `turns': is it patient, does its team know of it (rules.h), and the polls that found messages
 * while it lasts. */
enum { PSI_WAIT_PATIENT = 1, PSI_WAIT_BY_TEAM = 2, PSI_WAIT_TURN = 4 };

/* In a wait's `first': it slept, and nobody has looked at the clock. */
enum { PSI_SLEPT_ONCE = 1 };

/* hang.c.  The wait has slept, has spun for a while, or has found messages many times: how long is it by
 * now?  bound_ns is the longest time that may have passed since the last look, nothing having arrived,
 * without the process having been stopped. */
void psi_hang_look(struct psi_wait *wait, uint64_t bound_ns);
/* The end of a wait that was looked at. */
void psi_hang_over(struct psi_wait *wait);

/* Polls both networks and runs what progress functions are due; returns messages delivered. */
unsigned psi_poll(void);

/* One step of a wait for room at a peer.  While a request waits, requests and replies are served;
 * while a reply waits, replies alone. */
void psi_wait_for_room(struct psi_wait *wait, unsigned network, uint32_t peer);

/* Progress that needs calls from outside handlers.  The function returns at once if there is nothing
 * to do, and may be called by several threads at a time in PAR.  One that was refused room asks the
 * conduit for it (want), so that sleepers hear of it.  Registered before init ends. */
void psi_progress_add(void (*advance)(void));

/* Something begins that needs these functions, or has ended: polls call them only between the two.  The
 * first stands before what they find is there, the second behind its removal; each beginner has an end. */
extern _Atomic uint32_t psi_progress_open;

static inline void
psi_progress_count(uint32_t more)
{
	if (psi.threaded)
		atomic_fetch_add_explicit(&psi_progress_open, more, memory_order_relaxed);
	else
		atomic_store_explicit(&psi_progress_open,
		                      atomic_load_explicit(&psi_progress_open, memory_order_relaxed) + more,
		                      memory_order_relaxed);
}

static inline void psi_progress_begins(void) { psi_progress_count(1); }
static inline void psi_progress_ends(void) { psi_progress_count((uint32_t)-1); }

/* Threads of this process that sleep look again. */
void psi_wake_own(void);

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
void *psi_host_memory(size_t len_bytes);
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

/* "rank 3", or "endpoint 2 of rank 3". */
enum { PSI_PLACE_TEXT = 48 };
void psi_place_text(uint32_t place, char text[PSI_PLACE_TEXT]);

/* Above the highest index that this process has, or had. */
unsigned psi_ep_count(void);
/* The same of any process of this host. */
unsigned psi_ep_count_of(gex_Rank_t jobrank);
/* What gex_EP_Create does, of any index from `first' on; NULL if there is no room. */
gex_EP_t psi_ep_make(unsigned first, gex_Flags_t flags, bool serial);
/* Its end; no thread is bound to it, and nothing in flight. */
void psi_ep_unmake(gex_EP_t ep);

/* -- active messages (am_*.c) ---------------------------------------------------------------- */

struct gex_Token_s {
	gex_EP_t ep;
	const struct psi_arrival *arrival;
	bool replied;
};

void psi_deliver(void *owner, const struct psi_arrival *arrival);
/* The message whose handler runs was counted as the client's when it came, and is the library's own. */
void psi_count_internal(gex_Token_t token);

static inline unsigned
psi_shape_of(unsigned network, unsigned category)
{
	return network * 3 + category;
}

/* Handlers of gasnet_attach say nothing of arguments. */
void psi_handler_take_any_count(gex_EP_t ep, gex_AM_Index_t index);
void psi_handler_set_internal(gex_EP_t ep, enum psi_internal_handler index, gex_AM_Fn_t fn);

/* Sends or, for this endpoint itself, delivers; PSI_OK or PSI_AGAIN, never waits. */
int psi_am_try(gex_EP_t ep, const struct psi_am *am);
/* The same, waiting for room unless flags say IMMEDIATE: GASNET_OK or GASNET_ERR_NOT_READY.  The caller
 * has counted the message, which a refusal takes back. */
int psi_am_inject(gex_EP_t ep, const struct psi_am *am, gex_Flags_t flags);

/* Counts a message as sent; times -1 takes that back, for one that was refused. */
static inline void
psi_am_count_sent(unsigned network, unsigned category, size_t len_bytes, int64_t times)
{
	uint64_t *counts = psi_block()->count;

	psi_count_add(counts, psi_count_of_kind(PSI_COUNT_SENT, network, category),
	              (uint64_t)times);
	if (category != PSI_SHORT)
		psi_count_add(counts, PSI_COUNT_SENT_BYTES, (uint64_t)times * len_bytes);
}

/* The conduit gave up; ends the job. */
void psi_am_failed(uint32_t place) __attribute__((noreturn, cold));

/* A counted message was refused by IMMEDIATE. */
void psi_am_count_refused(const struct psi_am *am);

/* Checks that hold for requests and replies of any payload; end the job with one line. */
void psi_am_check_lc(gex_Event_t *lc_opt, bool is_reply, const char *call);
/* Whom to reply to: one reply, by a request handler, to its own token. */
uint32_t psi_am_requester(gex_Token_t token, const char *call);
/* The address here of a Long's destination, or NULL if there is none or no payload. */
void *psi_am_long_target(uint32_t place, void *dest, size_t nbytes, const char *call);
/* As psi_am_inject, for a Long: where its destination is not mapped here, the payload goes its own way. */
int psi_am_inject_long(gex_EP_t ep, struct psi_am *am, gex_Flags_t flags);

/* Local completion is at injection, always. */
static inline void
psi_am_completed(gex_Event_t *lc_opt)
{
	if (lc_opt != GEX_EVENT_NOW && lc_opt != GEX_EVENT_GROUP)
		*lc_opt = GEX_EVENT_INVALID;
}

/* -- the job's places (queries.c) ------------------------------------------------------------- */

/* Fills what the queries answer; after boot and settings. */
void psi_places_open(void);
bool psi_in_my_nbrhd(uint32_t rank);

/* -- the parts of init and exit --------------------------------------------------------------- */

/* Chooses, opens and connects the conduit and the endpoint's port; ends the job on failure. */
void psi_conduit_open(gex_EP_t ep);
/* A conduit of this build, or NULL. */
const struct psi_conduit_ops *psi_conduit_named(const char *name);
/* As the conduit's queue_bytes; 0 if none has that name.  Needs no job. */
size_t psi_conduit_queue_bytes(const char *name, uint32_t endpoints);
/* The barriers of the reference; defined in extended-ref. */
void psi_reference_open(void);
/* The next phase of the unnamed barrier of the primordial team. */
gex_Event_t psi_barrier_start(void);
/* The next barrier of a team whose group has a hall; and the member's end, when all are over: ends the job
 * if another has entered one more. */
gex_Event_t psi_team_barrier_start(gex_TM_t tm);
void psi_team_barrier_close(gex_TM_t tm, const char *call);
/* The engine of coll/, and its handlers, of each endpoint that takes messages. */
void psi_collectives_open(void);
void psi_collectives_register(gex_EP_t ep);
/* The member ends, and has ended all its calls; ends the job if another member is in one more. */
void psi_collectives_close(gex_TM_t tm, const char *call);
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

struct gex_AM_SrcDesc_s {
	bool open, own_buffer, is_long, is_reply, claimed;
	uint8_t nargs;
	gex_EP_t ep;
	gex_Token_t token;              /* replies */
	uint32_t place;
	void *buffer;
	size_t size;
	void *dest;                     /* Long: the hint, or NULL */
	gex_Event_t *lc_opt;
	struct psi_claim claim;
};

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
