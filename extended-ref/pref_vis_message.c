/*
 * Vector, indexed and strided transfers by messages: what a message holds, how it is built, and
 * what its receiver does.
 *
 * A message of a put holds runs of the destination, and the bytes for them.  A message of a get
 * holds runs of the source.  Runs lie in the segment of the peer, which unpacks the bytes, or packs
 * them and replies.  A reply says where in the destination its bytes go.  So the initiator keeps
 * one landing for a get, however many messages are under way, and nothing for a put.
 */
#include "extended-ref/pref_vis.h"

#include "runtime/am/am.h"
#include "runtime/segment/reach.h"

#include "runtime/util/bounds.h"
#include "runtime/util/fence.h"
#include "runtime/util/spinlock.h"

#include <stdlib.h>
#include <string.h>

enum {
	MESSAGE_BYTES = 16 * 1024,
	/* A piece is cut if the message has at least this much room left for its beginning. */
	CUT_BYTES = 256,
};

/* The destination of a get. */
struct pref_landing {
	uint32_t holders;               /* replies to come, and the sender; under landings_lock */
	struct psi_side side;
};

static struct psi_spinlock landings_lock;

size_t pref_vis_message_bytes;

void
pref_vis_messages_open(void)
{
	pref_vis_message_bytes = psi_least(MESSAGE_BYTES, psi.attributes.max_medium_bytes);
}

/* -- landings -------------------------------------------------------------------------------- */

static struct pref_landing *
landing_new(const struct psi_side *side)
{
	struct pref_landing *landing = malloc(sizeof *landing + psi_side_room_bytes(side));

	if (!landing)
		return NULL;
	landing->side = psi_side_copy(side, landing + 1);
	landing->holders = 1;
	return landing;
}

static void
landing_hold(struct pref_landing *landing)
{
	psi_spinlock_lock(&landings_lock);
	landing->holders++;
	psi_spinlock_unlock(&landings_lock);
}

static void
landing_release(struct pref_landing *landing)
{
	bool last;

	if (!landing)
		return;
	psi_spinlock_lock(&landings_lock);
	last = --landing->holders == 0;
	psi_spinlock_unlock(&landings_lock);
	if (last)
		free(landing);
}

/* -- messages --------------------------------------------------------------------------------- */

/* Takes up to `most' runs that fit into `room' bytes of message.  Each run takes per_run bytes and
 * as many as its data has.  Returns the number of runs. */
static size_t
message_gather(struct psi_cursor *cursor, struct psi_run *runs, size_t most, size_t room,
               size_t per_run, size_t *bytes_out)
{
	size_t n = 0, bytes = 0;
	struct psi_run run;

	while (n < most && room > per_run && psi_cursor_look(cursor, &run)) {
		const size_t space = room - per_run;

		if (run.len <= space) {
			run.count = psi_least(run.count, space / run.len);
		} else if (!n || space >= CUT_BYTES) {
			run.len = space;
			run.count = 1;
		} else {
			break;
		}
		psi_cursor_take(cursor, run.len, run.count);
		runs[n++] = run;
		bytes += run.len * run.count;
		room -= per_run + run.len * run.count;
	}
	*bytes_out = bytes;
	return n;
}

static struct psi_run
run_of_memory(const void *memory, size_t len_bytes)
{
	return (struct psi_run){ (uintptr_t)memory, len_bytes, 1, 0 };
}

/* Copies from one side to another, from a position on, until one of them ends. */
static void
message_copy(const struct psi_side *to, struct psi_position at, const struct psi_side *from)
{
	struct psi_cursor dst, src;

	psi_cursor_open(&dst, to, at);
	psi_cursor_open(&src, from, (struct psi_position){ 0, 0 });
	psi_vis_copy(&dst, &src, SIZE_MAX);
}

/* Builds the next message.  It has a part of the operation, which its reply completes. */
void
pref_vis_build(struct pref_vis_sender *s, struct pref_vis_message *message)
{
	struct psi_am *am = &message->am;
	const size_t run_bytes = sizeof(struct psi_run);
	const struct psi_position at = psi_cursor_at(&s->local);
	struct psi_run *runs = message->buffer;
	uint64_t part;
	size_t bytes, n;

	n = message_gather(&s->remote, runs, pref_vis_message_bytes / (s->put ? 2 : 1) / run_bytes,
	           pref_vis_message_bytes, s->put ? run_bytes : 0, &bytes);
	*am = (struct psi_am){
		.peer = s->place, .handler = s->put ? PSI_HANDLER_VIS_PUT : PSI_HANDLER_VIS_GET,
		.category = PSI_MEDIUM, .network = PSI_REQUESTS, .args = message->args,
		.payload = message->buffer, .len_bytes = n * run_bytes,
	};
	if (s->put) {
		const struct psi_run packed = run_of_memory(&runs[n], bytes);
		const struct psi_side side = psi_side_runs(&packed, 1);
		struct psi_cursor out;

		psi_cursor_open(&out, &side, (struct psi_position){ 0, 0 });
		psi_vis_copy(&out, &s->local, bytes);
		am->len_bytes += bytes;
	}
	/* behind the copy, since the source may change when the part has come back */
	part = psi_part_another(s->held, s->put ? PSI_PART_PUT : PSI_PART_GET);
	if (s->put) {
		const gex_AM_Arg_t is[] = { PSI_PART_ARGS(part), (gex_AM_Arg_t)n };

		am->nargs = 3;
		memcpy(message->args, is, sizeof is);
	} else {
		const gex_AM_Arg_t is[] = { PSI_PART_ARGS(part),
			                    PSI_PART_ARGS((uint64_t)(uintptr_t)s->landing),
			                    PSI_PART_ARGS(at.entry), PSI_PART_ARGS(at.past) };

		psi_cursor_skip(&s->local, bytes);
		landing_hold(s->landing);
		am->nargs = 8;
		memcpy(message->args, is, sizeof is);
	}
	s->left -= bytes;
}

bool
pref_vis_sender_make(struct pref_vis_sender *s, const struct psi_vis_operation *vis)
{
	*s = (struct pref_vis_sender){
		.ep = vis->owner, .place = vis->remote.peer, .put = vis->is_put,
		.left = vis->len_bytes, .held = vis->cookie, .read = vis->read_cookie,
		.landing = vis->is_put ? NULL : landing_new(vis->here),
	};
	psi_cursor_open(&s->remote, vis->there, (struct psi_position){ 0, 0 });
	psi_cursor_open(&s->local, vis->here, (struct psi_position){ 0, 0 });
	return s->put || s->landing;
}

void
pref_vis_refused(struct pref_vis_sender *s, const struct pref_vis_message *message)
{
	psi_part_done(psi_part_of(message->args[0], message->args[1]));
	landing_release(s->landing);    /* held for the reply */
	landing_release(s->landing);    /* held for the sender */
}

void
pref_vis_sent(struct pref_vis_sender *s)
{
	landing_release(s->landing);
	if (s->read)
		psi_part_done(s->read);
	psi_part_done(s->held);
}

/* -- at the peer, and back -------------------------------------------------------------------- */

/* Makes a side of runs in the segment of an endpoint.  The addresses of the runs are offsets in
 * it. */
static struct psi_side
runs_side(gex_EP_t ep, const void *runs, size_t count)
{
	struct psi_side side = psi_side_runs(runs, count);

	side.offset = (uintptr_t)psi_reach_owned(ep, 0);
	return side;
}

/* Calls `tell', which informs ThreadSanitizer that memory passes to or from another process
 * (fence.h), for all pieces of the runs. */
static void
runs_tell(void (*tell)(void *memory, size_t len_bytes), const struct psi_side *side)
{
	const struct psi_run *run = side->of.runs;

	for (const struct psi_run *end = run + side->entries; PSI_TSAN_HERE && run < end; run++)
		for (size_t i = 0; i < run->count; i++)
			tell((void *)(side->offset + run->addr + i * (uintptr_t)run->stride),
			     run->len);
}

static void
vis_on_put(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t part_low,
           gex_AM_Arg_t part_high, gex_AM_Arg_t runs)
{
	const size_t head_bytes = (size_t)runs * sizeof(struct psi_run);
	const struct psi_run packed = run_of_memory((char *)buf + head_bytes, nbytes - head_bytes);
	const struct psi_side to = runs_side(token->ep, buf, (size_t)runs);
	const struct psi_side from = psi_side_runs(&packed, 1);
	const gex_AM_Arg_t args[] = { part_low, part_high };
	const struct psi_am am = {
		.peer = token->arrival->source, .handler = PSI_HANDLER_PART_DONE,
		.category = PSI_SHORT, .network = PSI_REPLIES, .nargs = 2, .args = args,
	};

	psi_count_internal(token);
	runs_tell(psi_memory_from_process, &to);
	message_copy(&to, (struct psi_position){ 0, 0 }, &from);
	runs_tell(psi_memory_to_process, &to);
	(void)psi_am_inject(token->ep, &am, 0);
}

static void
vis_on_get(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t part_low,
           gex_AM_Arg_t part_high, gex_AM_Arg_t landing_low, gex_AM_Arg_t landing_high,
           gex_AM_Arg_t entry_low, gex_AM_Arg_t entry_high, gex_AM_Arg_t past_low,
           gex_AM_Arg_t past_high)
{
	const struct psi_side from = runs_side(token->ep, buf, nbytes / sizeof(struct psi_run));
	void *const out = psi_thread_buffer(PSI_REPLIES, pref_vis_message_bytes);
	const struct psi_run packed = run_of_memory(out, pref_vis_message_bytes);
	const struct psi_side to = psi_side_runs(&packed, 1);
	const gex_AM_Arg_t args[] = { part_low, part_high, landing_low, landing_high,
	                              entry_low, entry_high, past_low, past_high };
	struct psi_am am = {
		.peer = token->arrival->source,
		.handler = PSI_HANDLER_VIS_DATA,
		.category = PSI_MEDIUM,
		.network = PSI_REPLIES,
		.nargs = 8,
		.args = args,
		.payload = out,
	};
	struct psi_cursor dst, src;

	psi_count_internal(token);
	psi_cursor_open(&dst, &to, (struct psi_position){ 0, 0 });
	psi_cursor_open(&src, &from, (struct psi_position){ 0, 0 });
	runs_tell(psi_memory_from_process, &from);
	am.len_bytes = psi_vis_copy(&dst, &src, pref_vis_message_bytes);
	runs_tell(psi_memory_to_process, &from);
	(void)psi_am_inject(token->ep, &am, 0);
}

static void
vis_on_data(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t part_low,
            gex_AM_Arg_t part_high, gex_AM_Arg_t landing_low, gex_AM_Arg_t landing_high,
            gex_AM_Arg_t entry_low, gex_AM_Arg_t entry_high, gex_AM_Arg_t past_low,
            gex_AM_Arg_t past_high)
{
	struct pref_landing *landing = (void *)(uintptr_t)psi_part_of(landing_low, landing_high);
	const struct psi_position at = { psi_part_of(entry_low, entry_high),
		                         psi_part_of(past_low, past_high) };
	const struct psi_run packed = run_of_memory(buf, nbytes);
	const struct psi_side from = psi_side_runs(&packed, 1);
	const uint64_t part = psi_part_of(part_low, part_high);

	psi_count_internal(token);
	psi_part_back(part);
	message_copy(&landing->side, at, &from);
	landing_release(landing);
	psi_completed_in_handler(part);
}

void
pref_vis_register(gex_EP_t ep)
{
	psi_handler_set_internal(ep, PSI_HANDLER_VIS_PUT, (gex_AM_Fn_t)vis_on_put);
	psi_handler_set_internal(ep, PSI_HANDLER_VIS_GET, (gex_AM_Fn_t)vis_on_get);
	psi_handler_set_internal(ep, PSI_HANDLER_VIS_DATA, (gex_AM_Fn_t)vis_on_data);
}
