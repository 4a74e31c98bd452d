/* Calls under way, and the packets that carry them along the tree. */
#include "offload/cau/cau.h"

#include "offload/wire.h"

#include "coll/coll.h"

#include <string.h>

/* -- packets ----------------------------------------------------------------------------------- */

/* FNV-1a of all that a packet says, but for the sum itself. */
static uint32_t
packet_sum(const struct cau_packet *packet)
{
	struct cau_packet copy = *packet;
	const unsigned char *at = (const unsigned char *)&copy;
	uint32_t sum = 2166136261u;

	copy.sum = 0;
	for (size_t i = 0; i < sizeof copy; i++)
		sum = (sum ^ at[i]) * 16777619u;
	return sum;
}

static void
packet_send(pst_off_req_t *call, uint32_t neighbour)
{
	pst_off_tree_t *tree = call->tree;
	const unsigned at = (tree->first_departure + tree->departures) % CAU_QUEUE;
	struct cau_departure *departure = &tree->departure[at];

	if (tree->departures == CAU_QUEUE) {
		tree->dead = true;      /* far more than all calls have */
		return;
	}
	memset(departure, 0, sizeof *departure);
	departure->to = tree->neighbour[neighbour];
	departure->packet = (struct cau_packet){
		.seq = call->seq, .op = call->op, .root = call->root, .dt = call->dt,
		.rop = call->rop, .nbytes = (uint32_t)call->nbytes,
	};
	memcpy(departure->packet.payload, call->value, call->nbytes);
	departure->packet.sum = packet_sum(&departure->packet);
	tree->departures++;
}

static bool
departure_leave(pst_off_tree_t *tree)
{
	struct cau_departure *departure = &tree->departure[tree->first_departure];
	struct cau_packet packet = departure->packet;
	pst_off_dev_t *dev = tree->dev;

	if (poff_cau_fault_happens(&dev->faults, CAU_CORRUPT, tree->me))
		packet.payload[0] ^= 1;
	if (poff_cau_fault_happens(&dev->faults, CAU_DROP, tree->me))
		dev->count.dropped++;
	else if (poff_wire_send(tree->key, departure->to, &packet, sizeof packet) != PST_OFF_OK)
		return false;
	dev->count.packets++;
	dev->count.bytes += packet.nbytes;
	tree->first_departure = (tree->first_departure + 1) % CAU_QUEUE;
	tree->departures--;
	return true;
}

/* -- calls ------------------------------------------------------------------------------------- */

/* The call with that number, which a packet or this member brings; NULL: it is too far ahead. */
static pst_off_req_t *
call_of(pst_off_tree_t *tree, uint64_t seq)
{
	pst_off_req_t *call = &tree->call[seq % CAU_CALLS];

	if (call->used)
		return call->seq == seq ? call : NULL;
	*call = (pst_off_req_t){ .tree = tree, .seq = seq, .used = true };
	return call;
}

static void
call_end(pst_off_req_t *call, int result, const char *why)
{
	if (call->ended)
		return;
	call->ended = true;
	call->result = result;
	call->why = why;
}

static void
tree_die(pst_off_tree_t *tree, const char *why)
{
	tree->dead = true;
	for (unsigned i = 0; i < CAU_CALLS; i++)
		if (tree->call[i].used && tree->call[i].started)
			call_end(&tree->call[i], PST_OFF_FAIL, why);
}

/* Of what comes and of the own operand. */
static void
value_add(pst_off_req_t *call, const void *operand)
{
	const size_t elem_bytes = pcoll_type_bytes(call->dt);
	_Alignas(16) unsigned char aligned[CAU_PAYLOAD];

	memcpy(aligned, operand, call->nbytes);
	if (call->has_value)
		pcoll_builtin(call->dt, call->rop)(aligned, call->value, call->value,
		                                   call->nbytes / elem_bytes);
	else
		memcpy(call->value, aligned, call->nbytes);
	call->has_value = true;
}

static void
call_advance_reduce(pst_off_req_t *call)
{
	pst_off_tree_t *tree = call->tree;
	const bool is_root = call->root == tree->me;
	const uint32_t towards = is_root ? CAU_NEIGHBOURS : poff_cau_towards(tree, call->root);
	const uint32_t all = ((uint32_t)1 << tree->neighbours) - 1;
	const uint32_t wanted = is_root ? all : all & ~((uint32_t)1 << towards);

	if (!call->started || call->ended || call->come != wanted)
		return;
	if (!is_root)
		packet_send(call, towards);
	else if (!call->cancelled)
		memcpy(call->dst, call->value, call->nbytes);
	call_end(call, PST_OFF_OK, NULL);
}

/* The unit sends on what has come, whether or not its member has started. */
static void
call_advance_bcast(pst_off_req_t *call)
{
	pst_off_tree_t *tree = call->tree;
	const bool is_root = call->root == tree->me;
	const uint32_t towards = is_root ? CAU_NEIGHBOURS : poff_cau_towards(tree, call->root);

	if (!call->has_value)
		return;
	for (uint32_t i = 0; !call->sent_on && i < tree->neighbours; i++)
		if (i != towards)
			packet_send(call, i);
	call->sent_on = true;
	if (!call->started || call->ended)
		return;
	if (!is_root && !call->cancelled)
		memcpy(call->dst, call->value, call->nbytes);
	call_end(call, PST_OFF_OK, NULL);
}

static void
call_advance(pst_off_req_t *call)
{
	if (call->op == PST_OFF_REDUCE)
		call_advance_reduce(call);
	else
		call_advance_bcast(call);
}

/* -- what comes -------------------------------------------------------------------------------- */

static bool
packet_is_good(const pst_off_tree_t *tree, const struct cau_packet *packet)
{
	return packet->sum == packet_sum(packet) && packet->nbytes <= CAU_PAYLOAD &&
	       packet->root < tree->members &&
	       (packet->op == PST_OFF_REDUCE || packet->op == PST_OFF_BCAST);
}

/* A call that has ended here keeps its place until those after it come near; what comes for it is
 * dropped. */
static void
packet_handle(pst_off_tree_t *tree, const struct cau_arrival *arrival)
{
	const struct cau_packet *packet = &arrival->packet;
	pst_off_req_t *call;

	if (!packet_is_good(tree, packet)) {
		tree->dev->count.corrupt++;
		tree_die(tree, "a packet was damaged");
		return;
	}
	if (packet->seq < tree->next_seq && tree->call[packet->seq % CAU_CALLS].seq != packet->seq)
		return;
	call = call_of(tree, packet->seq);
	if (!call) {
		tree_die(tree, "a member is too far ahead");
		return;
	}
	call->op = packet->op;
	call->root = packet->root;
	call->dt = packet->dt;
	call->rop = packet->rop;
	call->nbytes = packet->nbytes;
	for (uint32_t i = 0; i < tree->neighbours; i++)
		if (tree->neighbour[i] == arrival->from)
			call->come |= (uint32_t)1 << i;
	value_add(call, packet->payload);
	call_advance(call);
}

static bool
arrival_take(pst_off_tree_t *tree)
{
	struct cau_arrival *arrival =
		&tree->arrival[(tree->first_arrival + tree->arrivals) % CAU_QUEUE];
	pst_off_dev_t *dev = tree->dev;
	const uint64_t now = dev->host->now_ns();
	unsigned char bytes[POFF_PACKET_BYTES];

	if (tree->arrivals == CAU_QUEUE ||
	    poff_wire_take(tree->key, &arrival->from, bytes) != sizeof arrival->packet)
		return false;
	memcpy(&arrival->packet, bytes, sizeof arrival->packet);
	arrival->due_ns = poff_cau_unit_handle(now + dev->hop_ns, dev->unit_ns);
	tree->arrivals++;
	return true;
}

bool
poff_cau_tree_flush(pst_off_tree_t *tree)
{
	while (tree->departures && departure_leave(tree))
		;
	return !tree->departures;
}

unsigned
poff_cau_tree_progress(pst_off_tree_t *tree, unsigned budget)
{
	const uint64_t now = tree->dev->host->now_ns();
	unsigned events = 0;

	if (poff_cau_fault_happens(&tree->dev->faults, CAU_STALL, tree->me))
		tree->stalled_until_ns = now + tree->dev->faults.fault[CAU_STALL].ns;
	if (now < tree->stalled_until_ns)
		return 0;
	while (arrival_take(tree))
		;
	while (events < budget && tree->arrivals &&
	       tree->arrival[tree->first_arrival].due_ns <= now && !tree->dead) {
		packet_handle(tree, &tree->arrival[tree->first_arrival]);
		tree->first_arrival = (tree->first_arrival + 1) % CAU_QUEUE;
		tree->arrivals--;
		events++;
	}
	while (events < budget && tree->departures && departure_leave(tree))
		events++;
	return events;
}

/* -- what the member does ---------------------------------------------------------------------- */

int
poff_cau_start(pst_off_tree_t *tree, const pst_off_call_t *args, pst_off_req_t **req_out)
{
	const bool is_root = args->root == tree->me;
	pst_off_req_t *call;

	if (poff_cau_fault_happens(&tree->dev->faults, CAU_DIE, tree->me))
		tree_die(tree, "the unit has died");
	if (tree->dead)
		return PST_OFF_FAIL;
	call = call_of(tree, args->seq);
	if (!call)
		return PST_OFF_AGAIN;   /* the one before it in its place is under way */
	call->op = args->op;
	call->root = args->root;
	call->dt = args->dt;
	call->rop = args->rop;
	call->nbytes = args->nbytes;
	call->dst = args->dst;
	call->started = true;
	tree->next_seq = args->seq + 1;
	if (args->op == PST_OFF_REDUCE || is_root)
		value_add(call, args->src);
	tree->dev->count.calls++;
	call_advance(call);
	*req_out = call;
	return PST_OFF_OK;
}

int
poff_cau_test(pst_off_req_t *call, pst_off_result_t *result_out)
{
	if (!call->ended)
		return PST_OFF_AGAIN;
	*result_out = (pst_off_result_t){ .why = call->why };
	call->used = false;
	return call->cancelled ? PST_OFF_CANCELLED : call->result;
}

void
poff_cau_cancel(pst_off_req_t *call)
{
	if (call->ended)
		return;
	call->cancelled = true;
	call_end(call, PST_OFF_CANCELLED, NULL);
}
