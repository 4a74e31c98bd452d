/*
 * Payloads of every size class arrive whole, at an aligned and private buffer
 * (Medium) or exactly where they were sent (Long), and touch nothing beside.
 */
#include "tests/lib/pt.h"

#include <stddef.h>

enum { REQ_MEDIUM = 128, REQ_LONG, REP_MEDIUM, REP_LONG, REQ_ZERO, REP_ZERO };
enum { MARGIN_BYTES = 64, BLANK = 0xee };

static PT_OWN size_t long_max;   /* largest Long of this program */
static PT_OWN size_t zone_bytes; /* landing zone of one source and one direction */
static PT_OWN pt_count replies;
static PT_OWN char *reply_source; /* payload of replies; Medium or Long */

/* Start of the zone in the segment of `target` which `source` writes to. */
static char *
zone(gex_Rank_t target, gex_Rank_t source, int is_reply)
{
	return pt.peers[target].owner + ((size_t)source * 2 + (size_t)is_reply) * zone_bytes;
}

static void
check_blank(const char *at, size_t nbytes)
{
	for (size_t i = 0; i < nbytes; i++)
		PT_EQ((unsigned char)at[i], BLANK);
}

/* The Long is in place and its surroundings are as they were; then wipe it. */
static void
take_long(char *buf, size_t nbytes, gex_Rank_t source, int is_reply, uint32_t key)
{
	char *own = zone(pt.rank, source, is_reply);
	size_t before = (size_t)(buf - own), after = zone_bytes - before - nbytes;

	PT_LE(own, buf);
	PT_LE(buf + nbytes, own + zone_bytes);
	PT_MEM(buf, nbytes, key);
	check_blank(buf - (before < MARGIN_BYTES ? before : MARGIN_BYTES),
	            before < MARGIN_BYTES ? before : MARGIN_BYTES);
	check_blank(buf + nbytes, after < MARGIN_BYTES ? after : MARGIN_BYTES);
	memset(buf, BLANK, nbytes);
}

/* The Medium is in an aligned buffer that the handler may write. */
static void
take_medium(void *buf, size_t nbytes, uint32_t key)
{
	PT_MEM(buf, nbytes, key);
	if (nbytes)
		PT_EQ((uintptr_t)buf % __alignof__(max_align_t), 0);
	memset(buf, 0x5a, nbytes);
}

static void
req_medium(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t key, gex_AM_Arg_t want)
{
	size_t limit = gex_Token_MaxReplyMedium(token, GEX_EVENT_NOW, 0, 1);
	size_t back = nbytes < limit ? nbytes : limit;

	PT_EQ(nbytes, want);
	take_medium(buf, nbytes, (uint32_t)key);
	pt_fill(reply_source, back, (uint32_t)key + 1);
	PT_OK(gex_AM_ReplyMedium1(token, REP_MEDIUM, reply_source, back, GEX_EVENT_NOW, 0,
	                          key + 1));
	memset(reply_source, 0x33, back);
}

static void
rep_medium(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t key)
{
	(void)token;
	take_medium(buf, nbytes, (uint32_t)key);
	PT_INC(replies);
}

static void
req_long(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t key, gex_AM_Arg_t shift)
{
	gex_Rank_t source = pt_source(token);

	PT_PTR(buf, zone(pt.rank, source, 0) + shift);
	take_long((char *)buf, nbytes, source, 0, (uint32_t)key);
	pt_fill(reply_source, nbytes, (uint32_t)key + 1);
	PT_OK(gex_AM_ReplyLong2(token, REP_LONG, reply_source, nbytes,
	                        zone(source, pt.rank, 1) + shift, GEX_EVENT_NOW, 0, key + 1,
	                        shift));
	memset(reply_source, 0x33, nbytes);
}

static void
rep_long(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t key, gex_AM_Arg_t shift)
{
	gex_Rank_t source = pt_source(token);

	PT_PTR(buf, zone(pt.rank, source, 1) + shift);
	take_long((char *)buf, nbytes, source, 1, (uint32_t)key);
	PT_INC(replies);
}

static void *
join(gex_AM_Arg_t high, gex_AM_Arg_t low)
{
	return (void *)(uintptr_t)(((uint64_t)(uint32_t)high << 32) | (uint32_t)low);
}

/* An empty Long hands over exactly the pointer that was sent. */
static void
req_zero(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t high, gex_AM_Arg_t low)
{
	PT_EQ(nbytes, 0);
	PT_PTR(buf, join(high, low));
	PT_OK(gex_AM_ReplyLong2(token, REP_ZERO, NULL, 0, buf, GEX_EVENT_NOW, 0, high, low));
}

static void
rep_zero(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t high, gex_AM_Arg_t low)
{
	(void)token;
	PT_EQ(nbytes, 0);
	PT_PTR(buf, join(high, low));
	PT_INC(replies);
}

static void
empty_longs(void)
{
	static const uint64_t values[] = { 0, 1, 0xdeadbeefcafef00du, 0x7fffffffffffffffu,
		                           ~(uint64_t)0 };

	for (gex_Rank_t rank = 0; rank < pt.size; rank++) {
		for (size_t i = 0; i < PT_COUNT(values); i++) {
			int before = PT_GET(replies);

			PT_OK(gex_AM_RequestLong2(pt.tm, rank, REQ_ZERO, NULL, 0,
			                          (void *)(uintptr_t)values[i], GEX_EVENT_NOW, 0,
			                          (gex_AM_Arg_t)(values[i] >> 32),
			                          (gex_AM_Arg_t)values[i]));
			GASNET_BLOCKUNTIL(PT_GET(replies) == before + 1);
		}
	}
}

static void
one_medium(gex_Rank_t rank, char *source, size_t nbytes, uint32_t key)
{
	int before = PT_GET(replies);

	pt_fill(source, nbytes, key);
	PT_OK(gex_AM_RequestMedium2(pt.tm, rank, REQ_MEDIUM, source, nbytes, GEX_EVENT_NOW, 0,
	                            (gex_AM_Arg_t)key, (gex_AM_Arg_t)nbytes));
	/* the handler scribbles over its copy, not over ours */
	PT_MEM(source, nbytes, key);
	memset(source, 0x44, nbytes);
	GASNET_BLOCKUNTIL(PT_GET(replies) == before + 1);
	for (size_t i = 0; i < nbytes; i++)
		PT_CHECK(source[i] == 0x44);
}

static void
one_long(gex_Rank_t rank, char *source, size_t nbytes, uint32_t key)
{
	int before = PT_GET(replies);
	size_t shift = 64 + key % 9;

	pt_fill(source, nbytes, key);
	PT_OK(gex_AM_RequestLong2(pt.tm, rank, REQ_LONG, source, nbytes,
	                          zone(rank, pt.rank, 0) + shift, GEX_EVENT_NOW, 0,
	                          (gex_AM_Arg_t)key, (gex_AM_Arg_t)shift));
	PT_MEM(source, nbytes, key);
	memset(source, 0x44, nbytes);
	GASNET_BLOCKUNTIL(PT_GET(replies) == before + 1);
}

/* All sizes 0 to 9, then those around each power of two and around the limit. */
static size_t
next_size(size_t size, size_t limit)
{
	size_t power = 1;

	if (size < 9)
		return size + 1;
	if (size >= limit)
		return limit + 1;
	if (size + 1 == limit)
		return limit;
	while (power * 2 <= size + 1)
		power *= 2;
	/* size is power-1, power or power+1 */
	if (size <= power)
		return size + 1 < limit ? size + 1 : limit - 1;
	return power * 2 - 1 < limit - 1 ? power * 2 - 1 : limit - 1;
}

static void
sweep(void)
{
	char *memory = malloc(long_max + 65536 + 4096);
	uint32_t key = pt.rank * 100000u;

	PT_CHECK(memory != NULL);
	for (gex_Rank_t step = 0; step < pt.size; step++) {
		gex_Rank_t rank = (pt.rank + step) % pt.size;
		size_t limit = gex_AM_MaxRequestMedium(pt.tm, rank, GEX_EVENT_NOW, 0, 2);

		PT_LE(limit, long_max + 65536);
		for (size_t size = 0; size <= limit; size = next_size(size, limit))
			one_medium(rank, memory + size % 7, size, key += 2);
		for (size_t size = 1; size <= long_max; size = next_size(size, long_max))
			one_long(rank, memory + size % 11, size, key += 2);
	}
	free(memory);
}

int
main(int argc, char **argv)
{
	gex_AM_Entry_t table[] = {
		PT_HANDLER(REQ_MEDIUM, req_medium, PT_REQ_MEDIUM, 2),
		PT_HANDLER(REQ_LONG, req_long, PT_REQ_LONG, 2),
		PT_HANDLER(REP_MEDIUM, rep_medium, PT_REP_MEDIUM, 1),
		PT_HANDLER(REP_LONG, rep_long, PT_REP_LONG, 2),
		PT_HANDLER(REQ_ZERO, req_zero, PT_REQ_LONG, 2),
		PT_HANDLER(REP_ZERO, rep_zero, PT_REP_LONG, 2),
	};

	pt_init(&argc, &argv, 0);
	PT_OK(gex_EP_RegisterHandlers(pt.ep, table, PT_COUNT(table)));
	pt_barrier();
	pt_phase("empty Longs before attach");
	empty_longs();
	pt_barrier();
	long_max = pt_scale(100000, 1u << 20);
	zone_bytes = long_max + 256;
	pt_attach(NULL, 0, 2 * pt.size * zone_bytes);
	memset(pt.base, BLANK, 2 * pt.size * zone_bytes);
	reply_source = malloc(long_max + 131072);
	PT_CHECK(reply_source != NULL);
	pt_barrier();
	pt_phase("sweep of sizes");
	sweep();
	pt_phase("empty Longs after attach");
	empty_longs();
	pt_barrier();
	free(reply_source);
	pt_finish();
}
