/*
 * The ofi conduit: active messages, puts and gets over reliable datagrams of libfabric.
 *
 * A process has one endpoint of the fabric and one completion queue, whatever the number of its
 * ports.  A message names the port that it is for (pofi_wire.h).
 *
 * Flow control.  A process may have `credits' requests on their way to each place.  The place owes
 * it one credit for each request whose handler it starts, and pays with its next message to that
 * process, or with a message of its own once it owes half.  Replies need no credit: each answers a
 * request, which had one.  So what a process keeps for a port that nobody polls is bounded.
 *
 * Requests and replies have send buffers of their own, so that requests never take the last one.
 * The provider may have as many of them for one process as are left for all others, so processes
 * that do not poll never take the last one either.  A reply that finds no room waits in the backlog
 * of its process, since a handler that waited for room there would keep the messages of all others
 * from theirs.  Nothing overtakes a backlog, payments included, so that credits bound it too.
 *
 * Puts and gets are operations of the provider's, of which each takes a *slot*.  A transfer that
 * finds no slot, or for which the provider has no room, waits in a queue of its peer.  Its cookies
 * complete in a poll, outside the guard.
 *
 * Locks.  In PAR one lock, the guard, protects all that is not said to be constant or atomic.  No
 * handler runs under it.
 */
#ifndef POFI_H
#define POFI_H

#include "ofi-conduit/pofi_wire.h"
#include "runtime/conduit/network_port.h"
#include "runtime/util/lost_peer.h"

#include <assert.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <stdatomic.h>

enum {
	POFI_MEDIUM_BYTES = 65536,      /* payload of a Medium, unless GASNET_OFI_MAX_MEDIUM */
	POFI_MEDIUM_LEAST = 512,        /* that every conduit has to carry */
	POFI_CREDITS_MOST = 32,         /* requests on their way to one place ... */
	POFI_CREDITS_LEAST = 4,
	POFI_KEPT_BYTES = 1 << 26,      /* ... fewer where that would keep more than this */
	POFI_RECEIVE_BUFFERS = 4,       /* unless PST_OFI_RECEIVE_BUFFERS */
	POFI_SPARE = 4,                 /* times as many, where buffers do not come back */
	POFI_RECEIVE_BYTES = 1 << 19,   /* of each, unless PST_OFI_RECEIVE_SIZE */
	POFI_BATCH = 16,                /* completions read at once */
	POFI_INJECT_BYTES = 128,        /* larger messages take a buffer, whatever the provider */
	POFI_SENDS = 64,                /* send buffers of each network at most */
	POFI_SLOTS = 128,               /* puts and gets that the provider has at most */
	POFI_TCP_PIECE_BYTES = 1 << 18, /* of Longs over TCP (pofi_rma.c) */
	POFI_BOUNCE_BYTES = 16384,      /* smaller transfers go by a buffer where they need one */
	POFI_WAITING = 65536,           /* transfers without a slot; more are refused */
	POFI_MOST_RECORD = 128,         /* bytes */
	POFI_PROVIDER_BYTES = 32,
	POFI_ADDRESS_BYTES = 128,
	POFI_WHY_BYTES = 160,
};

/* A buffer to send from: taken, filled, given to libfabric, and given back by its completion.
 * `context' is the provider's where it asks for that (FI_CONTEXT). */
struct pofi_send {
	struct fi_context2 context;     /* first: the completion names it */
	struct pofi_send *next;         /* free */
	uint32_t process;               /* where it goes */
	uint8_t network;
	void *bytes;                    /* [message_bytes] */
	void *desc;                     /* of its registration, or NULL */
};

/*
 * A buffer in which many messages arrive, one behind the other.  A provider that receives from
 * several peers at once may give it back while a message that it began earlier is not there yet.
 * So it is posted again only when all bytes up to its end have arrived.  Messages are whole lines,
 * so that a provider which aligns them leaves no gaps.
 */
struct pofi_inbound {
	struct fi_context2 context;     /* first */
	char *bytes;
	struct fid_mr *mr;              /* NULL where the provider needs none */
	uint32_t pins;                  /* messages that a poll has taken, not yet delivered */
	size_t arrived_bytes;           /* of all messages that arrived since it was posted */
	size_t end_bytes;               /* of the last of them */
	bool posted;                    /* the provider puts further messages there */
};

/* A reply that waits for room: the message, without the credits that it will pay. */
struct pofi_queued {
	struct pofi_queued *next;
	uint32_t len_bytes;
	_Alignas(8) char bytes[];
};

/* A put or get, or what is left of one. */
struct pofi_move {
	struct psi_transfer transfer;
	bool is_put;
	bool has_data;                  /* the peer gets `data' when it has the bytes */
	uint64_t data;                  /* masked with the job's tag */
	uint64_t *read_word;            /* becomes POFI_READ when `here' has been read; or NULL */
	/* What goes with the last piece of a put, and where (pofi_record.h); 0 bytes: nothing. */
	struct psi_remote record_there;
	size_t record_bytes;
	_Alignas(8) char record[POFI_MOST_RECORD];
};

enum { POFI_READ = 2 };

/*
 * A put or get that the provider has, or the piece of one: larger ones than the provider takes go
 * piece by piece.  The bytes are read or written where the client has them, or in the slot's
 * buffer.
 */
struct pofi_slot {
	struct fi_context2 context;     /* first */
	struct pofi_slot *next;         /* free */
	struct pofi_move move;          /* what is left of it, this piece included */
	size_t piece_bytes;
	uint32_t process;
	bool bounced;                   /* this piece is in the buffer */
	struct fid_mr *mr;              /* of the client's memory, for this transfer; or NULL */
	char *buffer;                   /* [POFI_BOUNCE_BYTES], made when first needed, and kept */
	struct fid_mr *buffer_mr;       /* NULL where the provider needs none */
};

/* A transfer that waits for a slot. */
struct pofi_waiting {
	struct pofi_waiting *next;
	struct pofi_move move;
};

/* Cookies that have completed, to be told of without the guard.  One completion of the provider's
 * has two at most. */
struct pofi_done {
	unsigned count;
	uint64_t cookies[2 * POFI_BATCH];
};

/* A segment of this process that peers reach. */
struct psi_registration {
	struct psi_registration *next;
	struct fid_mr *mr;
	uintptr_t base;
	size_t len_bytes;
};

/* What this process knows of another to which it sends. */
struct pofi_peer {
	fi_addr_t address;              /* FI_ADDR_NOTAVAIL before the first message */
	struct pofi_queued *first, **last; /* the backlog; last is NULL where there never was one */
	struct pofi_peer *next_queued;  /* another one with a backlog */
	uint16_t flying[PSI_NETWORKS];  /* send buffers for it that the provider has */
	uint16_t queued;                /* in the backlog */
	bool injected;                  /* ... something that no completion tells of */
	bool broken;                    /* a message to it was lost */
	bool answers;                   /* it has taken a message, or its host a connection */
	uint16_t slots;                 /* of transfers with it that the provider has */
	/* Records, modulo 2^16: to it, that it has taken, from it. */
	uint16_t records_sent, records_read, records_taken;
	bool record_open;               /* the last one waits for the last piece of its put */
	struct pofi_waiting *waiting, **waiting_last; /* last is NULL where there never was one */
	struct pofi_peer *next_waiting; /* another one with transfers that wait */
};

struct pofi_card;

struct psi_conduit {
	const struct psi_services *services;
	/* Constant after connect. */
	uint32_t place, places;
	uint64_t tag;
	uint64_t *counts;               /* NULL: the service tells */
	size_t medium_bytes, message_bytes;
	uint32_t credits;               /* requests on their way to one place; all agree */
	uint32_t inbound_count;
	size_t inbound_bytes;
	size_t inject_bytes;            /* messages up to this go without a completion */
	struct pofi_card *cards;        /* [places], until connected */
	char *addresses;                /* [places] of address_bytes each */
	size_t address_bytes;
	const char *reason;             /* why this provider */
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_av *av;
	struct fid_cq *cq;
	int wait_fd;                    /* of the completion queue; -1: the provider has none */
	bool wait_misses;               /* it does not become readable for all that comes */
	struct fid_ep *ep;
	struct pofi_inbound *inbound;   /* [POFI_SPARE * inbound_count] */
	/* The guard protects what follows. */
	struct psi_guard guard;
	struct pofi_peer *peers;        /* [places], by process */
	struct pofi_peer *queued;       /* those with a backlog */
	uint16_t *spent[PSI_PORTS_MOST]; /* [places] each, made at the first message: credits */
	struct psi_port *ports[PSI_PORTS_MOST];
	struct {
		struct pofi_send *free;
		uint32_t made, most;
		uint32_t flying;                /* of them; the provider has them */
	} sends[PSI_NETWORKS];
	struct {
		/* Constant. */
		bool puts, gets;                /* the provider makes them */
		bool data;                      /* a put may carry a word to the peer's queue */
		bool needs_local;               /* it wants local memory registered */
		bool in_order;                  /* a write arrives behind those before it */
		size_t piece_bytes;             /* of a piece at most; ... */
		size_t long_bytes;              /* ... of a put with data */
		size_t inject_bytes;
		/* The guard protects the rest. */
		struct pofi_slot *slots, *free; /* [made] */
		uint32_t made, flying;
		uint32_t waiting;               /* transfers, of all peers */
		struct pofi_peer *peers;        /* those for which some wait */
		struct psi_registration *segments;
	} rma;
	/* The guard protects what follows. */
	struct {
		struct pofi_half *halves;       /* those that arrive */
		uint32_t half_count;
		uint32_t sent;                  /* numbers */
	} longs;
	struct {
		/* Constant after connect. */
		char *rings;                    /* [places], of this process; NULL: none */
		struct fid_mr *mr;
		struct psi_segment_name name, *names; /* of them; [places] */
	} records;
	struct {
		_Atomic bool asks;              /* any thread reads it */
		uint32_t process;               /* whose port is asked ... */
		uint64_t since_ns;              /* when its first message found no room; once a
		                                 * connection is begun, when that was */
		int fd;                         /* the connection that is begun; -1: none yet */
	} reach;
	uint32_t inbound_made, posted;  /* of the inbound buffers */
	bool no_inbound;                /* another could not be made, and is not tried again */
	bool left;                      /* the endpoint is closed: the process ends */
	bool lost;                      /* nothing goes on (pofi_lose) */
	struct psi_lost_peer lost_peer;
};

/* -- counting ---------------------------------------------------------------------------------- */

static inline void
pofi_count(struct psi_conduit *conduit, enum psi_counter which)
{
	psi_count(conduit->counts ? conduit->counts : conduit->services->counts(), which);
}

/* It sends. */
static inline void
pofi_ends_stream(struct psi_port *port)
{
	atomic_store_explicit(&port->streams, false, memory_order_relaxed);
}

/* -- places ------------------------------------------------------------------------------------ */

static inline uint32_t
pofi_process_of(const struct psi_conduit *conduit, uint32_t place)
{
	return place % conduit->places;
}

static inline uint32_t
pofi_index_of(const struct psi_conduit *conduit, uint32_t place)
{
	return place / conduit->places;
}

/* -- pofi_choose.c: which provider ------------------------------------------------------------ */

bool pofi_probe(const struct psi_services *services, char *reason, size_t reason_bytes);
/* The provider and interface to use, to be freed by fi_freeinfo, and why; or NULL and why not. */
struct fi_info *pofi_choose(const struct psi_services *services, bool one_host,
                            const char **reason_out, char *lack, size_t lack_bytes);

/* A variable of the environment that libfabric reads.  A value that the user has set stays; else it
 * is removed again, since a rank may start other programs. */
struct pofi_variable {
	const char *name;
	bool is_set;                    /* by this conduit */
};

void pofi_variable_unset(const struct pofi_variable *variable);
/* Where it is set, at each question and while the endpoint opens, ofi_rxm over verbs has one queue
 * of receive buffers, and its memory does not grow with the number of peers.  Else each connection
 * has one, and 1.17 gives buffers back to a connection that it has closed, when a peer ends or both
 * sides begin to connect (SIGSEGV). */
struct pofi_variable pofi_one_queue_set(void);

/* -- pofi_open.c ------------------------------------------------------------------------------- */

int pofi_open(const struct psi_services *services, const struct psi_conduit_job *job,
              struct psi_attributes *attributes_out, struct psi_conduit **conduit_out);
int pofi_port_open(struct psi_conduit *conduit, uint32_t place, bool serial, void *owner,
                   struct psi_port **port_out);
void pofi_describe(struct psi_conduit *conduit, char *text, size_t text_bytes);
/* Closes the endpoint of a process that ends, where something would be left of it.  The caller
 * holds the guard. */
void pofi_leave(struct psi_conduit *conduit);

/* -- pofi_connect.c ---------------------------------------------------------------------------- */

/* What the exchange fills; NULL: no memory. */
struct pofi_card *pofi_cards_new(uint32_t places);
int pofi_connect(struct psi_conduit *conduit);

/* -- pofi_reach.c: does a peer's host answer? -------------------------------------------------- */

/* refused: the provider does not take a first message for the process yet.  taken: it does now.
 * step: looks, if it is time; where no answer comes the peer is lost.  close: no more.  The caller
 * holds the guard. */
void pofi_reach_close(struct psi_conduit *conduit);
void pofi_reach_refused(struct psi_conduit *conduit, uint32_t process);
void pofi_reach_taken(struct psi_conduit *conduit, uint32_t process);
void pofi_reach_step(struct psi_conduit *conduit);

/* -- pofi_mem.c: buffers ----------------------------------------------------------------------- */

/* 0, or an errno after one line. */
int pofi_inbound_open(struct psi_conduit *conduit);
void pofi_inbound_close(struct psi_conduit *conduit);
/* arrived: bytes are in the buffer, a message of the job or not.  released: the provider has given
 * the buffer back.  The caller holds the guard. */
void pofi_inbound_arrived(struct pofi_inbound *inbound, const char *message, size_t len_bytes);
void pofi_inbound_released(struct psi_conduit *conduit, struct pofi_inbound *inbound);
/* Posts the buffers that are not in use, if some were given back.  The caller holds the guard. */
void pofi_inbound_refill(struct psi_conduit *conduit);
/* take: a buffer for a message of that network to a process, or NULL: there is none, or that
 * process has its share.  give: it goes back to the others, sent or not.  The caller holds the
 * guard. */
struct pofi_send *pofi_send_take(struct psi_conduit *conduit, unsigned network, uint32_t process);
void pofi_send_give(struct psi_conduit *conduit, struct pofi_send *send);
/* The provider has messages that it has not sent, or some wait for it.  The caller holds the
 * guard. */
bool pofi_sends_pending(const struct psi_conduit *conduit);
/* Registers memory with the provider, under a random key where the provider leaves the choice; 0,
 * or an errno, which the second tells in one line.  The caller holds the guard, once peers are
 * connected. */
int pofi_register_quietly(struct psi_conduit *conduit, void *base, size_t len_bytes,
                          uint64_t access, struct fid_mr **mr_out);
int pofi_register(struct psi_conduit *conduit, void *base, size_t len_bytes, uint64_t access,
                  struct fid_mr **mr_out);

/* -- pofi_am.c: sending ------------------------------------------------------------------------ */

size_t pofi_am_max_medium(struct psi_port *port, uint32_t peer, unsigned network, unsigned nargs);
int pofi_am_send(struct psi_port *port, const struct psi_am *am);
/* Writes the message that a descriptor stands for, which has that many bytes.  The caller holds the
 * guard during all of these. */
size_t pofi_am_bytes(const struct psi_am *am);
void pofi_am_compose(const struct psi_port *port, const struct psi_am *am, char *bytes,
                     size_t len_bytes);
/* May it be sent now, before all others?  It has been: counts its credit, and what was paid. */
bool pofi_am_is_free(struct psi_port *port, const struct psi_am *am);
void pofi_am_sent(struct psi_port *port, const struct psi_am *am);
/* Is there room for a message that the second then sends, or keeps until it can be sent?  The
 * caller holds the guard during both. */
bool pofi_am_has_room(struct psi_port *port, const struct psi_am *am);
void pofi_am_send_or_keep(struct psi_port *port, const struct psi_am *am);
/* Pays what the port owes to a process.  The caller holds the guard. */
void pofi_pay(struct psi_port *port, uint32_t process);
/* Sends a message that has a completion behind those that have none; OK or AGAIN.  The caller holds
 * the guard. */
int pofi_mark_behind(struct psi_conduit *conduit, uint32_t process);
/* Hands a message over, which is copied.  OK; AGAIN: no room, or the process is lost; FATAL.  The
 * caller holds the guard. */
int pofi_message_send(struct psi_conduit *conduit, uint32_t process, unsigned network,
                      const void *bytes, size_t len_bytes);

/* What a call of the provider's says: OK, or AGAIN, after which the process may be lost.  The
 * caller holds the guard. */
int pofi_result_of(struct psi_conduit *conduit, uint32_t process, ssize_t code);

/* -- pofi_segment.c: memory of this process that peers reach ---------------------------------- */

int pofi_segment_bind(struct psi_conduit *conduit, void *base, size_t len_bytes,
                      struct psi_segment_name *name_out,
                      struct psi_registration **registration_out);
void pofi_segment_release(struct psi_conduit *conduit, struct psi_registration *registration);
/* The provider's descriptor of memory that lies in a segment of this process; false if it does not.
 * The caller holds the guard. */
bool pofi_segment_desc(const struct psi_conduit *conduit, const void *base, size_t len_bytes,
                       void **desc_out);
/* The endpoint is closed before this. */
void pofi_segments_close(struct psi_conduit *conduit);

/* -- pofi_rma.c, pofi_rma_open.c: puts and gets ------------------------------------------------ */

/* What the provider makes of itself, and in which pieces; with its slots.  False: no memory. */
bool pofi_rma_open(struct psi_conduit *conduit);
void pofi_rma_close(struct psi_conduit *conduit);
int pofi_put(struct psi_port *port, const struct psi_transfer *transfer);
int pofi_get(struct psi_port *port, const struct psi_transfer *transfer);
/* UNSUPPORTED where the signal, or what is asked of it, does not go with a put. */
int pofi_put_signal(struct psi_port *port, const struct psi_transfer *transfer,
                    const struct psi_signal_operation *signal);
/* Can the transfer go by the buffer in one piece? */
bool pofi_fits_buffer(const struct psi_conduit *conduit, const struct psi_transfer *transfer);
/* Starts a transfer with a process that is not lost.  *read_out becomes its read_cookie if that has
 * completed; where read_out is NULL it completes with the transfer.  OK; AGAIN: no slot, or no
 * room; FATAL.  The caller holds the guard. */
int pofi_move_start(struct psi_conduit *conduit, uint32_t process, const struct pofi_move *move,
                    uint64_t *read_out);
/* NULL: the context is not that of a slot. */
struct pofi_slot *pofi_slot_of(const struct psi_conduit *conduit, void *context);
/* The provider has made what the slot stands for, or could not, for which the caller has named the
 * process as lost.  The caller holds the guard. */
void pofi_slot_completed(struct psi_conduit *conduit, struct pofi_slot *slot,
                         struct pofi_done *done);
void pofi_slot_failed(struct psi_conduit *conduit, struct pofi_slot *slot);
/* A transfer has not ended; a put has not, of those to processes that are not lost.  The caller
 * holds the guard. */
bool pofi_transfers_pending(const struct psi_conduit *conduit);
bool pofi_puts_pending(const struct psi_conduit *conduit);

/* -- pofi_waiting.c: transfers that wait for a slot -------------------------------------------- */

/* Puts one at the end of its peer's queue.  AGAIN: there is no memory.  The caller holds the
 * guard. */
int pofi_waiting_add(struct psi_conduit *conduit, uint32_t process, const struct pofi_move *move);
/* Forgets the first of a peer's queue. */
void pofi_waiting_drop_first(struct psi_conduit *conduit, struct pofi_peer *peer);
/* Starts what has room now.  The caller holds the guard. */
void pofi_waiting_flush(struct psi_conduit *conduit);

/* -- pofi_peer.c: the processes to which messages go ------------------------------------------- */

/* NULL: no memory. */
struct pofi_peer *pofi_peers_new(uint32_t places);
void pofi_peers_free(struct psi_conduit *conduit);
/* What is kept for each process of the job, whether it is used or not. */
size_t pofi_peer_bytes(const struct psi_conduit *conduit);
/* The credits of a place that are spent; NULL: no memory.  The caller holds the guard. */
uint16_t *pofi_spent_at(struct psi_conduit *conduit, uint32_t place);
/* The fabric's address of a process; FATAL, after one line: the provider does not take it.  The
 * caller holds the guard. */
int pofi_address_of(struct psi_conduit *conduit, uint32_t process, fi_addr_t *address_out);
/* The conduit cannot go on, and a line has said why.  The next poll ends the job.  The caller holds
 * the guard. */
void pofi_lose(struct psi_conduit *conduit);
/* A message to a process was lost, with an error of libfabric, and perhaps the provider's own words
 * for it; PSI_NO_PEER: to one that is not known.  The caller holds the guard. */
void pofi_peer_break(struct psi_conduit *conduit, uint32_t process, int code, const char *detail);
/* Tells the runtime of a process that is lost, some time later.  By then the keepers have usually
 * ended the job and named the cause. */
void pofi_tell_broken(struct psi_conduit *conduit);
/* Where to compose a reply that waits for room; NULL: as many wait as there are credits, or there
 * is no memory.  The caller holds the guard. */
char *pofi_backlog_room(struct psi_conduit *conduit, uint32_t process, size_t len_bytes);
/* Sends what has room now.  The caller holds the guard. */
void pofi_backlog_flush(struct psi_conduit *conduit);

/* -- pofi_long.c: Longs whose payload is a put ------------------------------------------------- */

int pofi_am_long(struct psi_port *port, struct psi_long *message);

/* -- pofi_progress.c, pofi_drain.c ------------------------------------------------------------- */

unsigned pofi_poll(struct psi_port *port, unsigned networks, unsigned budget);
int pofi_drain(struct psi_conduit *conduit);
int pofi_arm(struct psi_port *port, unsigned networks, uint32_t room_peer, uint32_t *ticket_out);
int pofi_wait_on(struct psi_conduit *conduit, int *fd_out, uint64_t *most_ns_out);

/* The one symbol that the plug-in shows. */
extern const struct psi_conduit_ops pofi_ops __attribute__((visibility("default")));

#endif
