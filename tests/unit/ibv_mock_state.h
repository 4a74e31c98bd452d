/* What the mock keeps of each object; shared by its files (ibv_mock.h). */
#ifndef IBV_MOCK_STATE_H
#define IBV_MOCK_STATE_H

#include "tests/unit/ibv_mock.h"

#include <stddef.h>

struct mock_event_queue {
	int fds[2];                     /* a pipe with a byte for each */
	struct ibv_async_event events[MOCK_EVENTS];
	unsigned count;
};

struct mock_context {
	struct mock_device *device;
	struct mock_event_queue events;
	struct verbs_context verbs;
};

struct mock_mr {
	struct ibv_mr mr;
	unsigned access;
	struct mock_mr *next;
};

struct mock_channel {
	struct ibv_comp_channel channel;
	int write_fd;
	struct mock_cq *cq;
};

/* A completion, and how far it frees the send queue of its queue pair. */
struct mock_entry {
	struct ibv_wc wc;
	struct mock_qp *qp;             /* of a send; NULL: of a receive */
	uint32_t freed;
};

struct mock_cq {
	struct ibv_cq cq;
	struct mock_entry *entries;
	uint32_t size, written, read;   /* counts run on */
	bool armed, overflown;
};

struct mock_receive {
	uint64_t wr_id;
	struct ibv_sge sge;
};

struct mock_receives {
	struct mock_receive *ring;
	uint32_t size, posted, taken;   /* counts run on */
};

struct mock_srq {
	struct ibv_srq srq;
	struct mock_receives receives;
};

struct mock_ah {
	struct ibv_ah ah;
	struct ibv_ah_attr attr;
};

struct mock_request {
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	enum ibv_wc_status status;      /* once it is made */
	char bytes[MOCK_INLINE_BYTES];
};

/* posted >= made >= completed >= freed; counts run on. */
struct mock_qp {
	struct ibv_qp qp;
	struct mock_device *device;
	struct mock_qp *next;
	struct ibv_qp_cap cap;
	struct mock_receives receives;  /* of one for datagrams */
	struct mock_request *ring;
	uint32_t posted, made, completed, freed;
	bool waits;                     /* for a receive buffer of the peer's */
	/* As modified. */
	struct ibv_qp_attr attr;
	struct mock_device *peer_device;
};

static inline struct mock_context *
mock_context_of(struct ibv_context *context)
{
	return (struct mock_context *)(void *)((char *)context -
	                                       offsetof(struct mock_context, verbs.context));
}

/* Without memcpy; the empty asm keeps the compiler from making it one. */
static inline void
mock_copy(void *to, const void *from, size_t len_bytes)
{
	char *at = to;
	const char *of = from;

	for (size_t i = 0; i < len_bytes; i++) {
		at[i] = of[i];
		__asm__ volatile("" ::: "memory");
	}
}

static inline bool
mock_has_stopped(const struct mock_qp *qp)
{
	return qp->qp.state == IBV_QPS_ERR;
}

static inline struct mock_qp *mock_as_qp(struct ibv_qp *qp) { return (struct mock_qp *)(void *)qp; }
static inline struct mock_cq *mock_as_cq(struct ibv_cq *cq) { return (struct mock_cq *)(void *)cq; }

static inline struct mock_srq *
mock_as_srq(struct ibv_srq *srq)
{
	return (struct mock_srq *)(void *)srq;
}

/* One call at a time. */
static inline void
mock_lock(void)
{
	while (atomic_exchange_explicit(&mock.busy, true, memory_order_acquire))
		;
}

static inline void
mock_unlock(void)
{
	atomic_store_explicit(&mock.busy, false, memory_order_release);
}

static inline struct mock_device *
mock_device_at(struct ibv_context *context)
{
	return mock_context_of(context)->device;
}

/* Memory for an object, zero-filled; ends the test if there is none. */
void *mock_make(size_t len_bytes);
/* True: the call that makes an object is refused, and errno says why.  Else the object counts. */
bool mock_object_refused(struct mock_device *device, enum mock_call call);
void mock_object_gone(struct ibv_context *context, void *object);
/* The errno with which a call is refused; 0: it is not. */
int mock_refuses(struct mock_device *device, enum mock_call call);
/* The device with a port at that address; NULL: none. */
struct mock_device *mock_find(const struct mock_device *from, const struct ibv_ah_attr *address);
void mock_event_locked(struct mock_device *device, enum ibv_event_type type, unsigned port);

/* What is posted to a queue pair for datagrams that has stopped completes as flushed. */
void mock_flush(struct mock_qp *qp);
/* Makes what a queue pair has, as far as its device is not to hold it. */
void mock_qp_go(struct mock_qp *qp);
/* The same for all reliable ones, or for those alone that wait for a receive buffer; all: what is
 * held or late too. */
void mock_fabric_run(bool all, bool waiting_alone);

/* The operations of a context (ibv_mock_post.c). */
int mock_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int mock_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
int mock_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
int mock_poll_cq(struct ibv_cq *cq, int count, struct ibv_wc *wcs);
int mock_req_notify_cq(struct ibv_cq *cq, int solicited);

#endif
