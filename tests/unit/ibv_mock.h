/*
 * A fabric of RDMA devices in this process, in place of libibverbs: what the ibv conduit calls of
 * it is defined here, and the operations of contexts behind its inline functions.
 *
 * It keeps the rules of devices, and a test that breaks one sees what a device would do: requests
 * of one queue pair are made in their order; inline bytes are read at once, others when the request
 * is made; an entry of a send queue is free again when a completion of it, or of a later one, has
 * been read; a message for which there is no receive buffer waits; a request that fails flushes
 * those behind it; keys, bounds and rights of registered memory are checked; a completion queue
 * that overflows breaks.  Datagrams without a buffer or with a wrong Q_Key are dropped.  A queue
 * pair for datagrams sends no more after one that fails; after one that is larger than its buffer,
 * or when it is told to, it stops, and all that is posted to it is flushed.
 *
 * All happens at once and in order, unless a test says otherwise.  Each function may be called by
 * any thread.
 */
#ifndef IBV_MOCK_H
#define IBV_MOCK_H

#include "config.h"

#include <infiniband/verbs.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
	MOCK_HOSTS = 4, MOCK_DEVICES = 2, MOCK_PORTS = 2, MOCK_GIDS = 6, MOCK_PKEYS = 4,
	MOCK_DATAGRAM_BYTES = 256, MOCK_DATAGRAMS = 256, MOCK_INLINE_BYTES = 256,
	MOCK_GRH_BYTES = 40, MOCK_EVENTS = 8,
};

/* Calls that a device can be told to refuse. */
enum mock_call {
	MOCK_OPEN, MOCK_QUERY, MOCK_PD, MOCK_CHANNEL, MOCK_CQ, MOCK_SRQ, MOCK_QP, MOCK_MODIFY,
	MOCK_AH, MOCK_MR, MOCK_POST_SEND, MOCK_POST_DATAGRAM, MOCK_POST_RECV, MOCK_POST_SRQ,
	MOCK_POLL,
	MOCK_CALLS
};

/* What a device was asked to do.  A chain is one call, and rings one doorbell. */
struct mock_counts {
	uint64_t requests, chains;      /* of reliable connections */
	uint64_t sends, writes, reads, inlined, empty;  /* of them; empty: writes of no bytes */
	uint64_t empty_behind_reads;    /* of which no completion has told */
	uint64_t send_completions, receive_completions; /* of them, read by ibv_poll_cq */
	uint64_t datagrams;             /* posted */
	uint64_t receives, receive_chains;      /* posted to shared receive queues */
	uint64_t polls, polls_empty;
	uint64_t event_reads;           /* calls that ask for an event of the device */
	uint64_t registrations;         /* that there are */
	uint64_t objects;               /* of all kinds that there are */
};

struct mock_port {
	struct ibv_port_attr attr;
	struct ibv_gid_entry gids[MOCK_GIDS];
	unsigned gid_count;
	uint16_t pkeys[MOCK_PKEYS];
	bool cut;                       /* nothing comes or goes: RETRY_EXC */
	bool still;                     /* its requests do not end, and nothing tells why */
	unsigned still_after;           /* but so many more do */
};

struct mock_device {
	struct ibv_device device;       /* the first: they are converted */
	bool present;
	uint32_t host;
	struct ibv_device_attr limits;
	struct mock_port ports[MOCK_PORTS];     /* that of number n is ports[n - 1] */
	struct mock_counts counts;
	/* What a test asks of it. */
	int refuse[MOCK_CALLS];                 /* an errno; 0: it does not */
	unsigned refuse_after[MOCK_CALLS];      /* so many calls that it does not refuse */
	bool hold;                      /* requests are not made, until mock_run */
	bool late;                      /* they are, but do not complete, until mock_run */
	bool keys_return;               /* the next registration has the least key that is free */
	bool gone;                      /* requests to it are not answered: RETRY_EXC */
	enum ibv_wc_status fail_status; /* of the request that is made next; 0: none */
	unsigned fail_after;            /* so many more are made before that */
	enum ibv_wc_status fail_datagram;       /* the same of datagrams that leave */
	unsigned fail_datagram_after;
	/* State of the mock's own. */
	struct mock_context *context;   /* the last that was opened */
	struct mock_mr *mrs;
	struct mock_qp *qps;
};

/* A datagram on its way. */
struct mock_datagram {
	char bytes[MOCK_DATAGRAM_BYTES];
	uint32_t len_bytes;
	struct mock_device *to, *from;
	uint32_t qp, qkey, from_qp;
};

struct mock_fabric {
	struct mock_device devices[MOCK_HOSTS][MOCK_DEVICES];
	bool hold_datagrams;            /* they stay in `datagrams' */
	/* How many of a datagram arrive; NULL: one.  It counts them from 0. */
	unsigned (*fate)(unsigned number);
	unsigned datagrams_sent, datagrams_dropped;
	struct mock_datagram datagrams[MOCK_DATAGRAMS];
	unsigned datagram_count;
#ifdef HAVE_IBV_IS_FORK_INITIALIZED
	enum ibv_fork_status fork_status;       /* what it says of registered pages and children */
#endif
	unsigned fork_inits;            /* calls that keep them from children */
	unsigned waiting;               /* messages for which there was no receive buffer */
	_Atomic bool busy;              /* the lock */
};

extern struct mock_fabric mock;

/* A fabric of that many hosts, each with one device of one port that is up: RoCE v2 over IPv4. */
void mock_reset(uint32_t hosts);
/* The devices of that host are those that the calling thread finds. */
void mock_here(uint32_t host);
static inline struct mock_device *mock_device_of(uint32_t host) { return &mock.devices[host][0]; }

/* A port's table of addresses. */
void mock_gid_add(struct mock_device *device, unsigned port, enum ibv_gid_type type,
                  const char *address, unsigned ifindex);

/* Makes all that is held or late, in the order of queue pairs. */
void mock_run(void);

/* Delivers, or drops, the datagram of that index among those that are held. */
void mock_datagram_deliver(unsigned index);
void mock_datagram_drop(unsigned index);
/* A datagram from a stranger, to the queue pair of that number. */
void mock_datagram_inject(struct mock_device *to, uint32_t qp, uint32_t qkey, const void *bytes,
                          uint32_t len_bytes);

/* An event of the device, or of its port. */
void mock_event(struct mock_device *device, enum ibv_event_type type, unsigned port);

#endif
