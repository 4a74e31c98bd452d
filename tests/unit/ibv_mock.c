/*
 * The mock's objects: queues, queue pairs, registered memory.  What requests do is in
 * ibv_mock_wire.c.
 */
#include "tests/unit/ibv_mock_state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static _Atomic uint32_t last_number;    /* of queue pairs and keys */

/* -- queues ------------------------------------------------------------------------------------ */

struct ibv_pd *
ibv_alloc_pd(struct ibv_context *context)
{
	struct ibv_pd *pd;

	if (mock_object_refused(mock_device_at(context), MOCK_PD))
		return NULL;
	pd = mock_make(sizeof *pd);
	pd->context = context;
	return pd;
}

int
ibv_dealloc_pd(struct ibv_pd *pd)
{
	mock_object_gone(pd->context, pd);
	return 0;
}

struct ibv_comp_channel *
ibv_create_comp_channel(struct ibv_context *context)
{
	struct mock_channel *made;
	int fds[2];

	if (mock_object_refused(mock_device_at(context), MOCK_CHANNEL))
		return NULL;
	made = mock_make(sizeof *made);
	if (pipe2(fds, O_CLOEXEC) != 0)
		abort();
	made->channel = (struct ibv_comp_channel){ .context = context, .fd = fds[0] };
	made->write_fd = fds[1];
	return &made->channel;
}

int
ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
	struct mock_channel *made = (struct mock_channel *)(void *)channel;

	close(channel->fd);
	close(made->write_fd);
	mock_object_gone(channel->context, made);
	return 0;
}

struct ibv_cq *
ibv_create_cq(struct ibv_context *context, int entries, void *owner,
              struct ibv_comp_channel *channel, int vector)
{
	struct mock_cq *made;

	(void)vector;
	if (mock_object_refused(mock_device_at(context), MOCK_CQ))
		return NULL;
	if (entries < 1 || entries > mock_device_at(context)->limits.max_cqe)
		abort();
	made = mock_make(sizeof *made);
	made->cq = (struct ibv_cq){
		.context = context, .channel = channel, .cq_context = owner, .cqe = entries,
	};
	made->size = (uint32_t)entries;
	made->entries = mock_make(made->size * sizeof *made->entries);
	if (channel)
		((struct mock_channel *)(void *)channel)->cq = made;
	return &made->cq;
}

int
ibv_destroy_cq(struct ibv_cq *cq)
{
	free(((struct mock_cq *)(void *)cq)->entries);
	mock_object_gone(cq->context, cq);
	return 0;
}

int
ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **owner)
{
	struct mock_channel *made = (struct mock_channel *)(void *)channel;
	char byte;

	if (read(channel->fd, &byte, 1) != 1)
		return -1;
	*cq = &made->cq->cq;
	*owner = made->cq->cq.cq_context;
	return 0;
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned count) { (void)cq, (void)count; }

static void
receives_init(struct mock_receives *receives, uint32_t size)
{
	receives->size = size;
	receives->ring = mock_make((size + 1) * sizeof *receives->ring);
}

struct ibv_srq *
ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *init)
{
	struct mock_device *device = mock_device_at(pd->context);
	struct mock_srq *made;

	if (mock_object_refused(device, MOCK_SRQ))
		return NULL;
	if (init->attr.max_wr > (uint32_t)device->limits.max_srq_wr)
		abort();
	made = mock_make(sizeof *made);
	made->srq = (struct ibv_srq){ .context = pd->context, .pd = pd };
	receives_init(&made->receives, init->attr.max_wr);
	return &made->srq;
}

int
ibv_destroy_srq(struct ibv_srq *srq)
{
	free(((struct mock_srq *)(void *)srq)->receives.ring);
	mock_object_gone(srq->context, srq);
	return 0;
}

/* -- queue pairs ------------------------------------------------------------------------------- */

/* As a device does it: Ethernet has global addresses alone, from one of its own. */
static bool
address_is_sound(const struct mock_device *device, const struct ibv_ah_attr *address)
{
	const struct mock_port *port = &device->ports[address->port_num - 1];

	if (address->port_num < 1 || address->port_num > device->limits.phys_port_cnt)
		return false;
	if (address->is_global)
		return address->grh.sgid_index < port->gid_count;
	return port->attr.link_layer == IBV_LINK_LAYER_INFINIBAND;
}

struct ibv_qp *
ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init)
{
	struct mock_device *device = mock_device_at(pd->context);
	struct mock_qp *made;

	if (mock_object_refused(device, MOCK_QP))
		return NULL;
	if (init->cap.max_send_wr > (uint32_t)device->limits.max_qp_wr ||
	    init->cap.max_inline_data > MOCK_INLINE_BYTES)
		abort();
	made = mock_make(sizeof *made);
	mock_lock();
	made->qp = (struct ibv_qp){
		.context = pd->context, .pd = pd, .send_cq = init->send_cq,
		.recv_cq = init->recv_cq, .srq = init->srq, .qp_num = ++last_number,
		.qp_type = init->qp_type, .state = IBV_QPS_RESET,
	};
	made->device = device;
	made->cap = init->cap;
	made->ring = mock_make(init->cap.max_send_wr * sizeof *made->ring);
	receives_init(&made->receives, init->cap.max_recv_wr);
	made->next = device->qps;
	device->qps = made;
	mock_unlock();
	return &made->qp;
}

int
ibv_destroy_qp(struct ibv_qp *qp)
{
	struct mock_qp *gone = (struct mock_qp *)(void *)qp;
	struct mock_qp **link = &gone->device->qps;

	mock_lock();
	while (*link != gone)
		link = &(*link)->next;
	*link = gone->next;
	if (gone->waits)
		mock.waiting--;
	mock_unlock();
	free(gone->ring);
	free(gone->receives.ring);
	mock_object_gone(qp->context, gone);
	return 0;
}

/* What each step needs, as the specification of InfiniBand lists it. */
static bool
step_is_whole(const struct mock_qp *qp, enum ibv_qp_state to, int mask)
{
	const bool reliable = qp->qp.qp_type == IBV_QPT_RC;
	const int init = IBV_QP_PKEY_INDEX | IBV_QP_PORT |
	                 (reliable ? IBV_QP_ACCESS_FLAGS : IBV_QP_QKEY);
	const int reliable_receives = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
	                              IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
	                              IBV_QP_MIN_RNR_TIMER;
	const int reliable_sends = IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
	                           IBV_QP_MAX_QP_RD_ATOMIC;
	const int receives = reliable ? reliable_receives : 0;
	const int sends = IBV_QP_SQ_PSN | (reliable ? reliable_sends : 0);
	const enum ibv_qp_state from = qp->qp.state;

	mask &= ~IBV_QP_STATE;
	return to == IBV_QPS_ERR || (to == IBV_QPS_RESET && !mask) ||
	       (from == IBV_QPS_RESET && to == IBV_QPS_INIT && mask == init) ||
	       (from == IBV_QPS_INIT && to == IBV_QPS_RTR && mask == receives) ||
	       (from == IBV_QPS_RTR && to == IBV_QPS_RTS && mask == sends);
}

static void
attr_take(struct mock_qp *qp, const struct ibv_qp_attr *attr, int mask)
{
	struct ibv_qp_attr *mine = &qp->attr;

	if (mask & IBV_QP_ACCESS_FLAGS)
		mine->qp_access_flags = attr->qp_access_flags;
	if (mask & IBV_QP_QKEY)
		mine->qkey = attr->qkey;
	if (mask & IBV_QP_AV) {
		mine->ah_attr = attr->ah_attr;
		mine->path_mtu = attr->path_mtu;
		mine->dest_qp_num = attr->dest_qp_num;
		mine->rq_psn = attr->rq_psn;
		mine->max_dest_rd_atomic = attr->max_dest_rd_atomic;
		qp->peer_device = mock_find(qp->device, &attr->ah_attr);
	}
	if (mask & IBV_QP_TIMEOUT) {
		mine->timeout = attr->timeout;
		mine->retry_cnt = attr->retry_cnt;
		mine->rnr_retry = attr->rnr_retry;
		mine->max_rd_atomic = attr->max_rd_atomic;
	}
	if (mask & IBV_QP_SQ_PSN)
		mine->sq_psn = attr->sq_psn;
}

/* A device may give completions that were not read to the queue pair that begins anew, or drop
 * them: who resets it has read all. */
static void
reset(struct mock_qp *qp)
{
	const struct mock_cq *cq = mock_as_cq(qp->qp.recv_cq);

	for (uint32_t at = cq->read; at != cq->written; at++)
		if (cq->entries[at % cq->size].wc.qp_num == qp->qp.qp_num)
			abort();
	if (qp->freed != qp->posted)
		abort();
	qp->receives.posted = qp->receives.taken = 0;
	qp->posted = qp->made = qp->completed = qp->freed = 0;
}

int
ibv_modify_qp(struct ibv_qp *of, struct ibv_qp_attr *attr, int mask)
{
	struct mock_qp *qp = (struct mock_qp *)(void *)of;
	int code;

	mock_lock();
	code = mock_refuses(qp->device, MOCK_MODIFY);
	if (!code && (!step_is_whole(qp, attr->qp_state, mask) ||
	              (mask & IBV_QP_AV && !address_is_sound(qp->device, &attr->ah_attr))))
		code = EINVAL;
	if (!code) {
		attr_take(qp, attr, mask);
		of->state = attr->qp_state;
		if (of->state == IBV_QPS_RESET)
			reset(qp);
		if (mock_has_stopped(qp) && of->qp_type == IBV_QPT_UD)
			mock_flush(qp);
	}
	mock_unlock();
	return code;
}

struct ibv_ah *
ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct mock_device *device = mock_device_at(pd->context);
	struct mock_ah *made;

	if (!address_is_sound(device, attr)) {
		errno = EINVAL;
		return NULL;
	}
	if (mock_object_refused(device, MOCK_AH))
		return NULL;
	made = mock_make(sizeof *made);
	made->ah = (struct ibv_ah){ .context = pd->context, .pd = pd };
	made->attr = *attr;
	return &made->ah;
}

int
ibv_destroy_ah(struct ibv_ah *ah)
{
	mock_object_gone(ah->context, ah);
	return 0;
}

/* -- registered memory ------------------------------------------------------------------------- */

/* A number that no other key of the device has. */
static uint32_t
key_choose(const struct mock_device *device)
{
	uint32_t number = device->keys_return ? 1 : ++last_number;
	const struct mock_mr *at = device->mrs;

	while (device->keys_return && at) {
		const bool is_taken = at->mr.lkey == number << 8;

		number += is_taken;
		at = is_taken ? device->mrs : at->next;
	}
	return number;
}

struct ibv_mr *
(ibv_reg_mr)(struct ibv_pd *pd, void *base, size_t len_bytes, int access)
{
	struct mock_device *device = mock_device_at(pd->context);
	struct mock_mr *made;
	uint32_t number;

	if (mock_object_refused(device, MOCK_MR))
		return NULL;
	made = mock_make(sizeof *made);
	mock_lock();
	number = key_choose(device);
	made->mr = (struct ibv_mr){
		.context = pd->context, .pd = pd, .addr = base, .length = len_bytes,
		.lkey = number << 8, .rkey = number << 8 | 1,
	};
	made->access = (unsigned)access;
	made->next = device->mrs;
	device->mrs = made;
	device->counts.registrations++;
	mock_unlock();
	return &made->mr;
}

struct ibv_mr *
ibv_reg_mr_iova2(struct ibv_pd *pd, void *base, size_t len_bytes, uint64_t iova, unsigned access)
{
	if (iova != (uintptr_t)base)
		abort();
	return (ibv_reg_mr)(pd, base, len_bytes, (int)access);
}

int
ibv_dereg_mr(struct ibv_mr *mr)
{
	struct mock_mr *gone = (struct mock_mr *)(void *)mr;
	struct mock_device *device = mock_device_at(mr->context);
	struct mock_mr **link = &device->mrs;

	mock_lock();
	while (*link != gone)
		link = &(*link)->next;
	*link = gone->next;
	device->counts.registrations--;
	mock_unlock();
	mock_object_gone(mr->context, gone);
	return 0;
}
