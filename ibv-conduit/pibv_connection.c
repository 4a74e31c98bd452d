/*
 * Connections: one reliable queue pair for each process that this one has talked to.
 */
#include "ibv-conduit/pibv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum {
	ACCESS = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
	RNR_TIMER = 12,         /* 0.64 ms until the sender tries again */
	RNR_TRIES = 7,          /* without end: a receiver that is busy ends no job */
	PSN_BITS = 24,
};

/* -- making ------------------------------------------------------------------------------------ */

static struct ibv_qp *
qp_make(struct psi_conduit *conduit)
{
	struct ibv_qp_init_attr init = {
		.send_cq = conduit->cq, .recv_cq = conduit->cq, .srq = conduit->srq,
		.cap = { .max_send_wr = conduit->depth, .max_send_sge = 1,
		         .max_inline_data = (uint32_t)conduit->inline_bytes },
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .pkey_index = conduit->device.pkey_index,
		.port_num = conduit->device.port_number,
		.qp_access_flags = ACCESS | (pibv_has_atomics(conduit) ? IBV_ACCESS_REMOTE_ATOMIC : 0),
	};
	struct ibv_qp *qp = ibv_create_qp(conduit->pd, &init);

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

struct pibv_connection *
pibv_connection_make(struct psi_conduit *conduit, uint32_t process)
{
	struct pibv_connection *made = calloc(1, sizeof *made);

	if (made)
		made->works = calloc(conduit->depth, sizeof *made->works);
	if (!made || !made->works || !(made->qp = qp_make(conduit))) {
		conduit->services->log("ibv: no queue pair for rank %u: %s; the device has %d of "
		                       "them", process, strerror(errno),
		                       conduit->device.limits.max_qp);
		pibv_lose(conduit);
		if (made)
			free(made->works);
		free(made);
		return NULL;
	}
	made->process = process;
	made->psn = psn_choose();
	made->last = &made->first;
	made->next_made = conduit->made;
	conduit->made = made;
	conduit->connections[process] = made;
	return made;
}

/* That to itself, for atomic operations: one queue pair whose other side it is. */
static void
connection_close_circle(struct psi_conduit *conduit, struct pibv_connection *connection)
{
	const struct pibv_hello self = {
		.qp = connection->qp->qp_num, .psn = connection->psn, .reads = conduit->reads,
	};

	if (pibv_connection_ready(conduit, connection, &self))
		connection->state = PIBV_CONNECTED;
}

struct pibv_connection *
pibv_connection_of(struct psi_conduit *conduit, uint32_t process)
{
	struct pibv_connection *connection = conduit->connections[process];

	if (connection || conduit->lost)
		return connection;
	connection = pibv_connection_make(conduit, process);
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
	const struct pibv_card *card = &conduit->cards[connection->process];
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR, .path_mtu = smaller(conduit->card.mtu, card->mtu),
		.dest_qp_num = peer->qp, .rq_psn = peer->psn,
		.max_dest_rd_atomic = conduit->reads, .min_rnr_timer = RNR_TIMER,
		.ah_attr = pibv_address_of(&conduit->device, card),
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
	const uint8_t reads = (uint8_t)conduit->device.limits.max_qp_init_rd_atom;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS, .timeout = conduit->timeout, .retry_cnt = conduit->retries,
		.rnr_retry = RNR_TRIES, .sq_psn = connection->psn,
		.max_rd_atomic = smaller(reads, peer->reads),
	};

	return ibv_modify_qp(connection->qp, &attr,
	                     IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
	                             IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

bool
pibv_connection_ready(struct psi_conduit *conduit, struct pibv_connection *connection,
                      const struct pibv_hello *peer)
{
	int code = qp_receives(conduit, connection, peer);

	if (!code)
		code = qp_sends(conduit, connection, peer);
	if (code) {
		conduit->services->log("ibv: no way to rank %u: %s; can its port be reached from "
		                       "port %u of %s (`ibv_rc_pingpong -g %u` tries it)?",
		                       connection->process, strerror(code),
		                       conduit->device.port_number, conduit->device.name,
		                       conduit->device.gid.gid_index);
		pibv_lose(conduit);
		return false;
	}
	connection->state = PIBV_READY;
	return true;
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
pibv_spent_at(struct psi_conduit *conduit, uint32_t place)
{
	const uint32_t index = pibv_index_of(conduit, place);

	if (index >= PIBV_ENDPOINTS)
		return NULL;
	if (!conduit->spent[index])
		conduit->spent[index] = calloc(conduit->places, sizeof **conduit->spent);
	return conduit->spent[index]
	               ? &conduit->spent[index][pibv_process_of(conduit, place)] : NULL;
}
