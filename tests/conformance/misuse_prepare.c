/* Negotiated payload that may not be: how it is prepared, and how it is ended. */
#include "tests/lib/pt_misuse.h"

enum { REQ_MEDIUM = 128, REP_MEDIUM, REQ_PREPARES, REQ_PREPARES_TWICE, REQ_COMMITS_LATE, REQ_GROUP,
       REQ_UNTOUCHED };

static char block[64];
static gex_Event_t event;

static void
on_medium(gex_Token_t token, void *buf, size_t nbytes)
{
	(void)token, (void)buf, (void)nbytes;
}

static gex_AM_SrcDesc_t
prepare(const void *buffer, size_t least, size_t most, gex_Event_t *lc_opt, gex_Flags_t flags)
{
	return gex_AM_PrepareRequestMedium(pt.tm, 0, buffer, least, most, lc_opt, flags, 0);
}

static gex_AM_SrcDesc_t plain(void) { return prepare(NULL, 8, 8, NULL, 0); }

static gex_AM_SrcDesc_t
prepare_reply(gex_Token_t token, const void *buffer, gex_Event_t *lc_opt)
{
	return gex_AM_PrepareReplyMedium(token, buffer, 8, 8, lc_opt, 0, 0);
}

static void req_prepares(gex_Token_t token) { (void)prepare_reply(token, NULL, NULL); }

static void
req_prepares_twice(gex_Token_t token)
{
	(void)prepare_reply(token, NULL, NULL);
	(void)prepare_reply(token, NULL, NULL);
}

static void
req_commits_late(gex_Token_t token)
{
	PT_OK(gex_AM_ReplyMedium0(token, REP_MEDIUM, block, 8, GEX_EVENT_NOW, 0));
	(void)prepare_reply(token, NULL, NULL);
}

static void req_group(gex_Token_t token) { (void)prepare_reply(token, block, GEX_EVENT_GROUP); }

static void
req_untouched(gex_Token_t token)
{
	gex_AM_CommitReplyMedium0(prepare_reply(token, NULL, NULL), REP_MEDIUM, 8);
}

static void leaves_open(void) { pt_misuse_ask(REQ_PREPARES); }
static void reply_twice(void) { pt_misuse_ask(REQ_PREPARES_TWICE); }
static void reply_late(void) { pt_misuse_ask(REQ_COMMITS_LATE); }
static void reply_group(void) { pt_misuse_ask(REQ_GROUP); }

static void
nested(void)
{
	plain();
	plain();
}

static void lc_now(void) { prepare(NULL, 8, 8, GEX_EVENT_NOW, 0); }
static void lc_group(void) { prepare(NULL, 8, 8, GEX_EVENT_GROUP, 0); }
static void lc_event(void) { prepare(NULL, 8, 8, &event, 0); }
static void lc_none(void) { prepare(block, 8, 8, NULL, 0); }
static void lc_defer(void) { prepare(block, 8, 8, GEX_EVENT_DEFER, 0); }
static void swapped(void) { prepare(NULL, 9, 8, NULL, 0); }
static void above(void) { prepare(NULL, gex_AM_LUBRequestMedium() + 1, SIZE_MAX, NULL, 0); }
static void unknown_flag(void) { prepare(NULL, 8, 8, NULL, 1u << 30); }

static void
long_above(void)
{
	gex_AM_PrepareRequestLong(pt.tm, 0, NULL, SIZE_MAX, SIZE_MAX, NULL, NULL, 0, 0);
}

static void
many_arguments(void)
{
	gex_AM_PrepareRequestMedium(pt.tm, 0, NULL, 8, 8, NULL, 0, 257);
}

static void other_count(void) { gex_AM_CommitRequestMedium1(plain(), REQ_MEDIUM, 8, 1); }
static void other_family(void) { gex_AM_CommitReplyMedium0(plain(), REP_MEDIUM, 8); }
static void other_category(void) { gex_AM_CommitRequestLong0(plain(), REQ_MEDIUM, 8, pt.base); }
static void other_cancel(void) { (void)gex_AM_CancelReplyMedium(plain(), 0); }
static void more_bytes(void) { gex_AM_CommitRequestMedium0(plain(), REQ_MEDIUM, 9); }
static void library_handler(void) { gex_AM_CommitRequestMedium0(plain(), 1, 8); }
static void no_op(void) { gex_AM_CommitRequestMedium0(GEX_AM_SRCDESC_NO_OP, REQ_MEDIUM, 8); }
static void no_op_cancel(void) { (void)gex_AM_CancelRequestMedium(GEX_AM_SRCDESC_NO_OP, 0); }
static void no_op_addr(void) { PT_CHECK(gex_AM_SrcDescAddr(GEX_AM_SRCDESC_NO_OP)); }
static void cancel_flag(void) { (void)gex_AM_CancelRequestMedium(plain(), GEX_FLAG_IMMEDIATE); }

static void
commit_flag(void)
{
	(void)gex_AM_CommitRequestMedium0_v2(plain(), REQ_MEDIUM, 8, GEX_FLAG_PEER_NEVER_SELF);
}

static void
commit_twice(void)
{
	gex_AM_SrcDesc_t sd = plain();

	gex_AM_CommitRequestMedium0(sd, REQ_MEDIUM, 8);
	gex_AM_CommitRequestMedium0(sd, REQ_MEDIUM, 8);
}

static void
size_after_cancel(void)
{
	gex_AM_SrcDesc_t sd = plain();

	PT_OK(gex_AM_CancelRequestMedium(sd, 0));
	PT_LE(gex_AM_SrcDescSize(sd), 8);
}

static void
other_dest(void)
{
	gex_AM_CommitRequestLong0(
		gex_AM_PrepareRequestLong(pt.tm, 0, NULL, 8, 8, pt.base, NULL, 0, 0), REQ_MEDIUM, 8,
		pt.base + 8);
}

static void
dest_outside(void)
{
	gex_AM_CommitRequestLong0(gex_AM_PrepareRequestLong(pt.tm, 0, NULL, 8, 8, NULL, NULL, 0, 0),
	                          REQ_MEDIUM, 8, pt.base - 8);
}

static void *
commit_here(void *sd)
{
	gex_AM_CommitRequestMedium0((gex_AM_SrcDesc_t)sd, REQ_MEDIUM, 8);
	return NULL;
}

static void elsewhere(void) { pt_misuse_in_thread(commit_here, plain()); }

static void
untouched(void)
{
	gex_AM_CommitRequestMedium0(prepare(NULL, 8, 256, NULL, 0), REQ_MEDIUM, 256);
}

static void
untouched_long(void)
{
	gex_AM_CommitRequestLong0(gex_AM_PrepareRequestLong(pt.tm, 0, NULL, 8, 8, NULL, NULL, 0, 0),
	                          REQ_MEDIUM, 8, pt.base);
}

static void
untouched_reply(void)
{
	pt_misuse_ask(REQ_UNTOUCHED);
}

#define PREPARE  "gex_AM_PrepareRequestMedium: "
#define COMMIT   "gex_AM_CommitRequestMedium: "
#define NOT_OPEN \
	"the descriptor is not open; end each prepared message with one Commit or Cancel"
#define UNTOUCHED \
	"nothing was written to the library's buffer; write the payload to gex_AM_SrcDescAddr first"
#define BOTH \
	"lc_opt must be NULL when client_buf is, since the buffer is the library's; pass both or " \
	"neither"

static const struct pt_misuse cases[] = {
	{ "nested", PT_ALWAYS, 1, nested, "a Prepare while another is open",
	  PREPARE "this thread has a prepared message that is neither committed nor cancelled; "
	          "commit or cancel it first",
	  0 },
	{ "reply_twice", PT_ALWAYS, 1, reply_twice, "a Prepare of a reply while another is open",
	  "gex_AM_PrepareReplyMedium: this thread has a prepared message that is neither committed "
	  "nor cancelled; commit or cancel it first",
	  0 },
	{ "reply_late", PT_ALWAYS, 1, reply_late, "a Prepare of a reply after the reply",
	  "gex_AM_PrepareReplyMedium: this handler has already replied, and may reply only once; "
	  "put everything into one reply",
	  0 },
	{ "leaves_open", PT_CHECKED, 1, leaves_open, "a handler that returns with a prepared reply",
	  "handler 130 (req_prepares) returned with a prepared reply; commit or cancel it", 0 },
	{ "reply_group", PT_ALWAYS, 1, reply_group, "`GEX_EVENT_GROUP` for a prepared reply",
	  "gex_AM_PrepareReplyMedium: lc_opt is GEX_EVENT_GROUP, which this call does not allow; "
	  "pass GEX_EVENT_NOW or the address of an event",
	  0 },
	{ "lc_now", PT_ALWAYS, 1, lc_now, "`GEX_EVENT_NOW` with the library's buffer", PREPARE BOTH,
	  0 },
	{ "lc_group", PT_ALWAYS, 1, lc_group, "`GEX_EVENT_GROUP` with the library's buffer",
	  PREPARE BOTH, 0 },
	{ "lc_event", PT_ALWAYS, 1, lc_event, "an event with the library's buffer", PREPARE BOTH,
	  0 },
	{ "lc_none", PT_ALWAYS, 1, lc_none, "`lc_opt` NULL with the client's buffer",
	  PREPARE "lc_opt is NULL; pass GEX_EVENT_NOW or the address of an event", 0 },
	{ "lc_defer", PT_ALWAYS, 1, lc_defer, "`GEX_EVENT_DEFER` with the client's buffer",
	  PREPARE "lc_opt is GEX_EVENT_DEFER, which this call does not allow; pass GEX_EVENT_NOW "
	          "or the address of an event",
	  0 },
	{ "swapped", PT_ALWAYS, 1, swapped, "`least_payload` above `most_payload`",
	  PREPARE "least_payload 9 is above most_payload 8; swap them", 0 },
	{ "above", PT_ALWAYS, 1, above, "`least_payload` above a Medium's limit",
	  PREPARE "least_payload * is more than a Medium takes, which is *; ask "
	          "gex_AM_MaxRequestMedium with this call's arguments",
	  0 },
	{ "long_above", PT_ALWAYS, 1, long_above, "`least_payload` above a Long's limit",
	  "gex_AM_PrepareRequestLong: least_payload * is more than a Long takes, which is *; ask "
	  "gex_AM_MaxRequestLong with this call's arguments",
	  0 },
	{ "many_arguments", PT_ALWAYS, 1, many_arguments, "`numargs` above the limit",
	  PREPARE "numargs is 257, the most is 16; send the rest as payload", 0 },
	{ "unknown_flag", PT_ALWAYS, 1, unknown_flag, "unknown flag bits at Prepare",
	  PREPARE "flags 0x40000000 have no meaning in this call, which takes those of 0x*; leave "
	          "them out",
	  0 },
	{ "other_count", PT_ALWAYS, 1, other_count, "a Commit with another number of arguments",
	  COMMIT "1 arguments, but the message was prepared for 0; commit with that number", 0 },
	{ "other_family", PT_ALWAYS, 1, other_family, "a request's descriptor committed as a reply",
	  "gex_AM_CommitReplyMedium: the message was prepared as a Medium request; end it as that",
	  0 },
	{ "other_category", PT_ALWAYS, 1, other_category,
	  "a Medium's descriptor committed as a "
	  "Long",
	  "gex_AM_CommitRequestLong: the message was prepared as a Medium request; end it as that",
	  0 },
	{ "other_cancel", PT_ALWAYS, 1, other_cancel, "a Cancel of another family",
	  "gex_AM_CancelReplyMedium: the message was prepared as a Medium request; end it as that",
	  0 },
	{ "more_bytes", PT_ALWAYS, 1, more_bytes, "a Commit of more than was granted",
	  COMMIT "9 bytes are more than the 8 granted; gex_AM_SrcDescSize returns how many are "
	  "granted", 0 },
	{ "library_handler", PT_ALWAYS, 1, library_handler, "a Commit to a handler of the library",
	  COMMIT "handler 1 is the library's own; name one that was registered, from 128 to 255",
	  0 },
	{ "no_op", PT_ALWAYS, 1, no_op, "a Commit of `GEX_AM_SRCDESC_NO_OP`", COMMIT NOT_OPEN, 0 },
	{ "no_op_cancel", PT_ALWAYS, 1, no_op_cancel, "a Cancel of `GEX_AM_SRCDESC_NO_OP`",
	  "gex_AM_CancelRequestMedium: " NOT_OPEN, 0 },
	{ "no_op_addr", PT_ALWAYS, 1, no_op_addr, "the address of `GEX_AM_SRCDESC_NO_OP`",
	  "gex_AM_SrcDescAddr: " NOT_OPEN, 0 },
	{ "commit_twice", PT_ALWAYS, 1, commit_twice, "a second Commit", COMMIT NOT_OPEN, 0 },
	{ "size_after_cancel", PT_ALWAYS, 1, size_after_cancel, "the size after Cancel",
	  "gex_AM_SrcDescSize: " NOT_OPEN, 0 },
	{ "commit_flag", PT_ALWAYS, 1, commit_flag, "a flag other than IMMEDIATE at Commit",
	  COMMIT "flags 0x* have no meaning in this call, which takes those of 0x*; leave them "
	         "out",
	  0 },
	{ "cancel_flag", PT_ALWAYS, 1, cancel_flag, "a flag at Cancel",
	  "gex_AM_CancelRequestMedium: flags are 0x*, and this call has none; pass 0", 0 },
	{ "other_dest", PT_ALWAYS, 1, other_dest,
	  "a Commit to another destination than prepared "
	  "for",
	  "gex_AM_CommitRequestLong: dest_addr is 0x*, but 0x* was prepared for; pass that, or "
	  "NULL to Prepare",
	  0 },
	{ "dest_outside", PT_ALWAYS, 1, dest_outside, "a Commit of a Long to outside the segment",
	  "gex_AM_CommitRequestLong: 8 bytes at 0x* do not lie in the segment of rank 0, which is "
	  "* bytes at 0x*; gex_EP_QueryBoundSegmentNB tells its bounds",
	  0 },
	{ "untouched", PT_CHECKED, 1, untouched,
	  "a Commit of the library's buffer, to which "
	  "nothing was written",
	  COMMIT UNTOUCHED, 0 },
	{ "untouched_long", PT_CHECKED, 1, untouched_long, "the same of a Long",
	  "gex_AM_CommitRequestLong: " UNTOUCHED, 0 },
	{ "untouched_reply", PT_CHECKED, 1, untouched_reply, "the same of a reply",
	  "gex_AM_CommitReplyMedium: " UNTOUCHED, 0 },
	{ "elsewhere", PT_THREADS, 1, elsewhere, "a Commit by another thread",
	  COMMIT "the message was prepared by another thread; let that one commit or cancel it",
	  0 },
};

static gex_AM_Entry_t handlers[] = {
	PT_HANDLER(REQ_MEDIUM, on_medium, PT_REQ_MEDIUM | PT_REQ_LONG, 0),
	PT_HANDLER(REP_MEDIUM, on_medium, PT_REP_MEDIUM, 0),
	PT_HANDLER(REQ_PREPARES, req_prepares, PT_REQ_SHORT, 0),
	PT_HANDLER(REQ_PREPARES_TWICE, req_prepares_twice, PT_REQ_SHORT, 0),
	PT_HANDLER(REQ_COMMITS_LATE, req_commits_late, PT_REQ_SHORT, 0),
	PT_HANDLER(REQ_GROUP, req_group, PT_REQ_SHORT, 0),
	PT_HANDLER(REQ_UNTOUCHED, req_untouched, PT_REQ_SHORT, 0),
};

const struct pt_misuse_set pt_misuse_acts = {
	.cases = cases,
	.count = PT_COUNT(cases),
	.handlers = handlers,
	.handler_count = PT_COUNT(handlers),
};
