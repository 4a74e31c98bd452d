/*
 * The mock's fabric: its devices, their ports and events.
 */
#include "tests/unit/ibv_mock_state.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct mock_fabric mock;

static _Thread_local uint32_t here;

void *
mock_make(size_t len_bytes)
{
	void *made = calloc(1, len_bytes);

	if (!made)
		abort();
	return made;
}

/* -- the fabric -------------------------------------------------------------------------------- */

void
mock_gid_add(struct mock_device *device, unsigned port, enum ibv_gid_type type,
             const char *address, unsigned ifindex)
{
	struct mock_port *of = &device->ports[port - 1];
	struct ibv_gid_entry *entry = &of->gids[of->gid_count];

	*entry = (struct ibv_gid_entry){
		.gid_index = of->gid_count, .port_num = port, .gid_type = type,
		.ndev_ifindex = ifindex,
	};
	if (inet_pton(AF_INET6, address, entry->gid.raw) != 1)
		abort();
	of->gid_count++;
}

static void
device_reset(struct mock_device *device, uint32_t host, uint32_t index)
{
	char address[32];

	device->host = host;
	snprintf(device->device.name, sizeof device->device.name, "mock%u", index);
	snprintf(device->device.dev_name, sizeof device->device.dev_name, "uverbs%u", index);
	snprintf(device->device.ibdev_path, sizeof device->device.ibdev_path, "/nowhere");
	device->limits = (struct ibv_device_attr){
		.max_qp = 1000, .max_qp_wr = 4096, .max_sge = 8, .max_cq = 100, .max_cqe = 65536,
		.max_mr = 1000, .max_pd = 10, .max_qp_rd_atom = 16, .max_qp_init_rd_atom = 16,
		.max_srq = 10, .max_srq_wr = 4096, .max_srq_sge = 4, .max_ah = 1000,
		.phys_port_cnt = 1, .max_pkeys = MOCK_PKEYS, .atomic_cap = IBV_ATOMIC_HCA,
		.max_mr_size = UINT64_MAX,
	};
	for (unsigned port = 0; port < MOCK_PORTS; port++) {
		device->ports[port].attr = (struct ibv_port_attr){
			.state = IBV_PORT_ACTIVE, .max_mtu = IBV_MTU_4096, .phys_state = 5,
			.active_mtu = IBV_MTU_4096, .gid_tbl_len = MOCK_GIDS,
			.max_msg_sz = 1u << 31, .pkey_tbl_len = MOCK_PKEYS,
			.link_layer = IBV_LINK_LAYER_ETHERNET,
		};
		device->ports[port].pkeys[0] = 0xffff;
		snprintf(address, sizeof address, "::ffff:10.%u.%u.%u", host, index, port + 1);
		mock_gid_add(device, port + 1, IBV_GID_TYPE_ROCE_V2, address, 1);
	}
}

void
mock_reset(uint32_t hosts)
{
	memset(&mock, 0, sizeof mock);
	for (uint32_t host = 0; host < MOCK_HOSTS; host++) {
		for (uint32_t index = 0; index < MOCK_DEVICES; index++)
			device_reset(&mock.devices[host][index], host, index);
		mock.devices[host][0].present = host < hosts;
	}
	here = 0;
}

void mock_here(uint32_t host) { here = host; }

int
mock_refuses(struct mock_device *device, enum mock_call call)
{
	if (!device->refuse[call])
		return 0;
	if (!device->refuse_after[call])
		return device->refuse[call];
	device->refuse_after[call]--;
	return 0;
}

/* The same, for calls that return NULL. */
bool
mock_object_refused(struct mock_device *device, enum mock_call call)
{
	int code;

	mock_lock();
	code = mock_refuses(device, call);
	if (!code)
		device->counts.objects++;
	mock_unlock();
	errno = code;
	return code != 0;
}

void
mock_object_gone(struct ibv_context *context, void *object)
{
	mock_lock();
	mock_device_at(context)->counts.objects--;
	mock_unlock();
	free(object);
}

static bool
port_is_at(const struct mock_port *port, const struct ibv_ah_attr *address)
{
	if (!address->is_global)
		return port->attr.link_layer == IBV_LINK_LAYER_INFINIBAND &&
		       port->attr.lid == address->dlid;
	for (unsigned i = 0; i < port->gid_count; i++)
		if (!memcmp(&port->gids[i].gid, &address->grh.dgid, sizeof address->grh.dgid))
			return true;
	return false;
}

struct mock_device *
mock_find(const struct mock_device *from, const struct ibv_ah_attr *address)
{
	(void)from;
	for (uint32_t host = 0; host < MOCK_HOSTS; host++)
		for (uint32_t index = 0; index < MOCK_DEVICES; index++)
			for (unsigned port = 0; port < MOCK_PORTS; port++) {
				struct mock_device *device = &mock.devices[host][index];

				if (device->present && port_is_at(&device->ports[port], address))
					return device;
			}
	return NULL;
}

/* -- devices ----------------------------------------------------------------------------------- */

struct ibv_device **
(ibv_get_device_list)(int *count_out)
{
	struct ibv_device **list = mock_make((MOCK_DEVICES + 1) * sizeof *list);
	int count = 0;

	for (uint32_t index = 0; index < MOCK_DEVICES; index++)
		if (mock.devices[here][index].present)
			list[count++] = &mock.devices[here][index].device;
	if (count_out)
		*count_out = count;
	return list;
}

int ibv_fork_init(void) { return mock.fork_inits++, 0; }
#ifdef HAVE_IBV_IS_FORK_INITIALIZED
enum ibv_fork_status ibv_is_fork_initialized(void) { return mock.fork_status; }
#endif

void ibv_free_device_list(struct ibv_device **list) { free(list); }

static int
port_query(struct ibv_context *context, uint8_t number, struct ibv_port_attr *attr, size_t bytes)
{
	struct mock_device *device = mock_device_at(context);

	if (number < 1 || number > device->limits.phys_port_cnt)
		return EINVAL;
	memcpy(attr, &device->ports[number - 1].attr, bytes);
	return 0;
}

struct ibv_context *
ibv_open_device(struct ibv_device *from)
{
	struct mock_device *device = (struct mock_device *)(void *)from;
	struct mock_context *context;

	if (mock_object_refused(device, MOCK_OPEN))
		return NULL;
	context = mock_make(sizeof *context);
	if (pipe2(context->events.fds, O_CLOEXEC) != 0)
		abort();
	context->device = device;
	context->verbs.sz = sizeof context->verbs;
	context->verbs.query_port = port_query;
	context->verbs.context = (struct ibv_context){
		.device = from, .async_fd = context->events.fds[0], .num_comp_vectors = 1,
		.abi_compat = __VERBS_ABI_IS_EXTENDED,
		.ops = { .poll_cq = mock_poll_cq, .req_notify_cq = mock_req_notify_cq,
		         .post_srq_recv = mock_post_srq_recv, .post_send = mock_post_send,
		         .post_recv = mock_post_recv },
	};
	device->context = context;
	return &context->verbs.context;
}

int
ibv_close_device(struct ibv_context *opened)
{
	struct mock_context *context = mock_context_of(opened);

	close(context->events.fds[0]);
	close(context->events.fds[1]);
	if (context->device->context == context)
		context->device->context = NULL;
	mock_object_gone(opened, context);
	return 0;
}

int
ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	struct mock_device *device = mock_device_at(context);
	const int code = mock_refuses(device, MOCK_QUERY);

	*attr = device->limits;
	return code;
}

ssize_t
_ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries, size_t most,
                     uint32_t flags, size_t entry_bytes)
{
	const struct mock_device *device = mock_device_at(context);
	size_t count = 0;

	if (flags || entry_bytes != sizeof *entries)
		return -EINVAL;
	for (unsigned port = 0; port < device->limits.phys_port_cnt; port++)
		for (unsigned i = 0; i < device->ports[port].gid_count && count < most; i++)
			entries[count++] = device->ports[port].gids[i];
	return (ssize_t)count;
}

int
ibv_query_pkey(struct ibv_context *context, uint8_t port, int index, __be16 *pkey)
{
	if (index < 0 || index >= MOCK_PKEYS)
		return -1;
	*pkey = htons(mock_device_at(context)->ports[port - 1].pkeys[index]);
	return 0;
}

/* -- events ------------------------------------------------------------------------------------ */

void
mock_event_locked(struct mock_device *device, enum ibv_event_type type, unsigned port)
{
	struct mock_event_queue *queue = device->context ? &device->context->events : NULL;
	struct ibv_async_event event = { .event_type = type };

	if (!queue || queue->count == MOCK_EVENTS)
		return;
	event.element.port_num = (int)port;
	queue->events[queue->count++] = event;
	if (write(queue->fds[1], "", 1) != 1)
		abort();
}

void
mock_event(struct mock_device *device, enum ibv_event_type type, unsigned port)
{
	mock_lock();
	mock_event_locked(device, type, port);
	mock_unlock();
}

/* Waits unless the descriptor does not. */
int
ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	struct mock_event_queue *queue = &mock_context_of(context)->events;
	char byte;

	mock_lock();
	mock_device_at(context)->counts.event_reads++;
	mock_unlock();
	if (read(queue->fds[0], &byte, 1) != 1)
		return -1;
	mock_lock();
	*event = queue->events[0];
	queue->count--;
	memmove(queue->events, queue->events + 1, queue->count * sizeof *queue->events);
	mock_unlock();
	return 0;
}

void ibv_ack_async_event(struct ibv_async_event *event) { (void)event; }
