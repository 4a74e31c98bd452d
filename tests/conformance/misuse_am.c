/* Active messages that may not be: what is sent, to whom, by whom. */
#include "tests/lib/pt_misuse.h"

enum {
	REQ_SHORT = 128,
	REP_SHORT,
	REQ_TWICE,
	REQ_CHAIN,
	REP_REPLIES,
	REQ_KEEPS_TOKEN,
	REQ_GROUP,
	REQ_DEFER,
	REQ_LOCKED,
	REQ_KEEPS_LOCK,
	REQ_ASKS_MAX,
	REP_ASKS_MAX,
	REQ_ASKS_GROUP,
	REQ_THREAD,
	REQ_NULL,
	UNREGISTERED = 222
};

static gex_HSL_t lock = GEX_HSL_INITIALIZER;
static gex_Token_t kept;
static char block[64];

static void req_short(gex_Token_t token) { (void)token; }

static void
req_twice(gex_Token_t token)
{
	PT_OK(gex_AM_ReplyShort0(token, REP_SHORT, 0));
	(void)gex_AM_ReplyShort0(token, REP_SHORT, 0);
}

static void req_chain(gex_Token_t token) { PT_OK(gex_AM_ReplyShort0(token, REP_REPLIES, 0)); }
static void rep_replies(gex_Token_t token) { (void)gex_AM_ReplyShort0(token, REP_SHORT, 0); }
static void req_keeps_token(gex_Token_t token) { kept = token; }
static void req_keeps_lock(gex_Token_t token) { (void)token; gex_HSL_Lock(&lock); }
static void
rep_asks_max(gex_Token_t token)
{
	(void)gex_Token_MaxReplyMedium(token, GEX_EVENT_NOW, 0, 0);
}
static void req_asks_max(gex_Token_t token) { (void)gex_AM_ReplyShort0(token, REP_ASKS_MAX, 0); }
static void
req_null(gex_Token_t token)
{
	(void)token;
	(void)gex_AM_ReplyShort0(NULL, REP_SHORT, 0);
}

static void
req_asks_group(gex_Token_t token)
{
	(void)gex_Token_MaxReplyLong(token, GEX_EVENT_GROUP, 0, 0);
}

static void
req_group(gex_Token_t token)
{
	(void)gex_AM_ReplyMedium0(token, REP_SHORT, block, 8, GEX_EVENT_GROUP, 0);
}

static void
req_defer(gex_Token_t token)
{
	(void)gex_AM_ReplyMedium0(token, REP_SHORT, block, 8, GEX_EVENT_DEFER, 0);
}

static void
req_locked(gex_Token_t token)
{
	gex_HSL_Lock(&lock);
	(void)gex_AM_ReplyShort0(token, REP_SHORT, 0);
}

static void *
reply_here(void *token)
{
	(void)gex_AM_ReplyShort0((gex_Token_t)token, REP_SHORT, 0);
	return NULL;
}

static void req_thread(gex_Token_t token) { pt_misuse_in_thread(reply_here, token); }

static void twice(void) { pt_misuse_ask(REQ_TWICE); }
static void chain(void) { pt_misuse_ask(REQ_CHAIN); }
static void keeps_lock(void) { pt_misuse_ask(REQ_KEEPS_LOCK); }
static void locked_reply(void) { pt_misuse_ask(REQ_LOCKED); }
static void reply_group(void) { pt_misuse_ask(REQ_GROUP); }
static void reply_defer(void) { pt_misuse_ask(REQ_DEFER); }
static void reply_elsewhere(void) { pt_misuse_ask(REQ_THREAD); }
static void reply_null(void) { pt_misuse_ask(REQ_NULL); }
static void token_max(void) { pt_misuse_ask(REQ_ASKS_MAX); }
static void token_group(void) { pt_misuse_ask(REQ_ASKS_GROUP); }

static void
keep_token(void)
{
	PT_OK(gex_AM_RequestShort0(pt.tm, pt.rank, REQ_KEEPS_TOKEN, 0));
	GASNET_BLOCKUNTIL(kept != NULL);
}

static void
late_reply(void)
{
	keep_token();
	(void)gex_AM_ReplyShort0(kept, REP_SHORT, 0);
}

static void
late_question(void)
{
	gex_Token_Info_t info;

	keep_token();
	(void)gex_Token_Info(kept, &info, GEX_TI_SRCRANK);
}

static void
medium(size_t nbytes, gex_Event_t *lc_opt, gex_Flags_t flags)
{
	(void)gex_AM_RequestMedium0(pt.tm, 0, REQ_SHORT, block, nbytes, lc_opt, flags);
}

static void defer(void) { medium(8, GEX_EVENT_DEFER, 0); }
static void no_lc(void) { medium(8, NULL, 0); }
static void unknown_flag(void) { medium(8, GEX_EVENT_NOW, 1u << 30); }
static void least_flag(void) { medium(8, GEX_EVENT_NOW, GEX_FLAG_AM_PREPARE_LEAST_ALLOC); }
static void too_large(void) { medium(gex_AM_LUBRequestMedium() + 1, GEX_EVENT_NOW, 0); }

static void
two_places(void)
{
	medium(8, GEX_EVENT_NOW, GEX_FLAG_SELF_SEG_SOME | GEX_FLAG_SELF_SEG_BOUND);
}

static void
no_source(void)
{
	(void)gex_AM_RequestMedium0(pt.tm, 0, REQ_SHORT, NULL, 8, GEX_EVENT_NOW, 0);
}

static void
long_to(gex_Rank_t rank, char *dest, const char *source, size_t nbytes)
{
	(void)gex_AM_RequestLong0(pt.tm, rank, REQ_SHORT, source, nbytes, dest, GEX_EVENT_NOW, 0);
}

static void long_outside(void) { long_to(1, pt.peers[1].owner - 1, block, 8); }
static void long_overlap(void) { long_to(0, pt.base + 8, pt.base, 16); }

static void
long_unattached(void)
{
	pt_init(NULL, NULL, 0);
	long_to(0, block, block, 8);
}

static void other_count(void) { PT_OK(gex_AM_RequestShort1(pt.tm, 0, REQ_SHORT, 0, 1)); }
static void other_category(void) { medium(8, GEX_EVENT_NOW, 0); }
static void other_direction(void) { PT_OK(gex_AM_RequestShort0(pt.tm, 0, REP_SHORT, 0)); }
static void library_handler(void) { PT_OK(gex_AM_RequestShort0(pt.tm, 0, 1, 0)); }
static void no_rank(void) { (void)gex_AM_RequestShort0(pt.tm, 1, REQ_SHORT, 0); }
static void no_jobrank(void) { (void)gex_AM_RequestShort0(gex_TM_Pair(pt.ep, 0), 1, REQ_SHORT, 0); }
static void no_team(void) { (void)gex_AM_RequestShort0(GEX_TM_INVALID, 0, REQ_SHORT, 0); }

static void
unregistered(void)
{
	PT_OK(gex_AM_RequestShort0(pt.tm, 1, UNREGISTERED, 0));
}

static void
other_endpoint(void)
{
	(void)gex_AM_RequestShort0(gex_TM_Pair(pt.ep, 1), 0, REQ_SHORT, 0);
}

static void
foreign_team(void)
{
	static uint64_t value[8];

	value[5] = UINT64_MAX;
	(void)gex_AM_RequestShort0((gex_TM_t)(void *)value, 0, REQ_SHORT, 0);
}

static void
entry(gex_AM_Index_t index, gex_AM_Fn_t fn, gex_Flags_t flags, unsigned nargs, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		gex_AM_Entry_t one = PT_HANDLER(index, fn, flags, nargs);

		PT_OK(gex_EP_RegisterHandlers(pt.ep, &one, 1));
	}
}

#define FN ((gex_AM_Fn_t)req_short)
static void no_function(void) { entry(200, NULL, PT_REQ_SHORT, 0, 1); }
static void no_category(void) { entry(200, FN, GEX_FLAG_AM_REQUEST, 0, 1); }
static void many_args(void) { entry(200, FN, PT_REQ_SHORT, 17, 1); }
static void low_index(void) { entry(127, FN, PT_REQ_SHORT, 0, 1); }
static void taken_index(void) { entry(REQ_SHORT, FN, PT_REQ_SHORT, 0, 1); }
static void no_table(void) { (void)gex_EP_RegisterHandlers(pt.ep, NULL, 5); }

static void
tell_entries(size_t count)
{
	volatile size_t told = count;
	gex_AM_Entry_t one = PT_HANDLER(0, FN, PT_REQ_SHORT, 0);

	(void)gex_EP_RegisterHandlers(pt.ep, &one, told);
}

static void short_table(void) { tell_entries(200); }
static void endless_table(void) { tell_entries(SIZE_MAX / 2); }
static void many_handlers(void) { entry(0, FN, PT_REQ_SHORT, 0, 129); }

static void
both_buffers(void)
{
	(void)gex_AM_MaxRequestMedium(
		pt.tm, 0, GEX_EVENT_NOW,
		GEX_FLAG_AM_PREPARE_LEAST_CLIENT | GEX_FLAG_AM_PREPARE_LEAST_ALLOC, 0);
}

static void max_args(void) { (void)gex_AM_MaxReplyLong(pt.tm, 0, GEX_EVENT_NOW, 0, 17); }

#define REGISTER "gex_EP_RegisterHandlers: entry 0 "
#define ANY_LC   "which this call does not allow; pass GEX_EVENT_NOW or the address of an event"
#define TOKEN    "the token is not that of the handler which runs in this thread*; use a token " \
	"only in its own handler, before that returns"

static const struct pt_misuse cases[] = {
	{ "twice", PT_ALWAYS, 2, twice, "a second reply in one handler",
	  "gex_AM_ReplyShort: this handler has already replied, and may reply only once; put "
	  "everything into one reply",
	  0 },
	{ "chain", PT_ALWAYS, 2, chain, "a reply from a reply handler",
	  "gex_AM_ReplyShort: a reply handler may not reply; let the thread that waits for it send "
	  "a request",
	  0 },
	{ "locked_reply", PT_LOCKS, 1, locked_reply, "a reply with a handler-safe lock held",
	  "gex_AM_ReplyShort: called while this thread holds 1 handler-safe lock; unlock first",
	  0 },
	{ "late_reply", PT_CHECKED, 1, late_reply, "a reply after the handler returned",
	  "gex_AM_ReplyShort: " TOKEN, 0 },
	{ "reply_elsewhere", PT_THREADS, 1, reply_elsewhere,
	  "a reply by another thread than the "
	  "handler's",
	  "gex_AM_ReplyShort: " TOKEN, 0 },
	{ "reply_null", PT_CHECKED, 1, reply_null, "a reply to no token",
	  "gex_AM_ReplyShort: " TOKEN, 0 },
	{ "late_question", PT_CHECKED, 1, late_question,
	  "a token's question after its handler "
	  "returned",
	  "gex_Token_Info: " TOKEN, 0 },
	{ "keeps_lock", PT_LOCKS, 1, keeps_lock, "a handler that returns with a lock held",
	  "handler 137 (req_keeps_lock) returned with 1 handler-safe lock held; a handler unlocks "
	  "what it locks",
	  0 },
	{ "reply_group", PT_ALWAYS, 1, reply_group, "`GEX_EVENT_GROUP` on a reply",
	  "gex_AM_ReplyMedium: lc_opt is GEX_EVENT_GROUP, " ANY_LC, 0 },
	{ "reply_defer", PT_ALWAYS, 1, reply_defer, "`GEX_EVENT_DEFER` on a reply",
	  "gex_AM_ReplyMedium: lc_opt is GEX_EVENT_DEFER, " ANY_LC, 0 },
	{ "defer", PT_ALWAYS, 1, defer, "`GEX_EVENT_DEFER` on a request",
	  "gex_AM_RequestMedium: lc_opt is GEX_EVENT_DEFER, " ANY_LC, 0 },
	{ "no_lc", PT_ALWAYS, 1, no_lc, "`lc_opt` NULL on a request",
	  "gex_AM_RequestMedium: lc_opt is NULL; pass GEX_EVENT_NOW or the address of an event",
	  0 },
	{ "unknown_flag", PT_ALWAYS, 1, unknown_flag, "unknown flag bits",
	  "gex_AM_RequestMedium: flags 0x40000000 have no meaning in this call, which takes those "
	  "of 0x*; leave them out",
	  0 },
	{ "least_flag", PT_ALWAYS, 1, least_flag, "a flag of the limits' queries on a message",
	  "gex_AM_RequestMedium: flags 0x* have no meaning in this call, which takes those of 0x*; "
	  "leave them out",
	  0 },
	{ "two_places", PT_CHECKED, 1, two_places, "two flags that say where one range lies",
	  "gex_AM_RequestMedium: flags 0x* say twice where a range lies; pass one SELF_SEG flag "
	  "and one PEER_SEG flag at most",
	  0 },
	{ "too_large", PT_ALWAYS, 1, too_large, "a Medium above the limit",
	  "gex_AM_RequestMedium: * bytes are more than a Medium takes, which is *; send several, "
	  "or a Long",
	  0 },
	{ "no_source", PT_CHECKED, 1, no_source, "a payload at address NULL",
	  "gex_AM_RequestMedium: 8 bytes from address NULL; pass the address of the data", 0 },
	{ "long_outside", PT_ALWAYS, 2, long_outside, "a Long to outside the segment",
	  "gex_AM_RequestLong: 8 bytes at 0x* do not lie in the segment of rank 1, which is * "
	  "bytes at 0x*; gex_EP_QueryBoundSegmentNB tells its bounds",
	  0 },
	{ "long_unattached", PT_ALWAYS, 1, long_unattached, "a Long to a rank without a segment",
	  "gex_AM_RequestLong: rank 0 has no segment that is known here; attach or publish one "
	  "first",
	  1 },
	{ "long_overlap", PT_CHECKED, 1, long_overlap,
	  "a Long whose source and destination "
	  "overlap",
	  "gex_AM_RequestLong: source and destination, 16 bytes each, overlap; copy the data "
	  "elsewhere first",
	  0 },
	{ "unregistered", PT_ALWAYS, 2, unregistered,
	  "a message to a handler that is not "
	  "registered",
	  "a Short request from rank 0 names handler 222, which is not registered here; register "
	  "it, and let no rank send before a barrier",
	  0 },
	{ "other_count", PT_ALWAYS, 1, other_count, "another number of arguments than registered",
	  "a Short request from rank 0 has 1 arguments, but handler 128 (req_short) is registered "
	  "for 0; send as many, or register it with that gex_nargs",
	  0 },
	{ "other_category", PT_ALWAYS, 1, other_category, "another category than registered",
	  "a Medium request from rank 0 names handler 128 (req_short), whose gex_flags do not say "
	  "that it takes one; send what it takes, or register it for that",
	  0 },
	{ "other_direction", PT_ALWAYS, 1, other_direction, "a request to a handler of replies",
	  "a Short request from rank 0 names handler 129 (req_short), whose gex_flags do not say "
	  "that it takes one; send what it takes, or register it for that",
	  0 },
	{ "library_handler", PT_ALWAYS, 1, library_handler, "a message to a handler of the library",
	  "gex_AM_RequestShort: handler 1 is the library's own; name one that was registered, from "
	  "128 to 255",
	  0 },
	{ "no_rank", PT_ALWAYS, 1, no_rank, "a message to a rank that is not in the team",
	  "gex_AM_RequestShort: rank 1 does not exist, the team has 1; count from 0", 0 },
	{ "no_jobrank", PT_ALWAYS, 1, no_jobrank,
	  "a message by a pair to a rank that is not in "
	  "the job",
	  "gex_AM_RequestShort: rank 1 does not exist, the job has 1; count from 0", 0 },
	{ "no_team", PT_ALWAYS, 1, no_team, "a message by `GEX_TM_INVALID`",
	  "gex_AM_RequestShort: called with GEX_TM_INVALID; pass one that the library gave", 0 },
	{ "foreign_team", PT_CHECKED, 1, foreign_team,
	  "a message by a team's value of another "
	  "process",
	  "gex_AM_RequestShort: 0x* is no team of this process; a team's value means nothing in "
	  "another process, nor after gex_TM_Destroy",
	  0 },
	{ "other_endpoint", PT_ALWAYS, 1, other_endpoint,
	  "a message to an endpoint that does not exist",
	  "gex_AM_RequestShort: the pair names an endpoint that does not exist; create it, and let "
	  "all wait for that before they send",
	  0 },
	{ "no_function", PT_ALWAYS, 1, no_function, "a handler's entry without a function",
	  REGISTER "has no function; set gex_fnptr", 0 },
	{ "no_category", PT_ALWAYS, 1, no_category, "an entry without category or direction",
	  REGISTER "has gex_flags 0x*; set a category (GEX_FLAG_AM_SHORT, MEDIUM, LONG, MEDLONG) "
	           "and a direction (GEX_FLAG_AM_REQUEST, REPLY, REQREP)",
	  0 },
	{ "many_args", PT_ALWAYS, 1, many_args, "an entry with more arguments than a message has",
	  REGISTER "has 17 arguments, the most is 16; send the rest as payload", 0 },
	{ "low_index", PT_ALWAYS, 1, low_index, "an entry with an index of the library's",
	  REGISTER "has index 127, the least is 128; lower ones are the library's", 0 },
	{ "taken_index", PT_ALWAYS, 1, taken_index, "two handlers with one index",
	  REGISTER "has index 128, which is taken; choose another, or 0 for any", 0 },
	{ "many_handlers", PT_ALWAYS, 1, many_handlers, "more handlers than there are indices",
	  "gex_EP_RegisterHandlers: more than 128 handlers; let some share one and an argument",
	  0 },
	{ "no_table", PT_ALWAYS, 1, no_table, "handlers without the table that has them",
	  "gex_EP_RegisterHandlers: table is NULL, but should have 5 entries; pass the list", 0 },
	{ "short_table", PT_ALWAYS, 1, short_table,
	  "a table of more entries than there are "
	  "indices",
	  "gex_EP_RegisterHandlers: more than 128 handlers; let some share one and an argument",
	  0 },
	{ "endless_table", PT_ALWAYS, 1, endless_table, "a table of more entries than memory holds",
	  "gex_EP_RegisterHandlers: table would have 9223372036854775807 entries, more than "
	  "memory holds; check whether the count was negative",
	  0 },
	{ "both_buffers", PT_ALWAYS, 1, both_buffers, "a limit asked for both kinds of buffer",
	  "gex_AM_MaxRequestMedium: flags have both LEAST_CLIENT and LEAST_ALLOC; pass the one "
	  "that fits the client_buf of the Prepare",
	  0 },
	{ "max_args", PT_ALWAYS, 1, max_args, "a limit asked for more arguments than a message has",
	  "gex_AM_MaxReplyLong: numargs is 17, the most is 16; send the rest as payload", 0 },
	{ "token_max", PT_ALWAYS, 1, token_max, "a reply's limit asked in a reply handler",
	  "gex_Token_MaxReplyMedium: called in a reply handler, which may not reply; ask in "
	  "request handlers",
	  0 },
	{ "token_group", PT_CHECKED, 1, token_group, "a reply's limit asked for `GEX_EVENT_GROUP`",
	  "gex_Token_MaxReplyLong: lc_opt is GEX_EVENT_GROUP, which replies do not have; pass what "
	  "the reply gets",
	  0 },
};

static gex_AM_Entry_t handlers[] = {
	PT_HANDLER(REQ_SHORT, req_short, PT_REQ_SHORT, 0),
	PT_HANDLER(REP_SHORT, req_short, PT_REP_SHORT, 0),
	PT_HANDLER(REQ_TWICE, req_twice, PT_REQ_SHORT, 0),
	PT_HANDLER(REQ_CHAIN, req_chain, PT_REQ_SHORT, 0),
	PT_HANDLER(REP_REPLIES, rep_replies, PT_REP_SHORT, 0),
	PT_HANDLER(REQ_KEEPS_TOKEN, req_keeps_token, PT_REQ_SHORT, 0),
	PT_HANDLER(REQ_GROUP, req_group, PT_REQ_SHORT, 0),
	PT_HANDLER(REQ_DEFER, req_defer, PT_REQ_SHORT, 0),
	PT_HANDLER(REQ_LOCKED, req_locked, PT_REQ_SHORT, 0),
	PT_HANDLER(REQ_KEEPS_LOCK, req_keeps_lock, PT_REQ_SHORT, 0),
	PT_HANDLER(REQ_ASKS_MAX, req_asks_max, PT_REQ_SHORT, 0),
	PT_HANDLER(REP_ASKS_MAX, rep_asks_max, PT_REP_SHORT, 0),
	PT_HANDLER(REQ_ASKS_GROUP, req_asks_group, PT_REQ_SHORT, 0),
	PT_HANDLER(REQ_THREAD, req_thread, PT_REQ_SHORT, 0),
	PT_HANDLER(REQ_NULL, req_null, PT_REQ_SHORT, 0),
};

const struct pt_misuse_set pt_misuse_acts = {
	.cases = cases,
	.count = PT_COUNT(cases),
	.handlers = handlers,
	.handler_count = PT_COUNT(handlers),
};
