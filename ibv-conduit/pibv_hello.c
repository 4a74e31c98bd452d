/*
 * Hellos: unreliable datagrams by which two processes connect, each with a queue pair that it has
 * made for the other.
 *
 * Both sides do the same, so it does not matter who begins, or whether both do.  A side that gets a
 * hello makes its queue pair receive (READY), and answers unless the hello says `connected'.  A
 * hello that says `ready' tells the other that it may send (CONNECTED).  Where one began, that is:
 *
 *     A: hello           ->  B becomes READY
 *     B: hello, ready    ->  A becomes READY, and CONNECTED
 *     A: a message       ->  B becomes CONNECTED
 *
 * The last step goes by the connection, so the device sees to it that it arrives.  Before, each
 * side sends its hello again, at growing intervals, until it is connected; so hellos may be lost.
 * One that comes twice is answered twice, and changes nothing.
 *
 * A hello carries the job's secret, and each receiver has a random Q_Key.  What lacks either is
 * dropped, and what lacks the secret is counted.
 */
#include "ibv-conduit/pibv.h"

#include "runtime/util/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum {
	ROUTE_BYTES = 40,       /* before each datagram, where it came from */
	SLOT_BYTES = 128,
	SLOTS = 2 * PIBV_HELLOS,        /* the first half arrives, the second leaves */
	QKEY_MASK = 0x7fffffff,         /* the highest bit is for privileged users */
};
_Static_assert(ROUTE_BYTES + sizeof(struct pibv_hello) <= SLOT_BYTES, "it fits");

static const uint64_t tell_after_ns = 10000000000, look_up_ns = 30000000000;
/* Knocks are messages to the keeper, and a rank may have many silent peers. */
static const uint64_t knock_apart_ns = 10000000;

static char *
slot_at(const struct psi_conduit *conduit, uint32_t slot)
{
	return conduit->hello.bytes + slot * SLOT_BYTES;
}

/* -- opening ----------------------------------------------------------------------------------- */

static int
slot_post(struct psi_conduit *conduit, uint32_t slot)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)slot_at(conduit, slot), .length = SLOT_BYTES,
		.lkey = conduit->hello.mr->lkey,
	};
	struct ibv_recv_wr wr = {
		.wr_id = pibv_wr_id(PIBV_OF_HELLO_RECEIVE, 0, 0, slot),
		.sg_list = &sge, .num_sge = 1,
	}, *bad;
	const int code = ibv_post_recv(conduit->hello.qp, &wr, &bad);

	if (!code)
		conduit->hello.posted++;
	return code;
}

static int
qp_modify(struct psi_conduit *conduit, struct ibv_qp_attr attr, int mask)
{
	return ibv_modify_qp(conduit->hello.qp, &attr, IBV_QP_STATE | mask);
}

/* From the state that it is made in, to one where it sends.  0, or an errno. */
static int
qp_start(struct psi_conduit *conduit)
{
	int code = qp_modify(conduit, (struct ibv_qp_attr){
		.qp_state = IBV_QPS_INIT, .pkey_index = conduit->rails[0].pkey_index,
		.port_num = conduit->rails[0].port_number, .qkey = conduit->card.qkey,
	}, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);

	for (uint32_t slot = 0; slot < PIBV_HELLOS && !code; slot++)
		code = slot_post(conduit, slot);
	if (!code)
		code = qp_modify(conduit, (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTR }, 0);
	if (!code)
		code = qp_modify(conduit, (struct ibv_qp_attr){ .qp_state = IBV_QPS_RTS },
		                 IBV_QP_SQ_PSN);
	return code;
}

static int
qp_open(struct psi_conduit *conduit)
{
	struct ibv_qp_init_attr init = {
		.send_cq = conduit->devices[0].cq, .recv_cq = conduit->devices[0].cq,
		.cap = { .max_send_wr = PIBV_HELLOS, .max_recv_wr = PIBV_HELLOS,
		         .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_UD,
	};

	conduit->hello.qp = ibv_create_qp(conduit->devices[0].pd, &init);
	return conduit->hello.qp ? qp_start(conduit) : errno;
}

/* The queue pair keeps its number, which peers know. */
static void
qp_restart(struct psi_conduit *conduit)
{
	int code = qp_modify(conduit, (struct ibv_qp_attr){ .qp_state = IBV_QPS_RESET }, 0);

	if (!code)
		code = qp_start(conduit);
	conduit->hello.failed = false;
	if (code) {
		conduit->services->log("ibv: the queue pair for datagrams of device %s does not "
		                       "start again: %s", conduit->devices[0].name, strerror(code));
		pibv_lose(conduit);
	}
}

/* A request of it has come back.  The queue pair stands still after one that failed, say a datagram
 * that could not leave while the port was down.  The others come back then, too, and with the last
 * it starts anew. */
static void
qp_took(struct psi_conduit *conduit, enum ibv_wc_status status)
{
	if (status != IBV_WC_SUCCESS && !conduit->hello.failed) {
		(void)qp_modify(conduit, (struct ibv_qp_attr){ .qp_state = IBV_QPS_ERR }, 0);
		conduit->hello.failed = true;
	}
	if (conduit->hello.failed && !conduit->hello.sent && !conduit->hello.posted)
		qp_restart(conduit);
}

int
pibv_hello_open(struct psi_conduit *conduit)
{
	uint32_t qkey = 0;
	int code = 0;

	if (getrandom(&qkey, sizeof qkey, 0) != sizeof qkey ||
	    !(conduit->hello.bytes = calloc(SLOTS, SLOT_BYTES)))
		code = ENOMEM;
	conduit->card.qkey = qkey & QKEY_MASK;
	if (!code && !(conduit->hello.mr = ibv_reg_mr(conduit->devices[0].pd, conduit->hello.bytes,
	                                              (size_t)SLOTS * SLOT_BYTES,
	                                              IBV_ACCESS_LOCAL_WRITE)))
		code = errno;
	if (!code)
		code = qp_open(conduit);
	if (code) {
		conduit->services->log("ibv: device %s has no queue pair for datagrams: %s",
		                       conduit->devices[0].name, strerror(code));
		return PSI_FAILED;
	}
	conduit->card.qp = conduit->hello.qp->qp_num;
	return PSI_OK;
}

void
pibv_hello_close(struct psi_conduit *conduit)
{
	if (conduit->hello.qp)
		ibv_destroy_qp(conduit->hello.qp);
	if (conduit->hello.mr)
		ibv_dereg_mr(conduit->hello.mr);
	free(conduit->hello.bytes);
}

/* -- sending ----------------------------------------------------------------------------------- */

struct pibv_hello
pibv_hello_of(const struct psi_conduit *conduit, const struct pibv_connection *connection)
{
	struct pibv_hello hello = {
		.tag = conduit->tag, .wire = PIBV_WIRE, .process = conduit->place,
		.to = connection->process, .reads = conduit->reads,
		.ready = connection->state >= PIBV_READY,
		.connected = connection->state == PIBV_CONNECTED,
	};

	for (unsigned rail = 0; rail < connection->rail_count; rail++) {
		hello.qp[rail] = connection->rails[rail]->qp->qp_num;
		hello.psn[rail] = connection->rails[rail]->psn;
	}
	return hello;
}

/* A peer's address is looked up on the network, where that too may be lost. */
bool
pibv_hello_may_pass(struct psi_conduit *conduit, uint32_t process, int code)
{
	struct pibv_connection *connection = conduit->connections[process];
	char why[PSI_LOST_WHY_BYTES];

	if (code != ETIMEDOUT && code != EHOSTUNREACH && code != ENETUNREACH && code != ENETDOWN &&
	    code != EAGAIN)
		return false;
	if (psi_now_ns() - connection->hello_since_ns < look_up_ns)
		return true;
	snprintf(why, sizeof why, "its port was not found for 30 s by port %u of %s: %s",
	         conduit->rails[0].port_number, conduit->devices[0].name, strerror(code));
	pibv_connection_break(conduit, connection, why);
	return true;
}

/* False: the device does not take the peer's address, perhaps only now, or a line has said so. */
static bool
has_handle(struct psi_conduit *conduit, struct pibv_connection *connection)
{
	const uint32_t process = connection->process;
	struct ibv_ah_attr address =
		pibv_address_of(&conduit->rails[0], &conduit->cards[process].ports[0]);

	if (!connection->ah)
		connection->ah = ibv_create_ah(conduit->devices[0].pd, &address);
	if (connection->ah)
		return true;
	if (pibv_hello_may_pass(conduit, process, errno))
		return false;
	conduit->services->log("ibv: no way to rank %u: %s; can its port be reached from port %u "
	                       "of %s?", process, strerror(errno), conduit->rails[0].port_number,
	                       conduit->devices[0].name);
	pibv_lose(conduit);
	return false;
}

/* A full queue has room later, so the hello is sent again.  Any other refusal is permanent, and the
 * job ends. */
static void
hello_refused(struct psi_conduit *conduit, uint32_t process, int code)
{
	if (code == ENOMEM || code == EAGAIN)
		return;
	conduit->services->log("ibv: no way to rank %u: device %s takes no datagram: %s", process,
	                       conduit->devices[0].name, strerror(code));
	pibv_lose(conduit);
}

/* False: it has not left; what finds no room is sent when its time comes again. */
static bool
hello_send(struct psi_conduit *conduit, struct pibv_connection *connection)
{
	const struct pibv_card *card = &conduit->cards[connection->process];
	const struct pibv_hello hello = pibv_hello_of(conduit, connection);
	const uint32_t slot = PIBV_HELLOS + conduit->hello.next % PIBV_HELLOS;
	struct ibv_sge sge = {
		.addr = (uintptr_t)slot_at(conduit, slot), .length = sizeof hello,
		.lkey = conduit->hello.mr->lkey,
	};
	struct ibv_send_wr wr = {
		.wr_id = pibv_wr_id(PIBV_OF_HELLO_SEND, 0, 0, 0), .sg_list = &sge, .num_sge = 1,
		.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED,
	}, *bad;
	int code;

	if (conduit->lost || conduit->hello.failed || conduit->hello.sent >= PIBV_HELLOS ||
	    !has_handle(conduit, connection))
		return false;
	memcpy(slot_at(conduit, slot), &hello, sizeof hello);
	wr.wr.ud.ah = connection->ah;
	wr.wr.ud.remote_qpn = card->qp;
	wr.wr.ud.remote_qkey = card->qkey;
	code = ibv_post_send(conduit->hello.qp, &wr, &bad);
	if (code) {
		hello_refused(conduit, connection->process, code);
		return false;
	}
	conduit->hello.sent++;
	conduit->hello.next++;
	return true;
}

/* Slots are used in turn, and datagrams leave in their order. */
void
pibv_hello_left(struct psi_conduit *conduit, const struct ibv_wc *wc)
{
	conduit->hello.sent--;
	qp_took(conduit, wc->status);
}

static uint64_t
interval_of(const struct psi_conduit *conduit, const struct pibv_connection *connection)
{
	uint64_t interval_ns = conduit->hello_first_ns;

	for (unsigned i = 1; i < connection->hellos && interval_ns < conduit->hello_most_ns; i++)
		interval_ns *= 2;
	return interval_ns < conduit->hello_most_ns ? interval_ns : conduit->hello_most_ns;
}

static void
hello_enlist(struct psi_conduit *conduit, struct pibv_connection *connection)
{
	const uint64_t now_ns = psi_now_ns();

	connection->hello_since_ns = now_ns;
	connection->hellos = 1;
	connection->hello_at_ns = now_ns + conduit->hello_first_ns;
	connection->next_hello = conduit->hello.first;
	conduit->hello.first = connection;
}

void
pibv_hello_start(struct psi_conduit *conduit, struct pibv_connection *connection)
{
	hello_enlist(conduit, connection);
	(void)hello_send(conduit, connection);
}

/* A peer that makes no calls does not answer either, so this ends nothing.  A peer that makes calls
 * hears the knock, and finds that no hello comes.  Who is gone, the keepers find out. */
static void
silence_tell(struct psi_conduit *conduit, struct pibv_connection *connection, uint64_t now_ns)
{
	if (connection->told || now_ns - connection->hello_since_ns < tell_after_ns)
		return;
	connection->told = true;
	conduit->services->log("ibv: rank %u (%s) has not answered for 10 s: it makes no calls, or "
	                       "datagrams from port %u of %s do not reach it", connection->process,
	                       conduit->services->host_name(connection->process),
	                       conduit->rails[0].port_number, conduit->devices[0].name);
}

/* One that brings a knock waits for its turn, if another has just been sent. */
static void
hello_repeat(struct psi_conduit *conduit, struct pibv_connection *connection, uint64_t now_ns)
{
	silence_tell(conduit, connection, now_ns);
	if (connection->told && now_ns - conduit->knock.sent_ns < knock_apart_ns) {
		connection->hello_at_ns = conduit->knock.sent_ns + knock_apart_ns;
		return;
	}
	connection->hellos++;
	connection->hello_at_ns = now_ns + interval_of(conduit, connection);
	if (!hello_send(conduit, connection) || !connection->told)
		return;
	conduit->knock.sent_ns = now_ns;
	conduit->services->knock(connection->process);
}

void
pibv_hello_advance(struct psi_conduit *conduit)
{
	struct pibv_connection **link = &conduit->hello.first;
	const uint64_t now_ns = *link ? psi_now_ns() : 0;

	while (*link) {
		struct pibv_connection *connection = *link;

		if (connection->state == PIBV_CONNECTED || connection->broken) {
			*link = connection->next_hello;
			continue;
		}
		if (now_ns >= connection->hello_at_ns)
			hello_repeat(conduit, connection, now_ns);
		link = &connection->next_hello;
	}
}

/* -- receiving --------------------------------------------------------------------------------- */

/* Bytes from any stranger who knows the Q_Key: nothing is believed before this. */
static bool
hello_is_sound(const struct psi_conduit *conduit, const struct pibv_hello *hello, size_t len_bytes)
{
	return len_bytes == sizeof *hello && hello->tag == conduit->tag &&
	       hello->wire == PIBV_WIRE && hello->process < conduit->places &&
	       hello->process != conduit->place && hello->to == conduit->place;
}

/* The message that takes the peer's side to CONNECTED.  A hello does as well where there is no room
 * for one. */
static void
done_tell(struct psi_conduit *conduit, struct pibv_connection *connection)
{
	const struct pibv_message nothing = {
		.header = { .source = conduit->place, .category = PIBV_CREDIT },
	};

	if (pibv_message_send(conduit, connection, &nothing, NULL) != PSI_OK)
		(void)hello_send(conduit, connection);
}

static void
hello_take(struct psi_conduit *conduit, const struct pibv_hello *hello)
{
	struct pibv_connection *connection = conduit->connections[hello->process];

	if (!connection) {
		connection = pibv_connection_make(conduit, hello->process);
		if (!connection)
			return;
		hello_enlist(conduit, connection);
	}
	if (connection->state == PIBV_MADE && !pibv_connection_ready(conduit, connection, hello))
		return;
	if (hello->ready)
		pibv_connection_done(connection);
	if (hello->connected)
		return;
	if (connection->state == PIBV_CONNECTED)
		done_tell(conduit, connection);
	else
		(void)hello_send(conduit, connection);
}

static void
hello_read(struct psi_conduit *conduit, uint32_t slot, size_t len_bytes)
{
	struct pibv_hello hello;

	memcpy(&hello, slot_at(conduit, slot) + ROUTE_BYTES, sizeof hello);
	if (!hello_is_sound(conduit, &hello, len_bytes)) {
		pibv_count(conduit, PSI_COUNT_DROPPED);
	} else if (!conduit->lost) {
		pibv_knock_hello_came(conduit, hello.process);
		hello_take(conduit, &hello);
	}
}

void
pibv_hello_arrived(struct psi_conduit *conduit, const struct ibv_wc *wc)
{
	const uint32_t slot = pibv_wr_number(wc->wr_id);

	conduit->hello.posted--;
	if (wc->status == IBV_WC_SUCCESS)
		hello_read(conduit, slot, wc->byte_len - ROUTE_BYTES);
	if (wc->status != IBV_WC_SUCCESS || conduit->hello.failed) {
		qp_took(conduit, wc->status);
	} else if (slot_post(conduit, slot) != 0) {
		conduit->services->log("ibv: device %s takes no buffer for a datagram",
		                       conduit->devices[0].name);
		pibv_lose(conduit);
	}
}
