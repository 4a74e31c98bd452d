/*
 * IMMEDIATE never waits: towards a target that does not poll it says no after
 * a bounded number, consumes nothing by saying so, and all it accepted arrives.
 * Requests without the flag wait there, and their sender serves others meanwhile.
 */
#include "tests/lib/pt.h"

#include <sys/resource.h>

enum { REQ_SHORT = 128, REQ_MEDIUM, REQ_LONG, REQ_TOTAL, REQ_ECHO, REP_ECHO };
enum { SHORT, MEDIUM, LONG, KINDS };
enum { LONG_BYTES = 4096, WAITING_SENDS = 1000 };

/* What refusals may add to a rank's memory.  AddressSanitizer keeps 256 MiB that were freed. */
#ifdef PT_ASAN
enum { MOST_KIB = (64 + 256) * 1024 };
#else
enum { MOST_KIB = 64 * 1024 };
#endif

enum { SILENT_MS = 5000 }; /* rank 0 makes no call until the others are done, for so long at most */

static PT_OWN pt_count arrived, reported, echoes;
static PT_OWN int announced;
static PT_OWN int sent, sent_seen; /* by rank 1; as rank 2 knows it */
static PT_OWN size_t medium_bytes;

static void
req_short(gex_Token_t token, gex_AM_Arg_t a0)
{
	(void)token;
	PT_EQ(a0, 4711);
	PT_INC(arrived);
}

/* All Longs of a rank go to one place, and the next may come while the handler of this one runs. */
static int
is_being_written(gex_Token_t token)
{
	gex_Token_Info_t info;

	gex_Token_Info(token, &info, GEX_TI_IS_LONG);
	return pt_is_thread() && info.gex_is_long;
}

static void
req_payload(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t a0)
{
	const char *at = (const char *)buf;

	PT_EQ(a0, 4711);
	if (!is_being_written(token)) {
		PT_EQ(at[0], 'f');
		PT_EQ(at[nbytes - 1], 'f');
	}
	PT_INC(arrived);
}

static void
req_total(gex_Token_t token, gex_AM_Arg_t accepted)
{
	(void)token;
	announced += accepted;
	PT_INC(reported);
}

static void
req_echo(gex_Token_t token)
{
	PT_OK(gex_AM_ReplyShort1(token, REP_ECHO, 0, sent));
}

static void
rep_echo(gex_Token_t token, gex_AM_Arg_t sent_so_far)
{
	(void)token;
	sent_seen = sent_so_far;
	PT_INC(echoes);
}

static int
try_send(int kind, const char *source, gex_Flags_t flags)
{
	char *dest = pt.peers[0].owner + (size_t)pt.rank * LONG_BYTES;

	if (kind == SHORT)
		return gex_AM_RequestShort1(pt.tm, 0, REQ_SHORT, flags, 4711);
	if (kind == MEDIUM)
		return gex_AM_RequestMedium1(pt.tm, 0, REQ_MEDIUM, source, medium_bytes,
		                             GEX_EVENT_NOW, flags, 4711);
	return gex_AM_RequestLong1(pt.tm, 0, REQ_LONG, source, LONG_BYTES, dest, GEX_EVENT_NOW,
	                           flags, 4711);
}

static long
resident_kib(void)
{
	struct rusage used;

	getrusage(RUSAGE_SELF, &used);
	return used.ru_maxrss;
}

/* Where a rank says that it is done, in the segment of rank 0; and rank 0 that it is silent,
 * elsewhere. */
static size_t
done_at(gex_Rank_t rank)
{
	return (size_t)pt.size * LONG_BYTES + 4u * rank;
}

static void
say_to(gex_Rank_t rank, unsigned round)
{
	pt_word_put(rank, done_at(pt.rank), (uint32_t)round);
}

/* Rank 0 makes no call until the ranks from `first' to `last' have said it. */
static void
be_silent(unsigned round, gex_Rank_t first, gex_Rank_t last)
{
	uint64_t start = pt_now_ns();

	for (gex_Rank_t rank = first; rank <= last; rank++)
		while (pt_word_get(pt.rank, done_at(rank)) != round &&
		       pt_now_ns() - start < SILENT_MS * 1000000ull)
			pt_sleep_ms(1);
}

/* Until refused, then many refusals more; the number accepted. */
static int
press(int kind, const char *source)
{
	uint64_t end = pt_now_ns() + SILENT_MS * 700000ull;
	long before = resident_kib();
	int accepted = 0, refused = 0;

	while (pt_now_ns() < end && refused < 20000) {
		uint64_t start = pt_now_ns(), took;

		if (try_send(kind, source, GEX_FLAG_IMMEDIATE) == 0)
			accepted++;
		else
			refused++;
		took = pt_now_ns() - start;
		PT_UNDER(took, 0.9e6 * SILENT_MS); /* not until the target polls */
	}
	PT_LE(1, refused);
	PT_LE(accepted, 2000000);
	PT_UNDER(resident_kib() - before, MOST_KIB);
	return accepted;
}

/* One kind: rank 0 is silent, all others press; then everything accepted is there. */
static void
silent_target(int kind, const char *source)
{
	int accepted = 0;

	pt_barrier();
	if (pt.rank == 0) {
		be_silent((unsigned)kind + 1, 1, pt.size - 1);
	} else {
		accepted = press(kind, source);
		say_to(0, (unsigned)kind + 1);
	}
	PT_OK(gex_AM_RequestShort1(pt.tm, 0, REQ_TOTAL, 0, accepted));
	if (pt.rank == 0) {
		GASNET_BLOCKUNTIL(PT_GET(reported) == (int)pt.size);
		GASNET_BLOCKUNTIL(PT_GET(arrived) >= announced);
		PT_EQ(PT_GET(arrived), announced);
		/* nothing comes late */
		for (int i = 0; i < 1000; i++)
			PT_OK(gasnet_AMPoll());
		PT_EQ(PT_GET(arrived), announced);
		PT_LE(1, announced);
		PT_SET(arrived, 0);
		PT_SET(reported, 0);
		announced = 0;
	}
	pt_barrier();
}

/* Rank 2 asks rank 1, until it has had many answers while rank 1's count stood still. */
static void
ask_waiting_sender(void)
{
	uint64_t start = pt_now_ns(), still_since = start, worst = 0;
	int answers = 0, last_sent = 0;

	while (answers < 100 || pt_now_ns() - still_since < 20000000u) {
		uint64_t begin = pt_now_ns(), took;
		int before = PT_GET(echoes);

		PT_OK(gex_AM_RequestShort0(pt.tm, 1, REQ_ECHO, 0));
		GASNET_BLOCKUNTIL(PT_GET(echoes) != before);
		took = pt_now_ns() - begin;
		worst = took > worst ? took : worst;
		answers++;
		if (sent_seen != last_sent || sent_seen == 0) {
			last_sent = sent_seen;
			still_since = pt_now_ns();
			answers = 0;
		}
		PT_UNDER(pt_now_ns() - start, 0.9e6 * SILENT_MS); /* rank 1 does come to wait */
	}
	PT_LE(sent_seen, WAITING_SENDS - 1);
	PT_UNDER(worst, 0.7e6 * SILENT_MS);
}

/* Rank 1 waits for room at silent rank 0, and still answers rank 2. */
static void
waiting_sender(const char *source)
{
	if (pt.size < 3)
		return;
	pt_barrier();
	if (pt.rank == 0) {
		say_to(1, KINDS + 1);
		be_silent(KINDS + 1, 2, 2);
	}
	if (pt.rank == 1) {
		/* until then rank 0 may be in the barrier, and take messages */
		GASNET_BLOCKUNTIL(pt_word_get(1, done_at(0)) == KINDS + 1);
		for (; sent < WAITING_SENDS; sent++)
			PT_OK(try_send(MEDIUM, source, 0));
	}
	if (pt.rank == 2) {
		ask_waiting_sender();
		say_to(0, KINDS + 1);
	}
	if (pt.rank == 0) {
		GASNET_BLOCKUNTIL(PT_GET(arrived) == WAITING_SENDS);
		PT_SET(arrived, 0);
	}
	pt_barrier();
}

/* To oneself: never waits either, and what is accepted is delivered. */
static void
self_target(const char *source)
{
	int accepted = 0;

	for (int i = 0; i < 3000; i++)
		if (try_send(i % KINDS, source, GEX_FLAG_IMMEDIATE) == 0)
			accepted++;
	PT_LE(1, accepted);
	GASNET_BLOCKUNTIL(PT_GET(arrived) >= accepted);
	PT_EQ(PT_GET(arrived), accepted);
	PT_SET(arrived, 0);
}

int
main(int argc, char **argv)
{
	gex_AM_Entry_t table[] = {
		PT_HANDLER(REQ_SHORT, req_short, PT_REQ_SHORT, 1),
		PT_HANDLER(REQ_MEDIUM, req_payload, PT_REQ_MEDIUM, 1),
		PT_HANDLER(REQ_LONG, req_payload, PT_REQ_LONG, 1),
		PT_HANDLER(REQ_TOTAL, req_total, PT_REQ_SHORT, 1),
		PT_HANDLER(REQ_ECHO, req_echo, PT_REQ_SHORT, 0),
		PT_HANDLER(REP_ECHO, rep_echo, PT_REP_SHORT, 1),
	};
	char *source;

	pt_init(&argc, &argv, 0);
	pt_attach(table, PT_COUNT(table), (size_t)pt.size * (LONG_BYTES + 4));
	medium_bytes = gex_AM_MaxRequestMedium(pt.tm, 0, GEX_EVENT_NOW, GEX_FLAG_IMMEDIATE, 1);
	source = malloc(medium_bytes + LONG_BYTES);
	PT_CHECK(source != NULL);
	memset(source, 'f', medium_bytes + LONG_BYTES);
	pt_barrier();
	if (pt.rank == 0)
		self_target(source);
	if (pt.size > 1) {
		for (int kind = 0; kind < KINDS; kind++)
			silent_target(kind, source);
		waiting_sender(source);
	}
	free(source);
	pt_finish();
}
