/* Waiting, for code that waits, makes progress or wakes (wait.c, hang.c). */
#ifndef PSI_WAITING_H
#define PSI_WAITING_H

#include "runtime/process/process.h"
#include "runtime/process/thread.h"

/* Stands in place of an endpoint for a wait whose messages arrive at several endpoints of the
 * process. */
#define PSI_EP_SEVERAL ((gex_EP_t)(uintptr_t)8)

/* The threshold of a wait for signals.  It is told to posters, which do not wake the thread for
 * less. */
struct psi_wait_threshold {
	/* Called with `asleep' before the sleep is announced, and without when the sleep is over or
	 * does not take place. */
	void (*tell)(struct psi_wait_threshold *lack, bool asleep);
	bool found;                     /* one that was told was reached, and another is not: the
	                                 * thread does not sleep, and announces again */
};

/* The reason of a wait in the library, for hang reports.  It is read while the wait lasts; its
 * number may change between two steps. */
struct psi_reason {
	enum psi_wait_kind kind;
	uint8_t category, network;      /* of the message; category of a named barrier: 1 if this
	                                 * rank gave no name */
	uint32_t peer;
	uint64_t number;                /* of the phase; for posts, see enum psi_wait_kind */
	/* Writes what is waited for, for a report, or "" if kind and number say it; of a barrier of
	 * the job, by which call.  NULL: they say it. */
	void (*describe)(const void *object, uint64_t number, char text_out[PSI_WHERE_BYTES]);
	const void *object;
	gex_EP_t ep;                    /* where it arrives; NULL: at the thread's own; or
	                                 * _SEVERAL */
	uint64_t most_ns;               /* a sleep is no longer; 0: any */
	uint64_t until_ns;              /* nor does it last beyond this moment; 0: any */
	struct psi_wait_threshold *lack;          /* NULL: whatever signal comes wakes */
};

#define PSI_WAIT_FOR(what, why) { .where = (what), .reason = (why) }
/* A wait for an operation of all ranks.  If ranks share CPUs it yields rather than sleeps. */
#define PSI_WAIT_FOR_ALL(what, why) \
	{ .where = (what), .turns = PSI_WAIT_PATIENT | PSI_WAIT_LOOKS_ONCE, .reason = (why) }

/* A value of `first' in a wait: it slept, and the clock has not been read since. */
enum { PSI_SLEPT_ONCE = 1 };

/* hang.c.  The wait has slept, has spun for a while, or has found messages many times: how long is
 * it by now?  limit_ns is the longest time that may have passed since the last look, nothing having
 * arrived, without the process having been stopped. */
void psi_hang_look(struct psi_wait *wait, uint64_t limit_ns);
/* The end of a wait that was looked at. */
void psi_hang_over(struct psi_wait *wait);

/* Prints the report of a job that has no keeper; NULL: no report.  psi_reports_open sets it. */
extern void (*psi_hang_tell_alone)(uint64_t waited_ns, bool quiet);

/* Polls both networks and runs what progress functions are due; returns messages delivered. */
unsigned psi_poll(void);

/* One step of a wait for room at a peer.  A request that waits polls both networks, a reply that
 * waits that of replies alone. */
void psi_wait_for_room(struct psi_wait *wait, unsigned network, uint32_t peer);

/* Progress that needs calls from outside handlers.  The function returns at once if there is
 * nothing to do, and may be called by several threads at a time in PAR.  One that was refused room
 * asks the conduit for it (psi_request_room), so that sleepers hear of it.  Registered before init
 * ends. */
void psi_progress_add(void (*advance)(void));

/* How many things are under way that need the progress functions; polls call these only if it is
 * not 0.  psi_progress_begins is called before the thing can be found, and psi_progress_ends after
 * it is removed; each begin has an end.  A thread may run a handler for which another thread's
 * operation waits, and still read 0 here.  That other thread runs the functions itself, also
 * between arm and sleep, and psi_deliver wakes it (D4) if it sleeps by then. */
extern _Atomic uint32_t psi_progress_open;

static inline void
psi_progress_count(uint32_t more)
{
	if (psi.threaded)
		atomic_fetch_add_explicit(&psi_progress_open, more, memory_order_relaxed);
	else
		atomic_store_explicit(
			&psi_progress_open,
			atomic_load_explicit(&psi_progress_open, memory_order_relaxed) + more,
			memory_order_relaxed);
}

static inline void psi_progress_begins(void) { psi_progress_count(1); }
static inline void psi_progress_ends(void) { psi_progress_count((uint32_t)-1); }

/* Threads of this process that sleep look again. */
void psi_wake_own(void);

#endif
