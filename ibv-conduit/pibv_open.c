/*
 * Opening: the device with its queues and buffers, the process's ports, and what people want to
 * know.
 */
#include "ibv-conduit/pibv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Registering pins pages, which takes as long as to send that much by messages. */
enum { NAMED_LEAST_BYTES = 256 << 10 };

/* -- the device's objects ---------------------------------------------------------------------- */

/* Closes what is open, in reverse; also after an open that failed half way. */
static void
device_close(struct psi_conduit *conduit)
{
	struct pibv_device *first = &conduit->devices[0];

	pibv_connections_close(conduit);
	pibv_hello_close(conduit);
	if (conduit->srq)
		ibv_destroy_srq(conduit->srq);
	if (first->cq)
		ibv_destroy_cq(first->cq);
	first->cq = NULL;
	if (conduit->channel)
		ibv_destroy_comp_channel(conduit->channel);
	pibv_memory_close(conduit);
	pibv_segments_close(conduit);
	for (unsigned device = PIBV_DEVICES; device-- > 0;)
		pibv_device_close(&conduit->devices[device]);
}

int
pibv_fd_unblock(int fd)
{
	return fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

/* False: what is missing is in *what_out, and why in errno. */
static bool
queues_open(struct psi_conduit *conduit, const char **what_out)
{
	struct pibv_device *first = &conduit->devices[0];
	struct ibv_srq_init_attr srq = {
		.attr = { .max_wr = conduit->receive_count, .max_sge = 1 },
	};

	*what_out = "protection domain";
	if (!(first->pd = ibv_alloc_pd(first->context)))
		return false;
	*what_out = "completion channel";
	if (!(conduit->channel = ibv_create_comp_channel(first->context)))
		return false;
	*what_out = "completion queue";
	if (!(first->cq = ibv_create_cq(first->context, pibv_limits_cq_entries(conduit), NULL,
	                                conduit->channel, 0)))
		return false;
	*what_out = "shared receive queue";
	if (!(conduit->srq = ibv_create_srq(first->pd, &srq)))
		return false;
	*what_out = "descriptor without waiting";
	return pibv_fd_unblock(conduit->channel->fd) == 0 &&
	       pibv_fd_unblock(first->context->async_fd) == 0;
}

static int
device_open(struct psi_conduit *conduit)
{
	const char *what;

	if (!queues_open(conduit, &what)) {
		conduit->services->log("ibv: device %s has no %s: %s; is the limit of locked "
		                       "memory too low (ulimit -l)?", conduit->devices[0].name,
		                       what, strerror(errno));
		return PSI_FAILED;
	}
	pibv_inline_choose(conduit);
	if (pibv_rails_open(conduit) != PSI_OK || pibv_memory_open(conduit) != PSI_OK)
		return PSI_FAILED;
	return pibv_hello_open(conduit);
}

/* -- opening ----------------------------------------------------------------------------------- */

static struct psi_conduit *
conduit_make(const struct psi_services *services, const struct psi_conduit_job *job)
{
	struct psi_conduit *conduit = calloc(1, sizeof *conduit);

	if (!conduit)
		return NULL;
	conduit->services = services;
	conduit->place = job->place;
	conduit->places = job->places;
	conduit->counts = job->counts;
	conduit->guard = PSI_GUARD(job->threaded);
	conduit->sends.wr = (struct ibv_send_wr){
		.sg_list = &conduit->sends.sge, .num_sge = 1, .opcode = IBV_WR_SEND,
	};
	conduit->sends.sge.addr = (uintptr_t)&conduit->sends.header;
	conduit->connections = calloc(job->places, sizeof(struct pibv_connection *));
	conduit->cards = calloc(job->places, sizeof *conduit->cards);
	conduit->arrived = calloc(job->places, sizeof *conduit->arrived);
	if (conduit->connections && conduit->cards && conduit->arrived)
		return conduit;
	free(conduit->connections);
	free(conduit->cards);
	free(conduit->arrived);
	free(conduit);
	return NULL;
}

static void
conduit_free(struct psi_conduit *conduit)
{
	device_close(conduit);
	pibv_tables_free(conduit);
	free(conduit->connections);
	free(conduit->cards);
	free(conduit->arrived);
	free(conduit);
}

/* Without an allocation of its own, so that it can say why. */
static bool
services_fit(const struct psi_services *services)
{
	if (services->abi == PSI_CONDUIT_ABI && services->size_bytes >= sizeof *services)
		return true;
	services->log("ibv: this conduit speaks contract %d, the library %u; install both from one "
	              "build", PSI_CONDUIT_ABI, services->abi);
	return false;
}

int
pibv_open(const struct psi_services *services, const struct psi_conduit_job *job,
          struct psi_attributes *attributes_out, struct psi_conduit **conduit_out)
{
	struct psi_conduit *conduit;
	char lack[PIBV_LACK_BYTES];

	if (!services_fit(services))
		return PSI_FATAL;
	conduit = conduit_make(services, job);
	if (!conduit) {
		services->log("ibv: no memory");
		return PSI_FAILED;
	}
	if (!pibv_device_open(services, NULL, &conduit->devices[0], &conduit->rails[0], lack,
	                      sizeof lack)) {
		services->log("ibv: %s", lack);
		conduit_free(conduit);
		return PSI_FAILED;
	}
	conduit->device_count = conduit->rail_count = 1;
	pibv_limits_choose(conduit);
	if (device_open(conduit) != PSI_OK) {
		conduit_free(conduit);
		return PSI_FAILED;
	}
	*attributes_out = (struct psi_attributes){
		.max_medium_bytes = conduit->medium_bytes,
		.max_long_bytes = INT32_MAX,
		.device_atomics = pibv_has_atomics(conduit),
		.puts_longs = pibv_puts_longs(conduit),
		.named_least_bytes = NAMED_LEAST_BYTES,
		.transport = "ibv",
	};
	*conduit_out = conduit;
	return PSI_OK;
}

/* -- ports ------------------------------------------------------------------------------------- */

int
pibv_port_open(struct psi_conduit *conduit, uint32_t place, bool serial, void *owner,
               struct psi_port **port_out)
{
	(void)serial;
	return psi_network_port_open(conduit, "ibv", conduit->services, conduit->ports,
	                             &conduit->guard, place, conduit->places, owner, port_out);
}

/* -- for people -------------------------------------------------------------------------------- */

/* What is kept for each process of the job: before the first message, and after it. */
static size_t
peer_bytes(const struct psi_conduit *conduit)
{
	return sizeof *conduit->cards + sizeof *conduit->connections +
	       sizeof *conduit->arrived + sizeof *conduit->ports[0]->owed;
}

static size_t
connected_bytes(const struct psi_conduit *conduit)
{
	return conduit->rail_count *
	       (sizeof(struct pibv_connection) + conduit->depth * sizeof(struct pibv_work));
}

/* The rails behind the first, as ", port 1 of rxe1". */
static void
rails_text(const struct psi_conduit *conduit, char *text, size_t text_bytes)
{
	size_t len = 0;

	text[0] = '\0';
	for (uint32_t rail = 1; rail < conduit->rail_count && len < text_bytes; rail++)
		len += (size_t)snprintf(text + len, text_bytes - len, ", port %u of %s",
		                        conduit->rails[rail].port_number,
		                        pibv_device_of(conduit, rail)->name);
}

void
pibv_describe(struct psi_conduit *conduit, char *text, size_t text_bytes)
{
	const struct pibv_rail *first = &conduit->rails[0];
	char classes[64] = "", rails[256];

	if (first->service_level || first->traffic_class)
		snprintf(classes, sizeof classes, ", service level %u, traffic class %u",
		         first->service_level, first->traffic_class);
	rails_text(conduit, rails, sizeof rails);
	snprintf(text, text_bytes,
	         "port %u of %s (%s)%s%s, %u rail%s, MTU %u, messages of %zu bytes inline, "
	         "Mediums of %zu bytes, %u requests on their way to each place, %u receive "
	         "buffers, send queues of %u, puts, gets, Longs and signals with puts native in "
	         "pieces of %zu bytes, connections made %s, %zu bytes per peer, "
	         "%zu more when connected",
	         first->port_number, conduit->devices[0].name, first->reason, rails, classes,
	         conduit->rail_count, conduit->rail_count == 1 ? "" : "s",
	         pibv_mtu_bytes(pibv_mtu_of(conduit, 0)),
	         conduit->inline_bytes, conduit->medium_bytes, conduit->credits,
	         conduit->receive_count, conduit->depth, conduit->piece_bytes,
	         conduit->connect_all ? "at start" : "on first use", peer_bytes(conduit),
	         connected_bytes(conduit));
}
