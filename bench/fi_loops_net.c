/*
 * The endpoint of fi-loops: what the conduit asks of a provider, without what it makes of it.
 */
#include "fi_loops.h"

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { INBOUND = 4, INBOUND_BYTES = 1 << 19, SENDS = 64, BATCH = 16, LINE = 64 };

/* What a message begins with. */
struct header {
	uint32_t kind, source;
	uint64_t value;
};

struct inbound {
	struct fi_context2 context;     /* first: completions name it */
	char *bytes;
};

/* A buffer to send from. */
struct send {
	struct fi_context2 context;     /* first */
	struct send *next;              /* free */
	char bytes[FL_MESSAGE_BYTES];
};

unsigned fl_came[FL_KINDS][FL_RANKS], fl_written, fl_done;
uint64_t fl_value;
char *fl_inbox, *fl_outbox;

static struct fid_ep *ep;
static struct fid_cq *cq;
static struct fi_info *info;
static fi_addr_t addresses[FL_RANKS];
static struct inbound inbound[INBOUND];
static struct send sends[SENDS], *free_sends;
static struct fi_context2 transfer;     /* of all puts and gets: they are only counted */

static void
check(const char *what, ssize_t code)
{
	if (code)
		fl_die(what, (int)-code);
}

/* -- opening ----------------------------------------------------------------------------------- */

static void
info_get(const char *provider)
{
	struct fi_info *hints = fi_allocinfo();

	if (!hints)
		fl_die("fi_allocinfo", FI_ENOMEM);
	hints->caps = FI_MSG | FI_MULTI_RECV | FI_RMA;
	hints->mode = FI_CONTEXT | FI_CONTEXT2;
	hints->ep_attr->type = FI_EP_RDM;
	hints->domain_attr->threading = FI_THREAD_DOMAIN;
	hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
	hints->tx_attr->op_flags = FI_DELIVERY_COMPLETE;
	hints->fabric_attr->prov_name = strdup(provider);
	check("fi_getinfo", fi_getinfo(FI_VERSION(1, 14), "127.0.0.1", NULL, FI_SOURCE, hints,
	                               &info));
	fi_freeinfo(hints);
	info->tx_attr->op_flags &= ~FI_DELIVERY_COMPLETE;
}

static void
inbound_post(struct inbound *buffer)
{
	const struct iovec part = { .iov_base = buffer->bytes, .iov_len = INBOUND_BYTES };
	const struct fi_msg msg = {
		.msg_iov = &part, .iov_count = 1, .addr = FI_ADDR_UNSPEC,
		.context = &buffer->context,
	};

	check("fi_recvmsg", fi_recvmsg(ep, &msg, FI_MULTI_RECV));
}

static char *
pages(size_t len)
{
	char *base = mmap(NULL, len, PROT_READ | PROT_WRITE,
	                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (base == MAP_FAILED)
		fl_die("mmap", FI_ENOMEM);
	return base;
}

static void
buffers_make(void)
{
	size_t least = FL_MESSAGE_BYTES;

	check("fi_setopt", fi_setopt(&ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &least,
	                             sizeof least));
	for (unsigned i = 0; i < INBOUND; i++) {
		inbound[i].bytes = pages(INBOUND_BYTES);
		inbound_post(&inbound[i]);
	}
	for (unsigned i = 0; i < SENDS; i++) {
		sends[i].next = free_sends;
		free_sends = &sends[i];
	}
}

static void
cards_exchange(struct fid_av *av, struct fid_mr *mr)
{
	size_t bytes = FL_ADDRESS_BYTES;

	check("fi_getname", fi_getname(&ep->fid, fl_shared->cards[fl_rank].address, &bytes));
	fl_shared->cards[fl_rank].key = fi_mr_key(mr);
	fl_shared->cards[fl_rank].origin =
		info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uintptr_t)fl_inbox : 0;
	/* Releases the card; pairs with the load below. */
	atomic_fetch_add_explicit(&fl_shared->cards_filled, 1, memory_order_release);
	while (atomic_load_explicit(&fl_shared->cards_filled, memory_order_acquire) < fl_ranks)
		sched_yield();
	for (unsigned rank = 0; rank < fl_ranks; rank++)
		if (fi_av_insert(av, fl_shared->cards[rank].address, 1, &addresses[rank], 0,
		                 NULL) != 1)
			fl_die("fi_av_insert", FI_EOTHER);
}

void
fl_net_open(const char *provider)
{
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_DATA, .wait_obj = FI_WAIT_FD };
	struct fi_av_attr av_attr = { .type = FI_AV_UNSPEC, .count = FL_RANKS };
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_av *av;
	struct fid_mr *mr;

	fl_inbox = pages(2 * (size_t)FL_BYTES);
	fl_outbox = fl_inbox + FL_BYTES;
	info_get(provider);
	check("fi_fabric", fi_fabric(info->fabric_attr, &fabric, NULL));
	check("fi_domain", fi_domain(fabric, info, &domain, NULL));
	check("fi_cq_open", fi_cq_open(domain, &cq_attr, &cq, NULL));
	check("fi_av_open", fi_av_open(domain, &av_attr, &av, NULL));
	check("fi_endpoint", fi_endpoint(domain, info, &ep, NULL));
	check("fi_ep_bind", fi_ep_bind(ep, &av->fid, 0));
	check("fi_ep_bind", fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV));
	check("fi_enable", fi_enable(ep));
	check("fi_mr_reg", fi_mr_reg(domain, fl_inbox, FL_BYTES,
	                             FI_REMOTE_READ | FI_REMOTE_WRITE, 0, fl_rank + 1, 0, &mr,
	                             NULL));
	buffers_make();
	cards_exchange(av, mr);
}

/* -- sending ----------------------------------------------------------------------------------- */

/* While it says that there is no room. */
#define UNTIL_TAKEN(what, call) \
	do { \
		ssize_t taken_; \
		while ((taken_ = (call)) == -FI_EAGAIN) \
			fl_step(); \
		check(what, taken_); \
	} while (0)

static struct send *
send_take(void)
{
	struct send *send;

	while (!free_sends)
		fl_step();
	send = free_sends;
	free_sends = send->next;
	return send;
}

void
fl_send(unsigned rank, enum fl_kind kind, uint64_t value, size_t len)
{
	const struct header header = { .kind = kind, .source = fl_rank, .value = value };
	_Alignas(8) char small[LINE];
	struct send *send;

	if (len <= sizeof small && len <= info->tx_attr->inject_size) {
		memcpy(small, &header, sizeof header);
		UNTIL_TAKEN("fi_inject", fi_inject(ep, small, len, addresses[rank]));
		return;
	}
	send = send_take();
	memcpy(send->bytes, &header, sizeof header);
	memcpy(send->bytes + sizeof header, fl_outbox, len - sizeof header);
	UNTIL_TAKEN("fi_send", fi_send(ep, send->bytes, len, NULL, addresses[rank],
	                               &send->context));
}

void
fl_put(unsigned rank, size_t offset, size_t len, bool with_data)
{
	const struct iovec here = { .iov_base = fl_outbox, .iov_len = len };
	const struct fi_rma_iov there = {
		.addr = fl_shared->cards[rank].origin + offset, .len = len,
		.key = fl_shared->cards[rank].key,
	};
	const struct fi_msg_rma msg = {
		.msg_iov = &here, .iov_count = 1, .addr = addresses[rank], .rma_iov = &there,
		.rma_iov_count = 1, .context = &transfer, .data = 1,
	};
	const uint64_t inject = len <= info->tx_attr->inject_size ? FI_INJECT : 0;

	UNTIL_TAKEN("fi_writemsg",
	            fi_writemsg(ep, &msg, FI_COMPLETION | inject |
	                        (with_data ? FI_REMOTE_CQ_DATA : FI_DELIVERY_COMPLETE)));
}

void
fl_get(unsigned rank, size_t len)
{
	UNTIL_TAKEN("fi_read", fi_read(ep, fl_outbox, len, NULL, addresses[rank],
	                               fl_shared->cards[rank].origin, fl_shared->cards[rank].key,
	                               &transfer));
}

/* -- progress ---------------------------------------------------------------------------------- */

static struct inbound *
inbound_of(void *context)
{
	for (unsigned i = 0; i < INBOUND; i++)
		if (context == &inbound[i].context)
			return &inbound[i];
	return NULL;
}

static void
message_take(const char *bytes, size_t len)
{
	struct header header;

	memcpy(&header, bytes, sizeof header);
	for (size_t at = sizeof header; at < len; at += LINE)
		(void)*(const volatile char *)(bytes + at);
	fl_value = header.value;
	fl_came[header.kind][header.source]++;
}

static void
completion_take(const struct fi_cq_data_entry *entry)
{
	struct inbound *buffer = inbound_of(entry->op_context);

	if (entry->flags & FI_REMOTE_CQ_DATA) {
		fl_written++;
	} else if (buffer) {
		if (entry->flags & FI_RECV)
			message_take(entry->buf, entry->len);
		if (entry->flags & FI_MULTI_RECV)
			inbound_post(buffer);
	} else if (entry->op_context == &transfer) {
		fl_done++;
	} else {
		struct send *send = entry->op_context;

		send->next = free_sends;
		free_sends = send;
	}
}

bool
fl_poll(void)
{
	struct fi_cq_data_entry entries[BATCH];
	const ssize_t count = fi_cq_read(cq, entries, BATCH);

	if (count == -FI_EAVAIL) {
		struct fi_cq_err_entry error = { .err_data_size = 0 };

		(void)fi_cq_readerr(cq, &error, 0);
		fl_die("a completion", error.err);
	}
	if (count < 0 && count != -FI_EAGAIN)
		fl_die("fi_cq_read", (int)-count);
	for (ssize_t i = 0; i < count; i++)
		completion_take(&entries[i]);
	return count > 0;
}

void
fl_step(void)
{
	if (!fl_poll() && fl_crowded)
		sched_yield();
}
