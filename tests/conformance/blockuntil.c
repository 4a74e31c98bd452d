/* GASNET_BLOCKUNTIL: returns at once, wakes by any thread's handler, holds up nobody. */
#include "tests/lib/pt.h"

enum { REQ_SET = 128, REQ_ADD, REP_ADD, REQ_DATA };
enum { CELLS = 16, MOST = 16 };

/* Of each rank that is a thread, and of the process and all its threads. */
static struct own {
	pt_count cells[CELLS];
	pt_count evaluations, replies;
	int plain_data[64];     /* written by a handler ahead of the flag */
	pt_count data_flag;
} of_rank[MOST];

static struct own *own(void) { return &of_rank[pt.rank]; }

static void
req_set(gex_Token_t token, gex_AM_Arg_t cell, gex_AM_Arg_t value)
{
	(void)token;
	PT_SET(own()->cells[cell], value);
}

static void
req_add(gex_Token_t token, gex_AM_Arg_t cell)
{
	PT_INC(own()->cells[cell]);
	PT_OK(gex_AM_ReplyShort1(token, REP_ADD, 0, cell));
}

static void
rep_add(gex_Token_t token, gex_AM_Arg_t cell)
{
	(void)token, (void)cell;
	PT_INC(own()->replies);
}

/* The flag itself carries no order: the macro's fence must. */
static void
req_data(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t round)
{
	(void)token;
	PT_EQ(nbytes, sizeof(own()->plain_data));
	memcpy(own()->plain_data, buf, nbytes);
	PT_SET(own()->data_flag, round);
}

static int
counted(int value)
{
	PT_INC(own()->evaluations);
	return value;
}

static void
at_once(void)
{
	uint64_t start = pt_now_ns();
	int i = 0;

	PT_SET(own()->evaluations, 0);
	GASNET_BLOCKUNTIL(counted(1));
	PT_LE(1, PT_GET(own()->evaluations));
	PT_UNDER(pt_now_ns() - start, 1e9);
	/* one statement, usable without braces */
	if (i == 0)
		GASNET_BLOCKUNTIL(i == 0);
	else
		PT_FAIL("the wrong branch was taken");
	for (; i < 2; i++)
		GASNET_BLOCKUNTIL(i >= 0 && i < 2);
	PT_EQ(i, 2);
}

static void
by_messages(unsigned long rounds)
{
	gex_Rank_t next = (pt.rank + 1) % pt.size;
	int block[64];

	for (unsigned long round = 1; round <= rounds; round++) {
		for (int i = 0; i < 64; i++)
			block[i] = (int)round * 64 + i;
		PT_OK(gex_AM_RequestMedium1(pt.tm, next, REQ_DATA, block, sizeof(block),
		                            GEX_EVENT_NOW, 0, (gex_AM_Arg_t)round));
		GASNET_BLOCKUNTIL(own()->data_flag == (int)round);
		for (int i = 0; i < 64; i++)
			PT_EQ(own()->plain_data[i], (int)round * 64 + i);
		pt_barrier();
	}
}

/* Rank 0 waits long enough to sleep; the wake-up comes in time. */
static void
after_a_sleep(void)
{
	for (int round = 1; round <= 3; round++) {
		pt_barrier();
		if (pt.rank == pt.size - 1) {
			pt_sleep_ms(60);
			for (gex_Rank_t rank = 0; rank < pt.size; rank++)
				PT_OK(gex_AM_RequestShort2(pt.tm, rank, REQ_SET, 0, 0, round));
		}
		GASNET_BLOCKUNTIL(PT_GET(own()->cells[0]) == round);
		PT_EQ(PT_GET(own()->cells[0]), round);
	}
}

#ifdef GASNET_PAR
static pt_count stop, waiting;

/* Waits for its own cell, which only a handler in some thread changes. */
static void
wait_for_cell(unsigned index, void *arg)
{
	int rounds = *(int *)arg;

	for (int round = 1; round <= rounds; round++)
		GASNET_BLOCKUNTIL(PT_GET(own()->cells[index + 1]) >= round);
	PT_INC(stop);
}

/* Thread 0 never blocks: it polls, so it steals handlers from the waiting ones. */
static void
poll_or_wait(unsigned index, void *arg)
{
	if (index == 0) {
		while (PT_GET(stop) < 3)
			PT_OK(gasnet_AMPoll());
		return;
	}
	wait_for_cell(index, arg);
}

static void
feed(int rounds)
{
	gex_Rank_t next = (pt.rank + 1) % pt.size;

	for (int round = 1; round <= rounds; round++)
		for (int cell = 2; cell <= 4; cell++)
			PT_OK(gex_AM_RequestShort1(pt.tm, next, REQ_ADD, 0, cell));
	GASNET_BLOCKUNTIL(PT_GET(own()->replies) == 3 * rounds);
}

static int feed_rounds;

static void
feed_or_wait(unsigned index, void *arg)
{
	if (index == 4)
		feed(feed_rounds);
	else
		poll_or_wait(index, arg);
}

/* All threads block at once; one message at a time must wake the right one. */
static void
block_all(unsigned index, void *arg)
{
	gex_Rank_t next = (pt.rank + 1) % pt.size;
	int rounds = *(int *)arg, cell = 8 + (int)index;

	for (int round = 1; round <= rounds; round++) {
		PT_OK(gex_AM_RequestShort1(pt.tm, next, REQ_ADD, 0, cell));
		GASNET_BLOCKUNTIL(PT_GET(own()->cells[cell]) >= round);
	}
	PT_INC(waiting);
}

static void
threads(void)
{
	int rounds = (int)pt_scale(100, 500);

	feed_rounds = rounds;
	PT_SET(own()->replies, 0);
	pt_barrier();
	pt_phase("one polls, three wait, one feeds");
	pt_threads(5, feed_or_wait, &rounds);
	PT_EQ(PT_GET(own()->cells[2]), rounds);
	PT_EQ(PT_GET(own()->cells[4]), rounds);
	pt_barrier();
	pt_phase("all wait");
	pt_threads(4, block_all, &rounds);
	PT_EQ(PT_GET(waiting), 4);
	pt_barrier();
	for (int cell = 8; cell < 12; cell++)
		PT_EQ(PT_GET(own()->cells[cell]), rounds);
}
#endif

int
main(int argc, char **argv)
{
	gex_AM_Entry_t table[] = {
		PT_HANDLER(REQ_SET, req_set, PT_REQ_SHORT, 2),
		PT_HANDLER(REQ_ADD, req_add, PT_REQ_SHORT, 1),
		PT_HANDLER(REP_ADD, rep_add, PT_REP_SHORT, 1),
		PT_HANDLER(REQ_DATA, req_data, PT_REQ_MEDIUM, 1),
	};

	pt_start(&argc, &argv, table, PT_COUNT(table), 1);
	PT_LE(pt.size, MOST);
	pt_phase("already true");
	at_once();
	pt_phase("by messages");
	by_messages(pt_scale(100, 600));
	pt_phase("after a sleep");
	after_a_sleep();
#ifdef GASNET_PAR
	if (!pt_is_thread())    /* the rank's endpoint may be for one thread */
		threads();
#endif
	pt_finish();
}
