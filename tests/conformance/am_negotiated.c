/*
 * Negotiated requests: whatever lies between least and most is granted, the
 * committed part arrives, a cancelled descriptor sends nothing and costs nothing.
 */
#include "tests/conformance/am_negotiated.h"

enum { REQ_MEDIUM = 128, REQ_LONG, REP_DONE, REQ_NEVER };
enum { LC_NOW, LC_GROUP, LC_EVENT, LC_LIBRARY, LC_WAYS };

static PT_OWN pt_count replies;
static PT_OWN char *buffer;

static void
req_medium(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t key, gex_AM_Arg_t want)
{
	PT_EQ(nbytes, want);
	PT_MEM(buf, nbytes, (uint32_t)key);
	PT_OK(gex_AM_ReplyShort0(token, REP_DONE, 0));
}

static void
req_long(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t key, gex_AM_Arg_t want)
{
	PT_EQ(nbytes, want);
	PT_PTR(buf, zone(pt.rank, pt_source(token)));
	PT_MEM(buf, nbytes, (uint32_t)key);
	PT_OK(gex_AM_ReplyShort0(token, REP_DONE, 0));
}

static void
rep_done(gex_Token_t token)
{
	(void)token;
	PT_INC(replies);
}

static void
req_never(gex_Token_t token, void *buf, size_t nbytes)
{
	(void)token, (void)buf, (void)nbytes;
	PT_FAIL("a cancelled message arrived");
}

static gex_AM_SrcDesc_t
prepare(gex_Rank_t rank, int is_long, const void *client, size_t least, size_t most,
        gex_Event_t *lc, gex_Flags_t flags, void *dest)
{
	if (is_long)
		return gex_AM_PrepareRequestLong(pt.tm, rank, client, least, most, dest, lc, flags,
		                                 2);
	return gex_AM_PrepareRequestMedium(pt.tm, rank, client, least, most, lc, flags, 2);
}

/* All spellings of commit in turn; a refused one leaves the descriptor open. */
static void
commit(gex_AM_SrcDesc_t sd, int is_long, size_t nbytes, void *dest, uint32_t key)
{
	gex_AM_Arg_t k = (gex_AM_Arg_t)key, n = (gex_AM_Arg_t)nbytes;
	int refused;

	switch (key % 3) {
	case 0:
		if (is_long)
			gex_AM_CommitRequestLong2(sd, REQ_LONG, nbytes, dest, k, n);
		else
			gex_AM_CommitRequestMedium2(sd, REQ_MEDIUM, nbytes, k, n);
		return;
	case 1:
		refused = is_long ? gex_AM_CommitRequestLong2_v2(sd, REQ_LONG, nbytes, dest,
		                                                 GEX_FLAG_IMMEDIATE, k, n)
		                  : gex_AM_CommitRequestMedium2_v2(sd, REQ_MEDIUM, nbytes,
		                                                   GEX_FLAG_IMMEDIATE, k, n);
		if (!refused)
			return;
		PT_MEM(gex_AM_SrcDescAddr(sd), nbytes, key);
		break;
	}
	PT_OK(is_long ? gex_AM_CommitRequestLong2_v2(sd, REQ_LONG, nbytes, dest, 0, k, n)
	              : gex_AM_CommitRequestMedium2_v2(sd, REQ_MEDIUM, nbytes, 0, k, n));
}

static gex_Event_t *
lc_pointer(int lc_way, gex_Event_t *event)
{
	switch (lc_way) {
	case LC_NOW:
		return GEX_EVENT_NOW;
	case LC_GROUP:
		return GEX_EVENT_GROUP;
	case LC_EVENT:
		return event;
	}
	return NULL; /* library buffer */
}

static void
sync_source(int lc_way, gex_Event_t event)
{
	if (lc_way == LC_GROUP)
		gex_NBI_Wait(GEX_EC_AM, 0);
	if (lc_way == LC_EVENT)
		gex_Event_Wait(event);
}

/* One round trip; `part` of 16 says how much of the grant is committed. */
static void
round_trip(gex_Rank_t rank, int is_long, int lc_way, size_t least, size_t most, unsigned part)
{
	static PT_OWN uint32_t key;
	char *dest = zone(rank, pt.rank), *at;
	char *client = lc_way == LC_LIBRARY ? NULL : buffer + key % 5;
	gex_Event_t event = GEX_EVENT_INVALID;
	gex_Event_t *lc = lc_pointer(lc_way, &event);
	int before = PT_GET(replies);
	gex_AM_SrcDesc_t sd = GEX_AM_SRCDESC_NO_OP;
	size_t nbytes;

	key++;
	if (key % 4 == 0)
		sd = prepare(rank, is_long, client, least, most, lc, GEX_FLAG_IMMEDIATE, NULL);
	if (sd == GEX_AM_SRCDESC_NO_OP)
		sd = prepare(rank, is_long, client, least, most, lc, 0, key % 5 ? NULL : dest);
	at = check_open(sd, client, least, most);
	nbytes = gex_AM_SrcDescSize(sd) / 16 * part + gex_AM_SrcDescSize(sd) % 16 * part / 16;
	if (nbytes > ZONE_BYTES)
		nbytes = ZONE_BYTES;
	pt_fill(at, nbytes, key);
	commit(sd, is_long, nbytes, dest, key);
	sync_source(lc_way, event);
	if (client)
		memset(client, 0x22, nbytes);
	GASNET_BLOCKUNTIL(PT_GET(replies) != before);
	PT_EQ(PT_GET(replies), before + 1);
}

static size_t
least_limit(gex_Rank_t rank, int is_long, int lc_way)
{
	gex_Event_t event;
	gex_Event_t *lc = lc_pointer(lc_way, &event);
	gex_Flags_t flag = lc_way == LC_LIBRARY ? GEX_FLAG_AM_PREPARE_LEAST_ALLOC
	                                        : GEX_FLAG_AM_PREPARE_LEAST_CLIENT;
	size_t limit = is_long ? gex_AM_MaxRequestLong(pt.tm, rank, lc, flag, 2)
	                       : gex_AM_MaxRequestMedium(pt.tm, rank, lc, flag, 2);

	PT_LE(512, limit);
	return limit < ZONE_BYTES ? limit : ZONE_BYTES;
}

static void
cancel_many(gex_Rank_t rank)
{
	unsigned long count = pt_scale(200, 1000);
	size_t medium = least_limit(rank, 0, LC_LIBRARY), large = least_limit(rank, 1, LC_LIBRARY);
	gex_AM_SrcDesc_t sd;

	for (unsigned long i = 0; i < count; i++) {
		sd = gex_AM_PrepareRequestMedium(pt.tm, rank, NULL, medium, medium, NULL, 0, 0);
		check_open(sd, NULL, medium, medium);
		PT_OK(gex_AM_CancelRequestMedium(sd, 0));
		if (i % 16)
			continue;
		sd = gex_AM_PrepareRequestLong(pt.tm, rank, NULL, large, large, NULL, NULL, 0, 0);
		check_open(sd, NULL, large, large);
		PT_OK(gex_AM_CancelRequestLong(sd, 0));
		sd = gex_AM_PrepareRequestMedium(pt.tm, rank, buffer, 512, medium, GEX_EVENT_NOW, 0,
		                                 16);
		check_open(sd, buffer, 512, medium);
		PT_OK(gex_AM_CancelRequestMedium(sd, 0));
	}
}

static void
all_shapes(gex_Rank_t rank, int is_long, int lc_way)
{
	size_t top = least_limit(rank, is_long, lc_way);
	size_t small = pt_scale(8, 24);
	size_t beyond = is_long ? ZONE_BYTES : (size_t)1 << 40;

	for (size_t n = 0; n <= small; n++)
		round_trip(rank, is_long, lc_way, n, n, 16);
	for (size_t n = 1; n <= top; n = n * 5 + 1)
		for (unsigned part = 0; part <= 16; part += 4)
			round_trip(rank, is_long, lc_way, n, n + n / 2 < ZONE_BYTES ? n + n / 2 : n,
			           part);
	round_trip(rank, is_long, lc_way, top, top, 16);
	round_trip(rank, is_long, lc_way, 1, ZONE_BYTES, 16);
	round_trip(rank, is_long, lc_way, 512, beyond, 15);
	round_trip(rank, is_long, lc_way, top, beyond, 16);
}

int
main(int argc, char **argv)
{
	gex_AM_Entry_t table[] = {
		PT_HANDLER(REQ_MEDIUM, req_medium, PT_REQ_MEDIUM, 2),
		PT_HANDLER(REQ_LONG, req_long, PT_REQ_LONG, 2),
		PT_HANDLER(REP_DONE, rep_done, PT_REP_SHORT, 0),
		PT_HANDLER(REQ_NEVER, req_never, PT_REQ_MEDIUM, 0),
	};

	pt_init(&argc, &argv, 0);
	pt_attach(table, PT_COUNT(table), (size_t)pt.size * ZONE_BYTES);
	buffer = malloc(ZONE_BYTES + 4096);
	PT_CHECK(buffer != NULL);
	pt_barrier();
	for (gex_Rank_t step = 0; step < pt.size; step++) {
		gex_Rank_t rank = (pt.rank + step) % pt.size;

		pt_phase("cancel");
		cancel_many(rank);
		pt_phase("round trips");
		for (int is_long = 0; is_long < 2; is_long++)
			for (int lc_way = 0; lc_way < LC_WAYS; lc_way++)
				all_shapes(rank, is_long, lc_way);
	}
	pt_barrier();
	free(buffer);
	pt_finish();
}
