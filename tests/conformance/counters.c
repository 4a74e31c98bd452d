/* What a known program counts, exactly, on every rank; and how counters are asked for. */
#include <gasnet.h>
#include <penstock.h>

#include "tests/lib/pt.h"

enum { REQ_SHORT = 128, REQ_MEDIUM, REP_SHORT };
enum { COUNTERS_MOST = 200, PUTS = 600, GETS = 300, SHORTS = 10, MEDIUMS = 20, MEDIUM_BYTES = 100 };
enum { FILLS = 270, ANY_PUTS = 300, ANY_GETS = 280, ANY_MOST = 300 };  /* some of each by the
                                                                        * library */

static pt_count shorts, replies;
static uint64_t before[COUNTERS_MOST], after[COUNTERS_MOST];

static void
req_short(gex_Token_t token)
{
	(void)token;
	PT_INC(shorts);
}

static void
req_medium(gex_Token_t token, void *buf, size_t nbytes)
{
	(void)buf;
	PT_EQ(nbytes, MEDIUM_BYTES);
	PT_OK(gex_AM_ReplyShort0(token, REP_SHORT, 0));
}

static void
rep_short(gex_Token_t token)
{
	(void)token;
	PT_INC(replies);
}

static unsigned
find(const char *name)
{
	const struct pst_counter *counter;

	for (unsigned i = 0; (counter = pst_counter_at(i)) != NULL; i++)
		if (strcmp(counter->name, name) == 0)
			return i;
	PT_FAIL("no counter named %s", name);
}

static uint64_t
grown(const char *name)
{
	const unsigned i = find(name);

	return after[i] - before[i];
}

static unsigned
all_named(void)
{
	unsigned count = 0;

	for (const struct pst_counter *counter; (counter = pst_counter_at(count)) != NULL;
	     count++) {
		PT_CHECK(counter->name[0] && counter->unit[0] && counter->group[0] &&
		         counter->help[0]);
		PT_EQ(find(counter->name), count);
	}
	PT_LE(1, count);
	PT_LE(count, COUNTERS_MOST);
	return count;
}

/* Those of no bytes are the library's. */
static size_t
any_bytes(int i)
{
	return 1 + (size_t)i % ANY_MOST;
}

static uint64_t
any_sum(int count)
{
	uint64_t sum = 0;

	while (count--)
		sum += any_bytes(count);
	return sum;
}

static void
work(gex_Rank_t to)
{
	static char payload[MEDIUM_BYTES], any[ANY_MOST];
	char *there = pt.peers[to].owner;
	uint64_t word = pt.rank;

	for (int i = 0; i < PUTS; i++)
		PT_OK(gex_RMA_PutBlocking(pt.tm, to, there, &word, sizeof(word), 0));
	for (int i = 0; i < GETS; i++)
		PT_OK(gex_RMA_GetBlocking(pt.tm, &word, to, there, sizeof(word), 0));
	for (int i = 0; i < ANY_PUTS; i++)
		PT_OK(gex_RMA_PutBlocking(pt.tm, to, there, any, any_bytes(i), 0));
	for (int i = 0; i < ANY_GETS; i++)
		PT_OK(gex_RMA_GetBlocking(pt.tm, any, to, there, any_bytes(i), 0));
	for (int i = 0; i < FILLS; i++)
		gasnet_memset(to, there, i, any_bytes(i));
	for (int i = 0; i < SHORTS; i++)
		PT_OK(gex_AM_RequestShort0(pt.tm, to, REQ_SHORT, 0));
	for (int i = 0; i < MEDIUMS; i++)
		PT_OK(gex_AM_RequestMedium0(pt.tm, to, REQ_MEDIUM, payload, sizeof(payload),
		                            GEX_EVENT_NOW, 0));
	GASNET_BLOCKUNTIL(PT_GET(shorts) == SHORTS && PT_GET(replies) == MEDIUMS);
	gex_Event_Wait(gex_Coll_BarrierNB(pt.tm, 0));
	gex_Event_Wait(gex_Coll_BarrierNB(pt.tm, 0));
	gasnet_barrier_notify(1, 0);
	PT_OK(gasnet_barrier_wait(1, 0));
}

/* The library makes every 256th of the calls. */
static uint64_t
called(const char *name, unsigned calls)
{
	const uint64_t start = before[find(name)];

	return (start + calls) / 256 - start / 256;
}

static void
check(int alone)
{
	PT_EQ(grown("puts"), PUTS + ANY_PUTS + FILLS);
	PT_EQ(grown("gets"), GETS + ANY_GETS);
	PT_EQ(grown("puts_called"), called("puts", PUTS + ANY_PUTS + FILLS));
	PT_EQ(grown("gets_called"), called("gets", GETS + ANY_GETS));
	PT_EQ(grown("put_bytes"), PUTS * sizeof(uint64_t) + any_sum(ANY_PUTS) + any_sum(FILLS));
	PT_EQ(grown("get_bytes"), GETS * sizeof(uint64_t) + any_sum(ANY_GETS));
	PT_EQ(grown("sent_request_short"), SHORTS);
	PT_EQ(grown("sent_request_medium"), MEDIUMS);
	PT_EQ(grown("sent_request_long"), 0);
	PT_EQ(grown("sent_reply_short"), MEDIUMS);
	PT_EQ(grown("sent_bytes"), MEDIUMS * MEDIUM_BYTES);
	PT_EQ(grown("received_request_short"), SHORTS);
	PT_EQ(grown("received_request_medium"), MEDIUMS);
	PT_EQ(grown("received_reply_short"), MEDIUMS);
	PT_EQ(grown("received_reply_medium"), 0);
	PT_EQ(grown("received_bytes"), MEDIUMS * MEDIUM_BYTES);
	PT_EQ(grown("barriers"), 2);
	PT_EQ(grown("barriers_named"), 1);
	PT_EQ(grown("immediate_refused"), 0);
	PT_EQ(grown("payload_in_slot") + grown("payload_in_ring") + grown("payload_in_buffer"),
	      alone ? 0 : MEDIUMS);
	PT_LE(grown("polls_full"), grown("polls"));
	PT_LE(alone ? 0 : 1, grown("polls_full"));
}

static void
check_reading(unsigned count)
{
	uint64_t all[COUNTERS_MOST], few[2] = { 7, 7 };
	const unsigned medium = find("sent_request_medium");

	pt_barrier();
	PT_EQ(pst_counters_sum(all, COUNTERS_MOST), count);
	PT_EQ(all[medium], (uint64_t)MEDIUMS * pt.size);
	PT_EQ(pst_counters_read((pt.rank + 1) % pt.size, all, COUNTERS_MOST), count);
	PT_EQ(all[medium], MEDIUMS);
	PT_EQ(pst_counters_read(pt.size, all, COUNTERS_MOST), 0);
	PT_EQ(pst_counters_read(PST_COUNTERS_OWN, few, 1), 1);
	PT_EQ(few[1], 7);
}

int
main(int argc, char **argv)
{
	gex_AM_Entry_t table[] = { PT_HANDLER(REQ_SHORT, req_short, PT_REQ_SHORT, 0),
		                   PT_HANDLER(REQ_MEDIUM, req_medium, PT_REQ_MEDIUM, 0),
		                   PT_HANDLER(REP_SHORT, rep_short, PT_REP_SHORT, 0) };
	const unsigned count = all_named();

	setenv("PST_CHECK", "0", 1); /* with it no put or get is inlined */
	PT_EQ(pst_counters_read(PST_COUNTERS_OWN, before, COUNTERS_MOST), 0);
	pt_start(&argc, &argv, table, PT_COUNT(table), 65536);
	PT_EQ(pst_counters_read(PST_COUNTERS_OWN, before, COUNTERS_MOST), count);
	pt_barrier();
	before[find("barriers")]++;
	work((pt.rank + 1) % pt.size);
	PT_EQ(pst_counters_read(PST_COUNTERS_OWN, after, COUNTERS_MOST), count);
	check(pt.size == 1);
	check_reading(count);
	PT_CHECK(strchr(pst_version(), '.') != NULL);
	pt_finish();
}
