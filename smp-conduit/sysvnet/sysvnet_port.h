/*
 * The state of sysvnet in a process, a port for each of its endpoints, and what lies where in a
 * region.  For sysvnet's own files and its tests.
 */
#ifndef SYSVNET_PORT_H
#define SYSVNET_PORT_H

#include "smp-conduit/sysvnet/sysvnet.h"
#include "smp-conduit/sysvnet/sysvnet_lane.h"
#include "smp-conduit/sysvnet/sysvnet_pool.h"

#define SYSVNET_LIKELY(cond)   __builtin_expect(!!(cond), 1)
#define SYSVNET_UNLIKELY(cond) __builtin_expect(!!(cond), 0)

/* Endpoints of a process beyond the first; a header has 7 bits for which one sent it. */
enum { SYSVNET_MAX_INDEX = 127 };

/* Sending sides towards one of these, made by the first thread that needs it. */
struct sysvnet_further {
	struct sysvnet_out out[PSI_NETWORKS];
	uint32_t data_ends[];
};
typedef _Atomic(struct sysvnet_further *) sysvnet_further_ref;

struct sysvnet {
	struct sysvnet_job job;
	struct sysvnet_callbacks calls;
	struct sysvnet_layout layout, layout_further;
	unsigned char *arena;
	uint32_t *place_at;             /* [host_places]: by host index */
	/* The first endpoint's; its wake word is also the process's. */
	struct sysvnet_port *port;
	/* Ports by index; NULL: not open. */
	_Atomic(struct sysvnet_port *) ports[SYSVNET_MAX_INDEX + 1];
	/* Senders fence between publishing and looking at `polled'.  Otherwise the receiver makes
	 * every sender fence when it needs that (membarrier). */
	bool senders_fence;
};

struct sysvnet_port {
	struct sysvnet *net;
	void *owner;                            /* for deliver */
	uint32_t host_index;                    /* of the process */
	uint32_t index;                         /* of the endpoint in its process */
	bool needs_lock;                        /* several threads may poll it at a time */
	const struct sysvnet_layout *layout;    /* of its region */
	struct sysvnet_shared *shared;
	struct sysvnet_out *out[PSI_NETWORKS];  /* [processes]: to first endpoints */
	/* To further endpoints, [SYSVNET_MAX_INDEX * places], by place.  For any thread: its
	 * own, or the process's; and for the one thread that uses it, by promise: its own, or
	 * the same. */
	sysvnet_further_ref *further, *alone;
	sysvnet_further_ref *own_further;       /* what it gives back */
	struct sysvnet_in *in[PSI_NETWORKS];    /* [layout.senders] */
	/* The lanes that every poll looks at, by sender.  In PAR poll_lock protects changes.  A
	 * thread that only asks whether there is a message looks without the lock
	 * (sysvnet_has_message). */
	_Atomic uint32_t *active[PSI_NETWORKS];
	_Atomic uint32_t active_count[PSI_NETWORKS];
	uint32_t cursor[PSI_NETWORKS];
	uint32_t idle_polls[PSI_NETWORKS];
	struct psi_spinlock poll_lock[PSI_NETWORKS];
	bool polled[PSI_NETWORKS];              /* by one thread at a time; else poll_lock says */
	_Atomic bool requests_waited;           /* the last poll left them to this one */
	uint64_t *counts;                       /* the process's, or NULL */
	_Atomic uint32_t *actives;              /* what active and data_end point into */
	uint32_t *data_ends;
};

static inline uint32_t
sysvnet_active_count(const struct sysvnet_port *port, unsigned network)
{
	return atomic_load_explicit(&port->active_count[network], memory_order_relaxed);
}

static inline void
sysvnet_set_active_count(struct sysvnet_port *port, unsigned network, uint32_t count)
{
	atomic_store_explicit(&port->active_count[network], count, memory_order_relaxed);
}

/* Number i of them. */
static inline struct sysvnet_in *
sysvnet_active_lane(const struct sysvnet_port *port, unsigned network, uint32_t i)
{
	const _Atomic uint32_t *sender = &port->active[network][i];

	return &port->in[network][atomic_load_explicit(sender, memory_order_relaxed)];
}

static inline void
sysvnet_set_active(struct sysvnet_port *port, unsigned network, uint32_t i, uint32_t sender)
{
	atomic_store_explicit(&port->active[network][i], sender, memory_order_relaxed);
}

/* Has a message come, or is one about to be announced?  Without the poll lock the answer may be
 * wrong while another thread polls.  A thread that polls asks again; a thread that is about to
 * sleep asks under the lock, after the fence of D1 and D2. */
static inline bool
sysvnet_has_any(const struct sysvnet_port *port, unsigned network)
{
	uint64_t header;

	if (atomic_load_explicit(&port->shared->top[network], memory_order_relaxed))
		return true;
	for (uint32_t i = 0; i < sysvnet_active_count(port, network); i++)
		if (sysvnet_in_peek(sysvnet_active_lane(port, network, i), &header))
			return true;
	return false;
}

/* Adds one to a count of the caller's own; readers see whole numbers. */
static inline void
sysvnet_count(struct sysvnet_port *port, enum sysvnet_counter which)
{
	const struct sysvnet_callbacks *calls = &port->net->calls;
	uint64_t *counts = port->counts ? port->counts : calls->counts() + calls->first_count;
	uint64_t value = __atomic_load_n(&counts[which], __ATOMIC_RELAXED);

	__atomic_store_n(&counts[which], value + 1, __ATOMIC_RELAXED);
}

/* The layout of the region of the endpoint at that place. */
static inline const struct sysvnet_layout *
sysvnet_layout_of(const struct sysvnet *net, uint32_t place)
{
	return place < net->job.places ? &net->layout : &net->layout_further;
}

/* The region of the first endpoint of a process. */
static inline unsigned char *
sysvnet_region_of(const struct sysvnet *net, uint32_t host_index)
{
	return net->arena + sysvnet_layout_region(&net->layout, host_index);
}

static inline struct sysvnet_shared *
sysvnet_shared_of(const struct sysvnet *net, uint32_t host_index)
{
	return (struct sysvnet_shared *)(void *)sysvnet_region_of(net, host_index);
}

/* What lies in a region: the lane from a process, its control, the buffers of a network. */
static inline unsigned char *
sysvnet_lane_at(const struct sysvnet_layout *layout, unsigned char *region, unsigned network,
                uint32_t sender)
{
	return region + layout->lanes +
	       sysvnet_layout_lane(layout, network, sender) * layout->lane_bytes;
}

static inline struct sysvnet_control *
sysvnet_control_at(const struct sysvnet_layout *layout, unsigned char *region, unsigned network,
                   uint32_t sender)
{
	return (struct sysvnet_control *)(void *)(region + layout->controls) +
	       sysvnet_layout_lane(layout, network, sender);
}

static inline unsigned char *
sysvnet_buffers_at(const struct sysvnet_layout *layout, unsigned char *region, unsigned network)
{
	return region + layout->buffers + network * SYSVNET_NETWORK_BUFFER_BYTES;
}

/* The sides that its owner keeps there, by peer: those of the process in the first endpoint's. */
static inline struct sysvnet_out *
sysvnet_outs_of(const unsigned char *region, const struct sysvnet_layout *layout, unsigned network)
{
	return (struct sysvnet_out *)(uintptr_t)(region + layout->outs) +
	       (size_t)network * layout->processes;
}

static inline struct sysvnet_in *
sysvnet_ins_of(const unsigned char *region, const struct sysvnet_layout *layout, unsigned network)
{
	return (struct sysvnet_in *)(uintptr_t)(region + layout->ins) +
	       (size_t)network * layout->senders;
}

/* The sending side towards a further endpoint; NULL if its process has not made it.  at is its
 * entry in one of the port's lists. */
struct sysvnet_out *sysvnet_out_make(struct sysvnet_port *port, sysvnet_further_ref *at,
                                     uint32_t place, unsigned network);

/* The same if it is there already, else NULL. */
static inline struct sysvnet_out *
sysvnet_out_made(struct sysvnet_port *port, sysvnet_further_ref *list, uint32_t place,
                 unsigned network)
{
	sysvnet_further_ref *at = &list[place - port->net->job.places];
	struct sysvnet_further *further = atomic_load_explicit(
		at, memory_order_acquire); /* Q2: acquire, from Q1 in sysvnet_out_make */

	return SYSVNET_LIKELY(further != NULL) ? &further->out[network] : NULL;
}

static inline struct sysvnet_out *
sysvnet_out_further(struct sysvnet_port *port, sysvnet_further_ref *list, uint32_t place,
                    unsigned network)
{
	struct sysvnet_out *out = sysvnet_out_made(port, list, place, network);

	if (SYSVNET_UNLIKELY(!out))
		return sysvnet_out_make(port, &list[place - port->net->job.places], place, network);
	return out;
}

static inline struct sysvnet_out *
sysvnet_out_of(struct sysvnet_port *port, uint32_t peer, unsigned network)
{
	const struct sysvnet_job *job = &port->net->job;

	if (SYSVNET_UNLIKELY(peer >= job->places))
		return sysvnet_out_further(port, port->further, peer, network);
	return &port->out[network][job->host_index[peer]];
}

static inline struct sysvnet_shared *
sysvnet_receiver_of(const struct sysvnet_out *out)
{
	return (struct sysvnet_shared *)(void *)out->region;
}

/* Locks the sending side of a lane, if several threads use it. */
static inline void
sysvnet_lock_out(struct sysvnet_out *out)
{
	if (out->needs_lock)
		psi_spinlock_lock(&out->lock);
}

static inline void
sysvnet_unlock_out(struct sysvnet_out *out)
{
	if (out->needs_lock)
		psi_spinlock_unlock(&out->lock);
}

enum {
	SYSVNET_RING_SHARE = 4,         /* a payload takes at most this fraction of a lane's ring */
	/* With several receiving threads, messages are copied out of the lane, so that a handler
	 * delays no other message. */
	SYSVNET_COPY_OUT_BYTES = 2 * 1024,
};

/* Does a payload of that length go by the ring of such a lane, if there is room? */
static inline bool
sysvnet_data_ring_takes(const struct sysvnet *net, const struct sysvnet_out *out, size_t len_bytes)
{
	return len_bytes <= out->window.most_bytes / SYSVNET_RING_SHARE &&
	       (!net->job.threaded || len_bytes <= SYSVNET_COPY_OUT_BYTES);
}

/* sysvnet_copy.c */
void sysvnet_copy_over(struct sysvnet_port *port, struct sysvnet_out *out, void *to,
                       const void *from, size_t len_bytes);

/* sysvnet_port.c */
void sysvnet_ports_close(struct sysvnet *net);
/* Both sides of its lanes, by the layout, empty. */
void sysvnet_port_set_up_lanes(struct sysvnet_port *port);

/* sysvnet_sleep.c */
void sysvnet_unpoll_quiet(struct sysvnet_port *port, unsigned network);

/* sysvnet_wake.c */
int sysvnet_announce(struct sysvnet_port *port, const struct sysvnet_out *out, unsigned network);
void sysvnet_room_made(struct sysvnet_port *port, struct sysvnet_shared *receiver);
void sysvnet_wake_port(struct sysvnet_port *port);
/* Sets the mark without a fence, for a caller that fences itself. */
void sysvnet_mark_room_request(struct sysvnet_port *port, uint32_t peer);

/* sysvnet_fence.c */
void sysvnet_fence_others(void);

#endif
