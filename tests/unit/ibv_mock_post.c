/*
 * The mock's calls by which requests are posted and completions read.
 */
#include "tests/unit/ibv_mock_state.h"

#include <errno.h>

/* -- posting ----------------------------------------------------------------------------------- */

static bool
reads_are_under_way(const struct mock_qp *qp)
{
	for (uint32_t i = qp->freed; i != qp->posted; i++)
		if (qp->ring[i % qp->cap.max_send_wr].wr.opcode == IBV_WR_RDMA_READ)
			return true;
	return false;
}

static void
request_count(struct mock_qp *qp, const struct mock_request *request)
{
	struct mock_counts *counts = &qp->device->counts;

	if (qp->qp.qp_type == IBV_QPT_UD) {
		counts->datagrams++;
		return;
	}
	counts->requests++;
	counts->sends += request->wr.opcode == IBV_WR_SEND;
	counts->reads += request->wr.opcode == IBV_WR_RDMA_READ;
	counts->writes += request->wr.opcode == IBV_WR_RDMA_WRITE && request->sge.length;
	counts->empty += request->wr.opcode == IBV_WR_RDMA_WRITE && !request->sge.length;
	counts->empty_behind_reads += request->wr.opcode == IBV_WR_RDMA_WRITE &&
	                              !request->sge.length && reads_are_under_way(qp);
	counts->inlined += (request->wr.send_flags & IBV_SEND_INLINE) != 0;
}

/* 0, or an errno. */
static int
request_enter(struct mock_qp *qp, const struct ibv_send_wr *wr)
{
	struct mock_request *request = &qp->ring[qp->posted % qp->cap.max_send_wr];

	if (qp->posted - qp->freed >= qp->cap.max_send_wr)
		return ENOMEM;
	if (qp->qp.state != IBV_QPS_RTS && qp->qp.state != IBV_QPS_SQE && !mock_has_stopped(qp))
		return EINVAL;
	mock_copy(&request->wr, wr, sizeof request->wr);
	request->sge = wr->num_sge ? wr->sg_list[0] : (struct ibv_sge){ .length = 0 };
	if (wr->send_flags & IBV_SEND_INLINE) {
		if (request->sge.length > qp->cap.max_inline_data)
			return EINVAL;
		mock_copy(request->bytes, (const void *)(uintptr_t)request->sge.addr,
		     request->sge.length);
	}
	qp->posted++;
	request_count(qp, request);
	return 0;
}

int
mock_post_send(struct ibv_qp *of, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct mock_qp *qp = mock_as_qp(of);
	const bool is_datagram = of->qp_type == IBV_QPT_UD;
	int code;

	mock_lock();
	code = mock_refuses(qp->device, is_datagram ? MOCK_POST_DATAGRAM : MOCK_POST_SEND);
	qp->device->counts.chains += !is_datagram;
	while (wr && !code) {
		code = request_enter(qp, wr);
		if (!code)
			wr = wr->next;
	}
	*bad = wr;
	mock_qp_go(qp);
	mock_unlock();
	return code;
}

static int
receives_add(struct mock_receives *receives, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad,
             uint64_t *count)
{
	for (; wr; wr = wr->next) {
		if (receives->posted - receives->taken >= receives->size) {
			*bad = wr;
			return ENOMEM;
		}
		receives->ring[receives->posted++ % receives->size] =
			(struct mock_receive){ .wr_id = wr->wr_id, .sge = wr->sg_list[0] };
		++*count;
	}
	return 0;
}

int
mock_post_recv(struct ibv_qp *of, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct mock_qp *qp = mock_as_qp(of);
	uint64_t count = 0;
	int code;

	mock_lock();
	code = mock_refuses(qp->device, MOCK_POST_RECV);
	*bad = wr;
	if (!code)
		code = receives_add(&qp->receives, wr, bad, &count);
	if (mock_has_stopped(qp))
		mock_flush(qp);
	mock_unlock();
	return code;
}

int
mock_post_srq_recv(struct ibv_srq *of, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct mock_device *device = mock_context_of(of->context)->device;
	int code;

	mock_lock();
	code = mock_refuses(device, MOCK_POST_SRQ);
	*bad = wr;
	device->counts.receive_chains++;
	if (!code)
		code = receives_add(&mock_as_srq(of)->receives, wr, bad, &device->counts.receives);
	if (mock.waiting)
		mock_fabric_run(false, true);
	mock_unlock();
	return code;
}

/* -- reading completions ----------------------------------------------------------------------- */

static void
entry_read(struct mock_device *device, const struct mock_entry *entry)
{
	if (entry->qp)
		entry->qp->freed = entry->freed;
	if (entry->qp && entry->qp->qp.qp_type == IBV_QPT_RC)
		device->counts.send_completions++;
	else if (!entry->qp && !(entry->wc.wc_flags & IBV_WC_GRH))
		device->counts.receive_completions++;
}

int
mock_poll_cq(struct ibv_cq *of, int count, struct ibv_wc *wcs)
{
	struct mock_device *device = mock_context_of(of->context)->device;
	struct mock_cq *cq = mock_as_cq(of);
	int found = 0;

	mock_lock();
	device->counts.polls++;
	if (mock_refuses(device, MOCK_POLL) || cq->overflown)
		found = -1;
	while (found >= 0 && found < count && cq->read != cq->written) {
		const struct mock_entry *entry = &cq->entries[cq->read++ % cq->size];

		wcs[found++] = entry->wc;
		entry_read(device, entry);
	}
	device->counts.polls_empty += found == 0;
	mock_unlock();
	return found;
}

int
mock_req_notify_cq(struct ibv_cq *of, int solicited)
{
	(void)solicited;
	mock_lock();
	mock_as_cq(of)->armed = true;
	mock_unlock();
	return 0;
}
