/*
 * What the threads of a storm do: send, answer, wait.  The state of a storm, and the calls of its
 * threads.
 */
#ifndef PT_SYSVNET_TRAFFIC_H
#define PT_SYSVNET_TRAFFIC_H

#include <pthread.h>

#include "tests/stress/sysvnet_storm.h"
#include "tests/unit/sysvnet_rig.h"

enum {
	MAX_THREADS = 8,
	LONG_BYTES = 24 * 1024,         /* of each thread's block at each rank */
};

struct flag {
	_Atomic uint32_t set;
};

struct worker {
	struct storm *storm;
	struct rig_rank *rank;
	uint32_t index;                 /* among the threads of its rank */
	uint32_t random;
	uint32_t *next_out;             /* [ranks]: number of the next request to each */
	bool *long_busy;                /* [ranks]: a Long of this thread is not yet answered */
	struct flag *long_done;         /* [ranks]: answered; set by whichever thread got the
	                                 * reply */
	_Atomic uint32_t waiting_for;   /* replies that have not come */
	pthread_t thread;
};

/* One rank. */
struct node {
	struct storm *storm;
	struct rig_rank *rank;
	struct worker worker[MAX_THREADS];
	uint32_t *next_in;              /* [ranks]: number expected from each, where order holds */
	unsigned char *segment;         /* [ranks][threads][LONG_BYTES]: where Longs land */
};

struct storm {
	const struct storm_plan *plan;
	struct rig *rig;
	struct node *node;
	_Atomic bool stop;              /* send no more */
	_Atomic uint32_t senders;       /* threads that still send or wait for replies */
	_Atomic uint64_t sent, handled, replies;
	_Atomic uint32_t running;       /* threads that have not ended */
	_Atomic bool failed;
};

/* The worker that the calling thread is, or NULL. */
extern _Thread_local struct worker *self;

static inline void
count(_Atomic uint64_t *counter)
{
	atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

static inline uint64_t
look(const _Atomic uint64_t *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

/* Says what was wrong, the first time; the storm goes on. */
void fail(struct storm *storm, const char *what, uint32_t a, uint32_t b);

uint32_t random_below(uint32_t bound);
void maybe_delay(void);

typedef bool condition(struct worker *worker, uint32_t argument);

/* Polls, and sometimes soon, sometimes late, sleeps until the condition holds. */
void wait_until(unsigned networks, uint32_t room_peer, condition *holds, uint32_t argument);
bool few_replies_missing(struct worker *worker, uint32_t most);

/* After news that threads of any rank may wait for. */
void tell_all_ranks(struct storm *storm);

void send_request(uint32_t peer);

/* The handler of all messages. */
void on_message(struct rig_rank *rank, const struct psi_arrival *got);

#endif
