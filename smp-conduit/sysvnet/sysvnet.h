/*
 * sysvnet: a network of message queues in memory that all processes of a host map.
 *
 * Each process opens one `struct sysvnet' on the same arena, and in it a port for each of its
 * endpoints.  It sends from a port and polls a port.  sysvnet carries messages
 * (runtime/util/message.h) and does not know what they mean.  For everything else it gets the
 * `struct sysvnet_callbacks' at open.
 *
 * Rules for every call: it polls only if its comment says so, never ends the process, and never
 * waits for another process.  In a threaded job any thread may call it, otherwise one thread at a
 * time, unless its comment allows less.  Results are those of enum psi_result.
 *
 * Words.  Peers are named by place: endpoint i of process r of n has place i * n + r.  A *first*
 * endpoint is that of index 0, a *further* one has a higher index.
 */
#ifndef SYSVNET_H
#define SYSVNET_H

#include "runtime/util/message.h"
#include "runtime/util/queue_view.h"

/* The counters of a process. */
enum sysvnet_counter {
	SYSVNET_COUNT_IN_SLOT,          /* Mediums by where their payload went */
	SYSVNET_COUNT_IN_RING,
	SYSVNET_COUNT_IN_BUFFER,
	SYSVNET_COUNT_CLAIMED,          /* buffers claimed */
	SYSVNET_COUNT_REFUSED,          /* sends and claims that found no room */
	SYSVNET_COUNT_ANNOUNCED,        /* messages to a receiver that did not look at the lane */
	SYSVNET_COUNT_UNPOLLED,         /* quiet lanes no longer looked at */
	SYSVNET_COUNT_COPIED_OUT,       /* Mediums copied out of their lane before their handler */
	SYSVNET_COUNT_ARMED,            /* announcements of a sleep */
	SYSVNET_COUNT_SLEEPS,
	SYSVNET_COUNT_WAKEUPS_SENT,
	SYSVNET_COUNT_WAKEUPS_RECEIVED,
	SYSVNET_COUNTERS,
};

/* The processes that take part.  sysvnet only reads it; the arrays must live until close. */
struct sysvnet_job {
	/* First endpoints, one per process. */
	uint32_t place, places;         /* of this process; of the job */
	uint32_t host_places;           /* of this host, which need not have place 0 */
	const uint32_t *host_index;     /* [places]: host index */
	const uint8_t *local;           /* [places]: 1 if on this host */
	bool threaded;                  /* several threads send and poll at a time */
	uint64_t *counts;               /* [SYSVNET_COUNTERS]; NULL: by the callback */
};

/* Callbacks of the code that opens sysvnet.  Each may be called from any thread. */
struct sysvnet_callbacks {
	/* Runs the handler of a message that arrived; `owner' is that of sysvnet_port_open.  May
	 * send one reply, and poll for replies while it waits. */
	void (*deliver)(void *owner, const struct psi_arrival *arrival);
	/* The calling thread's counts, where the job has none for all.  Those of sysvnet begin
	 * behind first_count others. */
	uint64_t *(*counts)(void);
	size_t first_count;
	/* memcpy that chooses its way by size, for lines that are in another CPU's cache;
	 * ordered before later release stores.  And the same, for what a CPU that shares no
	 * cache with this one reads. */
	void (*copy_owning)(void *dst, const void *src, size_t len_bytes);
	void (*copy_far)(void *dst, const void *src, size_t len_bytes);
	/* The zero-filled memory of a further endpoint, of this process or of another of the
	 * host; NULL where there is none, or its process has not asked yet. */
	void *(*endpoint_memory)(uint32_t place, size_t len_bytes);
	/* Ends the sleep on a descriptor of a thread of that process (sysvnet_fd_sleep_begin). */
	void (*wake_asleep)(uint32_t host_index);
	/* One line for people, printed whole. */
	void (*log)(const char *format, ...) __attribute__((format(printf, 1, 2)));
};

struct sysvnet;                 /* of this process */
struct sysvnet_port;            /* of an endpoint of it */

/* ------------------------------------------------------------------- opening, closing --- */

/* The most processes of one host. */
enum { SYSVNET_MAX_PROCESSES = 4096 };

/* Bytes of the arena for that many processes of a host; 0: they are too many.  A wide arena has
 * room that streams may grow into.  Pure. */
size_t sysvnet_arena_bytes(uint32_t processes, bool wide);

/* Lays out an arena, zero-filled, that every process of the host opens alike.  NULL: no memory. */
struct sysvnet *sysvnet_open(const struct sysvnet_job *job, const struct sysvnet_callbacks *calls,
                             void *arena, bool wide);
/* Gives everything back; no other thread is inside. */
void sysvnet_close(struct sysvnet *net);

/* A port of the endpoint at that place of this process; that of the first endpoint before
 * connect, others any time after it, one call at a time.  owner comes back in deliver.  serial:
 * one thread at a time will poll it and call sysvnet_send_alone.  Opened again by its owner,
 * with the same promise, the port is the same.  FAILED has been told of in one line. */
int sysvnet_port_open(struct sysvnet *net, uint32_t place, bool serial, void *owner,
                      struct sysvnet_port **port_out);

/* Do all processes of the host agree on the layout of the arena?  Called after each has opened. */
bool sysvnet_agrees(const struct sysvnet *net);

/*
 * The choices that all processes of the host make alike, before any of them sends.
 * roomy          each process has a CPU, so a lane needs few slots
 * senders_fence  senders fence in each message; otherwise a thread that is about to sleep makes all
 *                processes fence (membarrier), for which all have registered
 */
void sysvnet_connect(struct sysvnet *net, bool roomy, bool senders_fence);

/* Registers this process for membarrier; false: there is none, or `denied' lists it. */
bool sysvnet_fence_register(const char *denied);
/* Called by at least two processes of the host, when all have registered. */
void sysvnet_fence_settle(void);

/* ----------------------------------------------------------------------------- sending --- */

/* The largest payload of a Medium, to any peer. */
enum { SYSVNET_MEDIUM_BYTES = 64 * 1024 };

/* Sends.  OK: the payload has been read, the message will arrive.  AGAIN: no room, nothing sent. */
int sysvnet_send(struct sysvnet_port *port, const struct psi_am *am);
/* The same by the one thread that uses a serial port, while others may be in sysvnet_send. */
int sysvnet_send_alone(struct sysvnet_port *port, const struct psi_am *am);
/* sysvnet_inline.h has the same of a Short and of a Medium, in registers. */

/* Takes a buffer of at least claim->least_bytes for a Medium to claim->peer.  Takes no place in
 * the lane, so an open claim delays nobody.  Where claim->alone is set it is called as
 * sysvnet_send_alone is. */
int sysvnet_claim(struct sysvnet_port *port, struct psi_claim *claim);
/* Sends the first am->len_bytes of a claimed buffer; am->payload is not read.  AGAIN: no room,
 * the claim is still open. */
int sysvnet_publish(struct sysvnet_port *port, const struct psi_claim *claim,
                    const struct psi_am *am);
/* Gives a claimed buffer back unsent. */
void sysvnet_cancel(struct sysvnet_port *port, const struct psi_claim *claim);

/* -------------------------------------------------------------------- sleeping, waking --- */

/*
 * Sleeping takes three steps, so that nothing is lost between the last look and the sleep:
 *   arm     says that this thread is about to sleep; OK with a ticket, or AGAIN when a message is
 *           there already (then nothing was announced).  room_peer is a place whose lane was full,
 *           or PSI_NO_PEER: its owner wakes the first port when room appears.
 *   (the caller now looks once more at whatever it waits for)
 *   sleep   until somebody wakes after the ticket, or timeout_ns passed (0: no bound)
 *   disarm  once for every successful arm, slept or not.
 */
int sysvnet_arm(struct sysvnet_port *port, unsigned networks, uint32_t room_peer,
                uint32_t *ticket_out);
void sysvnet_sleep(struct sysvnet_port *port, uint32_t ticket, uint64_t timeout_ns);
/* In place of sysvnet_sleep, around a sleep on a descriptor, by one thread of the process at a
 * time: between begin and end a wake-up calls wake_asleep too.  AGAIN: somebody has woken the
 * thread after the ticket, and there is nothing to end. */
int sysvnet_fd_sleep_begin(struct sysvnet_port *port, uint32_t ticket);
void sysvnet_fd_sleep_end(struct sysvnet_port *port);
void sysvnet_disarm(struct sysvnet_port *port);
/* A thread that sleeps on the first port of the process watches other ports too: their senders then
 * wake the first.  AGAIN: there is a message, and nothing was announced. */
int sysvnet_arm_more(struct sysvnet_port *port, unsigned networks);
void sysvnet_disarm_more(struct sysvnet_port *port);

/* Wakes all threads of this process that sleep, on any port; ordered after what the caller
 * wrote. */
void sysvnet_wake(struct sysvnet_port *port);
/* All that sleep on the endpoint at place `peer', which has a wake word. */
void sysvnet_wake_peer(struct sysvnet_port *port, uint32_t peer);
/* All processes of the host, as far as they sleep on their first port or watch others. */
void sysvnet_wake_host(struct sysvnet_port *port);
/* The wake word of the endpoint at place `peer', or NULL.  Its bit 0 says that threads sleep.  If
 * *fence_out is true, a thread that has written a condition fences before it reads the word.
 * Called after connect. */
const uint32_t *sysvnet_wake_word(struct sysvnet_port *port, uint32_t peer, bool *fence_out);
/* Asks the owner of place `peer', whose lane was full, to wake this process once when there is
 * room.  The caller then tries once more, since room may have come meanwhile. */
void sysvnet_request_room(struct sysvnet_port *port, uint32_t peer);

/* -------------------------------------------------------------------------- for people --- */

/* The lane of a network from one host index to another, or to a further endpoint of that one,
 * read by any process that maps the memory, at any moment: what changes meanwhile may not fit
 * together.  False: that memory is not yet, or not of sysvnet's making. */
bool sysvnet_view(const struct psi_queue_memory *memory, unsigned network, uint32_t sender,
                  uint32_t receiver, struct psi_queue_state *state_out);

enum sysvnet_area_kind { SYSVNET_AREA_CONTROL, SYSVNET_AREA_LANES, SYSVNET_AREA_BUFFERS };

/* An area of shared memory as it is mapped here, in whole pages. */
struct sysvnet_area {
	enum sysvnet_area_kind kind;
	void *base;
	size_t len_bytes;
};

/* Area number i; false past the last. */
bool sysvnet_area(struct sysvnet *net, unsigned i, struct sysvnet_area *area_out);

/* Writes one line without a newline: endpoints, lanes, bytes mapped, and which side fences. */
void sysvnet_describe(const struct sysvnet *net, char *text, size_t text_bytes);

#endif
