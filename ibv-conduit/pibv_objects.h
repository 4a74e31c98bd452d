/*
 * The objects of the ibv conduit; pibv.h says how they work together.
 */
#ifndef PIBV_OBJECTS_H
#define PIBV_OBJECTS_H

#include "ibv-conduit/pibv_wire.h"
#include "runtime/conduit/network_port.h"
#include "runtime/util/lost_peer.h"

#include <assert.h>
#include <infiniband/verbs.h>
#include <stdatomic.h>

enum {
	PIBV_MEDIUM_BYTES = 8192,       /* payload of a Medium, unless PST_IBV_MAX_MEDIUM */
	PIBV_CREDITS_MOST = 32,         /* requests on their way to one place ... */
	PIBV_CREDITS_LEAST = 4,
	PIBV_KEPT_BYTES = 1 << 26,      /* ... fewer where that would keep more than this */
	PIBV_RECEIVES = 512,            /* receive buffers, unless GASNET_RBUF_COUNT */
	PIBV_BUFFERS = 256,             /* send buffers, unless GASNET_BBUF_COUNT */
	PIBV_DEPTH = 128,               /* of a send queue, unless PST_IBV_SEND_QUEUE */
	PIBV_DEPTH_MOST = 256,
	PIBV_INLINE_BYTES = 128,        /* larger messages take a buffer, whatever the device */
	PIBV_PACKED_BYTES = 4096,       /* payload of a Long, or with a signal, in its message */
	PIBV_BATCH = 16,                /* completions read, and receive buffers posted, at once */
	PIBV_HELLOS = 64,               /* buffers of datagrams */
	PIBV_BACKLOG = 65536,           /* transfers without room; more are refused */
	PIBV_DONE = 2 * PIBV_DEPTH_MOST + 2 * PIBV_DEPTH_MOST,
	PIBV_DEVICES = 2,               /* whose keys the name of a segment has room for */
	PIBV_STRIPE_BYTES = 1 << 18,    /* larger puts and gets are shared, unless PST_IBV_STRIPE */
	PIBV_REASON_BYTES = 160,
	PIBV_LACK_BYTES = 320,
};

_Static_assert(PIBV_CREDITS_MOST <= UINT8_MAX, "a header has 8 bits for them");

/* What an address is of; the first are preferred. */
enum pibv_gid_kind {
	PIBV_GID_INFINIBAND, PIBV_GID_IPV4, PIBV_GID_IPV6, PIBV_GID_LINK, PIBV_GID_ROCE_V1,
	PIBV_GID_KINDS
};

/* A device of which the process uses ports, and what those share; NULL: not made. */
struct pibv_device {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	char name[IBV_SYSFS_NAME_MAX];
	struct ibv_device_attr limits;
};

/* A port that the process uses, and why. */
struct pibv_rail {
	unsigned device_index;
	uint8_t port_number;
	uint16_t pkey_index;
	struct ibv_port_attr port;
	struct ibv_gid_entry gid;       /* its index is the source of addresses */
	uint8_t service_level, traffic_class;   /* of all that it sends */
	char reason[PIBV_REASON_BYTES];
};

/* How a port is reached. */
struct pibv_port_card {
	union ibv_gid gid;
	uint16_t lid;
	uint8_t mtu;                    /* an enum ibv_mtu */
	uint8_t link_layer;
	uint8_t device_index;           /* of its key in the names of segments */
	uint8_t gid_kind;               /* an enum pibv_gid_kind */
};

/* What each process tells all at the start; `wire' 0: that it cannot connect, and says why. */
struct pibv_card {
	uint64_t secret;                /* that of process 0 is the job's */
	uint32_t wire;
	uint32_t medium_bytes;
	uint32_t qp, qkey;              /* of its queue pair for datagrams */
	uint32_t rails;
	uint32_t connect_all;           /* it asks that all connect at the start */
	struct pibv_port_card ports[PIBV_RAILS];
};

/* A buffer of registered memory: a message to send, or what a put or get carries. */
struct pibv_buffer {
	struct pibv_buffer *next;       /* free */
	uint32_t process;               /* that has it */
	char *bytes;                    /* [message_bytes] */
};

/* What is to be done when a work request is. */
struct pibv_work {
	enum { PIBV_NOTHING, PIBV_BUFFER, PIBV_ALL } what;      /* of the rest: the buffer; each */
	struct pibv_buffer *buffer;     /* is given back; or NULL */
	uint64_t cookie, read_cookie;   /* complete; 0: nobody asks */
	void *copy_to;                  /* gets what is in the buffer; or NULL */
	size_t copy_bytes;
	struct ibv_mr *mr;              /* is taken back; or NULL */
	uint64_t *read_word;            /* becomes PIBV_READ; or NULL */
	struct pibv_stripe *stripe;     /* ends; or NULL */
	bool waited;                    /* a thread waits for it from now on */
};

enum { PIBV_READ = 2 };

/* Cookies that have completed, to be told of without the lock. */
struct pibv_done {
	unsigned count;
	uint64_t cookies[PIBV_DONE];
};

/* A put or get, or what is left of one. */
struct pibv_move {
	struct psi_transfer transfer;
	bool is_put;
	bool unread;                    /* a put: a piece that was posted may still be read */
	struct ibv_mr *mr;              /* of the client's memory, for this transfer; or NULL */
	uint64_t *read_word;            /* as that of a work; or NULL */
	struct pibv_stripe *stripe;     /* that it is; or NULL */
};

/* What waits for room on a connection: a transfer, or a message without the credits it will pay. */
struct pibv_waiting {
	struct pibv_waiting *next;
	bool is_move;
	struct pibv_move move;
	size_t len_bytes;
	_Alignas(16) char message[];
};

/*
 * A reliable connection.  Counts of work requests run on and wrap; the entry of number n is
 * works[n & depth_mask], which says PIBV_NOTHING but while a request has a work.
 */
struct pibv_connection {
	struct ibv_qp *qp;
	uint32_t process;
	unsigned rail;
	/* That of the first rail has those of the others, as many as both sides have. */
	struct pibv_connection *rails[PIBV_RAILS];
	unsigned rail_count;
	/* made: it has a queue pair.  ready: that receives, since the peer's is known.  connected:
	 * the peer's receives too, so work may be posted. */
	enum { PIBV_MADE, PIBV_READY, PIBV_CONNECTED } state;
	uint32_t psn;                   /* of the first packet of this side */
	bool broken;                    /* a message or transfer was lost: the job will end */
	uint32_t posted, retired;       /* work requests */
	uint32_t signaled;              /* posted up to the last that asked for a completion */
	uint32_t wanted;                /* posted up to the last that somebody waits for */
	uint32_t polls_then;            /* of the conduit when that was posted */
	uint32_t streak;                /* so many of them with one poll behind each at most */
	uint32_t worked;                /* posted up to the last that has a work */
	uint32_t read;                  /* the same of reads; not before retired */
	uint32_t read_key;              /* of the peer's, where the last one reads ... */
	uint64_t read_address;          /* ... and what it reads first */
	uint32_t sent;                  /* messages; headers have the lower 8 bits */
	struct pibv_work *works;        /* [depth] */
	uint32_t buffers;               /* that it has */
	struct pibv_waiting *first, **last; /* the backlog */
	uint32_t replies;               /* in the backlog */
	struct pibv_connection *next_backlog, *next_wanting, *next_hello, *next_made;
	bool in_wanting;
	/* While it is not connected. */
	struct ibv_ah *ah;              /* for hellos; or NULL */
	uint64_t hello_at_ns, hello_since_ns; /* next one is due; first one was sent */
	unsigned hellos;                /* sent */
	bool told;                      /* a line has said that the peer does not answer */
	/* Of a further rail: nothing has completed for too long, as was first found at the poll of
	 * that number; something completed last. */
	bool still;
	uint32_t still_polls;
	uint64_t moved_ns;
};

/* A Short that is composed inline; what all have in common is set once. */
struct pibv_short {
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct pibv_header header;
	int32_t args[PSI_MAX_ARGS];
};

/* A segment of this process that peers reach.  One of more bytes than a device registers at once is
 * registered in parts, with the first device alone. */
struct psi_registration {
	struct psi_registration *next;
	char *base;
	size_t len_bytes, part_bytes;
	uint32_t parts;
	struct ibv_mr **mrs;            /* [devices][parts] */
	struct pibv_key_table *table;   /* of parts; NULL where there is one part */
	struct ibv_mr *table_mr;
};

struct psi_conduit {
	const struct psi_services *services;
	/* Constant after connect. */
	uint32_t place, places;
	uint64_t tag;                   /* the job's secret */
	uint64_t *counts;               /* NULL: the service tells */
	size_t medium_bytes, message_bytes, inline_bytes, piece_bytes;
	size_t packed_bytes;            /* payloads of Longs up to this go in the message */
	uint32_t credits;               /* requests on their way to one place; all agree */
	uint32_t payment;               /* half of them: owed, they are a message of their own */
	uint32_t depth, interval;       /* of send queues; a completion each so many requests */
	uint32_t depth_mask;            /* depth - 1: it is a power of 2 */
	uint64_t sources;               /* places that messages can be from */
	bool shorts_are_inline;         /* all of them */
	uint32_t signals_most;          /* that the completion queue has room for */
	uint32_t receive_count, buffer_count;
	uint32_t receive_batch;         /* receive buffers that are posted at once */
	uint8_t timeout, retries, reads;
	bool connect_all;               /* at start, since a process asks for it */
	unsigned rail_count, device_count;
	size_t part_bytes;              /* that a device registers at once */
	size_t stripe_bytes;            /* larger puts and gets are shared by the rails ... */
	size_t stripe_piece_bytes;      /* ... in requests of so many, each with a completion */
	uint64_t hello_first_ns, hello_most_ns;
	struct pibv_card *cards;        /* [places] */
	struct pibv_card card;          /* mine */
	struct pibv_device devices[PIBV_DEVICES];       /* [device_count] */
	struct pibv_rail rails[PIBV_RAILS];             /* [rail_count]; 0 is of device 0 */
	struct ibv_comp_channel *channel;               /* of the cq of device 0 */
	struct ibv_srq *srq;
	/* The guard protects what follows. */
	struct psi_guard guard;
	struct pibv_connection **connections;   /* [places]; NULL: none yet */
	uint16_t *arrived;              /* [places]: messages; headers have the lower 8 bits */
	uint16_t *spent[PSI_PORTS_MOST];        /* [places] each, made at first use: credits */
	struct psi_port *ports[PSI_PORTS_MOST];
	struct {
		char *bytes;                    /* [receive_count] of message_bytes each */
		struct ibv_mr *mr;
		struct ibv_recv_wr *wrs;        /* [receive_count] */
		struct ibv_sge *sges;
		struct ibv_recv_wr *free, **free_last; /* a chain, ready to be posted */
		uint32_t free_count, posted;
	} receives;
	struct {
		char *bytes;
		struct ibv_mr *mr;
		struct pibv_buffer *all, *free; /* [buffer_count] */
		uint32_t taken;
		bool lacking;                   /* somebody found none */
		char *spare;                    /* a line for bytes that nobody wants */
	} buffers;
	struct {
		struct ibv_qp *qp;              /* for datagrams */
		char *bytes;                    /* those that arrive, and then those that leave */
		struct ibv_mr *mr;
		uint32_t next;                  /* slot to send from; wraps */
		uint32_t sent, posted;          /* not yet completed; buffers for those to come */
		bool failed;                    /* it stands still, and is to start anew */
		struct pibv_connection *first;  /* not connected yet */
	} hello;
	struct {
		uint32_t process;               /* who knocks ... */
		uint64_t heard_ns;              /* ... and has done so last; 0: nobody */
		uint64_t looked_ns;             /* at the last look */
		uint64_t listened_ns;           /* for so long this process has polled since */
		uint64_t sent_ns;               /* this process has knocked last, at any */
	} knock;
	struct pibv_short sends;
	struct pibv_connection *made;           /* all */
	struct pibv_connection *backlog;        /* those with one */
	struct pibv_connection *wanting;        /* with work that somebody waits for, unsignaled */
	uint32_t moves;                         /* in backlogs */
	uint32_t signals;                       /* asked for and not yet read */
	struct psi_registration *segments;
	struct psi_registration *released;      /* that have tables: of no segment any more */
	struct pibv_peer_table *tables;         /* of segments of peers that are in parts */
	struct pibv_striped *striped;           /* transfers that rails share */
	struct {
		struct ibv_wc wcs[PIBV_BATCH];
		int count, next;
		unsigned device;                /* whose queue was asked last */
	} read;                                 /* completions that were read and not yet taken */
	uint32_t polls;
	bool port_was_down;                     /* the first rail's, at some time */
	bool lost;                              /* nothing goes on (pibv_lose) */
	struct psi_lost_peer lost_peer;
};

#endif
