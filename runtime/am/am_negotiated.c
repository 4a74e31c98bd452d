/*
 * Messages of negotiated payload.  Each thread has two descriptors (`sd'): one for requests and one
 * for replies.  It needs both, since Prepare and Commit of a request may wait, and a handler that
 * runs meanwhile may prepare a reply.
 *
 * If the client gives no buffer, a Medium gets memory of the receiver, so its payload is written in
 * place.  A Long gets memory of this thread, and so does a message to the calling endpoint.
 */
#include "runtime/am/am.h"
#include "runtime/am/am_room.h"
#include "runtime/op/begin.h"
#include "runtime/process/process.h"
#include "runtime/process/thread.h"
#include "runtime/team/team.h"
#include "runtime/team/team_rules.h"
#include "runtime/util/bounds.h"
#include "runtime/wait/pollset.h"
#include "runtime/wait/waiting.h"

#include <string.h>

static void
sd_check_prepare(const void *client_buf, gex_Event_t *lc_opt, size_t least, size_t most,
                 bool is_reply, gex_Flags_t flags, unsigned nargs, const char *call)
{
	psi_check_flags(flags, PSI_PREPARE_FLAGS, call);
	psi_rule_transfer(NULL, NULL, 0, flags, call);
	if (PSI_UNLIKELY(nargs > PSI_MAX_ARGS))
		psi_fatal("%s: numargs is %u, the most is %d; send the rest as payload", call,
		          nargs, PSI_MAX_ARGS);
	if (PSI_UNLIKELY(least > most))
		psi_fatal("%s: least_payload %zu is above most_payload %zu; swap them", call, least,
		          most);
	if (client_buf)
		psi_am_check_lc(lc_opt, is_reply, call);
	else if (PSI_UNLIKELY(lc_opt != NULL))
		psi_fatal("%s: lc_opt must be NULL when client_buf is, since the buffer is the "
		          "library's; pass both or neither", call);
}

/* Returns the thread's descriptor for that network.  It must not be open. */
static gex_AM_SrcDesc_t
sd_take(unsigned network, const char *call)
{
	gex_AM_SrcDesc_t sd = &psi_thread_self()->descriptors[network];

	if (PSI_UNLIKELY(sd->open))
		psi_fatal("%s: this thread has a prepared message that is neither committed nor "
		          "cancelled; commit or cancel it first", call);
	return sd;
}

/* Claims a buffer at the receiver.  Returns false if there is none and flags say IMMEDIATE. */
static bool
sd_claim_buffer(gex_AM_SrcDesc_t sd, unsigned network, size_t least, size_t most, gex_Flags_t flags)
{
	struct psi_begin begin = PSI_BEGIN("a Medium", "am_claim", sd->place,
	                                   flags & GEX_FLAG_IMMEDIATE);
	int result;

	sd->claim = (struct psi_claim){
		.peer = sd->place, .network = (uint8_t)network, .alone = psi_am_is_alone(sd->ep),
		.least_bytes = least, .most_bytes = most,
	};
	begin.kind = PSI_FOR_BUFFER;
	begin.network = (uint8_t)network;
	do      /* UNSUPPORTED ends the wait too: then the payload goes through a thread buffer */
		result = sd->ep->ops->am_claim(sd->ep->port, &sd->claim);
	while (!psi_begin_over(&begin, result == PSI_AGAIN ? PSI_AGAIN : PSI_OK));
	if (!begin.begun)
		psi_count(psi_block()->count, PSI_COUNT_IMMEDIATE_REFUSED);
	if (result == PSI_OK) {
		sd->claimed = true;
		sd->buffer = sd->claim.buffer;
		sd->size = sd->claim.size_bytes;
	} else if (result == PSI_UNSUPPORTED) {
		sd->buffer = psi_thread_buffer(network, most);  /* copied at Commit */
	} else if (result != PSI_AGAIN) {
		psi_am_failed(sd->place);
	}
	return result != PSI_AGAIN;
}

static gex_AM_SrcDesc_t
sd_prepare_medium(gex_AM_SrcDesc_t sd, unsigned network, const void *client_buf, size_t least,
                  size_t most, gex_Flags_t flags, const char *call)
{
	const size_t limit = psi.attributes.max_medium_bytes;

	if (PSI_UNLIKELY(least > limit))
		psi_fatal("%s: least_payload %zu is more than a Medium takes, which is %zu; ask "
		          "gex_AM_Max%sMedium with this call's arguments", call, least, limit,
		          network == PSI_REPLIES ? "Reply" : "Request");
	most = psi_least(most, limit);
	sd->size = most;
	if (client_buf)
		sd->buffer = (void *)(uintptr_t)client_buf;
	else if (sd->place == sd->ep->place)
		sd->buffer = psi_thread_buffer(network, most);
	else if (!sd_claim_buffer(sd, network, least, most, flags))
		return GEX_AM_SRCDESC_NO_OP;
	sd->open = true;
	psi_rule_prepared(sd);
	return sd;
}

enum { LONG_BUFFER_BYTES = 1 << 20 };   /* more is granted only if least_payload is more */

static gex_AM_SrcDesc_t
sd_prepare_long(gex_AM_SrcDesc_t sd, unsigned network, const void *client_buf, size_t least,
                size_t most, const char *call)
{
	if (PSI_UNLIKELY(least > psi.attributes.max_long_bytes))
		psi_fatal("%s: least_payload %zu is more than a Long takes, which is %zu; ask "
		          "gex_AM_Max%sLong with this call's arguments", call, least,
		          (size_t)psi.attributes.max_long_bytes,
		          network == PSI_REPLIES ? "Reply" : "Request");
	sd->size = psi_least(most, psi.attributes.max_long_bytes);
	if (client_buf) {
		sd->buffer = (void *)(uintptr_t)client_buf;
	} else {
		if (sd->size > LONG_BUFFER_BYTES)
			sd->size = least > LONG_BUFFER_BYTES ? least : LONG_BUFFER_BYTES;
		sd->buffer = psi_thread_buffer(network, sd->size);
	}
	sd->open = true;
	psi_rule_prepared(sd);
	return sd;
}

static void
sd_begin(gex_AM_SrcDesc_t sd, gex_EP_t ep, uint32_t place, gex_Token_t token, bool is_long,
      const void *client_buf, void *dest, gex_Event_t *lc_opt, unsigned nargs)
{
	*sd = (struct gex_AM_SrcDesc_s){
		.own_buffer = !client_buf, .is_long = is_long, .is_reply = token != NULL,
		.nargs = (uint8_t)nargs, .ep = ep, .token = token, .place = place, .dest = dest,
		.lc_opt = lc_opt,
	};
}

gex_AM_SrcDesc_t
gex_AM_PrepareRequestMedium(gex_TM_t tm, gex_Rank_t rank, const void *client_buf,
                            size_t least_payload, size_t most_payload, gex_Event_t *lc_opt,
                            gex_Flags_t flags, unsigned int numargs)
{
	const char *call = "gex_AM_PrepareRequestMedium";
	struct psi_target target = psi_rule_target(tm, rank, call);
	gex_AM_SrcDesc_t sd = sd_take(PSI_REQUESTS, call);

	sd_check_prepare(client_buf, lc_opt, least_payload, most_payload, false, flags,
	                 numargs, call);
	sd_begin(sd, target.ep, target.place, NULL, false, client_buf, NULL, lc_opt, numargs);
	return sd_prepare_medium(sd, PSI_REQUESTS, client_buf, least_payload, most_payload, flags,
	                         call);
}

gex_AM_SrcDesc_t
gex_AM_PrepareRequestLong(gex_TM_t tm, gex_Rank_t rank, const void *client_buf,
                          size_t least_payload, size_t most_payload, void *dest_addr,
                          gex_Event_t *lc_opt, gex_Flags_t flags, unsigned int numargs)
{
	const char *call = "gex_AM_PrepareRequestLong";
	struct psi_target target = psi_rule_target(tm, rank, call);
	gex_AM_SrcDesc_t sd = sd_take(PSI_REQUESTS, call);

	sd_check_prepare(client_buf, lc_opt, least_payload, most_payload, false, flags,
	                 numargs, call);
	sd_begin(sd, target.ep, target.place, NULL, true, client_buf, dest_addr, lc_opt,
	         numargs);
	return sd_prepare_long(sd, PSI_REQUESTS, client_buf, least_payload, most_payload, call);
}

gex_AM_SrcDesc_t
gex_AM_PrepareReplyMedium(gex_Token_t token, const void *client_buf, size_t least_payload,
                          size_t most_payload, gex_Event_t *lc_opt, gex_Flags_t flags,
                          unsigned int numargs)
{
	const char *call = "gex_AM_PrepareReplyMedium";
	gex_AM_SrcDesc_t sd = sd_take(PSI_REPLIES, call);
	uint32_t place;

	place = psi_am_requester(token, call);
	sd_check_prepare(client_buf, lc_opt, least_payload, most_payload, true, flags, numargs,
	                 call);
	sd_begin(sd, token->ep, place, token, false, client_buf, NULL, lc_opt, numargs);
	return sd_prepare_medium(sd, PSI_REPLIES, client_buf, least_payload, most_payload, flags,
	                         call);
}

gex_AM_SrcDesc_t
gex_AM_PrepareReplyLong(gex_Token_t token, const void *client_buf, size_t least_payload,
                        size_t most_payload, void *dest_addr, gex_Event_t *lc_opt,
                        gex_Flags_t flags, unsigned int numargs)
{
	const char *call = "gex_AM_PrepareReplyLong";
	gex_AM_SrcDesc_t sd = sd_take(PSI_REPLIES, call);
	uint32_t place;

	place = psi_am_requester(token, call);
	sd_check_prepare(client_buf, lc_opt, least_payload, most_payload, true, flags, numargs,
	                 call);
	sd_begin(sd, token->ep, place, token, true, client_buf, dest_addr, lc_opt,
	      numargs);
	return sd_prepare_long(sd, PSI_REPLIES, client_buf, least_payload, most_payload, call);
}

static void __attribute__((noreturn, cold))
sd_not_open(const char *call)
{
	psi_fatal("%s: the descriptor is not open; end each prepared message with one Commit or "
	          "Cancel", call);
}

void *
gex_AM_SrcDescAddr(gex_AM_SrcDesc_t sd)
{
	if (PSI_UNLIKELY(!sd || !sd->open))
		sd_not_open("gex_AM_SrcDescAddr");
	return sd->buffer;
}

size_t
gex_AM_SrcDescSize(gex_AM_SrcDesc_t sd)
{
	if (PSI_UNLIKELY(!sd || !sd->open))
		sd_not_open("gex_AM_SrcDescSize");
	return sd->size;
}

/* -- commit and cancel ----------------------------------------------------------------------- */

/* The descriptor must be open, of this thread, and prepared for this kind of message. */
static void
sd_check_open(gex_AM_SrcDesc_t sd, bool is_reply, bool is_long, const char *call)
{
	if (PSI_UNLIKELY(!sd || !sd->open))
		sd_not_open(call);
	if (PSI_UNLIKELY(sd->is_reply != is_reply || sd->is_long != is_long))
		psi_fatal("%s: the message was prepared as a %s %s; end it as that", call,
		          sd->is_long ? "Long" : "Medium", sd->is_reply ? "reply" : "request");
	if (PSI_UNLIKELY(psi.checks) &&
	    sd != &psi_thread_self()->descriptors[sd->is_reply ? PSI_REPLIES : PSI_REQUESTS])
		psi_fatal("%s: the message was prepared by another thread; let that one commit or "
		          "cancel it", call);
}

static void
sd_check_commit(gex_AM_SrcDesc_t sd, size_t nbytes, unsigned nargs, gex_Flags_t flags,
                const char *call)
{
	if (PSI_UNLIKELY(nbytes > sd->size))
		psi_fatal("%s: %zu bytes are more than the %zu granted; gex_AM_SrcDescSize "
		          "returns how many are granted", call, nbytes, sd->size);
	if (PSI_UNLIKELY(nargs != sd->nargs))
		psi_fatal("%s: %u arguments, but the message was prepared for %u; commit with "
		          "that number", call, nargs, sd->nargs);
	psi_check_flags(flags, GEX_FLAG_IMMEDIATE, call);
	if (PSI_UNLIKELY(sd->token && sd->token->replied))
		psi_fatal("%s: this handler has already replied, and may reply only once; put "
		          "everything into one reply", call);
}

static int
sd_publish(void *sender, const struct psi_am *am)
{
	gex_AM_SrcDesc_t sd = sender;
	int result;

	sd->claim.alone = psi_am_is_alone(sd->ep);
	result = sd->ep->ops->am_publish(sd->ep->port, &sd->claim, am);
	if (PSI_UNLIKELY(result > PSI_AGAIN))
		psi_am_failed(am->peer);
	return result;
}

static int
sd_publish_or_wait(gex_AM_SrcDesc_t sd, const struct psi_am *am, gex_Flags_t flags)
{
	return sd_publish(sd, am) == PSI_OK ? GASNET_OK
	                                    : psi_am_when_room(sd, sd_publish, am,
	                                                       flags);
}

/*
 * The descriptor is copied first, since a handler may use the thread's descriptor for another
 * message before this one is sent: the message's own handler, if it is to this endpoint, or one
 * that runs while this thread waits.  A refused commit leaves the descriptor open.
 */
static int
sd_commit(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler, size_t nbytes, void *dest,
          gex_Flags_t flags, unsigned nargs, const gex_AM_Arg_t *args, const char *call)
{
	struct gex_AM_SrcDesc_s own = *sd;
	struct psi_am am = {
		.peer = own.place, .handler = handler,
		.category = own.is_long ? PSI_LONG : PSI_MEDIUM,
		.network = own.is_reply ? PSI_REPLIES : PSI_REQUESTS,
		.nargs = (uint8_t)nargs, .args = args, .payload = own.buffer, .len_bytes = nbytes,
		.dest = dest,
	};
	int result;

	sd_check_commit(sd, nbytes, nargs, flags, call);
	psi_check_handler(handler, call);
	if (own.is_long) {
		if (PSI_UNLIKELY(own.dest && own.dest != dest))
			psi_fatal("%s: dest_addr is %p, but %p was prepared for; pass that, or "
			          "NULL to Prepare", call, dest, own.dest);
		am.dest_here = psi_am_long_target(own.place, dest, nbytes, call);
	}
	psi_rule_transfer(own.buffer, am.dest_here, nbytes, flags, call);
	psi_rule_payload(&own, nbytes, call);
	sd->open = false;
	psi_am_count_sent(am.network, am.category, nbytes, 1);
	result = own.claimed ? sd_publish_or_wait(&own, &am, flags)
	                     : own.is_long ? psi_am_inject_long(own.ep, &am, flags)
	                                   : psi_am_inject(own.ep, &am, flags);
	if (result != GASNET_OK) {
		sd->open = true;
		return result;
	}
	if (own.token)
		own.token->replied = true;
	if (!own.own_buffer)
		psi_am_completed(own.lc_opt);
	return GASNET_OK;
}

static int
sd_cancel(gex_AM_SrcDesc_t sd)
{
	sd->open = false;
	if (sd->claimed)
		sd->ep->ops->am_cancel(sd->ep->port, &sd->claim);
	return GASNET_OK;
}

#define FAMILY_MEDIUM(lower, Upper, is_reply)                                                     \
	int psi_am_commit_##lower##_medium(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler,           \
	                                   size_t nbytes, gex_Flags_t commit_flags,               \
	                                   unsigned nargs, const gex_AM_Arg_t *args)              \
	{                                                                                         \
		const char *call = "gex_AM_Commit" Upper "Medium";                                \
		sd_check_open(sd, is_reply, false, call);                                         \
		return sd_commit(sd, handler, nbytes, NULL, commit_flags, nargs, args,            \
		                 call);                                                     \
	}
#define FAMILY_LONG(lower, Upper, is_reply)                                                       \
	int psi_am_commit_##lower##_long(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler,             \
	                                 size_t nbytes, void *dest, gex_Flags_t commit_flags,     \
	                                 unsigned nargs, const gex_AM_Arg_t *args)                \
	{                                                                                         \
		const char *call = "gex_AM_Commit" Upper "Long";                                  \
		sd_check_open(sd, is_reply, true, call);                                          \
		return sd_commit(sd, handler, nbytes, dest, commit_flags, nargs, args,            \
		                 call);                                                     \
	}
#define FAMILY_CANCEL(Name, is_reply, is_long)                                                    \
	int gex_AM_Cancel##Name(gex_AM_SrcDesc_t sd, gex_Flags_t flags)                           \
	{                                                                                         \
		psi_check_flags(flags, 0, "gex_AM_Cancel" #Name);                                 \
		sd_check_open(sd, is_reply, is_long, "gex_AM_Cancel" #Name);                      \
		return sd_cancel(sd);                                                             \
	}

FAMILY_MEDIUM(request, "Request", false)
FAMILY_MEDIUM(reply, "Reply", true)
FAMILY_LONG(request, "Request", false)
FAMILY_LONG(reply, "Reply", true)
FAMILY_CANCEL(RequestMedium, false, false)
FAMILY_CANCEL(ReplyMedium, true, false)
FAMILY_CANCEL(RequestLong, false, true)
FAMILY_CANCEL(ReplyLong, true, true)
