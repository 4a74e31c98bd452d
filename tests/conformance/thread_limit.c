/* More threads at a time than are allowed end the job with the reason; as many in turn as one
 * likes. */
#include "tests/lib/pt_spawn.h"

#include "gasnet_tools.h"

#include <pthread.h>

enum { LIMIT = 3 };

static pt_count arrived;

/* Each calls while all others that are to be there are. */
static void *
call(void *others)
{
	PT_OK(gasnet_AMPoll());
	PT_INC(arrived);
	while (PT_GET(arrived) < *(int *)others)
		pt_sleep_ms(1);
	return NULL;
}

static void
together(int count)
{
	pthread_t ids[LIMIT];

	PT_SET(arrived, 0);
	for (int i = 0; i < count; i++)
		PT_EQ(pthread_create(&ids[i], NULL, call, &count), 0);
	for (int i = 0; i < count; i++)
		PT_EQ(pthread_join(ids[i], NULL), 0);
}

static void *
poll_once(void *arg)
{
	pthread_barrier_wait(arg);
	PT_OK(gasnet_AMPoll());
	pthread_barrier_wait(arg); /* to which those that fail do not come */
	return NULL;
}

static int
slow_stack(int fd)
{
	(void)fd;
	pt_sleep_ms(300);
	return 0;
}

/* Many come at once, and are too many: one says so, however long it takes to end. */
static void
crowd(void)
{
	static pthread_barrier_t line;
	pthread_t id;

	gasnett_print_backtrace_ifenabled = slow_stack;
	pthread_barrier_init(&line, NULL, 5 * LIMIT);
	for (int i = 0; i < 5 * LIMIT; i++)
		PT_EQ(pthread_create(&id, NULL, poll_once, &line), 0);
}

static void
job(int argc, char **argv)
{
	pt_start(&argc, &argv, NULL, 0, 1);
	pt_barrier();
#ifdef GASNET_SEQ
	PT_EQ(gex_System_QueryMaxThreads(), 1);
	(void)LIMIT;
#else
	PT_EQ(gex_System_QueryMaxThreads(), LIMIT);
	for (int i = 0; i < 20; i++)
		together(LIMIT - 1); /* and this one */
#endif
	if (!strcmp(argv[1], "many") && pt.rank == 0) {
		PT_OK(gasnet_AMPoll());
#ifdef GASNET_SEQ
		together(1);
#else
		together(LIMIT);
#endif
		PT_FAIL("there was no limit");
	}
	if (!strcmp(argv[1], "crowd") && pt.rank == 0) {
		PT_OK(gasnet_AMPoll());
		crowd();
	}
	if (strcmp(argv[1], "few") != 0)
		GASNET_BLOCKUNTIL(0);
	pt_finish();
}

static int
count_of(const char *text, const char *words)
{
	int count = 0;

	for (; (text = strstr(text, words)); text++)
		count++;
	return count;
}

int
main(int argc, char **argv)
{
	static const char *const settings[] = { "GASNET_BACKTRACE=0", "GASNET_MAX_THREADS=3",
		                                NULL };
#ifdef GASNET_SEQ
	const char *words = "a second thread calls the library", *line = words;
#else
	const char *line = " at once, GASNET_MAX_THREADS is 3";
	const char *words = "4 threads call the library at once, GASNET_MAX_THREADS is 3";
#endif
	struct pt_outcome out;

	pt_prepare(argv);
	if (argc > 1)
		job(argc, argv);
	pt_spawn("/proc/self/exe", "few", settings, 20000, &out);
	if (out.status != 0)
		PT_FAIL("few threads ended with %d; it said:\n%s", out.status, out.text);
	pt_spawn("/proc/self/exe", "crowd", settings, 20000, &out);
	if (out.status != 134 || count_of(out.text, line) != 1)
		PT_FAIL("a crowd of threads ended with %d; it said:\n%s", out.status, out.text);
	pt_spawn("/proc/self/exe", "many", settings, 20000, &out);
	if (out.status != 134 || !strstr(out.text, words))
		PT_FAIL("too many threads ended with %d; it said:\n%s", out.status, out.text);
	return 0;
}
