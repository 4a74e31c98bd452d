/*
 * Data between members: the receiver asks by a note that says where.  A sender that has that memory
 * mapped, or in its process, stores the bytes there and sends a message of none; others send
 * Mediums straight there, as many as find room.
 */
#include "coll/coll.h"

#include "runtime/util/copy.h"
#include "runtime/util/fence.h"

#include "runtime/am/am.h"
#include "runtime/process/process.h"
#include "runtime/segment/reach.h"
#include "runtime/team/team.h"

enum { DATA_ARGS = 4 };

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

/* Could the peer store there? */
static bool
in_is_within_reach(const struct pcoll_op *op, const struct pcoll_in *in, gex_Rank_t from)
{
	const gex_Rank_t process = psi_jobrank_of(member_place(op, from));

	if (psi_way_is_masked(PSI_WAY_PUT) || !psi_in_my_nbrhd(process))
		return false;
	return process == psi.boot.rank ||
	       segment_has(member_place(op, op->call.tm->rank), (uintptr_t)in->addr, in->len_bytes);
}

bool
pcoll_data_ask(struct pcoll_op *op, struct pcoll_in *in, gex_Rank_t from, uint32_t tag)
{
	const uintptr_t addr = (uintptr_t)in->addr;

	psi_handed_to_process(in);
	return pcoll_note_send(op, from, tag | PCOLL_ASKS, (uintptr_t)in, in->len_bytes, &addr,
	                       in_is_within_reach(op, in, from) ? sizeof addr : 0);
}

void
pcoll_data_asked(struct pcoll_out *out, const struct pcoll_note *note)
{
	out->cookie = note->words[0];
	out->there = 0;
	if (note->len_bytes == sizeof out->there)
		memcpy(&out->there, note->payload, sizeof out->there);
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
	if (nbytes)
		psi_copy(in->addr + offset, buf, nbytes);
	atomic_fetch_add_explicit(&in->got_bytes, nbytes ? nbytes : (size_t)offset,
	                          memory_order_release); /* X1: release, to X2 in slot_receiving */
	pcoll_op_changed(op);
}

static bool
data_send_piece(struct pcoll_op *op, struct pcoll_out *out, gex_Rank_t to, size_t len_bytes)
{
	const uint64_t offset = out->sent_bytes;
	const gex_AM_Arg_t args[DATA_ARGS] = {
		(gex_AM_Arg_t)(uint32_t)out->cookie, (gex_AM_Arg_t)(uint32_t)(out->cookie >> 32),
		(gex_AM_Arg_t)(uint32_t)offset, (gex_AM_Arg_t)(uint32_t)(offset >> 32),
	};
	struct psi_am am = {
		.handler = PSI_HANDLER_COLL_DATA, .category = PSI_MEDIUM, .nargs = DATA_ARGS,
		.args = args, .payload = out->addr + offset, .len_bytes = len_bytes,
	};

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
	void *there = out->there ? peer_bytes(member_place(op, to), out->there, out->len_bytes)
	                         : NULL;

	out->there = 0;
	if (!there)
		return;
	psi_copy(there, out->addr, out->len_bytes);
	out->sent_bytes = out->len_bytes;
	out->is_stored = true;
}

bool
pcoll_data_push(struct pcoll_op *op, struct pcoll_out *out, gex_Rank_t to)
{
	const struct psi_target target =
		psi_target_of(op->call.tm, to, pcoll_call_name(op->call.what));
	const size_t most = target.ep->ops->am_max_medium(target.ep->port, target.place,
	                                                  PSI_REQUESTS, DATA_ARGS);

	data_store(op, out, to);
	if (out->is_stored)
		return data_send_piece(op, out, to, 0);
	while (out->sent_bytes < out->len_bytes) {
		const size_t left = out->len_bytes - out->sent_bytes;

		if (!data_send_piece(op, out, to, left < most ? left : most))
			return false;
	}
	return true;
}

void
pcoll_data_register(gex_EP_t ep)
{
	psi_handler_set_internal(ep, PSI_HANDLER_COLL_DATA, (gex_AM_Fn_t)data_on_message);
}
