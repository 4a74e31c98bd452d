/*
 * The mock's work requests and datagrams: made in their order, and completed.
 *
 * No function of the C library is called on the way of a message, so that a count of instructions
 * shows which are those of the mock (tests/unit/t_ibv_count).
 */
#include "tests/unit/ibv_mock_state.h"

#include <string.h>
#include <unistd.h>

static struct mock_qp *
qp_find(const struct mock_device *device, uint32_t number)
{
	struct mock_qp *at = device ? device->qps : NULL;

	while (at && at->qp.qp_num != number)
		at = at->next;
	return at;
}

/* -- completions ------------------------------------------------------------------------------- */

static void
cq_add(struct mock_cq *cq, struct mock_entry entry)
{
	struct mock_channel *channel = (struct mock_channel *)(void *)cq->cq.channel;

	if (cq->written - cq->read >= cq->size) {
		if (!cq->overflown)
			mock_event_locked(mock_context_of(cq->cq.context)->device,
			                  IBV_EVENT_CQ_ERR, 0);
		cq->overflown = true;
		return;
	}
	cq->entries[cq->written++ % cq->size] = entry;
	if (cq->armed && channel && write(channel->write_fd, "", 1) == 1)
		cq->armed = false;
}

static void
request_complete(struct mock_qp *qp, const struct mock_request *request)
{
	static const enum ibv_wc_opcode opcodes[] = {
		[IBV_WR_RDMA_WRITE] = IBV_WC_RDMA_WRITE, [IBV_WR_SEND] = IBV_WC_SEND,
		[IBV_WR_RDMA_WRITE_WITH_IMM] = IBV_WC_RDMA_WRITE,
		[IBV_WR_RDMA_READ] = IBV_WC_RDMA_READ,
		[IBV_WR_ATOMIC_CMP_AND_SWP] = IBV_WC_COMP_SWAP,
		[IBV_WR_ATOMIC_FETCH_AND_ADD] = IBV_WC_FETCH_ADD,
	};

	qp->completed++;
	if (request->status == IBV_WC_SUCCESS && !(request->wr.send_flags & IBV_SEND_SIGNALED))
		return;
	cq_add(mock_as_cq(qp->qp.send_cq), (struct mock_entry){
		.wc = { .wr_id = request->wr.wr_id, .status = request->status,
		        .opcode = opcodes[request->wr.opcode], .qp_num = qp->qp.qp_num,
		        .vendor_err = request->status ? 0x81 : 0 },
		.qp = qp, .freed = qp->completed,
	});
}

static void
receive_complete(struct mock_qp *at, uint64_t wr_id, uint32_t len_bytes, uint32_t from_qp,
                 enum ibv_wc_status status)
{
	cq_add(mock_as_cq(at->qp.recv_cq), (struct mock_entry){
		.wc = { .wr_id = wr_id, .status = status, .opcode = IBV_WC_RECV,
		        .byte_len = len_bytes, .qp_num = at->qp.qp_num, .src_qp = from_qp,
		        .wc_flags = at->qp.qp_type == IBV_QPT_UD ? IBV_WC_GRH : 0 },
	});
}

/* -- memory ------------------------------------------------------------------------------------ */

/* The bytes under a key, if it gives that right to all of them. */
static void *
memory_at(const struct mock_device *device, uint32_t key, bool is_remote, uint64_t addr,
          uint64_t len_bytes, unsigned right)
{
	for (const struct mock_mr *at = device->mrs; at; at = at->next) {
		const uint64_t base = (uintptr_t)at->mr.addr;

		if ((is_remote ? at->mr.rkey : at->mr.lkey) != key)
			continue;
		if ((at->access & right) != right || addr < base || len_bytes > at->mr.length ||
		    addr - base > at->mr.length - len_bytes)
			return NULL;
		return (void *)(uintptr_t)addr;
	}
	return NULL;
}

/* What a request sends from, or gets into; NULL: the memory is not registered so. */
static void *
request_memory(const struct mock_qp *qp, struct mock_request *request, unsigned right)
{
	if (request->wr.send_flags & IBV_SEND_INLINE)
		return request->bytes;
	return memory_at(qp->device, request->sge.lkey, false, request->sge.addr,
	                 request->sge.length, right);
}

/* -- making a request -------------------------------------------------------------------------- */

static struct mock_port *
port_of(const struct mock_qp *qp)
{
	return &qp->device->ports[qp->attr.ah_attr.port_num - 1];
}

static bool port_is_cut(const struct mock_qp *qp) { return port_of(qp)->cut; }

/* Its requests are not even made; those of a queue pair that is stopped are flushed. */
static bool
stands_still(const struct mock_qp *qp)
{
	struct mock_port *port = port_of(qp);

	if (!port->still || mock_has_stopped(qp))
		return false;
	if (!port->still_after)
		return true;
	port->still_after--;
	return false;
}

static bool
peer_receives(const struct mock_qp *qp, const struct mock_qp *peer)
{
	return peer && peer->qp.qp_type == IBV_QPT_RC && !peer->device->gone &&
	       !port_is_cut(qp) && !port_is_cut(peer) &&
	       (peer->qp.state == IBV_QPS_RTR || peer->qp.state == IBV_QPS_RTS) &&
	       peer->attr.dest_qp_num == qp->qp.qp_num && peer->attr.rq_psn == qp->attr.sq_psn &&
	       peer->attr.path_mtu == qp->attr.path_mtu;
}

/* False: it waits for a receive buffer. */
static bool
send_make(struct mock_qp *qp, struct mock_qp *peer, struct mock_request *request)
{
	struct mock_receives *receives = &mock_as_srq(peer->qp.srq)->receives;
	const void *from = request_memory(qp, request, 0);
	const struct mock_receive *to;
	void *memory;

	if (!from) {
		request->status = IBV_WC_LOC_PROT_ERR;
		return true;
	}
	if (receives->taken == receives->posted)
		return false;
	to = &receives->ring[receives->taken++ % receives->size];
	memory = memory_at(peer->device, to->sge.lkey, false, to->sge.addr, to->sge.length,
	                   IBV_ACCESS_LOCAL_WRITE);
	if (!memory || request->sge.length > to->sge.length) {
		request->status = IBV_WC_REM_INV_REQ_ERR;
		receive_complete(peer, to->wr_id, 0, qp->qp.qp_num,
		                 memory ? IBV_WC_LOC_LEN_ERR : IBV_WC_LOC_PROT_ERR);
		return true;
	}
	mock_copy(memory, from, request->sge.length);
	receive_complete(peer, to->wr_id, request->sge.length, qp->qp.qp_num, IBV_WC_SUCCESS);
	return true;
}

static void
atomic_make(struct mock_request *request, uint64_t *word, uint64_t *result)
{
	const struct ibv_send_wr *wr = &request->wr;

	*result = *word;
	if (wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		*word += wr->wr.atomic.compare_add;
	else if (*word == wr->wr.atomic.compare_add)
		*word = wr->wr.atomic.swap;
}

/* Reads, writes and atomics. */
static void
rdma_make(struct mock_qp *qp, struct mock_qp *peer, struct mock_request *request)
{
	const bool is_write = request->wr.opcode == IBV_WR_RDMA_WRITE;
	const bool is_read = request->wr.opcode == IBV_WR_RDMA_READ;
	const unsigned right = is_write ? IBV_ACCESS_REMOTE_WRITE
	                       : is_read ? IBV_ACCESS_REMOTE_READ : IBV_ACCESS_REMOTE_ATOMIC;
	const uint64_t addr = is_write || is_read ? request->wr.wr.rdma.remote_addr
	                                          : request->wr.wr.atomic.remote_addr;
	const uint32_t key = is_write || is_read ? request->wr.wr.rdma.rkey
	                                         : request->wr.wr.atomic.rkey;
	void *here, *there;

	if (!request->sge.length)
		return;         /* no bytes need no key */
	here = request_memory(qp, request, is_write ? 0 : IBV_ACCESS_LOCAL_WRITE);
	there = memory_at(peer->device, key, true, addr, request->sge.length, right);
	if (!here)
		request->status = IBV_WC_LOC_PROT_ERR;
	else if (!there || !(peer->attr.qp_access_flags & right))
		request->status = IBV_WC_REM_ACCESS_ERR;
	else if (!is_write && (!qp->attr.max_rd_atomic ||
	                       qp->attr.max_rd_atomic > peer->attr.max_dest_rd_atomic))
		request->status = IBV_WC_REM_INV_RD_REQ_ERR;
	else if (is_write)
		mock_copy(there, here, request->sge.length);
	else if (is_read)
		mock_copy(here, there, request->sge.length);
	else
		atomic_make(request, there, here);
}

/* The status that a test asks for. */
static enum ibv_wc_status
status_asked(enum ibv_wc_status *asked, unsigned *after)
{
	const enum ibv_wc_status status = *asked;

	if (!status || *after) {
		*after -= status != 0;
		return IBV_WC_SUCCESS;
	}
	*asked = IBV_WC_SUCCESS;
	return status;
}

/* False: it waits. */
static bool
request_make(struct mock_qp *qp, struct mock_request *request)
{
	struct mock_qp *peer = qp_find(qp->peer_device, qp->attr.dest_qp_num);

	request->status = IBV_WC_SUCCESS;
	if (qp->qp.state == IBV_QPS_ERR) {
		request->status = IBV_WC_WR_FLUSH_ERR;
		return true;
	}
	if (!peer_receives(qp, peer))
		request->status = IBV_WC_RETRY_EXC_ERR;
	else
		request->status = status_asked(&qp->device->fail_status, &qp->device->fail_after);
	if (request->status)
		return true;
	if (request->wr.opcode == IBV_WR_SEND)
		return send_make(qp, peer, request);
	rdma_make(qp, peer, request);
	return true;
}

static void
qp_wait(struct mock_qp *qp, bool waits)
{
	if (qp->waits != waits)
		mock.waiting += waits ? 1 : -1u;
	qp->waits = waits;
}

static void
qp_run(struct mock_qp *qp, bool all)
{
	while (qp->made != qp->posted && (all || !qp->device->hold) && !stands_still(qp)) {
		struct mock_request *request = &qp->ring[qp->made % qp->cap.max_send_wr];
		const bool made = request_make(qp, request);

		qp_wait(qp, !made);
		if (!made)
			break;
		if (request->status)
			qp->qp.state = IBV_QPS_ERR;
		qp->made++;
	}
	while (qp->completed != qp->made && (all || !qp->device->late))
		request_complete(qp, &qp->ring[qp->completed % qp->cap.max_send_wr]);
}

void
mock_fabric_run(bool all, bool waiting_alone)
{
	for (uint32_t host = 0; host < MOCK_HOSTS; host++)
		for (uint32_t index = 0; index < MOCK_DEVICES; index++)
			for (struct mock_qp *at = mock.devices[host][index].qps; at; at = at->next)
				if (at->qp.qp_type == IBV_QPT_RC && (at->waits || !waiting_alone))
					qp_run(at, all);
}

void
mock_run(void)
{
	mock_lock();
	mock_fabric_run(true, false);
	mock_unlock();
}

/* -- datagrams --------------------------------------------------------------------------------- */

void
mock_flush(struct mock_qp *qp)
{
	struct mock_receives *receives = &qp->receives;

	while (receives->taken != receives->posted)
		receive_complete(qp, receives->ring[receives->taken++ % receives->size].wr_id, 0, 0,
		                 IBV_WC_WR_FLUSH_ERR);
}

static void
datagram_arrive(const struct mock_datagram *datagram)
{
	struct mock_qp *at = qp_find(datagram->to, datagram->qp);
	struct mock_receives *receives = at ? &at->receives : NULL;
	const struct mock_receive *to;
	char *memory;

	mock.datagrams_dropped++;
	if (!at || at->qp.qp_type != IBV_QPT_UD || at->qp.state < IBV_QPS_RTR ||
	    mock_has_stopped(at) || at->attr.qkey != datagram->qkey || at->device->gone ||
	    receives->taken == receives->posted)
		return;
	to = &receives->ring[receives->taken++ % receives->size];
	memory = memory_at(at->device, to->sge.lkey, false, to->sge.addr, to->sge.length,
	                   IBV_ACCESS_LOCAL_WRITE);
	if (!memory || to->sge.length < MOCK_GRH_BYTES + datagram->len_bytes) {
		at->qp.state = IBV_QPS_ERR;
		receive_complete(at, to->wr_id, 0, datagram->from_qp,
		                 memory ? IBV_WC_LOC_LEN_ERR : IBV_WC_LOC_PROT_ERR);
		mock_flush(at);
		return;
	}
	mock.datagrams_dropped--;
	mock_copy(memory + MOCK_GRH_BYTES, datagram->bytes, datagram->len_bytes);
	receive_complete(at, to->wr_id, MOCK_GRH_BYTES + datagram->len_bytes, datagram->from_qp,
	                 IBV_WC_SUCCESS);
}

static void
datagram_go(const struct mock_datagram *datagram)
{
	unsigned copies = mock.fate ? mock.fate(mock.datagrams_sent) : 1;

	mock.datagrams_sent++;
	if (!mock.hold_datagrams) {
		mock.datagrams_dropped += !copies;
		while (copies-- > 0)
			datagram_arrive(datagram);
	} else if (mock.datagram_count < MOCK_DATAGRAMS) {
		mock.datagrams[mock.datagram_count++] = *datagram;
	}
}

static void
datagram_make(struct mock_qp *qp, struct mock_request *request)
{
	const struct mock_ah *ah = (const struct mock_ah *)(void *)request->wr.wr.ud.ah;
	struct mock_datagram datagram = {
		.len_bytes = request->sge.length, .from = qp->device,
		.to = mock_find(qp->device, &ah->attr), .from_qp = qp->qp.qp_num,
		.qp = request->wr.wr.ud.remote_qpn, .qkey = request->wr.wr.ud.remote_qkey,
	};
	const void *from = request_memory(qp, request, 0);

	if (mock_has_stopped(qp) || qp->qp.state == IBV_QPS_SQE)
		request->status = IBV_WC_WR_FLUSH_ERR;
	else if (!from || datagram.len_bytes > MOCK_DATAGRAM_BYTES)
		request->status = IBV_WC_LOC_PROT_ERR;
	else
		request->status = status_asked(&qp->device->fail_datagram,
		                               &qp->device->fail_datagram_after);
	if (request->status) {
		if (!mock_has_stopped(qp))
			qp->qp.state = IBV_QPS_SQE;
		return;
	}
	mock_copy(datagram.bytes, from, datagram.len_bytes);
	datagram_go(&datagram);
}

static void
datagram_remove(unsigned index)
{
	mock.datagram_count--;
	memmove(&mock.datagrams[index], &mock.datagrams[index + 1],
	        (mock.datagram_count - index) * sizeof *mock.datagrams);
}

void
mock_datagram_deliver(unsigned index)
{
	mock_lock();
	datagram_arrive(&mock.datagrams[index]);
	datagram_remove(index);
	mock_unlock();
}

void
mock_datagram_drop(unsigned index)
{
	mock_lock();
	datagram_remove(index);
	mock.datagrams_dropped++;
	mock_unlock();
}

void
mock_datagram_inject(struct mock_device *to, uint32_t qp, uint32_t qkey, const void *bytes,
                     uint32_t len_bytes)
{
	struct mock_datagram datagram = {
		.to = to, .qp = qp, .qkey = qkey, .len_bytes = len_bytes,
	};

	mock_lock();
	mock_copy(datagram.bytes, bytes, len_bytes);
	datagram_arrive(&datagram);
	mock_unlock();
}

/* Datagrams are made as they are posted. */
void
mock_qp_go(struct mock_qp *qp)
{
	if (qp->qp.qp_type == IBV_QPT_RC) {
		qp_run(qp, false);
		return;
	}
	while (qp->made != qp->posted)
		datagram_make(qp, &qp->ring[qp->made++ % qp->cap.max_send_wr]);
	while (qp->completed != qp->made)
		request_complete(qp, &qp->ring[qp->completed % qp->cap.max_send_wr]);
}
