/*
 * Waits for what peers change without a message: counts of semaphores, and words.  Polls in
 * between, and looks several times for each poll, since a look costs a hundredth of one.
 */
#ifndef PSI_AWAIT_H
#define PSI_AWAIT_H

#include "runtime/process/process.h"
#include "runtime/process/thread.h"
#include "runtime/wait/waiting.h"

#include "penstock_sem.h"

#include "runtime/wait/pollset.h"

#include "runtime/util/clock.h"

enum { PSI_LOOKS_PER_POLL = 8 };

typedef bool psi_look_fn(void *what);

static inline __attribute__((always_inline)) bool
psi_look_often(psi_look_fn *look, void *what)
{
	for (unsigned i = psi_is_crowded() ? 1 : PSI_LOOKS_PER_POLL; i; i--)
		if (look(what))
			return true;
	return false;
}

/* One poll, of the thread's endpoints and of the one that the wait is for. */
static inline void
psi_poll_for(const struct psi_wait *wait)
{
	enum { BUDGET = 64 };

	psi_poll();
	if (atomic_load_explicit(&psi.several, memory_order_relaxed))
		psi_pollset_poll_for(wait, PSI_BOTH_NETWORKS, BUDGET);
}

/* The moment a time-out is over; 0: never. */
static inline uint64_t
psi_until_ns(uint64_t timeout_ns)
{
	const uint64_t now = timeout_ns == PST_FOREVER ? 0 : psi_now_ns();

	return timeout_ns > UINT64_MAX - now || !now ? 0 : now + timeout_ns;
}

/* True when look(what) is, false when time is up; 0 polls once.  *reason says what it is for. */
static inline __attribute__((always_inline)) bool
psi_signal_wait(psi_look_fn *look, void *what, uint64_t timeout_ns, struct psi_reason *reason,
          const char *call)
{
	struct psi_wait wait = PSI_WAIT_FOR(call, reason);
	bool seen;

	if (!timeout_ns) {
		psi_poll_for(&wait);
		return look(what);
	}
	reason->until_ns = psi_until_ns(timeout_ns);
	do {
		psi_wait_step(&wait);
		seen = psi_look_often(look, what);
	} while (!seen && (!reason->until_ns || psi_now_ns() < reason->until_ns));
	psi_wait_end(&wait);
	return seen;
}

/*
 * Several at once.  Entries whose done[i] is not 0 are skipped; the rest as the public calls say.
 * take(many, i) takes entry i if it can be taken.
 */
struct psi_many {
	struct psi_wait_threshold lack;
	const char *call;
	bool (*take)(const struct psi_many *many, size_t i);
	/* Where posters are told what is lacking, else NULL: may entry i be taken; tell them of
	 * it. */
	bool (*has)(const struct psi_many *many, size_t i);
	void (*tell)(const struct psi_many *many, size_t i, bool asleep);
	size_t count;
	int *done;
	size_t most;            /* that are to be taken by one call */
	size_t *indices_out;    /* of those that were, or NULL */
	size_t taken;           /* by this call */
	bool all;               /* wants all of them, so it is enough to tell of one that is
	                         * lacking */
	size_t told_first, told_end;    /* entries that were told, but those which are done */
	enum psi_wait_kind kind;
	gex_EP_t ep;            /* that is polled */
	uint64_t most_ns;       /* of a sleep */
	/* The caller's. */
	const void *items;
	const void *values;
	int cmp;
};

/* Is there anything to wait for? */
bool psi_many_left(const struct psi_many *many);
/* Takes at least one entry, at most `most'; false when time is up. */
bool psi_many_wait(struct psi_many *many, uint64_t timeout_ns);
/* Takes them all. */
bool psi_many_wait_all(struct psi_many *many, uint64_t timeout_ns);

#endif
