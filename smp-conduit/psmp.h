/*
 * The smp conduit's own state: one conduit per process, one port per endpoint of it.
 */
#ifndef PSMP_H
#define PSMP_H

#include "runtime/conduit.h"
#include "smp-conduit/psmp_lane.h"
#include "smp-conduit/psmp_pool.h"

struct psi_conduit {
	const struct psi_services *services;
	struct psi_conduit_job job;
	struct psmp_layout layout;
	unsigned char *arena;
	struct psi_port *port;          /* of this process; DESIGN allows several, one exists */
	/* Senders fence between publishing and looking at `polled'.  Otherwise the receiver makes
	 * every sender fence when it needs that (membarrier). */
	bool senders_fence;
	const char *fence_reason;
};

struct psi_port {
	struct psi_conduit *conduit;
	void *owner;                            /* for deliver */
	uint32_t place;                         /* index on the host */
	struct psmp_shared *shared;
	struct psmp_out *out[PSI_NETWORKS];     /* [places] */
	struct psmp_in *in[PSI_NETWORKS];       /* [places] */
	/* Lanes looked at on every poll, by sender; under poll_lock in PAR. */
	uint32_t *active[PSI_NETWORKS];
	uint32_t active_count[PSI_NETWORKS];
	uint32_t cursor[PSI_NETWORKS];
	uint32_t idle_polls[PSI_NETWORKS];
	struct psi_spinlock poll_lock[PSI_NETWORKS];
	uint64_t *counts;                       /* the job's, or NULL */
};

static inline void
psmp_count(struct psi_port *port, enum psi_counter which)
{
	psi_count(port->counts ? port->counts : port->conduit->services->counts(), which);
}

static inline struct psmp_shared *
psmp_shared_of(const struct psi_conduit *conduit, uint32_t place)
{
	return (struct psmp_shared *)(conduit->arena + psmp_layout_region(&conduit->layout, place));
}

/* Start of the buffers of one network in the region of `place'. */
static inline unsigned char *
psmp_buffers_of(const struct psi_conduit *conduit, uint32_t place, unsigned network)
{
	return conduit->arena + psmp_layout_region(&conduit->layout, place) +
	       conduit->layout.buffers + network * PSMP_NETWORK_BUFFER_BYTES;
}

/* The sides of `place', by peer. */
static inline struct psmp_out *
psmp_outs_of(const unsigned char *arena, const struct psmp_layout *layout, uint32_t place,
             unsigned network)
{
	const unsigned char *at = arena + psmp_layout_region(layout, place) + layout->outs;

	return (struct psmp_out *)(uintptr_t)at + (size_t)network * layout->places;
}

static inline struct psmp_in *
psmp_ins_of(const unsigned char *arena, const struct psmp_layout *layout, uint32_t place,
            unsigned network)
{
	const unsigned char *at = arena + psmp_layout_region(layout, place) + layout->ins;

	return (struct psmp_in *)(uintptr_t)at + (size_t)network * layout->places;
}

static inline void
psmp_lock(const struct psi_port *port, struct psi_spinlock *lock)
{
	if (port->conduit->job.threaded)
		psi_spinlock_lock(lock);
}

static inline void
psmp_unlock(const struct psi_port *port, struct psi_spinlock *lock)
{
	if (port->conduit->job.threaded)
		psi_spinlock_unlock(lock);
}

/* psmp_am.c */
size_t psmp_am_max_medium(struct psi_port *port, uint32_t peer, unsigned network, unsigned nargs);
int psmp_am_send(struct psi_port *port, const struct psi_am *am);
int psmp_am_claim(struct psi_port *port, struct psi_claim *claim);
int psmp_am_publish(struct psi_port *port, const struct psi_claim *claim, const struct psi_am *am);
void psmp_am_cancel(struct psi_port *port, const struct psi_claim *claim);

/* psmp_progress.c */
unsigned psmp_poll(struct psi_port *port, unsigned networks, unsigned budget);

/* psmp_sleep.c */
void psmp_announce(struct psi_port *port, uint32_t receiver, unsigned network);
void psmp_room_made(struct psi_port *port, struct psmp_shared *receiver);
void psmp_unpoll_quiet(struct psi_port *port, unsigned network);
int psmp_arm(struct psi_port *port, unsigned networks, uint32_t want_peer, uint32_t *ticket_out);
void psmp_sleep(struct psi_port *port, uint32_t ticket, uint64_t timeout_ns);
void psmp_disarm(struct psi_port *port);
void psmp_ring(struct psi_port *port);
void psmp_want(struct psi_port *port, uint32_t peer);

/* psmp_fence.c */
bool psmp_fence_register(const struct psi_services *services);
void psmp_fence_settle(void);   /* by two processes at least, when all have registered */
void psmp_fence_others(void);

/* psmp_view.c */
bool psmp_queue(const void *memory, size_t len_bytes, unsigned network, uint32_t sender,
                uint32_t receiver, struct psi_queue_state *state_out);

extern const struct psi_conduit_ops psmp_ops;

#endif
