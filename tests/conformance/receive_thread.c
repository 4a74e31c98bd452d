/*
 * With GASNET_RCV_THREAD a rank that computes and makes no call handles messages, and its handlers'
 * replies reach their senders; what its own threads do at the same time is right as well.
 */
#include "tests/lib/pt.h"

enum { REQ_ECHO = 128, REP_ECHO, ECHOES = 20, COMPUTE_MS = 2000, PAYLOAD_BYTES = 400 };

static pt_count answered;

static void
req_echo(gex_Token_t token, void *buf, size_t nbytes)
{
	PT_MEM(buf, nbytes, 5);
	PT_OK(gex_AM_ReplyMedium0(token, REP_ECHO, buf, nbytes, GEX_EVENT_NOW, 0));
}

static void
rep_echo(gex_Token_t token, void *buf, size_t nbytes)
{
	(void)token;
	PT_MEM(buf, nbytes, 5);
	PT_INC(answered);
}

static void
echo(gex_Rank_t rank)
{
	char payload[PAYLOAD_BYTES];

	pt_fill(payload, sizeof payload, 5);
	PT_OK(gex_AM_RequestMedium0(pt.tm, rank, REQ_ECHO, payload, sizeof payload, GEX_EVENT_NOW,
	                            0));
}

/* Rank 0 asks; the last rank computes meanwhile. */
static void
one_computes(void)
{
	const gex_Rank_t last = pt.size - 1;
	const uint64_t began_ns = pt_now_ns();

	pt_phase("one computes");
	pt_barrier();
	if (pt.rank == last)
		pt_spin_ms(COMPUTE_MS);
	if (pt.rank == 0) {
		for (unsigned i = 0; i < ECHOES; i++)
			echo(last);
		GASNET_BLOCKUNTIL(PT_GET(answered) == ECHOES);
		PT_UNDER(pt_now_ns() - began_ns, COMPUTE_MS * UINT64_C(1000000) * 3 / 4);
	}
	pt_barrier();
}

/* All ask all, by the program's thread, while both threads of each poll. */
static void
all_talk(void)
{
	const int rounds = (int)pt_scale(200, 2000), before = PT_GET(answered);

	pt_phase("all talk");
	for (int i = 0; i < rounds; i++)
		for (gex_Rank_t rank = 0; rank < pt.size; rank++)
			echo(rank);
	GASNET_BLOCKUNTIL(PT_GET(answered) - before == rounds * (int)pt.size);
	pt_barrier();
}

int
main(int argc, char **argv)
{
	gex_AM_Entry_t table[] = {
		PT_HANDLER(REQ_ECHO, req_echo, PT_REQ_MEDIUM, 0),
		PT_HANDLER(REP_ECHO, rep_echo, PT_REP_MEDIUM, 0),
	};

	setenv("GASNET_RCV_THREAD", "1", 1);
	pt_start(&argc, &argv, table, PT_COUNT(table), 65536);
	PT_EQ(gex_System_QueryHiddenAMConcurrencyLevel(), 1);
	one_computes();
	all_talk();
	pt_finish();
}
