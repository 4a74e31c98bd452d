/*
 * The smp conduit's own state: one conduit per process, one port per endpoint of it.
 */
#ifndef PSMP_H
#define PSMP_H

#include "runtime/conduit/conduit.h"
#include "smp-conduit/sysvnet/sysvnet_lane.h"
#include "smp-conduit/sysvnet/sysvnet_pool.h"

#define PSMP_LIKELY(cond)   __builtin_expect(!!(cond), 1)
#define PSMP_UNLIKELY(cond) __builtin_expect(!!(cond), 0)

/* Endpoints of a process beyond the first; a header has 7 bits for which one sent it. */
enum { PSMP_MAX_INDEX = 127 };

/* Sending sides towards one of these, made by the first thread that needs it. */
struct psmp_further {
	struct psmp_out out[PSI_NETWORKS];
	uint32_t data_ends[];
};
typedef _Atomic(struct psmp_further *) psmp_further_ref;

struct psi_conduit {
	const struct psi_services *services;
	struct psi_conduit_job job;
	struct psmp_layout layout, layout_further;
	unsigned char *arena;
	struct psi_port *port;          /* of the first endpoint; its wake word is the process's too */
	_Atomic(struct psi_port *) ports[PSMP_MAX_INDEX + 1];   /* by index; NULL: not open */
	/* Senders fence between publishing and looking at `polled'.  Otherwise the receiver makes
	 * every sender fence when it needs that (membarrier). */
	bool senders_fence;
	const char *fence_reason;
};

struct psi_port {
	struct psi_conduit *conduit;
	void *owner;                            /* for deliver */
	uint32_t place;                         /* index on the host, of the process */
	uint32_t index;                         /* of the endpoint in its process */
	bool locked;                            /* several threads may poll it at a time */
	const struct psmp_layout *layout;       /* of its region */
	struct psmp_shared *shared;
	struct psmp_out *out[PSI_NETWORKS];     /* [places]: to first endpoints; the process's */
	/* To further endpoints, [PSMP_MAX_INDEX * places], by place.  For any thread: its own, or the
	 * process's; and for the one thread that uses it, by promise: its own, or the same. */
	psmp_further_ref *further, *alone;
	psmp_further_ref *own_further;          /* what it gives back */
	struct psmp_in *in[PSI_NETWORKS];       /* [layout.senders] */
	/* Lanes looked at on every poll, by sender; changed under poll_lock in PAR, and looked at without it
	 * by those who only want to know whether there is anything (see sysvnet_poll.c). */
	_Atomic uint32_t *active[PSI_NETWORKS];
	_Atomic uint32_t active_count[PSI_NETWORKS];
	uint32_t cursor[PSI_NETWORKS];
	uint32_t idle_polls[PSI_NETWORKS];
	struct psi_spinlock poll_lock[PSI_NETWORKS];
	bool polled[PSI_NETWORKS];              /* by the one thread at a time; else poll_lock says */
	_Atomic bool requests_waited;           /* the last poll left them to this one */
	uint64_t *counts;                       /* the job's, or NULL */
	_Atomic uint32_t *actives;              /* what active and data_end point into */
	uint32_t *data_ends;
};

static inline uint32_t
psmp_active_count(const struct psi_port *port, unsigned network)
{
	return atomic_load_explicit(&port->active_count[network], memory_order_relaxed);
}

static inline void
psmp_set_active_count(struct psi_port *port, unsigned network, uint32_t count)
{
	atomic_store_explicit(&port->active_count[network], count, memory_order_relaxed);
}

/* Number i of them. */
static inline struct psmp_in *
psmp_active_lane(const struct psi_port *port, unsigned network, uint32_t i)
{
	return &port->in[network][atomic_load_explicit(&port->active[network][i], memory_order_relaxed)];
}

static inline void
psmp_set_active(struct psi_port *port, unsigned network, uint32_t i, uint32_t sender)
{
	atomic_store_explicit(&port->active[network][i], sender, memory_order_relaxed);
}

/* Has anything come, or is about to be made known?  Without the poll lock this may be wrong while another thread
 * is at it: who polls does so again, and who sleeps asks under the lock, after the fence of D1 and D2. */
static inline bool
psmp_has_any(const struct psi_port *port, unsigned network)
{
	uint64_t header;

	if (atomic_load_explicit(&port->shared->top[network], memory_order_relaxed))
		return true;
	for (uint32_t i = 0; i < psmp_active_count(port, network); i++)
		if (psmp_in_peek(psmp_active_lane(port, network, i), &header))
			return true;
	return false;
}

static inline void
psmp_count(struct psi_port *port, enum psi_counter which)
{
	psi_count(port->counts ? port->counts : port->conduit->services->counts(), which);
}

/* Of the region of the endpoint at that place. */
static inline const struct psmp_layout *
psmp_layout_of(const struct psi_conduit *conduit, uint32_t place)
{
	return place < conduit->job.places ? &conduit->layout : &conduit->layout_further;
}

/* The region of the first endpoint of a process. */
static inline unsigned char *
psmp_region_of(const struct psi_conduit *conduit, uint32_t place)
{
	return conduit->arena + psmp_layout_region(&conduit->layout, place);
}

static inline struct psmp_shared *
psmp_shared_of(const struct psi_conduit *conduit, uint32_t place)
{
	return (struct psmp_shared *)(void *)psmp_region_of(conduit, place);
}

/* What lies in a region: the lane from a process, its control, the buffers of a network. */
static inline unsigned char *
psmp_lane_at(const struct psmp_layout *layout, unsigned char *region, unsigned network,
             uint32_t sender)
{
	return region + layout->lanes +
	       psmp_layout_lane(layout, network, sender) * layout->lane_bytes;
}

static inline struct psmp_control *
psmp_control_at(const struct psmp_layout *layout, unsigned char *region, unsigned network,
                uint32_t sender)
{
	return (struct psmp_control *)(void *)(region + layout->controls) +
	       psmp_layout_lane(layout, network, sender);
}

static inline unsigned char *
psmp_buffers_at(const struct psmp_layout *layout, unsigned char *region, unsigned network)
{
	return region + layout->buffers + network * PSMP_NETWORK_BUFFER_BYTES;
}

/* The sides that its owner keeps there, by peer: those of the process in the first endpoint's. */
static inline struct psmp_out *
psmp_outs_of(const unsigned char *region, const struct psmp_layout *layout, unsigned network)
{
	return (struct psmp_out *)(uintptr_t)(region + layout->outs) +
	       (size_t)network * layout->places;
}

static inline struct psmp_in *
psmp_ins_of(const unsigned char *region, const struct psmp_layout *layout, unsigned network)
{
	return (struct psmp_in *)(uintptr_t)(region + layout->ins) +
	       (size_t)network * layout->senders;
}

/* The sending side towards a further endpoint; NULL if its process has not made it.  at is its place in one
 * of the port's lists. */
struct psmp_out *psmp_out_make(struct psi_port *port, psmp_further_ref *at, uint32_t place,
                               unsigned network);

/* The same if it is there already, else NULL. */
static inline struct psmp_out *
psmp_out_made(struct psi_port *port, psmp_further_ref *list, uint32_t place, unsigned network)
{
	psmp_further_ref *at = &list[place - port->conduit->job.places];
	struct psmp_further *further = atomic_load_explicit(at, memory_order_acquire); /* Q2 */

	return PSMP_LIKELY(further != NULL) ? &further->out[network] : NULL;
}

static inline struct psmp_out *
psmp_out_further(struct psi_port *port, psmp_further_ref *list, uint32_t place, unsigned network)
{
	struct psmp_out *out = psmp_out_made(port, list, place, network);

	if (PSMP_UNLIKELY(!out))
		return psmp_out_make(port, &list[place - port->conduit->job.places], place, network);
	return out;
}

static inline struct psmp_out *
psmp_out_of(struct psi_port *port, uint32_t peer, unsigned network)
{
	const struct psi_conduit_job *job = &port->conduit->job;

	if (PSMP_UNLIKELY(peer >= job->places))
		return psmp_out_further(port, port->further, peer, network);
	return &port->out[network][job->host_index[peer]];
}

static inline struct psmp_shared *
psmp_receiver_of(const struct psmp_out *out)
{
	return (struct psmp_shared *)(void *)out->region;
}

/* Of a lane's sending side that several threads use. */
static inline void
psmp_lock_out(struct psmp_out *out)
{
	if (out->locked)
		psi_spinlock_lock(&out->lock);
}

static inline void
psmp_unlock_out(struct psmp_out *out)
{
	if (out->locked)
		psi_spinlock_unlock(&out->lock);
}

/* sysvnet_send.c */
size_t psmp_am_max_medium(struct psi_port *port, uint32_t peer, unsigned network, unsigned nargs);
int psmp_am_send(struct psi_port *port, const struct psi_am *am);
int psmp_am_short(struct psi_port *port, uint32_t peer, uint32_t what, const int32_t *args);
int psmp_am_medium(struct psi_port *port, uint32_t peer, uint32_t what, const int32_t *args,
                   const void *payload, size_t len_bytes);
int psmp_am_send_alone(struct psi_port *port, const struct psi_am *am);
int psmp_am_claim(struct psi_port *port, struct psi_claim *claim);
int psmp_am_publish(struct psi_port *port, const struct psi_claim *claim, const struct psi_am *am);
void psmp_am_cancel(struct psi_port *port, const struct psi_claim *claim);

enum {
	PSMP_RING_SHARE = 4,            /* a payload takes at most this fraction of a lane's ring */
	/* What several threads receive is copied out of it, so that a handler holds up no other message. */
	PSMP_COPY_OUT_BYTES = 2 * 1024,
};

/* Does a payload of that length go by the ring of such a lane, if there is room? */
static inline bool
psmp_ring_takes(const struct psi_conduit *conduit, const struct psmp_out *out, size_t len_bytes)
{
	return len_bytes <= out->window.most_bytes / PSMP_RING_SHARE &&
	       (!conduit->job.threaded || len_bytes <= PSMP_COPY_OUT_BYTES);
}

/* sysvnet_copy.c */
void psmp_copy_over(struct psi_port *port, struct psmp_out *out, void *to, const void *from,
                    size_t len_bytes);

/* sysvnet_port.c */
int psmp_port_open(struct psi_conduit *conduit, uint32_t place, bool serial, void *owner,
                   struct psi_port **port_out);
void psmp_ports_close(struct psi_conduit *conduit);
/* psmp_open.c: gives everything back, for tests; no other thread is inside the conduit. */
void psmp_close(struct psi_conduit *conduit);
/* Both sides of its lanes, by the layout, empty. */
void psmp_port_set_up_lanes(struct psi_port *port);

/* sysvnet_poll.c */
unsigned psmp_poll(struct psi_port *port, unsigned networks, unsigned budget);

/* sysvnet_sleep.c */
void psmp_unpoll_quiet(struct psi_port *port, unsigned network);
int psmp_arm(struct psi_port *port, unsigned networks, uint32_t want_peer, uint32_t *ticket_out);
void psmp_sleep(struct psi_port *port, uint32_t ticket, uint64_t timeout_ns);
void psmp_disarm(struct psi_port *port);
int psmp_watch(struct psi_port *port, unsigned networks);
void psmp_unwatch(struct psi_port *port);

/* sysvnet_wake.c */
int psmp_announce(struct psi_port *port, const struct psmp_out *out, unsigned network);
void psmp_room_made(struct psi_port *port, struct psmp_shared *receiver);
void psmp_ring(struct psi_port *port);
void psmp_ring_host(struct psi_port *port);
void psmp_ring_port(struct psi_port *port);
const uint32_t *psmp_sleep_word(struct psi_port *port, uint32_t peer, bool *fence_out);
void psmp_ring_peer(struct psi_port *port, uint32_t peer);
void psmp_want(struct psi_port *port, uint32_t peer);
/* The mark alone, for who fences himself. */
void psmp_want_mark(struct psi_port *port, uint32_t peer);

/* sysvnet_fence.c */
bool psmp_fence_register(const struct psi_services *services);
void psmp_fence_settle(void);   /* by two processes at least, when all have registered */
void psmp_fence_others(void);

/* sysvnet_view.c */
bool psmp_queue(const struct psi_queue_memory *memory, unsigned network, uint32_t sender,
                uint32_t receiver, struct psi_queue_state *state_out);

extern const struct psi_conduit_ops psmp_ops;

#endif
