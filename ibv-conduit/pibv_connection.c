/*
 * Connections: for each process that this one has talked to, a reliable queue pair on each rail
 * that both have.
 */
#include "ibv-conduit/pibv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum {
	RNR_TIMER = 12,         /* 0.64 ms until the sender tries again */
	RNR_TRIES = 7,          /* without end: a receiver that is busy ends no job */
	PSN_BITS = 24,
};

/* -- making ------------------------------------------------------------------------------------ */

static struct ibv_qp_init_attr
qp_wish(const struct psi_conduit *conduit, struct ibv_cq *cq, uint32_t inline_bytes)
{
	return (struct ibv_qp_init_attr){
		.send_cq = cq, .recv_cq = cq,
		.cap = { .max_send_wr = conduit->depth, .max_send_sge = 1,
		         .max_inline_data = inline_bytes },
		.qp_type = IBV_QPT_RC,
	};
}

/* Devices do not say how much they send inline; one that has less refuses a queue pair for more. */
void
pibv_inline_choose(struct psi_conduit *conduit)
{
	const struct pibv_device *first = &conduit->devices[0];
	struct ibv_qp *qp = NULL;
	size_t wanted = conduit->inline_bytes;

	for (; !qp; wanted /= 2) {
		struct ibv_qp_init_attr init = qp_wish(conduit, first->cq, (uint32_t)wanted);

		init.srq = conduit->srq;
		qp = ibv_create_qp(first->pd, &init);
		conduit->inline_bytes = wanted;
		if (!wanted)
			break;
	}
	if (qp)
		ibv_destroy_qp(qp);
	conduit->shorts_are_inline =
		conduit->inline_bytes >= pibv_message_bytes(PSI_SHORT, PSI_MAX_ARGS, 0);
}

static struct ibv_qp *
qp_make(struct psi_conduit *conduit, unsigned rail)
{
	const struct pibv_rail *used = &conduit->rails[rail];
	const struct pibv_device *device = &conduit->devices[used->device_index];
	struct ibv_qp_init_attr init =
		qp_wish(conduit, device->cq, (uint32_t)conduit->inline_bytes);
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .pkey_index = used->pkey_index,
		.port_num = used->port_number,
		.qp_access_flags = pibv_access_of(conduit, rail == 0),
	};
	struct ibv_qp *qp;

	if (rail == 0)
		init.srq = conduit->srq;
	else
		init.cap.max_inline_data = 0;   /* it carries large transfers alone */
	qp = ibv_create_qp(device->pd, &init);
	if (!qp)
		return NULL;
	errno = ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
	                                         IBV_QP_ACCESS_FLAGS);
	if (errno == 0)
		return qp;
	ibv_destroy_qp(qp);
	return NULL;
}

static uint32_t
psn_choose(void)
{
	uint32_t psn = 0;

	if (getrandom(&psn, sizeof psn, 0) != sizeof psn)
		return 0;
	return psn & ((1 << PSN_BITS) - 1);
}

/* The part of one rail; NULL after errno was set. */
static struct pibv_connection *
part_make(struct psi_conduit *conduit, uint32_t process, unsigned rail)
{
	struct pibv_connection *made = calloc(1, sizeof *made);

	if (made)
		made->works = calloc(conduit->depth, sizeof *made->works);
	if (!made || !made->works || !(made->qp = qp_make(conduit, rail))) {
		if (made)
			free(made->works);
		free(made);
		return NULL;
	}
	made->process = process;
	made->rail = rail;
	made->psn = psn_choose();
	made->last = &made->first;
	made->next_made = conduit->made;
	conduit->made = made;
	return made;
}

/* As many rails as both sides have. */
static struct pibv_connection *
parts_make(struct psi_conduit *conduit, uint32_t process)
{
	const uint32_t theirs = conduit->cards[process].rails;
	struct pibv_connection *first = part_make(conduit, process, 0);

	if (!first)
		return NULL;
	first->rails[first->rail_count++] = first;
	while (first->rail_count < conduit->rail_count && first->rail_count < theirs) {
		struct pibv_connection *part = part_make(conduit, process, first->rail_count);

		if (!part)
			return NULL;
		first->rails[first->rail_count++] = part;
	}
	return first;
}

struct pibv_connection *
pibv_connection_make(struct psi_conduit *conduit, uint32_t process)
{
	struct pibv_connection *made = parts_make(conduit, process);

	if (!made) {
		conduit->services->log("ibv: no queue pair for rank %u (%s): %s; the device has %d "
		                       "of them", process,
		                       conduit->services->host_name(process),
		                       strerror(errno), conduit->devices[0].limits.max_qp);
		pibv_lose(conduit);
	}
	conduit->connections[process] = made;
	return made;
}

/* That to itself, for atomic operations: one queue pair whose other side it is. */
static void
connection_close_circle(struct psi_conduit *conduit, struct pibv_connection *connection)
{
	const struct pibv_hello self = pibv_hello_of(conduit, connection);

	if (pibv_connection_ready(conduit, connection, &self))
		pibv_connection_done(connection);
}

struct pibv_connection *
pibv_connection_begin(struct psi_conduit *conduit, uint32_t process)
{
	struct pibv_connection *connection =
		conduit->lost ? NULL : pibv_connection_make(conduit, process);

	if (connection && process == conduit->place)
		connection_close_circle(conduit, connection);
	else if (connection)
		pibv_hello_start(conduit, connection);
	return connection;
}

/* -- to its states ----------------------------------------------------------------------------- */

static uint8_t
smaller(uint8_t a, uint8_t b)
{
	return a < b ? a : b;
}

static int
qp_receives(struct psi_conduit *conduit, const struct pibv_connection *connection,
            const struct pibv_hello *peer)
{
	const unsigned rail = connection->rail;
	const struct pibv_port_card *port = &conduit->cards[connection->process].ports[rail];
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = smaller(conduit->card.ports[rail].mtu, port->mtu),
		.dest_qp_num = peer->qp[rail], .rq_psn = peer->psn[rail],
		.max_dest_rd_atomic = conduit->reads, .min_rnr_timer = RNR_TIMER,
		.ah_attr = pibv_address_of(&conduit->rails[rail], port),
	};

	return ibv_modify_qp(connection->qp, &attr,
	                     IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
	                             IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
	                             IBV_QP_MIN_RNR_TIMER);
}

static int
qp_sends(struct psi_conduit *conduit, const struct pibv_connection *connection,
         const struct pibv_hello *peer)
{
	const int most = pibv_device_of(conduit, connection->rail)->limits.max_qp_init_rd_atom;
	const uint8_t reads = most < UINT8_MAX ? (uint8_t)most : UINT8_MAX;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS, .timeout = conduit->timeout, .retry_cnt = conduit->retries,
		.rnr_retry = RNR_TRIES, .sq_psn = connection->psn,
		.max_rd_atomic = smaller(reads, peer->reads),
	};

	return ibv_modify_qp(connection->qp, &attr,
	                     IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
	                             IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

static bool
part_ready(struct psi_conduit *conduit, struct pibv_connection *part,
           const struct pibv_hello *peer)
{
	const struct pibv_rail *used = &conduit->rails[part->rail];
	int code = qp_receives(conduit, part, peer);

	if (code && pibv_hello_may_pass(conduit, part->process, code))
		return false;
	if (!code)
		code = qp_sends(conduit, part, peer);
	if (code) {
		conduit->services->log("ibv: no way to rank %u: %s; can its port be reached from "
		                       "port %u of %s (`ibv_rc_pingpong -g %u` tries it)?",
		                       part->process, strerror(code), used->port_number,
		                       pibv_device_of(conduit, part->rail)->name,
		                       used->gid.gid_index);
		pibv_lose(conduit);
		return false;
	}
	part->state = PIBV_READY;
	return true;
}

/* The first rail last, since its state is that of the connection: what fails is tried again. */
bool
pibv_connection_ready(struct psi_conduit *conduit, struct pibv_connection *connection,
                      const struct pibv_hello *peer)
{
	for (unsigned rail = connection->rail_count; rail-- > 0;) {
		struct pibv_connection *part = connection->rails[rail];

		if (part->state == PIBV_MADE && !part_ready(conduit, part, peer))
			return false;
	}
	return true;
}

void
pibv_connection_done(struct pibv_connection *connection)
{
	for (unsigned rail = 0; rail < connection->rail_count; rail++)
		connection->rails[rail]->state = PIBV_CONNECTED;
}

void
pibv_connections_close(struct psi_conduit *conduit)
{
	while (conduit->made) {
		struct pibv_connection *connection = conduit->made;

		conduit->made = connection->next_made;
		pibv_backlog_free(connection);
		if (connection->ah)
			ibv_destroy_ah(connection->ah);
		ibv_destroy_qp(connection->qp);
		free(connection->works);
		free(connection);
	}
}

/* -- credits ----------------------------------------------------------------------------------- */

uint16_t *
pibv_spent_make(struct psi_conduit *conduit, uint32_t index)
{
	if (index >= PSI_PORTS_MOST)
		return NULL;
	conduit->spent[index] = calloc(conduit->places, sizeof **conduit->spent);
	return conduit->spent[index];
}
