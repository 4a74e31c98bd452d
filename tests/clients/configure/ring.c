/*
 * A token goes round all ranks: as a message, and as a put. This program includes nothing but
 * GASNet's header, and uses what came along with it for years.
 */
#include "config.h"
#include <gasnetex.h>

#if HAVE_GASNET_MAJOR != GASNET_RELEASE_VERSION_MAJOR ||                                           \
	HAVE_GASNET_MINOR != GASNET_RELEASE_VERSION_MINOR ||                                       \
	HAVE_GASNET_PATCH != GASNET_RELEASE_VERSION_PATCH
#error "configure found another release than the compiler"
#endif

enum { TOKEN_HANDLER = GEX_AM_INDEX_BASE, ROUNDS = 100 };

static gex_Rank_t me, count;
static gex_TM_t team;
static volatile int32_t tokens_seen;

static void
give_up(const char *what)
{
	fprintf(stderr, "rank %" PRIu32 ": %s (%s)\n", (uint32_t)me, what, strerror(errno));
	exit(EXIT_FAILURE);
}

/* Of each header that comes along, one thing. */
static void
check_headers(void)
{
	char text[sizeof("rank 4294967295")];
	ssize_t length = snprintf(text, sizeof(text), "rank %" PRIu32, (uint32_t)me);

	errno = 0;
	if (length < (ssize_t)strlen("rank 0") || !isdigit((unsigned char)text[length - 1]))
		give_up("text is not what was written");
	if (strtol(text + strlen("rank "), NULL, 10) != (long)me || errno != 0)
		give_up("a number was not read back");
	if (MAX(1, 2) != 2 || MIN(CHAR_BIT, INT_MAX) != CHAR_BIT || getpid() <= 0)
		give_up("a system header is not what it should be");
	if (signal(SIGUSR2, SIG_IGN) == SIG_ERR)
		give_up("signal");
	if_pf(isatty(STDIN_FILENO) < 0) give_up("isatty");
	if_pt(text[0] == 'r') return;
	give_up("the rank's name has changed");
}

static void
token_handler(gex_Token_t token, gex_AM_Arg_t number)
{
	(void)token;
	tokens_seen = number;
}

static void
send_token(int32_t number)
{
	gex_AM_RequestShort1(team, (me + 1) % count, TOKEN_HANDLER, 0, number);
}

/* Rank 0 starts each round and sees it end. */
static void
run_messages(void)
{
	int32_t round;

	for (round = 1; round <= ROUNDS; round++) {
		if (me == 0)
			send_token(round);
		GASNET_BLOCKUNTIL(tokens_seen == round);
		if (me != 0)
			send_token(round);
	}
}

/* Every rank writes its number into its neighbour's segment. */
static void
run_puts(gex_Segment_t segment)
{
	const gex_Rank_t *here = gex_Segment_QueryAddr(segment);
	void *there;

	gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team, (me + 1) % count, &there, NULL, NULL, 0));
	gex_RMA_PutBlocking(team, (me + 1) % count, there, &me, sizeof(me), 0);
	gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
	if (*here != (me + count - 1) % count)
		give_up("the put of the rank before did not arrive");
	gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
}

int
main(int argc, char **argv)
{
	gex_AM_Entry_t handlers[] = {
		{ TOKEN_HANDLER, (gex_AM_Fn_t)token_handler,
		  GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 1, NULL, "token" },
	};
	gex_Client_t client;
	gex_EP_t endpoint;
	gex_Segment_t segment = GEX_SEGMENT_INVALID;

	if (gex_Client_Init(&client, &endpoint, &team, "RING", &argc, &argv, 0) != GASNET_OK ||
	    gex_Segment_Attach(&segment, team, GASNET_PAGESIZE) != GASNET_OK ||
	    gex_EP_RegisterHandlers(endpoint, handlers, 1) != GASNET_OK)
		give_up("start");
	me = gex_TM_QueryRank(team);
	count = gex_TM_QuerySize(team);
	gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
	check_headers();
	run_messages();
	run_puts(segment);
	if (me == 0)
		printf("done: %" PRIu32 "\n", (uint32_t)count);
	gasnet_exit(0);
	return 0;
}
