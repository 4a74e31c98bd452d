/*
 * The overlay: the network between the keepers of a job's hosts, one keeper on each.  Hosts have
 * numbers from 0; the caller has a list of their addresses and names.
 *
 * The keepers form a tree (pboot_overlay_tree.h).  Each connects to its parent by TCP, and accepts
 * its children; both sides of a connection prove that they know the job's secret
 * (pboot_overlay_handshake.h).  The tree carries frames from any host to any other or to all,
 * gathers and barriers of all hosts, and the news that a host is lost.
 *
 * Nothing here blocks, sleeps, prints, or starts a thread.  The caller's loop does:
 *
 *     count = pboot_overlay_fill(net, polls);
 *     poll(polls, count, until pboot_overlay_deadline(net));
 *     pboot_overlay_step(net, psi_now_ns(), polls, count);
 *     while (pboot_overlay_next(net, &event))
 *             act on the event;
 *
 * The caller takes events until there are none: a frame that is not taken holds up the frames
 * behind it, those for other hosts too.  If the caller makes no step for limit_ns, its neighbours
 * take its host for lost.  All times are of CLOCK_MONOTONIC, in ns.  One thread at a time calls
 * these functions.
 */
#ifndef PBOOT_OVERLAY_H
#define PBOOT_OVERLAY_H

#include "bootstrap/overlay/pboot_overlay_address.h"
#include "bootstrap/overlay/pboot_overlay_frame.h"
#include "bootstrap/overlay/pboot_overlay_handshake.h"
#include "bootstrap/overlay/pboot_overlay_tree.h"

#include <poll.h>

enum {
	/* Connections whose handshake is not over; a further one replaces the oldest. */
	PBOOT_OVERLAY_HALF_OPEN = 32,
	/* What pboot_overlay_fill fills at most: the listener, the links, the half-open ones. */
	PBOOT_OVERLAY_POLLS = 1 + PBOOT_TREE_BRANCHES + PBOOT_OVERLAY_HALF_OPEN,
	/* Gathers and barriers that a host may have begun and not seen completed. */
	PBOOT_OVERLAY_IN_FLIGHT = 16,
	PBOOT_OVERLAY_WHY_BYTES = 256,
};

/* Defaults of the fields of the same name. */
#define PBOOT_OVERLAY_PERIOD_NS UINT64_C(1000000000)
#define PBOOT_OVERLAY_LIMIT_NS UINT64_C(5000000000)
#define PBOOT_OVERLAY_HANDSHAKE_NS UINT64_C(2000000000)

/* The options are only read.  Their strings need not outlive the call of open. */
struct pboot_overlay_options {
	uint32_t self, host_count;		/* this host's number; how many there are */
	uint8_t secret[PBOOT_SHAKE_SECRET_BYTES];
	const char *version;			/* of the library; at most 27 characters count */
	const char *iface, *toward;		/* as for pboot_address_choose */
	uint16_t first_port, last_port;		/* at which to listen; 0: any */
	uint64_t period_ns;			/* between two heartbeats; 0: the default */
	uint64_t limit_ns;			/* of silence; 0: the default */
	uint64_t handshake_ns;			/* limit for a handshake; 0: the default */
};

/* A host of the job, as the caller gives it to connect. */
struct pboot_overlay_host {
	const char *address;			/* what pboot_overlay_address returned there */
	const char *name;			/* for messages */
};

enum pboot_overlay_result {
	PBOOT_OVERLAY_OK,
	PBOOT_OVERLAY_AGAIN,			/* nothing was taken; an event will come */
	PBOOT_OVERLAY_GONE,			/* a host is lost, or this one is closing */
	PBOOT_OVERLAY_MISUSE,			/* too long, no such host, out of turn */
	PBOOT_OVERLAY_NO_MEMORY,
};

enum pboot_overlay_event_kind {
	PBOOT_OVERLAY_CONNECTED,		/* all keepers are linked; once */
	PBOOT_OVERLAY_LOST,			/* `host', as `witness' saw; once for each host */
	PBOOT_OVERLAY_FRAME,			/* of `host' */
	PBOOT_OVERLAY_ROOM,			/* a send that got AGAIN may be tried again */
	PBOOT_OVERLAY_GATHERED,			/* in the order of the calls, as is the next */
	PBOOT_OVERLAY_PASSED,			/* a barrier */
	PBOOT_OVERLAY_CLOSED,			/* close is complete; the last event */
};

/* How a host was lost.  The witness is its parent or one of its children. */
enum pboot_overlay_loss {
	PBOOT_OVERLAY_BY_KERNEL,		/* its connection was closed, reset or refused */
	PBOOT_OVERLAY_BY_SILENCE,		/* nothing was heard of it for limit_ns */
	PBOOT_OVERLAY_BY_DEADLINE,		/* it was not linked in time */
	PBOOT_OVERLAY_BY_VERSION,		/* its version is another one */
	PBOOT_OVERLAY_BY_FAULT,			/* it sent something faulty, or has no memory */
	PBOOT_OVERLAY_LOSSES,
};

struct pboot_overlay_blob {
	const uint8_t *bytes;
	uint32_t len_bytes;
};

/* What it points to is valid until the next call of next or step. */
struct pboot_overlay_event {
	enum pboot_overlay_event_kind kind;
	uint32_t host;				/* LOST, FRAME */
	uint32_t witness;			/* LOST */
	enum pboot_overlay_loss loss;		/* LOST */
	const char *why;			/* LOST: a sentence that names host and witness */
	uint16_t frame_kind;			/* FRAME: as given to send */
	const uint8_t *bytes;			/* FRAME */
	uint32_t len_bytes;			/* FRAME */
	const struct pboot_overlay_blob *blobs;	/* GATHERED: [host_count] */
};

/* Connections that were not let in, by reason, and those that were. */
struct pboot_overlay_counts {
	uint64_t accepted, linked;
	uint64_t nonsense, stranger, version, host, twice;	/* verdicts of the handshake */
	uint64_t silent;					/* not done within handshake_ns */
	uint64_t crowded;					/* closed to make room for others */
	uint64_t left;						/* closed by the other side */
};

struct pboot_overlay;

/* Opens the overlay, which then listens.  If it returns NULL, why_out has one line that says
 * why. */
struct pboot_overlay *pboot_overlay_open(const struct pboot_overlay_options *options,
    char why_out[PBOOT_OVERLAY_WHY_BYTES]);
/* Closes this process's descriptors at once and frees everything.  A process that was forked from
 * the keeper and runs no other program must call it too: as long as it has copies of the
 * descriptors, other hosts do not see the keeper's death. */
void pboot_overlay_free(struct pboot_overlay *net);

/* Returns the address at which this keeper listens, which the other keepers must know. */
const char *pboot_overlay_address(const struct pboot_overlay *net);

/* Returns the one descriptor that the overlay has before connect, for a process that closes all
 * others. */
int pboot_overlay_descriptor(const struct pboot_overlay *net);

/* Begins to link the tree.  It is called once, and copies hosts[host_count].  Event CONNECTED
 * follows when all hosts are linked, or LOST for each neighbour that is not linked by
 * deadline_ns. */
enum pboot_overlay_result pboot_overlay_connect(struct pboot_overlay *net,
    const struct pboot_overlay_host *hosts, uint64_t now_ns, uint64_t deadline_ns);

/* Fills polls[PBOOT_OVERLAY_POLLS], and returns how many entries it has filled. */
unsigned pboot_overlay_fill(struct pboot_overlay *net, struct pollfd *polls);
/* When step is due even if nothing arrives; UINT64_MAX: never. */
uint64_t pboot_overlay_deadline(struct pboot_overlay *net);
/* Takes what poll found.  polls are those of the last fill.  A step that comes after the deadline
 * shows that this process did not run; that time is not counted as silence of others. */
void pboot_overlay_step(struct pboot_overlay *net, uint64_t now_ns, const struct pollfd *polls,
    unsigned count);
/* Writes the next event; returns false if there is none.  Calls of send and the like are allowed in
 * between. */
bool pboot_overlay_next(struct pboot_overlay *net, struct pboot_overlay_event *event_out);

/*
 * Sends a frame to one other host, or to all others (to = PBOOT_FRAME_ALL).  The bytes are copied,
 * at most PBOOT_FRAME_DATA_BYTES.  Frames of one host arrive at another in the order in which they
 * were sent.  Returns AGAIN before CONNECTED, and when there is no room; CONNECTED or ROOM follows.
 */
enum pboot_overlay_result pboot_overlay_send(struct pboot_overlay *net, uint32_t to, uint16_t kind,
    const void *bytes, uint32_t len_bytes);

/*
 * Collectives of all hosts, which call them in the same order.  The blob is copied, at most
 * PBOOT_FRAME_BLOB_BYTES; lengths may differ.  They return AGAIN before CONNECTED, and when
 * PBOOT_OVERLAY_IN_FLIGHT are in flight.  Once a host is lost no collective completes, and calls
 * return GONE.
 */
enum pboot_overlay_result pboot_overlay_allgather(struct pboot_overlay *net, const void *blob,
    uint32_t len_bytes);
enum pboot_overlay_result pboot_overlay_barrier(struct pboot_overlay *net);

/* Closes in order.  Event CLOSED comes when all hosts that can be reached have called close, so all
 * frames and collectives that were sent have arrived; until then the loop goes on.  If a host was
 * lost before CONNECTED, hosts that connect later are told of it, until the deadline of connect. */
void pboot_overlay_close(struct pboot_overlay *net);

/* Returns the name of a host, as it was given to connect. */
const char *pboot_overlay_name(const struct pboot_overlay *net, uint32_t host);

/* Can messages still reach that host, as far as is known here? */
bool pboot_overlay_reaches(const struct pboot_overlay *net, uint32_t host);

const struct pboot_overlay_counts *pboot_overlay_counted(const struct pboot_overlay *net);

#endif
