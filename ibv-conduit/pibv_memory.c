/*
 * Memory that the device reads and writes for the conduit: receive buffers, which all peers share,
 * and send buffers, by which go messages that are not sent inline, and what is put from or got into
 * memory that is not registered.
 */
#include "ibv-conduit/pibv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* -- registration ------------------------------------------------------------------------------ */

struct ibv_mr *
pibv_register_quietly(struct psi_conduit *conduit, unsigned device, void *base, size_t len_bytes,
                      unsigned access)
{
	return ibv_reg_mr(conduit->devices[device].pd, base, len_bytes, access);
}

struct ibv_mr *
pibv_register(struct psi_conduit *conduit, unsigned device, void *base, size_t len_bytes,
              unsigned access)
{
	struct ibv_mr *mr = pibv_register_quietly(conduit, device, base, len_bytes, access);

	if (!mr)
		conduit->services->log("ibv: device %s cannot register %zu bytes: %s; raise the "
		                       "limit of locked memory (ulimit -l)",
		                       conduit->devices[device].name, len_bytes, strerror(errno));
	return mr;
}

/* NULL after one line. */
static char *
region_make(struct psi_conduit *conduit, size_t len_bytes, struct ibv_mr **mr_out)
{
	void *bytes = mmap(NULL, len_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
	                   -1, 0);

	if (bytes == MAP_FAILED) {
		conduit->services->log("ibv: no memory for buffers of %zu bytes; lower "
		                       "GASNET_RBUF_COUNT, GASNET_BBUF_COUNT or "
		                       "PST_IBV_MAX_MEDIUM", len_bytes);
		return NULL;
	}
	*mr_out = pibv_register(conduit, 0, bytes, len_bytes, IBV_ACCESS_LOCAL_WRITE);
	if (*mr_out)
		return bytes;
	munmap(bytes, len_bytes);
	return NULL;
}

static void
region_free(char *bytes, size_t len_bytes, struct ibv_mr *mr)
{
	if (mr)
		ibv_dereg_mr(mr);
	if (bytes)
		munmap(bytes, len_bytes);
}

/* -- receive buffers --------------------------------------------------------------------------- */

/* 0, or an errno, and those that the device did not take are still free. */
static inline __attribute__((always_inline)) int
receives_post(struct psi_conduit *conduit)
{
	struct ibv_recv_wr *bad = NULL;
	uint32_t left = 0;
	int code;

	if (!conduit->receives.free)
		return 0;
	code = ibv_post_srq_recv(conduit->srq, conduit->receives.free, &bad);
	if (!code)
		bad = NULL;
	for (const struct ibv_recv_wr *at = bad; at; at = at->next)
		left++;
	conduit->receives.posted += conduit->receives.free_count - left;
	conduit->receives.free_count = left;
	conduit->receives.free = bad;
	if (!bad)
		conduit->receives.free_last = &conduit->receives.free;
	return code;
}

/* A refusal is a failure, since the queue has room for all buffers.  Without buffers, peers would
 * try for ever. */
void
pibv_receives_post(struct psi_conduit *conduit)
{
	const int code = receives_post(conduit);

	if (!code || conduit->lost)
		return;
	conduit->services->log("ibv: device %s takes no receive buffer: %s",
	                       conduit->devices[0].name, strerror(code));
	pibv_lose(conduit);
}

static void
receive_describe(struct psi_conduit *conduit, uint32_t index)
{
	conduit->receives.sges[index] = (struct ibv_sge){
		.addr = (uintptr_t)pibv_receive_bytes(conduit, index),
		.length = (uint32_t)conduit->message_bytes, .lkey = conduit->receives.mr->lkey,
	};
	conduit->receives.wrs[index] = (struct ibv_recv_wr){
		.wr_id = pibv_wr_id(PIBV_OF_RECEIVE, 0, 0, index),
		.sg_list = &conduit->receives.sges[index], .num_sge = 1,
	};
}

static bool
receives_make(struct psi_conduit *conduit)
{
	const uint32_t count = conduit->receive_count;

	conduit->receives.free_last = &conduit->receives.free;
	conduit->receives.bytes = region_make(conduit, count * conduit->message_bytes,
	                                      &conduit->receives.mr);
	conduit->receives.wrs = calloc(count, sizeof *conduit->receives.wrs);
	conduit->receives.sges = calloc(count, sizeof *conduit->receives.sges);
	if (!conduit->receives.bytes)
		return false;
	if (!conduit->receives.wrs || !conduit->receives.sges) {
		conduit->services->log("ibv: no memory");
		return false;
	}
	for (uint32_t index = 0; index < count; index++) {
		receive_describe(conduit, index);
		pibv_receive_free(conduit, index);
	}
	(void)receives_post(conduit);
	if (conduit->receives.posted == count)
		return true;
	conduit->services->log("ibv: device %s takes %u of %u receive buffers; lower "
	                       "GASNET_RBUF_COUNT", conduit->devices[0].name,
	                       conduit->receives.posted, count);
	return false;
}

/* -- send buffers ------------------------------------------------------------------------------ */

/* A connection gets one only while it has fewer than are free.  So a peer that takes nothing leaves
 * about half of them to the others. */
struct pibv_buffer *
pibv_buffer_take(struct psi_conduit *conduit, struct pibv_connection *connection)
{
	struct pibv_buffer *buffer = conduit->buffers.free;

	if (connection->buffers >= conduit->buffer_count - conduit->buffers.taken) {
		conduit->buffers.lacking = true;
		return NULL;
	}
	conduit->buffers.free = buffer->next;
	conduit->buffers.taken++;
	connection->buffers++;
	buffer->process = connection->process;
	return buffer;
}

void
pibv_buffer_give(struct psi_conduit *conduit, struct pibv_buffer *buffer)
{
	conduit->connections[buffer->process]->buffers--;
	conduit->buffers.taken--;
	buffer->next = conduit->buffers.free;
	conduit->buffers.free = buffer;
}

/* All of them, and a line behind them. */
static size_t
buffers_bytes(const struct psi_conduit *conduit)
{
	enum { LINE = 64 };

	return conduit->buffer_count * conduit->message_bytes + LINE;
}

static bool
buffers_make(struct psi_conduit *conduit)
{
	const uint32_t count = conduit->buffer_count;

	conduit->buffers.bytes = region_make(conduit, buffers_bytes(conduit),
	                                     &conduit->buffers.mr);
	if (!conduit->buffers.bytes)
		return false;
	conduit->buffers.spare = conduit->buffers.bytes + count * conduit->message_bytes;
	conduit->buffers.all = calloc(count, sizeof *conduit->buffers.all);
	if (!conduit->buffers.all) {
		conduit->services->log("ibv: no memory");
		return false;
	}
	for (uint32_t i = 0; i < count; i++) {
		struct pibv_buffer *buffer = &conduit->buffers.all[i];

		buffer->bytes = conduit->buffers.bytes + i * conduit->message_bytes;
		buffer->next = conduit->buffers.free;
		conduit->buffers.free = buffer;
	}
	return true;
}

/* ---------------------------------------------------------------------------------------------- */

int
pibv_memory_open(struct psi_conduit *conduit)
{
	return receives_make(conduit) && buffers_make(conduit) ? PSI_OK : PSI_FAILED;
}

void
pibv_memory_close(struct psi_conduit *conduit)
{
	region_free(conduit->receives.bytes, conduit->receive_count * conduit->message_bytes,
	            conduit->receives.mr);
	region_free(conduit->buffers.bytes, buffers_bytes(conduit), conduit->buffers.mr);
	free(conduit->receives.wrs);
	free(conduit->receives.sges);
	free(conduit->buffers.all);
}
