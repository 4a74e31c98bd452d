/*
 * Requests and replies of fixed payload.  Each call checks its arguments and hands the message to
 * the conduit.  A message to the calling endpoint itself runs its handler at once.
 */
#include "runtime/am/am.h"
#include "runtime/am/am_room.h"
#include "runtime/op/begin.h"
#include "runtime/process/endpoint.h"
#include "runtime/process/process.h"
#include "runtime/process/thread.h"
#include "runtime/segment/reach.h"
#include "runtime/team/team.h"
#include "runtime/team/team_rules.h"
#include "runtime/wait/pollset.h"
#include "runtime/wait/waiting.h"

#include <string.h>

/* -- injection ------------------------------------------------------------------------------- */

/* The payload of a Medium is copied, since the handler may write to its buffer.  A negotiated
 * message has its payload in the thread's buffer already. */
static void
am_deliver_to_self(gex_EP_t ep, const struct psi_am *am)
{
	struct psi_arrival arrival = {
		.source = ep->place, .handler = am->handler, .category = am->category,
		.network = am->network, .nargs = am->nargs, .args = am->args,
		.payload = am->dest, .len_bytes = am->len_bytes,
	};

	if (am->category == PSI_MEDIUM) {
		arrival.payload = psi_thread_buffer(am->network, am->len_bytes);
		if (am->len_bytes && am->payload != arrival.payload)
			memcpy(arrival.payload, am->payload, am->len_bytes);
	} else if (am->category == PSI_LONG && am->len_bytes) {
		memmove(am->dest, am->payload, am->len_bytes);
	}
	psi_deliver(ep, &arrival);
}

int
psi_am_try(gex_EP_t ep, const struct psi_am *am)
{
	int result;

	if (PSI_UNLIKELY(am->peer == ep->place)) {
		am_deliver_to_self(ep, am);
		return PSI_OK;
	}
	result = psi_am_is_alone(ep) ? ep->ops->am_send_alone(ep->port, am)
	                             : ep->ops->am_send(ep->port, am);
	if (PSI_UNLIKELY(result > PSI_AGAIN))
		psi_am_failed(am->peer);
	return result;
}

int
psi_am_try_or_request(gex_EP_t ep, const struct psi_am *am)
{
	if (psi_am_try(ep, am) == PSI_OK)
		return PSI_OK;
	psi_request_room(ep, am->peer);
	return psi_am_try(ep, am);
}

void
psi_am_failed(uint32_t place)
{
	char whose[PSI_PLACE_TEXT];

	psi_place_text(place, whose);
	psi_fatal("sending to %s failed", whose);
}

void
psi_am_count_refused(const struct psi_am *am)
{
	psi_count(psi_block()->count, PSI_COUNT_IMMEDIATE_REFUSED);
	psi_am_count_sent(am->network, am->category, am->len_bytes, -1);
}

static struct psi_begin
begin_of_am(const struct psi_am *am, gex_Flags_t flags)
{
	struct psi_begin begin = PSI_BEGIN("a message", "am_send", am->peer,
	                                   flags & GEX_FLAG_IMMEDIATE);

	begin.category = am->category;
	begin.network = am->network;
	return begin;
}

static int
begin_result(const struct psi_begin *begin, const struct psi_am *am)
{
	if (begin->begun)
		return GASNET_OK;
	psi_am_count_refused(am);
	return GASNET_ERR_NOT_READY;
}

int
psi_am_when_room(void *sender, psi_am_try_fn *attempt, const struct psi_am *am, gex_Flags_t flags)
{
	struct psi_begin begin = begin_of_am(am, flags);
	int result = PSI_AGAIN;

	while (!psi_begin_over(&begin, result))
		result = attempt(sender, am);
	return begin_result(&begin, am);
}

static int
am_try_again(void *sender, const struct psi_am *am)
{
	return psi_am_try(sender, am);
}

static int __attribute__((noinline))
am_inject_when_room(gex_EP_t ep, const struct psi_am *am, gex_Flags_t flags)
{
	return psi_am_when_room(ep, am_try_again, am, flags);
}

int
psi_am_inject(gex_EP_t ep, const struct psi_am *am, gex_Flags_t flags)
{
	if (PSI_UNLIKELY(psi_am_try(ep, am) != PSI_OK))
		return am_inject_when_room(ep, am, flags);
	/* A rank that sends to itself only never finds a full queue, so it polls here to serve
	 * messages of others. */
	if (PSI_UNLIKELY(am->peer == ep->place) && am->network == PSI_REQUESTS &&
	    !(flags & GEX_FLAG_IMMEDIATE))
		psi_poll();
	return GASNET_OK;
}

/* -- checks ---------------------------------------------------------------------------------- */

static void __attribute__((noreturn, cold))
lc_refuse(gex_Event_t *lc_opt, const char *call)
{
	if (!lc_opt)
		psi_fatal("%s: lc_opt is NULL; pass GEX_EVENT_NOW or the address of an event",
		          call);
	psi_fatal("%s: lc_opt is %s, which this call does not allow; pass GEX_EVENT_NOW or the "
	          "address of an event", call,
	          lc_opt == GEX_EVENT_DEFER ? "GEX_EVENT_DEFER" : "GEX_EVENT_GROUP");
}

void
psi_am_check_lc(gex_Event_t *lc_opt, bool is_reply, const char *call)
{
	if (PSI_UNLIKELY(!lc_opt || lc_opt == GEX_EVENT_DEFER ||
	                 (is_reply && lc_opt == GEX_EVENT_GROUP)))
		lc_refuse(lc_opt, call);
}

void *
psi_am_long_target(uint32_t place, void *dest, size_t nbytes, const char *call)
{
	/* A message to this process is delivered at once. */
	const enum psi_way way = psi_jobrank_of(place) == psi.boot.rank ? 0 : PSI_WAY_LONG;

	return nbytes ? psi_reach(way, place, dest, nbytes, call) : NULL;
}

static int
long_send(gex_EP_t ep, const struct psi_am *am, gex_Flags_t flags)
{
	struct psi_begin begin = begin_of_am(am, flags);
	struct psi_long message = {
		.am = am, .dest = psi_reach_remote(am->peer, am->dest), .owner = ep,
		.immediate = begin.immediate,
	};

	begin.operation = "am_long";
	while (!psi_begin_over(&begin, ep->ops->am_long(ep->port, &message)))
		;
	return begin_result(&begin, am);
}

/* The kernel writes the payload before the message is sent.  An IMMEDIATE Long may be refused after
 * that, so its payload is not written by the kernel. */
int
psi_am_inject_long(gex_EP_t ep, struct psi_am *am, gex_Flags_t flags)
{
	if (PSI_LIKELY(!am->len_bytes || am->dest_here))
		return psi_am_inject(ep, am, flags);
	if (flags & GEX_FLAG_IMMEDIATE ||
	    psi_reach_road(PSI_WAY_LONG, am->peer) != PSI_BY_KERNEL ||
	    !psi_reach_write(am->peer, am->dest, am->payload, am->len_bytes))
		return long_send(ep, am, flags);
	return psi_am_inject(ep, am, flags);
}

static void
medium_check_size(size_t nbytes, const char *call)
{
	if (PSI_UNLIKELY(nbytes > psi.attributes.max_medium_bytes))
		psi_fatal("%s: %zu bytes are more than a Medium takes, which is %zu; send several, "
		          "or a Long", call, nbytes, psi.attributes.max_medium_bytes);
}

uint32_t
psi_am_requester(gex_Token_t token, const char *call)
{
	psi_rule_reply(token, call);
	if (PSI_UNLIKELY(token->arrival->network != PSI_REQUESTS))
		psi_fatal("%s: a reply handler may not reply; let the thread that waits for it "
		          "send a request", call);
	if (PSI_UNLIKELY(token->replied))
		psi_fatal("%s: this handler has already replied, and may reply only once; put "
		          "everything into one reply", call);
	return token->arrival->source;
}

void
psi_legacy_count_bad(const char *call, unsigned int told, unsigned int given)
{
	psi_fatal("%s: the count says %u arguments, but %u are given; the count stands before the "
	          "arguments", call, told, given);
}

/* -- requests -------------------------------------------------------------------------------- */

/*
 * A request or reply is plain if it goes to another endpoint, from one that any thread may use. The
 * conduit then gets its few arguments in registers (am_short, am_medium).  If that fails, and for
 * all other messages, short_inject and medium_inject make a descriptor; `result' is what the
 * conduit returned, or UNSUPPORTED if it was not called.
 */
static inline bool
target_is_plain(struct psi_target target)
{
	return PSI_LIKELY(target.place != target.ep->place && !target.ep->serial);
}

static int __attribute__((noinline))
short_inject(struct psi_target to, uint32_t tag, const gex_AM_Arg_t *args, gex_Flags_t flags,
             int result)
{
	const struct psi_am am = psi_am_of(to.place, PSI_SHORT, tag, args);

	return result == PSI_AGAIN ? am_inject_when_room(to.ep, &am, flags)
	                           : psi_am_inject(to.ep, &am, flags);
}

static int __attribute__((noinline))
medium_inject(struct psi_target to, uint32_t tag, const gex_AM_Arg_t *args, const void *payload,
              size_t len_bytes, gex_Flags_t flags, int result)
{
	const struct psi_am am = psi_am_medium(to.place, tag, args, payload, len_bytes);

	return result == PSI_AGAIN ? am_inject_when_room(to.ep, &am, flags)
	                           : psi_am_inject(to.ep, &am, flags);
}

static inline int
short_send(struct psi_target to, uint32_t tag, const gex_AM_Arg_t *args, gex_Flags_t flags)
{
	int result = PSI_UNSUPPORTED;

	psi_am_count_sent(psi_am_tag_network(tag), PSI_SHORT, 0, 1);
	if (target_is_plain(to))
		result = to.ep->ops->am_short(to.ep->port, to.place, tag, args);
	return PSI_LIKELY(result == PSI_OK) ? GASNET_OK
	                                    : short_inject(to, tag, args, flags, result);
}

static inline int
medium_send(struct psi_target to, uint32_t tag, const gex_AM_Arg_t *args, const void *payload,
            size_t len_bytes, gex_Flags_t flags)
{
	int result = PSI_UNSUPPORTED;

	psi_am_count_sent(psi_am_tag_network(tag), PSI_MEDIUM, len_bytes, 1);
	if (target_is_plain(to))
		result = to.ep->ops->am_medium(to.ep->port, to.place, tag, args, payload,
		                               len_bytes);
	return PSI_LIKELY(result == PSI_OK)
	               ? GASNET_OK
	               : medium_inject(to, tag, args, payload, len_bytes, flags, result);
}

int
psi_am_request_short(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler, gex_Flags_t flags,
                     unsigned nargs, const gex_AM_Arg_t *args)
{
	const struct psi_target target = psi_rule_target(tm, rank, "gex_AM_RequestShort");

	psi_check_handler(handler, "gex_AM_RequestShort");
	psi_check_flags(flags, PSI_TRANSFER_FLAGS, "gex_AM_RequestShort");
	return short_send(target, psi_am_tag(PSI_REQUESTS, handler, nargs), args, flags);
}

int
psi_am_request_medium(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler, const void *src,
                      size_t nbytes, gex_Event_t *lc_opt, gex_Flags_t flags, unsigned nargs,
                      const gex_AM_Arg_t *args)
{
	const struct psi_target target = psi_rule_target(tm, rank, "gex_AM_RequestMedium");
	int result;

	psi_check_handler(handler, "gex_AM_RequestMedium");
	psi_check_flags(flags, PSI_TRANSFER_FLAGS, "gex_AM_RequestMedium");
	psi_rule_transfer(src, NULL, nbytes, flags, "gex_AM_RequestMedium");
	psi_am_check_lc(lc_opt, false, "gex_AM_RequestMedium");
	medium_check_size(nbytes, "gex_AM_RequestMedium");
	result = medium_send(target, psi_am_tag(PSI_REQUESTS, handler, nargs), args, src, nbytes,
	                     flags);
	psi_am_completed(lc_opt);
	return result;
}

int
psi_am_request_long(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler, const void *src,
                    size_t nbytes, void *dest, gex_Event_t *lc_opt, gex_Flags_t flags,
                    unsigned nargs, const gex_AM_Arg_t *args)
{
	struct psi_target target = psi_rule_target(tm, rank, "gex_AM_RequestLong");
	struct psi_am am = {
		.peer = target.place, .handler = handler, .category = PSI_LONG,
		.network = PSI_REQUESTS, .nargs = (uint8_t)nargs, .args = args,
		.payload = src, .len_bytes = nbytes, .dest = dest,
		.dest_here = psi_am_long_target(target.place, dest, nbytes, "gex_AM_RequestLong"),
	};
	int result;

	psi_check_handler(handler, "gex_AM_RequestLong");
	psi_check_flags(flags, PSI_TRANSFER_FLAGS, "gex_AM_RequestLong");
	psi_rule_transfer(src, am.dest_here, nbytes, flags, "gex_AM_RequestLong");
	psi_am_count_sent(PSI_REQUESTS, PSI_LONG, nbytes, 1);
	psi_am_check_lc(lc_opt, false, "gex_AM_RequestLong");
	result = psi_am_inject_long(target.ep, &am, flags);
	psi_am_completed(lc_opt);
	return result;
}

/* -- replies --------------------------------------------------------------------------------- */

/* A reply goes to the place that sent the request. */
static inline struct psi_target
reply_target(gex_Token_t token, const char *call)
{
	const uint32_t place = psi_am_requester(token, call);

	return (struct psi_target){ token->ep, place };
}

/* A refused reply leaves the handler free to reply again. */
static inline int
reply_sent(gex_Token_t token, int result)
{
	token->replied = result == GASNET_OK;
	return result;
}

int
psi_am_reply_short(gex_Token_t token, gex_AM_Index_t handler, gex_Flags_t flags, unsigned nargs,
                   const gex_AM_Arg_t *args)
{
	const struct psi_target target = reply_target(token, "gex_AM_ReplyShort");

	psi_check_handler(handler, "gex_AM_ReplyShort");
	psi_check_flags(flags, PSI_TRANSFER_FLAGS, "gex_AM_ReplyShort");
	return reply_sent(token,
	               short_send(target, psi_am_tag(PSI_REPLIES, handler, nargs), args, flags));
}

int
psi_am_reply_medium(gex_Token_t token, gex_AM_Index_t handler, const void *src, size_t nbytes,
                    gex_Event_t *lc_opt, gex_Flags_t flags, unsigned nargs,
                    const gex_AM_Arg_t *args)
{
	const struct psi_target target = reply_target(token, "gex_AM_ReplyMedium");
	int result;

	psi_check_handler(handler, "gex_AM_ReplyMedium");
	psi_check_flags(flags, PSI_TRANSFER_FLAGS, "gex_AM_ReplyMedium");
	psi_rule_transfer(src, NULL, nbytes, flags, "gex_AM_ReplyMedium");
	psi_am_check_lc(lc_opt, true, "gex_AM_ReplyMedium");
	medium_check_size(nbytes, "gex_AM_ReplyMedium");
	result = medium_send(target, psi_am_tag(PSI_REPLIES, handler, nargs), args, src, nbytes,
	                     flags);
	psi_am_completed(lc_opt);
	return reply_sent(token, result);
}

int
psi_am_reply_long(gex_Token_t token, gex_AM_Index_t handler, const void *src, size_t nbytes,
                  void *dest, gex_Event_t *lc_opt, gex_Flags_t flags, unsigned nargs,
                  const gex_AM_Arg_t *args)
{
	struct psi_am am = {
		.peer = psi_am_requester(token, "gex_AM_ReplyLong"),
		.handler = handler,
		.category = PSI_LONG,
		.network = PSI_REPLIES,
		.nargs = (uint8_t)nargs,
		.args = args,
		.payload = src,
		.len_bytes = nbytes,
		.dest = dest,
	};
	int result;

	psi_check_handler(handler, "gex_AM_ReplyLong");
	psi_check_flags(flags, PSI_TRANSFER_FLAGS, "gex_AM_ReplyLong");
	psi_am_count_sent(PSI_REPLIES, PSI_LONG, nbytes, 1);
	psi_am_check_lc(lc_opt, true, "gex_AM_ReplyLong");
	am.dest_here = psi_am_long_target(am.peer, dest, nbytes, "gex_AM_ReplyLong");
	psi_rule_transfer(src, am.dest_here, nbytes, flags, "gex_AM_ReplyLong");
	result = psi_am_inject_long(token->ep, &am, flags);
	psi_am_completed(lc_opt);
	return reply_sent(token, result);
}
