/*
 * Threads that send at once lose no count, and those for which there is no shared block of counts
 * are counted too: by the rank at once, by others when the thread or the job has ended.
 */
#include <gasnetex.h>
#include <penstock.h>

#include "tests/lib/pt_spawn.h"

#include <pthread.h>

enum { REQ_MEDIUM = 128, REQ_SHORT };
enum { MEDIUMS = 20000, MANY = 300 };

static pthread_barrier_t all_here, all_sent;
static pt_count arrived;

static void
req_medium(gex_Token_t token, void *buf, size_t nbytes)
{
	(void)token, (void)buf, (void)nbytes;
	PT_INC(arrived);
}

static void
req_short(gex_Token_t token)
{
	(void)token;
	PT_INC(arrived);
}

/* Each to a peer of its own, so that no lock of the library keeps them apart. */
static void
send_mediums(unsigned index, void *unused)
{
	static const char payload[8];

	(void)unused;
	pthread_barrier_wait(&all_here);
	for (int i = 0; i < MEDIUMS; i++)
		PT_OK(gex_AM_RequestMedium0(pt.tm, (pt.rank + 1 + index) % pt.size, REQ_MEDIUM,
		                            payload, sizeof payload, GEX_EVENT_NOW, 0));
}

static void
senders(void)
{
	const unsigned threads = pt.size - 1;

	pthread_barrier_init(&all_here, NULL, threads);
	pt_threads(threads, send_mediums, NULL);
	PT_EQ(pt_counter(PST_COUNTERS_OWN, "sent_request_medium"), (uint64_t)threads * MEDIUMS);
	PT_EQ(pt_counter(PST_COUNTERS_OWN, "payload_in_slot"), (uint64_t)threads * MEDIUMS);
	GASNET_BLOCKUNTIL(PT_GET(arrived) == (int)threads * MEDIUMS);
}

static void
send_short(unsigned index, void *leaves)
{
	pthread_barrier_wait(&all_here);
	PT_OK(gex_AM_RequestShort0(pt.tm, pt.rank, REQ_SHORT, 0));
	pthread_barrier_wait(&all_sent);
	if (index == 0) {
		PT_EQ(pt_counter(PST_COUNTERS_OWN, "sent_request_short"), MANY);
		PT_EQ(pt_counter(PST_COUNTERS_OWN, "received_request_short"), MANY);
		if (leaves)
			gasnet_exit(0);
	}
	pthread_barrier_wait(&all_sent);
}

static void
many(void *leaves)
{
	pthread_barrier_init(&all_here, NULL, MANY);
	pthread_barrier_init(&all_sent, NULL, MANY);
	pt_threads(MANY, send_short, leaves);
	pt_barrier();
	PT_EQ(pt_counter((pt.rank + 1) % pt.size, "sent_request_short"), MANY);
}

static void
job(int argc, char **argv)
{
	gex_AM_Entry_t table[] = { PT_HANDLER(REQ_MEDIUM, req_medium, PT_REQ_MEDIUM, 0),
		                   PT_HANDLER(REQ_SHORT, req_short, PT_REQ_SHORT, 0) };

	pt_start(&argc, &argv, table, PT_COUNT(table), 1);
	if (!strcmp(argv[1], "senders"))
		senders();
	else
		many(strcmp(argv[1], "leave") ? NULL : argv);
	pt_finish();
}

int
main(int argc, char **argv)
{
	static const char *const three[] = { "GASNET_PSHM_NODES=3", NULL };
	static const char *const told[] = { "GASNET_PSHM_NODES=1", "GASNET_QUIET=1",
		                            "PST_COUNTERS=table", "GASNET_STATSFILE=stdout", NULL };
	static const char *const cases[] = { "senders", "many", "leave" };
	const char *row;
	struct pt_outcome out;

	pt_prepare(argv);
	if (argc > 1)
		job(argc, argv);
	for (unsigned i = 0; i < PT_COUNT(cases); i++) {
		pt_phase(cases[i]);
		pt_spawn("/proc/self/exe", cases[i], i < 2 ? three : told, 20000, &out);
		if (out.status != 0)
			PT_FAIL("case %s ended with %d; it said:\n%s", cases[i], out.status,
			        out.text);
	}
	row = strstr(out.text, "sent_request_short");
	if (!row || strtoull(row + strlen("sent_request_short"), NULL, 10) != MANY)
		PT_FAIL("the job that left with %d threads said:\n%s", MANY, out.text);
	return 0;
}
