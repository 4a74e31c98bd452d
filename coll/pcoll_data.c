/*
 * Data between members: the receiver asks by a note that says where.  A sender that has that memory
 * mapped, or in its process, stores the bytes there and sends a message of none.  One that reaches
 * it through the network sends a Long.  Others send Mediums, as many as find room.
 */
#include "coll/coll.h"

#include "runtime/util/copy.h"
#include "runtime/util/fence.h"

#include "runtime/am/am.h"
#include "runtime/process/process.h"
#include "runtime/segment/reach.h"
#include "runtime/team/team.h"

static uint32_t
member_place(const struct pcoll_op *op, gex_Rank_t rank)
{
	return psi_target_of(op->call.tm, rank, pcoll_call_name(op->call.what)).place;
}

/* -- asking ------------------------------------------------------------------------------------ */

/* Does the segment of that place have these bytes? */
static bool
segment_has(uint32_t place, uintptr_t at, size_t len_bytes)
{
	const struct pst_peer *segment = &psi.peers[place];

	return len_bytes <= segment->size_bytes &&
	       at - segment->base <= segment->size_bytes - len_bytes;
}

/* Could the peer write there? */
static bool
in_is_within_reach(const struct pcoll_op *op, const struct pcoll_in *in, gex_Rank_t from)
{
	const gex_Rank_t process = psi_jobrank_of(member_place(op, from));

	if (psi_way_is_masked(psi_in_my_nbrhd(process) ? PSI_WAY_PUT : PSI_WAY_LONG))
		return false;
	return process == psi.boot.rank ||
	       segment_has(member_place(op, op->call.tm->rank), (uintptr_t)in->addr, in->len_bytes);
}

/* Fills in where, if that is memory with a name: scratch memory, or what is long enough to get a
 * name for this time. */
static bool
in_is_named(struct pcoll_op *op, struct pcoll_in *in, struct pcoll_there *there_out)
{
	const struct pcoll_scratch *scratch = &op->executor.scratch;
	const uintptr_t offset = (uintptr_t)in->addr - (uintptr_t)scratch->base;

	if (scratch->named.registration && offset < scratch->room_bytes) {
		there_out->offset = offset;
		there_out->name = scratch->named.name;
		return true;
	}
	if (in->len_bytes < psi.attributes.named_least_bytes ||
	    !(in->named.registration || pcoll_name(&in->named, in->addr, in->len_bytes)))
		return false;
	there_out->name = in->named.name;
	return true;
}

/* An address alone says that it is in the segment. */
bool
pcoll_data_ask(struct pcoll_op *op, struct pcoll_in *in, gex_Rank_t from, uint32_t tag)
{
	struct pcoll_there there = { .at = (uintptr_t)in->addr };
	size_t len_bytes = 0;

	if (in_is_within_reach(op, in, from))
		len_bytes = sizeof there.at;
	else if (!psi_in_my_nbrhd(psi_jobrank_of(member_place(op, from))) &&
	         in_is_named(op, in, &there))
		len_bytes = sizeof there;
	psi_handed_to_process(in);
	return pcoll_note_send(op, from, tag | PCOLL_ASKS, (uintptr_t)in, in->len_bytes, &there,
	                       len_bytes);
}

void
pcoll_data_received(struct pcoll_in *in)
{
	pcoll_unname(&in->named);
}

void
pcoll_data_asked(struct pcoll_out *out, const struct pcoll_note *note)
{
	out->cookie = note->words[0];
	out->there = (struct pcoll_there){ .name = { .key = PSI_NO_KEY } };
	if (note->len_bytes <= sizeof out->there)
		memcpy(&out->there, note->payload, note->len_bytes);
}

/* -- sending and arriving ---------------------------------------------------------------------- */

/* A message of no bytes tells of as many as its offset says, which have been stored.  The operation
 * cannot end before all its bytes have been counted; after that it may have. */
static void
data_on_message(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t cookie_low,
                gex_AM_Arg_t cookie_high, gex_AM_Arg_t offset_low, gex_AM_Arg_t offset_high)
{
	const uint64_t cookie = (uint32_t)cookie_low | (uint64_t)(uint32_t)cookie_high << 32;
	const uint64_t offset = (uint32_t)offset_low | (uint64_t)(uint32_t)offset_high << 32;
	struct pcoll_in *in = (struct pcoll_in *)(uintptr_t)cookie;
	struct pcoll_op *op;

	psi_count_internal(token);
	psi_back_from_process(in);
	op = in->op;
	if (nbytes && buf != in->addr + offset)
		psi_copy(in->addr + offset, buf, nbytes);
	atomic_fetch_add_explicit(&in->got_bytes, nbytes ? nbytes : (size_t)offset,
	                          memory_order_release); /* X1: release, to X2 in slot_receiving */
	pcoll_op_changed(op);
}

/* The message with the next len_bytes. */
static struct psi_am
data_message(struct pcoll_out *out, unsigned category, size_t len_bytes)
{
	const uint64_t offset = out->sent_bytes;

	out->args[0] = (gex_AM_Arg_t)(uint32_t)out->cookie;
	out->args[1] = (gex_AM_Arg_t)(uint32_t)(out->cookie >> 32);
	out->args[2] = (gex_AM_Arg_t)(uint32_t)offset;
	out->args[3] = (gex_AM_Arg_t)(uint32_t)(offset >> 32);
	return (struct psi_am){
		.handler = PSI_HANDLER_COLL_DATA, .category = (uint8_t)category,
		.network = PSI_REQUESTS, .nargs = PCOLL_DATA_ARGS, .args = out->args,
		.payload = out->addr + offset, .len_bytes = len_bytes,
	};
}

static bool
data_send_piece(struct pcoll_op *op, struct pcoll_out *out, gex_Rank_t to, size_t len_bytes)
{
	struct psi_am am = data_message(out, PSI_MEDIUM, len_bytes);

	if (!pcoll_send(op, to, &am))
		return false;
	out->sent_bytes += len_bytes;
	return true;
}

/* Memory of a place as it is seen here; NULL: it is not. */
static void *
peer_bytes(uint32_t place, uintptr_t at, size_t len_bytes)
{
	if (psi_jobrank_of(place) == psi.boot.rank)
		return (void *)at;
	return segment_has(place, at, len_bytes) ? (void *)(at + psi.peers[place].offset) : NULL;
}

/* Stores all, if the peer has said where and that is mapped here. */
static void
data_store(const struct pcoll_op *op, struct pcoll_out *out, gex_Rank_t to)
{
	const uint32_t place = member_place(op, to);
	void *there;

	if (!out->there.at || !psi_in_my_nbrhd(psi_jobrank_of(place)))
		return;
	there = peer_bytes(place, out->there.at, out->len_bytes);
	out->there.at = 0;
	if (!there)
		return;
	psi_copy(there, out->addr, out->len_bytes);
	out->sent_bytes = out->len_bytes;
	out->is_stored = true;
}

/* Where the network finds what has not been sent. */
static struct psi_remote
data_remote(const struct pcoll_out *out, uint32_t place)
{
	const struct pcoll_there *there = &out->there;

	if (there->name.key == PSI_NO_KEY)
		return psi_reach_remote(place, (void *)(uintptr_t)(there->at + out->sent_bytes));
	return (struct psi_remote){
		.peer = place, .name = there->name, .offset = there->offset + out->sent_bytes,
	};
}

/* The payload of a Long must stay until the conduit has accepted it, which may take polls. */
static bool
data_put(struct pcoll_op *op, struct pcoll_out *out, const struct psi_target *target)
{
	const size_t left = out->len_bytes - out->sent_bytes;
	const size_t most = psi.attributes.max_long_bytes;
	int result;

	if (!out->message.am) {
		out->am = data_message(out, PSI_LONG, left < most ? left : most);
		out->am.peer = target->place;
		out->am.dest = (void *)(uintptr_t)(out->there.at + out->sent_bytes);
		out->message = (struct psi_long){
			.am = &out->am, .dest = data_remote(out, target->place),
			.owner = target->ep,
		};
	}
	result = target->ep->ops->am_long(target->ep->port, &out->message);
	if (PSI_UNLIKELY(result > PSI_AGAIN))
		psi_am_failed(target->place);
	if (result == PSI_OK) {
		out->message.am = NULL;
		out->sent_bytes += out->am.len_bytes;
	} else {
		op->blocked = true;
	}
	return result == PSI_OK;
}

/* Can the network write there? */
static bool
data_is_for_put(const struct pcoll_out *out, uint32_t place)
{
	return psi.attributes.puts_longs && out->there.at &&
	       data_remote(out, place).name.key != PSI_NO_KEY;
}

bool
pcoll_data_push(struct pcoll_op *op, struct pcoll_out *out, gex_Rank_t to)
{
	const struct psi_target target =
		psi_target_of(op->call.tm, to, pcoll_call_name(op->call.what));
	const size_t most = target.ep->ops->am_max_medium(target.ep->port, target.place,
	                                                  PSI_REQUESTS, PCOLL_DATA_ARGS);
	bool puts;

	data_store(op, out, to);
	if (out->is_stored)
		return data_send_piece(op, out, to, 0);
	puts = data_is_for_put(out, target.place);
	while (out->sent_bytes < out->len_bytes) {
		const size_t left = out->len_bytes - out->sent_bytes;

		if (!(puts ? data_put(op, out, &target)
		           : data_send_piece(op, out, to, left < most ? left : most)))
			return false;
	}
	return true;
}

void
pcoll_data_register(gex_EP_t ep)
{
	psi_handler_set_internal(ep, PSI_HANDLER_COLL_DATA, (gex_AM_Fn_t)data_on_message);
}
