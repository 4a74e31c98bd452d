/* A job that waits for long says so once, in every wait mode, and then goes on. */
#include "tests/lib/pt_spawn.h"

enum { REQ_GO = 128 };

/* The second is longer than PST_HANG_REPORT, too. */
static const unsigned wait_ms[] = { 300, 100 };

static pt_count gone;

static void
req_go(gex_Token_t token)
{
	(void)token;
	PT_INC(gone);
}

/* The last rank lets the others wait twice. */
static void
job(int argc, char **argv)
{
	gex_AM_Entry_t table[] = { PT_HANDLER(REQ_GO, req_go, PT_REQ_SHORT, 0) };

	pt_start(&argc, &argv, table, PT_COUNT(table), 1);
	PT_OK(gasnet_set_waitmode(atoi(argv[1])));
	pt_barrier();
	for (int round = 1; round <= 2; round++) {
		if (pt.rank == pt.size - 1) {
			pt_sleep_ms((unsigned)(wait_ms[round - 1] * pt.slack));
			for (gex_Rank_t rank = 0; rank + 1 < pt.size; rank++)
				PT_OK(gex_AM_RequestShort0(pt.tm, rank, REQ_GO, 0));
		} else {
			GASNET_BLOCKUNTIL(PT_GET(gone) >= round);
		}
	}
	PT_CHECK(pt.size > 1);
	pt_finish();
}

static unsigned
count_words(const char *text, const char *words)
{
	unsigned count = 0;

	while ((text = strstr(text, words)) != NULL) {
		text += strlen(words);
		count++;
	}
	return count;
}

/* On a busy machine another wait may be the long one that is told of; then once more. */
static void
run_job(const char *mode, const char *const *environment, const char *place, struct pt_outcome *out)
{
	for (int attempt = 0; attempt < 5; attempt++) {
		pt_spawn("/proc/self/exe", mode, environment, 20000, out);
		if (strstr(out->text, place))
			return;
	}
}

int
main(int argc, char **argv)
{
	static const char *const soon[] = { "PST_HANG_REPORT=0.05", NULL };
	static const char *const never[] = { "PST_HANG_REPORT=0", NULL };
	const char *ranks = getenv("GASNET_PSHM_NODES");
	struct pt_outcome out;
	char mode[12];

	pt_prepare(argv);
	if (argc > 1)
		job(argc, argv);
	if (!ranks || atoi(ranks) < 2)
		pt_skip("needs a peer");
	for (int i = 0; i < 4; i++) {
		snprintf(mode, sizeof(mode), "%d", i % 3);
		pt_phase(mode);
		run_job(mode, i < 3 ? soon : never, i < 3 ? "hang_report.c:" : "", &out);
		if (out.status != 0)
			PT_FAIL("wait mode %s ended with %d; it said:\n%s", mode, out.status,
			        out.text);
		if (i < 3 && !strstr(out.text, "hang_report.c:"))
			PT_FAIL("wait mode %s: no place in:\n%s", mode, out.text);
		PT_EQ(count_words(out.text, "has waited for"), i < 3);
	}
	return 0;
}
