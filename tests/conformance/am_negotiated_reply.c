/*
 * Negotiated replies: prepared in every way, committed at once or after a
 * refusal, cancelled and then sent again by any call.
 */
#include "tests/conformance/am_negotiated.h"

enum { REQ_ASK = 128, REP_MEDIUM, REP_LONG };
enum {
	LIBRARY,
	CLIENT,
	EVENT,
	CANCEL_FIXED,
	CANCEL_AGAIN,
	IMMEDIATE,
	COMMIT_IMMEDIATE,
	HINTED,
	WAYS
};

static PT_OWN pt_count replies;
static PT_OWN size_t last_bytes;
static PT_OWN char *buffer;
static PT_OWN gex_Event_t event; /* of the reply in flight */
static PT_OWN pt_count lent;     /* event is set and not yet synced */

static gex_AM_SrcDesc_t
prepare(gex_Token_t token, int is_long, int way, const void *client, size_t nbytes,
        gex_Flags_t flags)
{
	gex_Event_t *lc = !client ? NULL : way == EVENT ? &event : GEX_EVENT_NOW;
	char *dest = way == HINTED ? zone(pt_source(token), pt.rank) : NULL;
	size_t most = is_long && way == HINTED ? nbytes : nbytes + 100;

	if (is_long)
		return gex_AM_PrepareReplyLong(token, client, nbytes, most, dest, lc, flags, 1);
	return gex_AM_PrepareReplyMedium(token, client, nbytes, most, lc, flags, 1);
}

static void
reply_prepared(gex_Token_t token, int is_long, size_t nbytes, gex_AM_Arg_t key, int way)
{
	char *dest = zone(pt_source(token), pt.rank);
	const void *client = way == CLIENT || way == EVENT ? buffer : NULL;
	gex_AM_SrcDesc_t sd = GEX_AM_SRCDESC_NO_OP;
	char *at;
	int refused;

	if (way == IMMEDIATE)
		sd = prepare(token, is_long, way, client, nbytes, GEX_FLAG_IMMEDIATE);
	if (sd == GEX_AM_SRCDESC_NO_OP)
		sd = prepare(token, is_long, way, client, nbytes, 0);
	at = check_open(sd, client, nbytes, nbytes + 100);
	pt_fill(at, nbytes, (uint32_t)key);
	if (way == COMMIT_IMMEDIATE) {
		refused = is_long ? gex_AM_CommitReplyLong1_v2(sd, REP_LONG, nbytes, dest,
		                                               GEX_FLAG_IMMEDIATE, key)
		                  : gex_AM_CommitReplyMedium1_v2(sd, REP_MEDIUM, nbytes,
		                                                 GEX_FLAG_IMMEDIATE, key);
		if (!refused)
			return;
		PT_MEM(gex_AM_SrcDescAddr(sd), nbytes, (uint32_t)key);
	}
	if (is_long)
		gex_AM_CommitReplyLong1(sd, REP_LONG, nbytes, dest, key);
	else
		gex_AM_CommitReplyMedium1(sd, REP_MEDIUM, nbytes, key);
	if (way == EVENT)
		PT_SET(lent, 1);
}

static void
cancel_reply(gex_Token_t token, int is_long, size_t nbytes)
{
	gex_AM_SrcDesc_t sd;

	if (is_long) {
		sd = gex_AM_PrepareReplyLong(token, NULL, nbytes, nbytes, NULL, NULL, 0, 16);
		check_open(sd, NULL, nbytes, nbytes);
		PT_OK(gex_AM_CancelReplyLong(sd, 0));
	} else {
		sd = gex_AM_PrepareReplyMedium(token, buffer, nbytes, nbytes, GEX_EVENT_NOW, 0, 1);
		check_open(sd, buffer, nbytes, nbytes);
		PT_OK(gex_AM_CancelReplyMedium(sd, 0));
	}
}

static void
reply_fixed(gex_Token_t token, int is_long, size_t nbytes, gex_AM_Arg_t key)
{
	pt_fill(buffer, nbytes, (uint32_t)key);
	if (is_long)
		PT_OK(gex_AM_ReplyLong1(token, REP_LONG, buffer, nbytes,
		                        zone(pt_source(token), pt.rank), GEX_EVENT_NOW, 0, key));
	else
		PT_OK(gex_AM_ReplyMedium1(token, REP_MEDIUM, buffer, nbytes, GEX_EVENT_NOW, 0,
		                          key));
}

/* The least that every way of this program may ask for. */
static size_t
reply_limit(gex_Token_t token, int is_long)
{
	gex_Event_t ev;
	gex_Event_t *const lcs[] = { NULL, GEX_EVENT_NOW, &ev };
	size_t limit = ZONE_BYTES;

	for (int i = 0; i < 3; i++) {
		gex_Flags_t flags =
			i ? GEX_FLAG_AM_PREPARE_LEAST_CLIENT : GEX_FLAG_AM_PREPARE_LEAST_ALLOC;
		size_t one = is_long ? gex_Token_MaxReplyLong(token, lcs[i], flags, 16)
		                     : gex_Token_MaxReplyMedium(token, lcs[i], flags, 16);

		PT_LE(512, one);
		limit = one < limit ? one : limit;
	}
	return limit;
}

static void
req_ask(gex_Token_t token, gex_AM_Arg_t nbytes_asked, gex_AM_Arg_t is_long, gex_AM_Arg_t way,
        gex_AM_Arg_t key)
{
	size_t limit = reply_limit(token, is_long), nbytes = (size_t)nbytes_asked;
	size_t fixed = is_long ? gex_Token_MaxReplyLong(token, GEX_EVENT_NOW, 0, 1)
	                       : gex_Token_MaxReplyMedium(token, GEX_EVENT_NOW, 0, 1);

	if (way == CANCEL_FIXED && fixed < limit)
		limit = fixed;
	if (nbytes > limit)
		nbytes = limit;
	if ((way == EVENT || way == CLIENT || way >= CANCEL_FIXED) && PT_GET(lent))
		way = LIBRARY; /* the buffer is still lent */
	if (way == CANCEL_FIXED || way == CANCEL_AGAIN) {
		cancel_reply(token, is_long, nbytes);
		cancel_reply(token, !is_long, nbytes < 512 ? nbytes : 512);
	}
	if (way == CANCEL_FIXED)
		reply_fixed(token, is_long, nbytes, key);
	else
		reply_prepared(token, is_long, nbytes, key, way == CANCEL_AGAIN ? LIBRARY : way);
}

static void
rep_medium(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t key)
{
	(void)token;
	PT_MEM(buf, nbytes, (uint32_t)key);
	last_bytes = nbytes;
	PT_INC(replies);
}

static void
rep_long(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t key)
{
	PT_PTR(buf, zone(pt.rank, pt_source(token)));
	rep_medium(token, buf, nbytes, key);
}

/* Outside handlers: end the loan of the buffer. */
static void
settle(void)
{
	if (!PT_GET(lent))
		return;
	gex_Event_Wait(event);
	memset(buffer, 0x22, ZONE_BYTES);
	PT_SET(lent, 0);
}

static void
ask(gex_Rank_t rank, size_t nbytes, int is_long, int way)
{
	static PT_OWN gex_AM_Arg_t key;
	int before = PT_GET(replies);

	PT_OK(gex_AM_RequestShort4(pt.tm, rank, REQ_ASK, 0, (gex_AM_Arg_t)nbytes, is_long, way,
	                           ++key));
	while (PT_GET(replies) == before) {
		settle();
		PT_OK(gasnet_AMPoll());
	}
	settle();
	PT_EQ(PT_GET(replies), before + 1);
	if (nbytes <= 512)
		PT_EQ(last_bytes, nbytes);
	else
		PT_LE(512, last_bytes);
}

int
main(int argc, char **argv)
{
	gex_AM_Entry_t table[] = {
		PT_HANDLER(REQ_ASK, req_ask, PT_REQ_SHORT, 4),
		PT_HANDLER(REP_MEDIUM, rep_medium, PT_REP_MEDIUM, 1),
		PT_HANDLER(REP_LONG, rep_long, PT_REP_LONG, 1),
	};
	static const size_t sizes[] = { 0,   1,    7,     64,    511,    512,
		                        513, 4096, 40000, 65000, 100000, ZONE_BYTES };

	pt_init(&argc, &argv, 0);
	pt_attach(table, PT_COUNT(table), (size_t)pt.size * ZONE_BYTES);
	buffer = malloc(ZONE_BYTES + 4096);
	PT_CHECK(buffer != NULL);
	pt_barrier();
	for (gex_Rank_t rank = 0; rank < pt.size; rank++)
		for (size_t i = 0; i < PT_COUNT(sizes); i++)
			for (int way = 0; way < WAYS; way++)
				for (int is_long = 0; is_long < 2; is_long++)
					ask(rank, sizes[i], is_long, way);
	/* keep answering, and settling, until everyone is done */
	for (gex_Event_t end = gex_Coll_BarrierNB(pt.tm, 0); gex_Event_Test(end) != GASNET_OK;) {
		settle();
		PT_OK(gasnet_AMPoll());
	}
	settle();
	free(buffer);
	pt_finish();
}
