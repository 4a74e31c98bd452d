/*
 * A debug build says what a client did that it may not: the call, what was wrong, what to do.  The
 * first of these cases are told by every build.
 */
#include "tests/lib/pt_spawn.h"

#include <pthread.h>

enum {
	REQ_SHORT = 128, REP_SHORT, REQ_TWICE, REQ_REPLY_CHAIN, REP_REPLIES, REQ_SENDS, REQ_POLLS, REQ_WAITS,
	REQ_KEEPS_LOCK, REQ_LOCKED_REPLY, REQ_PREPARES, REQ_KEEPS_TOKEN, REQ_PREPARES_TWICE
};

static gex_HSL_t lock = GEX_HSL_INITIALIZER;
static gex_Token_t kept;
static char block[64];

static void
req_short(gex_Token_t token)
{
	(void)token;
}

static void
req_twice(gex_Token_t token)
{
	PT_OK(gex_AM_ReplyShort0(token, REP_SHORT, 0));
	(void)gex_AM_ReplyShort0(token, REP_SHORT, 0);
}

static void
req_reply_chain(gex_Token_t token)
{
	PT_OK(gex_AM_ReplyShort0(token, REP_REPLIES, 0));
}

static void
rep_replies(gex_Token_t token)
{
	(void)gex_AM_ReplyShort0(token, REP_SHORT, 0);
}

static void
req_sends(gex_Token_t token)
{
	(void)token;
	(void)gex_AM_RequestShort0(pt.tm, pt.rank, REQ_SHORT, 0);
}

static void
req_polls(gex_Token_t token)
{
	(void)token;
	gasnet_AMPoll();
}

static void
req_waits(gex_Token_t token)
{
	(void)token;
	GASNET_BLOCKUNTIL(kept != NULL);
}

static void
req_keeps_lock(gex_Token_t token)
{
	(void)token;
	gex_HSL_Lock(&lock);
}

static void
req_locked_reply(gex_Token_t token)
{
	gex_HSL_Lock(&lock);
	(void)gex_AM_ReplyShort0(token, REP_SHORT, 0);
}

static void
req_prepares(gex_Token_t token)
{
	gex_AM_PrepareReplyMedium(token, NULL, 8, 8, NULL, 0, 0);
}

static void
req_prepares_twice(gex_Token_t token)
{
	gex_AM_PrepareReplyMedium(token, NULL, 8, 8, NULL, 0, 0);
	gex_AM_PrepareReplyMedium(token, NULL, 8, 8, NULL, 0, 0);
}

static void
req_keeps_token(gex_Token_t token)
{
	kept = token;
}

static void
ask(gex_AM_Index_t handler)
{
	PT_OK(gex_AM_RequestShort0(pt.tm, (pt.rank + 1) % pt.size, handler, 0));
	for (;;)
		gasnet_AMPoll();
}

static gex_AM_SrcDesc_t
prepare(void)
{
	return gex_AM_PrepareRequestMedium(pt.tm, pt.size - 1, NULL, 8, 8, NULL, 0, 0);
}

static void *
commit_here(void *sd)
{
	gex_AM_CommitRequestMedium0((gex_AM_SrcDesc_t)sd, REQ_SHORT, 8);
	return NULL;
}

static void *
unlock_here(void *hsl)
{
	gex_HSL_Unlock((gex_HSL_t *)hsl);
	return NULL;
}

static void
in_thread(void *(*fn)(void *), void *arg)
{
	pthread_t id;

	PT_EQ(pthread_create(&id, NULL, fn, arg), 0);
	PT_EQ(pthread_join(id, NULL), 0);
}

static void twice(void) { ask(REQ_TWICE); }
static void chain(void) { ask(REQ_REPLY_CHAIN); }
static void sends(void) { ask(REQ_SENDS); }
static void polls(void) { ask(REQ_POLLS); }
static void waits(void) { ask(REQ_WAITS); }
static void keeps_lock(void) { ask(REQ_KEEPS_LOCK); }
static void locked_reply(void) { ask(REQ_LOCKED_REPLY); }
static void prepares(void) { ask(REQ_PREPARES); }
static void prepares_twice(void) { ask(REQ_PREPARES_TWICE); }

static void
late_reply(void)
{
	PT_OK(gex_AM_RequestShort0(pt.tm, pt.rank, REQ_KEEPS_TOKEN, 0));
	GASNET_BLOCKUNTIL(kept != NULL);
	(void)gex_AM_ReplyShort0(kept, REP_SHORT, 0);
}

static void
nested(void)
{
	prepare();
	prepare();
}

static void
many_arguments(void)
{
	gex_AM_PrepareRequestMedium(pt.tm, 0, NULL, 8, 8, NULL, 0, 257);
}

static void
sends_between(void)
{
	prepare();
	(void)gex_AM_RequestShort0(pt.tm, pt.size - 1, REQ_SHORT, 0);
}

static void
polls_between(void)
{
	prepare();
	gasnet_AMPoll();
}

static void
barrier_between(void)
{
	prepare();
	gasnet_barrier_notify(0, 0);
}

static void
tests_between(void)
{
	gex_Event_t event = gex_Coll_BarrierNB(pt.tm, 0);

	prepare();
	(void)gex_Event_Test(event);
}

static void commits_elsewhere(void) { in_thread(commit_here, prepare()); }

static void
locks_twice(void)
{
	gex_HSL_Lock(&lock);
	gex_HSL_Lock(&lock);
}

static void unlocks_free(void) { gex_HSL_Unlock(&lock); }

static void
unlocks_elsewhere(void)
{
	gex_HSL_Lock(&lock);
	in_thread(unlock_here, &lock);
}

static void
polls_locked(void)
{
	gex_HSL_Lock(&lock);
	gasnet_AMPoll();
}

static void
sends_locked(void)
{
	gex_HSL_Lock(&lock);
	(void)gex_AM_RequestShort0(pt.tm, 0, REQ_SHORT, 0);
}

static void
other_count(void)
{
	PT_OK(gex_AM_RequestShort1(pt.tm, pt.rank, REQ_SHORT, 0, 1));
}

static void
other_category(void)
{
	PT_OK(gex_AM_RequestMedium0(pt.tm, pt.rank, REQ_SHORT, block, 8, GEX_EVENT_NOW, 0));
}

static void other_direction(void) { PT_OK(gex_AM_RequestShort0(pt.tm, pt.rank, REP_SHORT, 0)); }
static void library_handler(void) { PT_OK(gex_AM_RequestShort0(pt.tm, pt.rank, 1, 0)); }
static void unknown_flag(void) { PT_OK(gex_AM_RequestShort0(pt.tm, 0, REQ_SHORT, 1u << 30)); }

static const struct {
	const char *name, *words;
	void (*body)(void);
	enum { EVERY, DEBUG, THREADS } when;
} cases[] = {
	{ "twice", "gex_AM_ReplyShort: this handler has replied already", twice, EVERY },
	{ "chain", "gex_AM_ReplyShort: a reply handler may not reply", chain, EVERY },
	{ "nested", "gex_AM_PrepareRequestMedium: this thread has a prepared message", nested, EVERY },
	{ "prepares_twice", "gex_AM_PrepareReplyMedium: this thread has a prepared message",
	  prepares_twice, EVERY },
	{ "many_arguments", "gex_AM_PrepareRequestMedium: 257 arguments", many_arguments, EVERY },
	{ "sends", "gex_AM_RequestShort: called in handler", sends, DEBUG },
	{ "polls", "gasnet_AMPoll: called in handler", polls, DEBUG },
	{ "waits", "misuse_debug.c:", waits, DEBUG },
	{ "keeps_lock", "returned with 1 handler-safe lock held", keeps_lock, DEBUG },
	{ "locked_reply", "gex_AM_ReplyShort: called while this thread holds 1", locked_reply, DEBUG },
	{ "prepares", "returned with a prepared reply", prepares, DEBUG },
	{ "late_reply", "gex_AM_ReplyShort: the token is not that of the handler", late_reply, DEBUG },
	{ "sends_between", "gex_AM_RequestShort: called between Prepare and Commit", sends_between,
	  DEBUG },
	{ "polls_between", "gasnet_AMPoll: called between Prepare and Commit", polls_between, DEBUG },
	{ "barrier_between", "gasnet_barrier_notify: called between", barrier_between, DEBUG },
	{ "tests_between", "called between Prepare and Commit of a request", tests_between, DEBUG },
	{ "commits_elsewhere", "gex_AM_CommitRequestMedium: the message was prepared by another",
	  commits_elsewhere, THREADS },
	{ "locks_twice", "gex_HSL_Lock: this thread holds the lock", locks_twice, DEBUG },
	{ "unlocks_free", "gex_HSL_Unlock: the lock at", unlocks_free, DEBUG },
	{ "unlocks_elsewhere", "gex_HSL_Unlock: the lock at", unlocks_elsewhere, THREADS },
	{ "polls_locked", "gasnet_AMPoll: called while this thread holds", polls_locked, DEBUG },
	{ "sends_locked", "gex_AM_RequestShort: called while this thread holds", sends_locked, DEBUG },
	{ "other_count", "has 1 arguments, registered were 0", other_count, DEBUG },
	{ "other_category", "is a Medium request, for which it is not registered", other_category,
	  DEBUG },
	{ "other_direction", "is a Short request, for which it is not registered", other_direction,
	  DEBUG },
	{ "library_handler", "gex_AM_RequestShort: handler 1 is the library's own", library_handler,
	  DEBUG },
	{ "unknown_flag", "gex_AM_RequestShort: flags 0x40000000 have no meaning", unknown_flag, DEBUG },
};

static void
job(int argc, char **argv)
{
	gex_AM_Entry_t table[] = {
		PT_HANDLER(REQ_SHORT, req_short, PT_REQ_SHORT, 0),
		PT_HANDLER(REP_SHORT, req_short, PT_REP_SHORT, 0),
		PT_HANDLER(REQ_TWICE, req_twice, PT_REQ_SHORT, 0),
		PT_HANDLER(REQ_REPLY_CHAIN, req_reply_chain, PT_REQ_SHORT, 0),
		PT_HANDLER(REP_REPLIES, rep_replies, PT_REP_SHORT, 0),
		PT_HANDLER(REQ_SENDS, req_sends, PT_REQ_SHORT, 0),
		PT_HANDLER(REQ_POLLS, req_polls, PT_REQ_SHORT, 0),
		PT_HANDLER(REQ_WAITS, req_waits, PT_REQ_SHORT, 0),
		PT_HANDLER(REQ_KEEPS_LOCK, req_keeps_lock, PT_REQ_SHORT, 0),
		PT_HANDLER(REQ_LOCKED_REPLY, req_locked_reply, PT_REQ_SHORT, 0),
		PT_HANDLER(REQ_PREPARES, req_prepares, PT_REQ_SHORT, 0),
		PT_HANDLER(REQ_KEEPS_TOKEN, req_keeps_token, PT_REQ_SHORT, 0),
		PT_HANDLER(REQ_PREPARES_TWICE, req_prepares_twice, PT_REQ_SHORT, 0),
	};

	pt_start(&argc, &argv, table, PT_COUNT(table), 1);
	for (size_t i = 0; i < PT_COUNT(cases); i++)
		if (!strcmp(argv[1], cases[i].name) && pt.rank == 0)
			cases[i].body();
	/* what a rank did not notice, the test will */
	for (unsigned i = 0; i < 1500; i++) {
		gasnet_AMPoll();
		pt_sleep_ms(1);
	}
	gasnet_exit(0);
}

static int
applies(int when)
{
#ifndef GASNET_DEBUG
	return when == EVERY;
#elif defined(GASNET_SEQ)
	return when != THREADS;
#else
	return when >= EVERY;
#endif
}

int
main(int argc, char **argv)
{
	static const char *const settings[] = { "GASNET_BACKTRACE=0", NULL };
	struct pt_outcome out;

	pt_prepare(argv);
	if (argc > 1)
		job(argc, argv);
	for (size_t i = 0; i < PT_COUNT(cases); i++) {
		if (!applies((int)cases[i].when))
			continue;
		pt_phase(cases[i].name);
		pt_spawn("/proc/self/exe", cases[i].name, settings, 8000, &out);
		if (out.status != 134 || !strstr(out.text, cases[i].words))
			PT_FAIL("case %s ended with %d, and did not say \"%s\"; it said:\n%s",
			        cases[i].name, out.status, cases[i].words, out.text);
	}
	return 0;
}
