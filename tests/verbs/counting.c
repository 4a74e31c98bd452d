/*
 * A library that is preloaded below any program of libibverbs, and counts what it asks of its
 * devices: ours, perftest's, a raw loop.  Calls go by a table in the context of a device, so this
 * puts functions of its own into the table when a device is opened.  The counts lie in a file,
 * "$IBV_COUNTS.PID", so that they are there however the process ends: 64-bit numbers in the order
 * of `enum what'.
 *
 * Devices of one process are of one driver.  Threads may call.
 */
#include <infiniband/verbs.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum what { REQUESTS, DOORBELLS, SENT, RECEIVED, POSTS, WHATS };

/* REQUESTS that were posted to send queues by DOORBELLS calls; completions of sends and of
 * receives; calls that POSTed receive buffers. */
static _Atomic uint64_t *counts;
static struct ibv_context_ops plain;

static void
count(enum what what, uint64_t n)
{
	if (counts && n)
		atomic_fetch_add_explicit(&counts[what], n, memory_order_relaxed);
}

static int
counted_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	uint64_t n = 0;

	for (const struct ibv_send_wr *at = wr; at; at = at->next)
		n++;
	count(REQUESTS, n);
	count(DOORBELLS, 1);
	return plain.post_send(qp, wr, bad);
}

static int
counted_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	count(POSTS, 1);
	return plain.post_recv(qp, wr, bad);
}

static int
counted_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	count(POSTS, 1);
	return plain.post_srq_recv(srq, wr, bad);
}

static int
counted_poll_cq(struct ibv_cq *cq, int room, struct ibv_wc *wcs)
{
	const int got = plain.poll_cq(cq, room, wcs);
	uint64_t received = 0;

	for (int i = 0; i < got; i++)
		received += (wcs[i].opcode & IBV_WC_RECV) != 0;
	count(RECEIVED, received);
	if (got > 0)
		count(SENT, (uint64_t)got - received);
	return got;
}

static void
counts_open(void)
{
	const char *name = getenv("IBV_COUNTS");
	char path[4096];
	void *at;
	int fd;

	if (counts || !name)
		return;
	snprintf(path, sizeof path, "%s.%d", name, (int)getpid());
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, WHATS * sizeof *counts) < 0)
		abort();
	at = mmap(NULL, WHATS * sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		abort();
	close(fd);
	counts = at;
}

struct ibv_context *
ibv_open_device(struct ibv_device *device)
{
	struct ibv_context *(*open_device)(struct ibv_device *) = NULL;
	struct ibv_context *context;

	*(void **)&open_device = dlsym(RTLD_NEXT, "ibv_open_device");
	context = open_device ? open_device(device) : NULL;
	if (!context)
		return NULL;
	counts_open();
	plain = context->ops;
	context->ops.post_send = counted_post_send;
	context->ops.post_recv = counted_post_recv;
	context->ops.post_srq_recv = counted_post_srq_recv;
	context->ops.poll_cq = counted_poll_cq;
	return context;
}
