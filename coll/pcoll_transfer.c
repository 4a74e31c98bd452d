/*
 * Transfers between members: the receiver asks by a note that says where, the sender sends Mediums
 * straight there, as many as find room.  A piece never crosses a boundary of segments, so a segment
 * is here when its bytes are, in whatever order handlers of several threads ran.
 */
#include "coll/coll.h"

#include "runtime/util/copy.h"
#include "runtime/util/fence.h"

#include "runtime/am/am.h"
#include "runtime/process/process.h"
#include "runtime/team/team.h"

enum { DATA_ARGS = 4 };

/* Largest piece between two members; the same seen from both. */
static size_t
transfer_piece_bytes(const struct pcoll_op *op, gex_Rank_t peer)
{
	const struct psi_target target =
		psi_target_of(op->call.tm, peer, pcoll_operation_name(op->call.operation));

	return target.ep->ops->am_max_medium(target.ep->port, target.place, PSI_REQUESTS,
	                                     DATA_ARGS);
}

/* -- in ---------------------------------------------------------------------------------------- */

/* Whole pieces, and no more than PCOLL_SEGMENTS of them. */
static size_t
transfer_segment_bytes(size_t len_bytes, size_t piece)
{
	const size_t pieces = (len_bytes + piece - 1) / piece;

	return (pieces + PCOLL_SEGMENTS - 1) / PCOLL_SEGMENTS * piece;
}

bool
pcoll_in_ask(struct pcoll_op *op, struct pcoll_in *in, gex_Rank_t from, uint32_t index, void *addr,
             size_t len_bytes)
{
	in->op = op;
	in->addr = addr;
	in->len_bytes = len_bytes;
	in->segment_bytes = transfer_segment_bytes(len_bytes, transfer_piece_bytes(op, from));
	in->from = from;
	in->index = index;
	in->full = 0;
	for (unsigned i = 0; i < PCOLL_SEGMENTS; i++)
		atomic_store_explicit(&in->got[i], 0, memory_order_relaxed);
	psi_handed_to_process(in);
	return pcoll_note_send(op, from, index, (uintptr_t)in, len_bytes);
}

size_t
pcoll_in_prefix(struct pcoll_in *in)
{
	size_t at = in->full * in->segment_bytes;

	while (at < in->len_bytes) {
		const size_t left = in->len_bytes - at;
		const size_t want = left < in->segment_bytes ? left : in->segment_bytes;

		if (atomic_load_explicit(&in->got[in->full], memory_order_acquire) != want) /* X2 */
			return at;
		in->full++;
		at += want;
	}
	return in->len_bytes;
}

/* The operation cannot end before all its bytes have been counted; after that it may be gone. */
static void
data_on_message(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t cookie_low,
                gex_AM_Arg_t cookie_high, gex_AM_Arg_t offset_low, gex_AM_Arg_t offset_high)
{
	const uint64_t cookie = (uint32_t)cookie_low | (uint64_t)(uint32_t)cookie_high << 32;
	const uint64_t offset = (uint32_t)offset_low | (uint64_t)(uint32_t)offset_high << 32;
	struct pcoll_in *in = (struct pcoll_in *)(uintptr_t)cookie;
	_Atomic size_t *got;
	struct pcoll_op *op;

	psi_count_internal(token);
	psi_back_from_process(in);
	op = in->op;
	got = in->sum ? in->sum : &in->got[offset / in->segment_bytes];
	psi_copy(in->addr + offset, buf, nbytes);
	atomic_fetch_add_explicit(got, nbytes, memory_order_release); /* X1 */
	pcoll_op_changed(op);
}

/* -- out --------------------------------------------------------------------------------------- */

/* It wants as much as this member sends, or one of them is wrong. */
void
pcoll_out_asked(struct pcoll_op *op, struct pcoll_out *out, const uint64_t words[2])
{
	if (words[1] != out->len_bytes)
		psi_fatal("%s: call %u on its team, in which rank %u expects %llu bytes and this "
		          "one sends %zu; let all members pass the same sizes",
		          pcoll_operation_name(op->call.operation), op->number, out->to,
		          (unsigned long long)words[1], out->len_bytes);
	out->cookie = words[0];
	out->asked = true;
}

/* Has the peer asked? */
static bool
out_find_asked(struct pcoll_op *op, struct pcoll_out *out)
{
	uint64_t words[2];

	if (!out->asked && pcoll_note_take(op, out->to, out->index, words))
		pcoll_out_asked(op, out, words);
	return out->asked;
}

static bool
out_send_piece(struct pcoll_op *op, struct pcoll_out *out, size_t len_bytes)
{
	const gex_AM_Arg_t args[DATA_ARGS] = {
		(gex_AM_Arg_t)(uint32_t)out->cookie, (gex_AM_Arg_t)(uint32_t)(out->cookie >> 32),
		(gex_AM_Arg_t)(uint32_t)out->sent_bytes,
		(gex_AM_Arg_t)(uint32_t)((uint64_t)out->sent_bytes >> 32),
	};
	struct psi_am am = {
		.handler = PSI_HANDLER_COLL_DATA, .category = PSI_MEDIUM, .nargs = DATA_ARGS,
		.args = args, .payload = out->addr + out->sent_bytes, .len_bytes = len_bytes,
	};

	if (!pcoll_send(op, out->to, &am, pcoll_operation_name(op->call.operation)))
		return false;
	out->sent_bytes += len_bytes;
	return true;
}

bool
pcoll_out_push(struct pcoll_op *op, struct pcoll_out *out, size_t ready)
{
	size_t most;

	if (out->sent_bytes == out->len_bytes)
		return true;
	if (!out_find_asked(op, out))
		return false;
	most = transfer_piece_bytes(op, out->to);
	while (out->sent_bytes < ready) {
		const size_t to_boundary = most - out->sent_bytes % most;
		const size_t left = ready - out->sent_bytes;

		if (!out_send_piece(op, out, left < to_boundary ? left : to_boundary))
			return false;
	}
	return out->sent_bytes == out->len_bytes;
}

void
pcoll_transfers_register(gex_EP_t ep)
{
	psi_handler_set_internal(ep, PSI_HANDLER_COLL_DATA, (gex_AM_Fn_t)data_on_message);
}
