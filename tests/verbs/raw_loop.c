/*
 * "raw_loop PATTERN TIMES": the same as patterns.c does, by nothing but libibverbs, between two
 * queue pairs of one process on its first device.  It is the least that a program can ask of a
 * device for them (counting.c).
 *
 *     send     an inline message of 24 bytes, and one in answer: two messages
 *     write    a write of 8 bytes that is waited for
 *     stream   writes of 4 KiB, of which the last is waited for
 *     pair     a write of 64 KiB and a message behind it, in one chain
 *
 * Of requests that nobody waits for, one in 32 asks for a completion.  Receive buffers are posted
 * by 16.
 */
#include <infiniband/verbs.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { QUEUE = 128, BATCH = 32, POSTED = 16, SMALL = 24, PAGE = 4096, LARGE = 65536, GID = 1 };

static char memory[2 * LARGE];
static struct ibv_pd *pd;
static struct ibv_mr *mr;
static struct side {
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	unsigned requests, signalled, completed;
	unsigned received, posted;
} a, b;

static void
need(int right, const char *what)
{
	if (right)
		return;
	fprintf(stderr, "raw_loop: %s does not work\n", what);
	exit(1);
}

/* -- connecting -------------------------------------------------------------------------------- */

static void
side_open(struct side *side, struct ibv_context *context)
{
	struct ibv_qp_init_attr has = { .qp_type = IBV_QPT_RC };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1,
		                    .qp_access_flags = IBV_ACCESS_REMOTE_WRITE };

	side->cq = ibv_create_cq(context, 4 * QUEUE, NULL, NULL, 0);
	need(side->cq != NULL, "a completion queue");
	has.send_cq = has.recv_cq = side->cq;
	has.cap = (struct ibv_qp_cap){ QUEUE, QUEUE, 1, 1, 128 };
	side->qp = ibv_create_qp(pd, &has);
	need(side->qp != NULL, "a queue pair");
	need(ibv_modify_qp(side->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
	                   IBV_QP_ACCESS_FLAGS) == 0, "INIT");
}

static void
side_connect(struct side *side, const struct side *peer, union ibv_gid gid)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = peer->qp->qp_num,
		.max_dest_rd_atomic = 1, .min_rnr_timer = 12,
		.ah_attr = { .is_global = 1, .port_num = 1,
		             .grh = { .dgid = gid, .sgid_index = GID, .hop_limit = 1 } },
	};

	need(ibv_modify_qp(side->qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
	                   IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
	                   IBV_QP_MIN_RNR_TIMER) == 0, "RTR");
	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 6,
		                     .rnr_retry = 7, .max_rd_atomic = 1 };
	need(ibv_modify_qp(side->qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
	                   IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
	                   IBV_QP_MAX_QP_RD_ATOMIC) == 0, "RTS");
}

static void
both_open(void)
{
	struct ibv_device **devices = ibv_get_device_list(NULL);
	struct ibv_context *context;
	union ibv_gid gid;

	need(devices && devices[0], "a device");
	context = ibv_open_device(devices[0]);
	need(context != NULL, "to open the device");
	need(ibv_query_gid(context, 1, GID, &gid) == 0, "an address");
	pd = ibv_alloc_pd(context);
	need(pd != NULL, "a protection domain");
	mr = ibv_reg_mr(pd, memory, sizeof memory,
	                IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	need(mr != NULL, "registered memory");
	side_open(&a, context);
	side_open(&b, context);
	side_connect(&a, &b, gid);
	side_connect(&b, &a, gid);
}

/* -- posting and polling ----------------------------------------------------------------------- */

static void
side_post_receives(struct side *side)
{
	struct ibv_sge room = { (uintptr_t)memory + LARGE, SMALL, mr->lkey };
	struct ibv_recv_wr wrs[POSTED], *bad;

	for (unsigned i = 0; i < POSTED; i++)
		wrs[i] = (struct ibv_recv_wr){ .next = i + 1 < POSTED ? &wrs[i + 1] : NULL,
			                       .sg_list = &room, .num_sge = 1 };
	need(ibv_post_recv(side->qp, wrs, &bad) == 0, "posting receive buffers");
	side->posted += POSTED;
}

static void
side_poll(struct side *side)
{
	struct ibv_wc wcs[POSTED];
	const int got = ibv_poll_cq(side->cq, POSTED, wcs);

	need(got >= 0, "polling");
	for (int i = 0; i < got; i++) {
		need(wcs[i].status == IBV_WC_SUCCESS, ibv_wc_status_str(wcs[i].status));
		if (wcs[i].opcode & IBV_WC_RECV)
			side->received++;
		else
			side->completed++;
	}
	if (side->posted - side->received <= POSTED)
		side_post_receives(side);
}

/* Does this request ask for a completion?  Requests under way stay below the queue's length. */
static unsigned
side_flags(struct side *side, unsigned requests, int waited)
{
	const int asks = waited || side->requests / BATCH != (side->requests + requests) / BATCH;

	side->requests += requests;
	side->signalled += asks != 0;
	while (side->signalled - side->completed > QUEUE / BATCH - 2 && !waited)
		side_poll(side);
	return asks ? IBV_SEND_SIGNALED : 0;
}

static void
side_drain(struct side *side)
{
	while (side->completed < side->signalled)
		side_poll(side);
}

static void
message_send(struct side *from, struct side *to)
{
	struct ibv_sge bytes = { (uintptr_t)memory, SMALL, 0 };
	struct ibv_send_wr wr = { .sg_list = &bytes, .num_sge = 1, .opcode = IBV_WR_SEND }, *bad;
	const unsigned before = to->received;

	wr.send_flags = IBV_SEND_INLINE | side_flags(from, 1, 0);
	need(ibv_post_send(from->qp, &wr, &bad) == 0, "sending");
	while (to->received == before)
		side_poll(to);
	side_poll(from);
}

static void
write_post(size_t len, int waited)
{
	struct ibv_sge bytes = { (uintptr_t)memory, (uint32_t)len, mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &bytes, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
		                  .wr.rdma = { (uintptr_t)memory + LARGE, mr->rkey } }, *bad;

	wr.send_flags = side_flags(&a, 1, waited);
	need(ibv_post_send(a.qp, &wr, &bad) == 0, "writing");
	if (waited)
		side_drain(&a);
}

static void
pair_post(void)
{
	struct ibv_sge bytes = { (uintptr_t)memory, LARGE, mr->lkey },
	               header = { (uintptr_t)memory, SMALL, 0 };
	struct ibv_send_wr message = { .sg_list = &header, .num_sge = 1, .opcode = IBV_WR_SEND },
	        write = { .next = &message, .sg_list = &bytes, .num_sge = 1,
		          .opcode = IBV_WR_RDMA_WRITE,
		          .wr.rdma = { (uintptr_t)memory + LARGE, mr->rkey } }, *bad;
	const unsigned before = b.received;

	message.send_flags = IBV_SEND_INLINE | side_flags(&a, 2, 0);
	need(ibv_post_send(a.qp, &write, &bad) == 0, "posting a chain");
	while (b.received == before)
		side_poll(&b);
	side_poll(&a);
}

int
main(int argc, char **argv)
{
	const char *pattern = argc == 3 ? argv[1] : "";
	const unsigned times = argc == 3 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;

	both_open();
	side_post_receives(&a);
	side_post_receives(&b);
	for (unsigned i = 1; i <= times; i++) {
		if (strcmp(pattern, "send") == 0) {
			message_send(&a, &b);
			message_send(&b, &a);
		} else if (strcmp(pattern, "write") == 0) {
			write_post(8, 1);
		} else if (strcmp(pattern, "stream") == 0) {
			write_post(PAGE, i == times);
		} else if (strcmp(pattern, "pair") == 0) {
			pair_post();
		} else {
			return 2;
		}
	}
	side_drain(&a);
	side_drain(&b);
	return 0;
}
