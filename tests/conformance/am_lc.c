/*
 * Local completion: once the library says that the source may be reused,
 * overwriting it never changes what the handler sees.
 */
#include "tests/lib/pt.h"

enum { REQ_MEDIUM = 128, REQ_LONG, REP_MEDIUM, REP_LONG };
enum { AS_NOW, AS_GROUP, AS_EVENT, WAYS };
enum { BATCH = 8, LONG_BYTES = 200000 };

static PT_OWN size_t medium_bytes; /* the largest that all ranks accept, both ways */
static PT_OWN pt_count received;   /* replies */
static PT_OWN char *sources[BATCH];
static PT_OWN char *answers[2];         /* source of a reply: [0] as NOW, [1] as event */
static PT_OWN gex_Event_t answer_event; /* of the reply in flight */
static PT_OWN pt_count answer_open;     /* answer_event is set and not yet synced */

static char *
zone(gex_Rank_t target, gex_Rank_t source, int is_reply, int slot)
{
	size_t index = ((size_t)source * 2 + (size_t)is_reply) * BATCH + (size_t)slot;

	return pt.peers[target].owner + index * LONG_BYTES;
}

/* Answer with the same size and key+1; way selects NOW or an event. */
static void
answer(gex_Token_t token, int is_long, size_t nbytes, gex_AM_Arg_t key, gex_AM_Arg_t way,
       gex_AM_Arg_t slot)
{
	int as_event = way == AS_EVENT && !PT_GET(answer_open);
	char *buf = answers[as_event];
	gex_Event_t *lc = as_event ? &answer_event : GEX_EVENT_NOW;

	pt_fill(buf, nbytes, (uint32_t)key + 1);
	if (is_long)
		PT_OK(gex_AM_ReplyLong1(token, REP_LONG, buf, nbytes,
		                        zone(pt_source(token), pt.rank, 1, slot), lc, 0, key + 1));
	else
		PT_OK(gex_AM_ReplyMedium1(token, REP_MEDIUM, buf, nbytes, lc, 0, key + 1));
	if (as_event)
		PT_SET(answer_open, 1);
	else
		memset(buf, 0x77, nbytes);
}

static void
req_medium(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t key, gex_AM_Arg_t way,
           gex_AM_Arg_t slot)
{
	PT_EQ(nbytes, medium_bytes);
	PT_MEM(buf, nbytes, (uint32_t)key);
	answer(token, 0, nbytes, key, way, slot);
}

static void
req_long(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t key, gex_AM_Arg_t way,
         gex_AM_Arg_t slot)
{
	PT_EQ(nbytes, LONG_BYTES);
	PT_MEM(buf, nbytes, (uint32_t)key);
	answer(token, 1, nbytes, key, way, slot);
}

static void
rep_any(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t key)
{
	(void)token;
	PT_MEM(buf, nbytes, (uint32_t)key);
	PT_INC(received);
}

/* Outside handlers: sync the event of our last answer and spoil its source. */
static void
settle_answer(void)
{
	if (!PT_GET(answer_open))
		return;
	if (answer_event != GEX_EVENT_INVALID)
		gex_Event_Wait(answer_event);
	memset(answers[1], 0x66, medium_bytes > LONG_BYTES ? medium_bytes : LONG_BYTES);
	PT_SET(answer_open, 0);
}

static void
send(gex_Rank_t rank, int is_long, uint32_t key, int way, int slot, gex_Event_t *lc)
{
	char *buf = sources[slot];

	pt_fill(buf, is_long ? LONG_BYTES : medium_bytes, key);
	if (is_long)
		PT_OK(gex_AM_RequestLong3(pt.tm, rank, REQ_LONG, buf, LONG_BYTES,
		                          zone(rank, pt.rank, 0, slot), lc, 0, (gex_AM_Arg_t)key,
		                          way, slot));
	else
		PT_OK(gex_AM_RequestMedium3(pt.tm, rank, REQ_MEDIUM, buf, medium_bytes, lc, 0,
		                            (gex_AM_Arg_t)key, way, slot));
}

static void
sync_events(gex_Event_t *events, int style)
{
	switch (style) {
	case 0:
		gex_Event_WaitAll(events, BATCH, 0);
		break;
	case 1:
		while (gex_Event_TestAll(events, BATCH, 0) != GASNET_OK)
			PT_OK(gasnet_AMPoll());
		break;
	case 2:
		for (int i = 0; i < BATCH; i++) {
			gex_Event_Wait(gex_Event_QueryLeaf(events[i], GEX_EC_LC));
			gex_Event_Wait(events[i]);
			events[i] = GEX_EVENT_INVALID;
		}
		break;
	default:
		for (int i = 0; i < BATCH; i++) {
			while (gex_Event_Test(events[i]) != GASNET_OK)
				PT_OK(gasnet_AMPoll());
			events[i] = GEX_EVENT_INVALID;
		}
	}
	for (int i = 0; i < BATCH; i++)
		PT_CHECK(events[i] == GEX_EVENT_INVALID);
}

static void
sync_group(int style)
{
	static const gex_EC_t masks[] = { GEX_EC_AM, GEX_EC_ALL };

	if (style < 2)
		gex_NBI_Wait(masks[style], 0);
	else
		while (gex_NBI_Test(masks[style - 2], 0) != GASNET_OK)
			PT_OK(gasnet_AMPoll());
}

static void
spoil(void)
{
	for (int i = 0; i < BATCH; i++)
		memset(sources[i], 0x99, medium_bytes > LONG_BYTES ? medium_bytes : LONG_BYTES);
}

static void
batch(gex_Rank_t rank, int is_long, int way, int style)
{
	static PT_OWN uint32_t key;
	gex_Event_t events[BATCH];
	int before = PT_GET(received);

	for (int i = 0; i < BATCH; i++) {
		gex_Event_t *lc = way == AS_NOW     ? GEX_EVENT_NOW
		                  : way == AS_GROUP ? GEX_EVENT_GROUP
		                                    : &events[i];

		key += 2;
		send(rank, is_long, key + pt.rank * 1000000, way, i, lc);
		if (way == AS_NOW)
			memset(sources[i], 0x99, is_long ? LONG_BYTES : medium_bytes);
	}
	if (way == AS_GROUP)
		sync_group(style);
	if (way == AS_EVENT)
		sync_events(events, style);
	spoil();
	while (PT_GET(received) < before + BATCH) {
		settle_answer();
		PT_OK(gasnet_AMPoll());
	}
	settle_answer();
	PT_EQ(PT_GET(received), before + BATCH);
}

static void
allocate(void)
{
	size_t bytes = medium_bytes > LONG_BYTES ? medium_bytes : LONG_BYTES;

	for (int i = 0; i < BATCH; i++)
		PT_CHECK((sources[i] = malloc(bytes)) != NULL);
	for (int i = 0; i < 2; i++)
		PT_CHECK((answers[i] = malloc(bytes)) != NULL);
}

int
main(int argc, char **argv)
{
	gex_AM_Entry_t table[] = {
		PT_HANDLER(REQ_MEDIUM, req_medium, PT_REQ_MEDIUM, 3),
		PT_HANDLER(REQ_LONG, req_long, PT_REQ_LONG, 3),
		PT_HANDLER(REP_MEDIUM, rep_any, PT_REP_MEDIUM, 1),
		PT_HANDLER(REP_LONG, rep_any, PT_REP_LONG, 1),
	};
	size_t request, reply;

	pt_start(&argc, &argv, table, PT_COUNT(table), (size_t)2 * 16 * BATCH * LONG_BYTES);
	PT_LE(pt.size, 16);
	request = gex_AM_LUBRequestMedium();
	reply = gex_AM_LUBReplyMedium();
	medium_bytes = request < reply ? request : reply;
	allocate();
	pt_barrier();
	for (gex_Rank_t step = 0; step < pt.size; step++)
		for (int is_long = 0; is_long < 2; is_long++)
			for (int way = 0; way < WAYS; way++)
				for (int style = 0; style < (way == AS_NOW ? 1 : 4); style++)
					batch((pt.rank + step) % pt.size, is_long, way, style);
	/* serve the others without leaving an event of ours open */
	for (gex_Event_t end = gex_Coll_BarrierNB(pt.tm, 0); gex_Event_Test(end) != GASNET_OK;) {
		settle_answer();
		PT_OK(gasnet_AMPoll());
	}
	settle_answer();
	for (int i = 0; i < BATCH; i++)
		free(sources[i]);
	for (int i = 0; i < 2; i++)
		free(answers[i]);
	pt_finish();
}
