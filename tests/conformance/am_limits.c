/* The rules that all size limits keep, whoever asks and in whatever order. */
#include <gasnet.h>

#include "tests/lib/pt.h"

enum { REQ_QUERY = 128, REP_VALUE };
enum { REQUEST_MEDIUM, REPLY_MEDIUM, REQUEST_LONG, REPLY_LONG, FUNCTIONS };
enum { LC_NOW, LC_GROUP, LC_EVENT, LC_NULL, LCS };
enum { FIXED, FIXED_IMMEDIATE, CLIENT, CLIENT_IMMEDIATE, ALLOC, ALLOC_IMMEDIATE, FLAGSETS };

/* One question; what is not legal to ask is skipped by legal(). */
struct question {
	int function, lc, flagset;
	unsigned nargs;
};

static PT_OWN pt_count answered;
static PT_OWN uint64_t answer;

static int
legal(struct question q)
{
	int is_reply = q.function == REPLY_MEDIUM || q.function == REPLY_LONG;

	if (q.lc == LC_GROUP && is_reply)
		return 0;
	if (q.flagset >= ALLOC)
		return q.lc == LC_NULL;
	return q.lc != LC_NULL;
}

static gex_Flags_t
flags_of(struct question q)
{
	static const gex_Flags_t sets[FLAGSETS] = {
		0,
		GEX_FLAG_IMMEDIATE,
		GEX_FLAG_AM_PREPARE_LEAST_CLIENT,
		GEX_FLAG_AM_PREPARE_LEAST_CLIENT | GEX_FLAG_IMMEDIATE,
		GEX_FLAG_AM_PREPARE_LEAST_ALLOC,
		GEX_FLAG_AM_PREPARE_LEAST_ALLOC | GEX_FLAG_IMMEDIATE,
	};

	return sets[q.flagset];
}

static const gex_Event_t *
lc_of(struct question q)
{
	static gex_Event_t event;

	switch (q.lc) {
	case LC_NOW:
		return GEX_EVENT_NOW;
	case LC_GROUP:
		return GEX_EVENT_GROUP;
	case LC_EVENT:
		return &event;
	}
	return NULL;
}

static size_t
ask(struct question q, gex_TM_t tm, gex_Rank_t rank)
{
	const gex_Event_t *lc = lc_of(q);
	gex_Flags_t flags = flags_of(q);

	switch (q.function) {
	case REQUEST_MEDIUM:
		return gex_AM_MaxRequestMedium(tm, rank, lc, flags, q.nargs);
	case REPLY_MEDIUM:
		return gex_AM_MaxReplyMedium(tm, rank, lc, flags, q.nargs);
	case REQUEST_LONG:
		return gex_AM_MaxRequestLong(tm, rank, lc, flags, q.nargs);
	}
	return gex_AM_MaxReplyLong(tm, rank, lc, flags, q.nargs);
}

static size_t
bound_of(int function)
{
	switch (function) {
	case REQUEST_MEDIUM:
		return gex_AM_LUBRequestMedium();
	case REPLY_MEDIUM:
		return gex_AM_LUBReplyMedium();
	case REQUEST_LONG:
		return gex_AM_LUBRequestLong();
	}
	return gex_AM_LUBReplyLong();
}

/* The peer's view of the same pair, and the token's. */
static void
req_query(gex_Token_t token, gex_AM_Arg_t function, gex_AM_Arg_t lc, gex_AM_Arg_t flagset,
          gex_AM_Arg_t nargs)
{
	struct question q = { function, lc, flagset, (unsigned)nargs };
	gex_Rank_t source = pt_source(token);
	uint64_t value = ask(q, pt.tm, source);

	if (function == REPLY_MEDIUM)
		PT_EQ(gex_Token_MaxReplyMedium(token, lc_of(q), flags_of(q), q.nargs), value);
	if (function == REPLY_LONG)
		PT_EQ(gex_Token_MaxReplyLong(token, lc_of(q), flags_of(q), q.nargs), value);
	PT_OK(gex_AM_ReplyShort2(token, REP_VALUE, 0, (gex_AM_Arg_t)(value >> 32),
	                         (gex_AM_Arg_t)value));
}

static void
rep_value(gex_Token_t token, gex_AM_Arg_t high, gex_AM_Arg_t low)
{
	(void)token;
	answer = ((uint64_t)(uint32_t)high << 32) | (uint32_t)low;
	PT_INC(answered);
}

static void
check_symmetric(struct question q, gex_Rank_t rank, size_t own)
{
	int before = PT_GET(answered);

	PT_OK(gex_AM_RequestShort4(pt.tm, rank, REQ_QUERY, 0, q.function, q.lc, q.flagset,
	                           (gex_AM_Arg_t)q.nargs));
	GASNET_BLOCKUNTIL(PT_GET(answered) != before);
	PT_EQ(answer, own);
}

static void
check_question(struct question q)
{
	struct question fewer = q;
	size_t least = SIZE_MAX;

	for (gex_Rank_t rank = 0; rank < pt.size; rank++) {
		size_t value = ask(q, pt.tm, rank);

		PT_LE(512, value);
		PT_EQ(ask(q, pt.tm, rank), value);
		PT_EQ(ask(q, pt_pair(rank), pt.where[rank].gex_rank), value);
		if (q.flagset < CLIENT)
			PT_LE(bound_of(q.function), value);
		if (q.nargs > 0) {
			fewer.nargs = q.nargs - 1;
			PT_LE(value, ask(fewer, pt.tm, rank));
		}
		if (q.nargs % 5 == 0)
			check_symmetric(q, rank, value);
		least = value < least ? value : least;
	}
	PT_EQ(ask(q, pt.tm, GEX_RANK_INVALID), least);
	PT_EQ(ask(q, pt_pair(0), GEX_RANK_INVALID), least);
}

static void
check_all(void)
{
	struct question q;

	for (q.function = 0; q.function < FUNCTIONS; q.function++)
		for (q.lc = 0; q.lc < LCS; q.lc++)
			for (q.flagset = 0; q.flagset < FLAGSETS; q.flagset++)
				for (q.nargs = 0; legal(q) && q.nargs <= gex_AM_MaxArgs();
				     q.nargs++)
					check_question(q);
}

/* Only the class of lc_opt matters, not which location it names. */
static void
check_lc_class(void)
{
	static gex_Event_t one, other;

	PT_EQ(gex_AM_MaxRequestMedium(pt.tm, 0, &one, 0, 3),
	      gex_AM_MaxRequestMedium(pt.tm, 0, &other, 0, 3));
	PT_EQ(gex_AM_MaxRequestLong(pt.tm, 0, &one, 0, 3),
	      gex_AM_MaxRequestLong(pt.tm, 0, &other, 0, 3));
}

static void
check_bounds(void)
{
	size_t request = gex_AM_LUBRequestMedium(), reply = gex_AM_LUBReplyMedium();

	PT_LE(65000, request);
	PT_LE(65000, reply);
	PT_LE(512, gex_AM_LUBRequestLong());
	PT_LE(512, gex_AM_LUBReplyLong());
	PT_LE(2 * (sizeof(int) > sizeof(void *) ? sizeof(int) : sizeof(void *)), gex_AM_MaxArgs());
	PT_EQ(gasnet_AMMaxArgs(), gex_AM_MaxArgs());
	PT_EQ(gasnet_AMMaxMedium(), request < reply ? request : reply);
	PT_LE(512, gasnet_AMMaxLongRequest());
	PT_LE(512, gasnet_AMMaxLongReply());
	PT_LE(gasnet_AMMaxLongRequest(),
	      gex_AM_MaxRequestLong(pt.tm, GEX_RANK_INVALID, GEX_EVENT_NOW, 0, 16));
	PT_LE(gasnet_AMMaxLongReply(),
	      gex_AM_MaxReplyLong(pt.tm, GEX_RANK_INVALID, GEX_EVENT_NOW, 0, 16));
}

int
main(int argc, char **argv)
{
	gex_AM_Entry_t table[] = {
		PT_HANDLER(REQ_QUERY, req_query, PT_REQ_SHORT, 4),
		PT_HANDLER(REP_VALUE, rep_value, PT_REP_SHORT, 2),
	};
	size_t before[FUNCTIONS];
	struct question q = { 0, LC_NOW, FIXED, 16 };

	pt_init(&argc, &argv, GEX_FLAG_USES_GASNET1);
	for (q.function = 0; q.function < FUNCTIONS; q.function++)
		before[q.function] = ask(q, pt.tm, pt.size - 1);
	pt_attach(table, PT_COUNT(table), 1);
	for (q.function = 0; q.function < FUNCTIONS; q.function++)
		PT_EQ(ask(q, pt.tm, pt.size - 1), before[q.function]);
	check_bounds();
	check_lc_class();
	check_all();
	pt_finish();
}
