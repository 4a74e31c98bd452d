/*
 * Put, get and fill by messages.
 *
 * A transfer is sent in pieces.  A piece of a put is a Medium, which the owner of the memory copies
 * and acknowledges.  A piece of a get is a Short, which the owner answers with a Medium.  A piece
 * of a fill is a Short.  Many pieces, of one transfer or of several, are under way at the same
 * time: as many as there is room for.  A piece that finds no room waits (pref_room.c).
 *
 * Handlers copy and reply.  They have indices of the library, so their messages are not counted as
 * the client's.
 */
#include "extended-ref/pref.h"

#include "runtime/segment/reach.h"
#include "runtime/util/copy.h"
#include "runtime/util/fence.h"

#include "runtime/am/am.h"

#include <stdlib.h>
#include <string.h>

enum {
	MOST_PIECE_BYTES = 64 << 10,
	MOST_FILL_BYTES = 1 << 20,      /* a handler's time, not a message's size, bounds these */
};

#define ADDRESS_ARGS(address) PSI_PART_ARGS((uint64_t)(uintptr_t)(address))

/* -- the owner's side ------------------------------------------------------------------------ */

static void *
rma_owned(gex_Token_t token, gex_AM_Arg_t low, gex_AM_Arg_t high)
{
	return psi_reach_owned(token->ep, psi_part_of(low, high));
}

static void
rma_reply(gex_Token_t token, enum psi_internal_handler handler, void *payload, size_t len_bytes,
      unsigned nargs, const gex_AM_Arg_t *args)
{
	const struct psi_am am = {
		.peer = token->arrival->source, .handler = (uint8_t)handler,
		.category = payload ? PSI_MEDIUM : PSI_SHORT, .network = PSI_REPLIES,
		.nargs = (uint8_t)nargs, .args = args, .payload = payload, .len_bytes = len_bytes,
	};

	psi_am_inject(token->ep, &am, 0);
}

static void
rma_reply_done(gex_Token_t token, gex_AM_Arg_t low, gex_AM_Arg_t high)
{
	const gex_AM_Arg_t args[] = { low, high };

	rma_reply(token, PSI_HANDLER_PART_DONE, NULL, 0, 2, args);
}

static void
rma_on_put(gex_Token_t token, void *payload, size_t len_bytes, gex_AM_Arg_t offset_low,
           gex_AM_Arg_t offset_high, gex_AM_Arg_t part_low, gex_AM_Arg_t part_high)
{
	void *dest = rma_owned(token, offset_low, offset_high);

	psi_count_internal(token);
	psi_memory_from_process(dest, len_bytes);
	psi_copy(dest, payload, len_bytes);
	psi_memory_to_process(dest, len_bytes);
	rma_reply_done(token, part_low, part_high);
}

static void
rma_on_fill(gex_Token_t token, gex_AM_Arg_t offset_low, gex_AM_Arg_t offset_high,
            gex_AM_Arg_t len_bytes, gex_AM_Arg_t byte, gex_AM_Arg_t part_low,
            gex_AM_Arg_t part_high)
{
	void *dest = rma_owned(token, offset_low, offset_high);

	psi_count_internal(token);
	psi_memory_from_process(dest, (size_t)len_bytes);
	memset(dest, byte, (size_t)len_bytes);
	psi_memory_to_process(dest, (size_t)len_bytes);
	rma_reply_done(token, part_low, part_high);
}

static void
rma_on_get(gex_Token_t token, gex_AM_Arg_t offset_low, gex_AM_Arg_t offset_high,
           gex_AM_Arg_t len_bytes, gex_AM_Arg_t dest_low, gex_AM_Arg_t dest_high,
           gex_AM_Arg_t part_low, gex_AM_Arg_t part_high)
{
	const gex_AM_Arg_t args[] = { dest_low, dest_high, part_low, part_high };
	void *const there = rma_owned(token, offset_low, offset_high);
	void *src = there;

	psi_count_internal(token);
	psi_memory_from_process(src, (size_t)len_bytes);
	if (PSI_TSAN_HERE) {    /* it is read before the peer can have the answer */
		src = memcpy(psi_thread_buffer(PSI_REPLIES, (size_t)len_bytes), src,
		             (size_t)len_bytes);
		psi_memory_to_process(there, (size_t)len_bytes);
	}
	rma_reply(token, PSI_HANDLER_DATA, src, (size_t)len_bytes, 4, args);
}

/* -- the starter's side ---------------------------------------------------------------------- */

static void
rma_on_data(gex_Token_t token, void *payload, size_t len_bytes, gex_AM_Arg_t dest_low,
            gex_AM_Arg_t dest_high, gex_AM_Arg_t part_low, gex_AM_Arg_t part_high)
{
	const uint64_t part = psi_part_of(part_low, part_high);

	psi_count_internal(token);
	psi_part_back(part);
	psi_copy((void *)(uintptr_t)psi_part_of(dest_low, dest_high), payload, len_bytes);
	psi_completed_in_handler(part);
}

static void
rma_on_part_done(gex_Token_t token, gex_AM_Arg_t low, gex_AM_Arg_t high)
{
	psi_count_internal(token);
	psi_completed_in_handler(psi_part_of(low, high));
}

static size_t
rma_most_bytes(const struct pref_move *move)
{
	const unsigned network = move->kind == PREF_GET ? PSI_REPLIES : PSI_REQUESTS;
	const gex_EP_t ep = move->transfer.owner;
	size_t most;

	if (move->kind == PREF_FILL)
		return MOST_FILL_BYTES;
	most = ep->ops->am_max_medium(ep->port, move->transfer.remote.peer, network, 4);
	return most < MOST_PIECE_BYTES ? most : MOST_PIECE_BYTES;
}

/*
 * For ThreadSanitizer alone (fence.h): the thread that sends need not be the one that waits for the
 * answer, so what it sends is read, and that is said, before the peer can have it.  To be freed.
 */
static void *
rma_read_early(const void *here, size_t len_bytes, uint64_t part)
{
	void *copy = malloc(len_bytes);

	if (!copy)
		psi_fatal("no memory for a copy of %zu bytes", len_bytes);
	memcpy(copy, here, len_bytes);
	psi_handed_to_process(psi_part_op(part));
	return copy;
}

static int
rma_send_piece(const struct pref_move *move, size_t len_bytes, uint64_t part)
{
	const struct psi_transfer *t = &move->transfer;
	const gex_AM_Arg_t put[] = { PSI_PART_ARGS(t->remote.offset), PSI_PART_ARGS(part) };
	const gex_AM_Arg_t get[] = { PSI_PART_ARGS(t->remote.offset), (gex_AM_Arg_t)len_bytes,
		                     ADDRESS_ARGS(t->here), PSI_PART_ARGS(part) };
	const gex_AM_Arg_t fill[] = { PSI_PART_ARGS(t->remote.offset), (gex_AM_Arg_t)len_bytes,
		                      t->byte, PSI_PART_ARGS(part) };
	struct psi_am am = {
		.peer = t->remote.peer, .category = PSI_SHORT, .network = PSI_REQUESTS,
	};
	void *early = NULL;
	int result;

	switch (move->kind) {
	case PREF_PUT:
		early = PSI_TSAN_HERE ? rma_read_early(t->here, len_bytes, part) : NULL;
		am.handler = PSI_HANDLER_PUT;
		am.category = PSI_MEDIUM;
		am.payload = early ? early : t->here;
		am.len_bytes = len_bytes;
		am.args = put;
		am.nargs = sizeof put / sizeof *put;
		break;
	case PREF_GET:
		am.handler = PSI_HANDLER_GET;
		am.args = get;
		am.nargs = sizeof get / sizeof *get;
		break;
	case PREF_FILL:
		am.handler = PSI_HANDLER_FILL;
		am.args = fill;
		am.nargs = sizeof fill / sizeof *fill;
		break;
	}
	result = psi_am_try(t->owner, &am);
	if (PSI_TSAN_HERE)
		free(early);
	return result;
}

/* Ours has been read, and all messages are sent. */
static void
rma_sent(struct pref_move *move)
{
	free(move->own);
	if (move->transfer.read_cookie)
		psi_part_done(move->transfer.read_cookie);
}

bool
pref_send_pieces(struct pref_move *move)
{
	const size_t most = rma_most_bytes(move);
	struct psi_transfer *t = &move->transfer;

	while (t->len_bytes) {
		const bool last = t->len_bytes <= most;
		const size_t len_bytes = last ? t->len_bytes : most;
		const uint64_t part =
			last ? t->cookie
			     : psi_part_another(t->cookie, psi_part_category(t->cookie));

		if (rma_send_piece(move, len_bytes, part) != PSI_OK) {
			if (!last)
				psi_part_done(part);
			return false;
		}
		t->remote.offset += len_bytes;
		if (t->here)
			t->here = (char *)t->here + len_bytes;
		t->len_bytes -= len_bytes;
	}
	rma_sent(move);
	return true;
}

void
pref_rma_register(gex_EP_t ep)
{
	psi_handler_set_internal(ep, PSI_HANDLER_PART_DONE, (gex_AM_Fn_t)rma_on_part_done);
	psi_handler_set_internal(ep, PSI_HANDLER_PUT, (gex_AM_Fn_t)rma_on_put);
	psi_handler_set_internal(ep, PSI_HANDLER_GET, (gex_AM_Fn_t)rma_on_get);
	psi_handler_set_internal(ep, PSI_HANDLER_DATA, (gex_AM_Fn_t)rma_on_data);
	psi_handler_set_internal(ep, PSI_HANDLER_FILL, (gex_AM_Fn_t)rma_on_fill);
}
