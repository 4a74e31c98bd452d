/*
 * Vector, indexed and strided transfers by messages: when the messages are sent.
 *
 * The operation sends as many messages as there is room for, and leaves the rest to polls.  The
 * rest keeps the message that found no room, so no bytes are packed twice.
 */
#include "extended-ref/pref_rest.h"
#include "extended-ref/pref_vis.h"

#include "runtime/am/am.h"

#include <stdlib.h>
#include <string.h>

struct vis_rest {
	struct pref_rest rest;
	struct pref_vis_sender sender;
	struct pref_vis_message message;        /* built, and still to be sent */
	struct psi_side there, here;
};

/* -- rests ------------------------------------------------------------------------------------ */

static void
vis_rest_free(struct vis_rest *rest)
{
	free(rest->message.buffer);
	free(rest);
}

static bool
vis_rest_advance(struct pref_rest *of)
{
	struct vis_rest *rest = (struct vis_rest *)of;
	struct pref_vis_sender *s = &rest->sender;

	while (psi_am_try_or_request(s->ep, &rest->message.am) == PSI_OK) {
		if (!s->left) {
			pref_vis_sent(s);
			vis_rest_free(rest);
			return true;
		}
		pref_vis_build(s, &rest->message);
	}
	return false;
}

static struct vis_rest *
vis_rest_new(const struct psi_vis_operation *vis)
{
	const size_t there_bytes = psi_side_room_bytes(vis->there);
	const size_t here_bytes = psi_side_room_bytes(vis->here);
	struct vis_rest *rest = malloc(sizeof *rest + there_bytes + here_bytes);
	char *const room = (char *)(rest + 1);

	if (!rest)
		return NULL;
	rest->rest.advance = vis_rest_advance;
	rest->message.buffer = malloc(pref_vis_message_bytes);
	if (!rest->message.buffer) {
		free(rest);
		return NULL;
	}
	rest->there = psi_side_copy(vis->there, room);
	rest->here = psi_side_copy(vis->here, room + there_bytes);
	return rest;
}

/* Leaves the unsent messages to polls; `message' is the first of them. */
static int
vis_leave_rest(const struct pref_vis_sender *s, const struct pref_vis_message *message,
               const struct psi_vis_operation *vis)
{
	struct vis_rest *rest = vis_rest_new(vis);

	if (!rest)
		return pref_no_memory("the rest of a transfer of many pieces");
	rest->sender = *s;
	rest->sender.remote.side = &rest->there;
	rest->sender.local.side = &rest->here;
	memcpy(rest->message.buffer, message->buffer, message->am.len_bytes);
	memcpy(rest->message.args, message->args, sizeof message->args);
	rest->message.am = message->am;
	rest->message.am.args = rest->message.args;
	rest->message.am.payload = rest->message.buffer;
	pref_rest_add(&rest->rest);
	return PSI_OK;
}

/* -- the initiator ---------------------------------------------------------------------------- */

int
pref_vis(struct psi_port *port, const struct psi_vis_operation *vis)
{
	struct pref_vis_message message;
	struct pref_vis_sender s;

	(void)port;
	if (pref_rests_are_many())
		return PSI_AGAIN;
	if (!pref_vis_sender_make(&s, vis))
		return pref_no_memory("a get of many pieces");
	message.buffer = psi_thread_buffer(PSI_REQUESTS, pref_vis_message_bytes);
	while (s.left) {
		const bool first = s.left == vis->len_bytes;

		pref_vis_build(&s, &message);
		if (psi_am_try(s.ep, &message.am) == PSI_OK)
			continue;
		if (!first || !vis->immediate)
			return vis_leave_rest(&s, &message, vis);
		pref_vis_refused(&s, &message);
		return PSI_AGAIN;
	}
	pref_vis_sent(&s);
	return PSI_OK;
}
