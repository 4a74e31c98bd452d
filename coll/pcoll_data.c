/*
 * Data between members: the receiver asks by a note that says where, the sender sends Mediums
 * straight there, as many as find room.
 */
#include "coll/coll.h"

#include "runtime/util/copy.h"
#include "runtime/util/fence.h"

#include "runtime/am/am.h"
#include "runtime/process/process.h"
#include "runtime/team/team.h"

enum { DATA_ARGS = 4 };

bool
pcoll_data_ask(struct pcoll_op *op, struct pcoll_in *in, gex_Rank_t from, uint32_t tag)
{
	psi_handed_to_process(in);
	return pcoll_note_send(op, from, tag | PCOLL_ASKS, (uintptr_t)in, in->len_bytes, NULL, 0);
}

/* The operation cannot end before all its bytes have been counted; after that it may have. */
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
	psi_copy(in->addr + offset, buf, nbytes);
	atomic_fetch_add_explicit(&in->got_bytes, nbytes,
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

bool
pcoll_data_push(struct pcoll_op *op, struct pcoll_out *out, gex_Rank_t to)
{
	const struct psi_target target =
		psi_target_of(op->call.tm, to, pcoll_call_name(op->call.what));
	const size_t most = target.ep->ops->am_max_medium(target.ep->port, target.place,
	                                                  PSI_REQUESTS, DATA_ARGS);

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
