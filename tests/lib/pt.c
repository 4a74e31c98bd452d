/* Start, end and failure of a test program. Once in_job is set the job is ended by gasnet_exit. */
#include "tests/lib/pt.h"
#include "tests/lib/pt_ranks.h"

#include <penstock.h>

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <unistd.h>

struct pt_job pt_process;

static volatile int in_job;
static unsigned long checks_done;
static const char *phase = "start"; /* by any thread; read by the signal handler */

static unsigned long
number_from_env(const char *name, unsigned long fallback)
{
	const char *text = getenv(name);

	return text && *text ? strtoul(text, NULL, 0) : fallback;
}

static enum pt_level
level_from_env(void)
{
	const char *text = getenv("CHECK_LEVEL");

	if (text && !strcmp(text, "quick"))
		return PT_QUICK;
	if (text && !strcmp(text, "long"))
		return PT_LONG;
	return PT_FULL;
}

static void
put_text(const char *text)
{
	ssize_t put = write(2, text, strlen(text));

	(void)put;
}

static void
put_number(unsigned long long value)
{
	char number[24];
	char *digit = number + sizeof(number) - 1;

	*digit = 0;
	do {
		*--digit = (char)('0' + value % 10);
	} while ((value /= 10) != 0);
	put_text(digit);
}

/* Async-signal-safe: the program may be anywhere. */
static void
deadline_over(int signal_number)
{
	(void)signal_number;
	put_text("pt: ");
	put_text(pt.name ? pt.name : "?");
	put_text(" " PT_MODE ": rank ");
	if (in_job)
		put_number(pt.rank);
	else
		put_text("?");
	put_text(": FAIL: deadline over in phase: ");
	put_text(__atomic_load_n(&phase, __ATOMIC_RELAXED));
	put_text("; PT_SEED=");
	put_number(pt.seed);
	put_text("\n");
	_exit(124);
}

static void
arm_deadline(unsigned extra_s)
{
	signal(SIGALRM, deadline_over);
	alarm((unsigned)number_from_env("PT_DEADLINE", 60) + extra_s);
}

void
pt_prepare(char **argv)
{
	const char *slash = argv && argv[0] ? strrchr(argv[0], '/') : NULL;
	const char *slack = getenv("PT_SLACK");

	pt.name = slash ? slash + 1 : argv && argv[0] ? argv[0] : "test";
	pt.level = level_from_env();
	pt.seed = number_from_env("PT_SEED", 20251121);
	pt.slack = slack ? atof(slack) : 1;
	if (pt.slack <= 0)
		pt.slack = 1;
	/* a process that becomes the launcher outlives the ranks' own deadlines */
	arm_deadline(5);
}

void
pt_adopt(gex_Client_t client, gex_EP_t ep, gex_TM_t tm)
{
	pt.client = client;
	pt.ep = ep;
	pt.tm = tm;
	pt.rank = gex_System_QueryJobRank();
	pt.size = gex_System_QueryJobSize();
	in_job = 1;
	arm_deadline(0);
}

void
pt_init(int *argc, char ***argv, gex_Flags_t flags)
{
	gex_Client_t client;
	gex_EP_t ep;
	gex_TM_t tm;
	int result;

	if (pt_is_thread())
		return;
	if (!pt.name)
		pt_prepare(argv ? *argv : NULL);
	pt_phase("gex_Client_Init");
	result = gex_Client_Init(&client, &ep, &tm, "PT_TEST", argc, argv, flags);
	PT_OK(result);
	pt_adopt(client, ep, tm);
	pt_phase("after gex_Client_Init");
	pt_ranks_start(argc, argv);
}

void
pt_find_peers(void)
{
	pt.peers = (struct pt_peer *)calloc(pt.size, sizeof(*pt.peers));
	pt.where = (gex_EP_Location_t *)calloc(pt.size, sizeof(*pt.where));
	PT_CHECK(pt.peers != NULL && pt.where != NULL);
	for (gex_Rank_t rank = 0; rank < pt.size; rank++) {
		void *owner = NULL, *local = NULL;
		uintptr_t bytes = 0;

		gex_Event_Wait(gex_EP_QueryBoundSegmentNB(pt.tm, rank, &owner, &local, &bytes, 0));
		pt.where[rank] = gex_TM_TranslateRankToEP(pt.tm, rank, 0);
		pt.peers[rank].owner = (char *)owner;
		pt.peers[rank].local = (char *)local;
		pt.peers[rank].size_bytes = bytes;
	}
	pt.base = pt.peers[pt.rank].owner;
	pt.segment_bytes = pt.peers[pt.rank].size_bytes;
}

static void *
own_memory(size_t bytes)
{
	void *memory = aligned_alloc(GASNET_PAGESIZE, bytes);

	PT_CHECK(memory != NULL);
	return memset(memory, 0, bytes);
}

/* A segment that gex_Segment_Attach does not make: over memory that the library did not allocate,
 * which PT_SEGMENT=client asks for, or of a rank that is a thread. */
static void
bind_segment(void *memory, size_t segment_bytes)
{
	PT_OK(gex_Segment_Create(&pt.segment, pt.client, memory, segment_bytes, GEX_MK_HOST, 0));
	PT_OK(gex_EP_BindSegment(pt.ep, pt.segment, 0));
	PT_OK(gex_EP_PublishBoundSegment(pt.tm, &pt.ep, 1, 0));
}

void
pt_attach(gex_AM_Entry_t *table, size_t count, size_t segment_bytes)
{
	size_t page = GASNET_PAGESIZE;

	pt_phase("registration of handlers");
	if (count)
		PT_OK(gex_EP_RegisterHandlers(pt.ep, table, count));
	pt_phase("gex_Segment_Attach");
	if (!segment_bytes)
		segment_bytes = 1;
	segment_bytes = (segment_bytes + page - 1) / page * page;
	if (getenv("PT_SEGMENT") && !strcmp(getenv("PT_SEGMENT"), "client"))
		bind_segment(own_memory(segment_bytes), segment_bytes);
	else if (pt_is_thread())
		bind_segment(NULL, segment_bytes);
	else
		PT_OK(gex_Segment_Attach(&pt.segment, pt.tm, segment_bytes));
	pt_find_peers();
	pt_barrier();
	pt_phase("body");
}

void
pt_start(int *argc, char ***argv, gex_AM_Entry_t *table, size_t count, size_t segment_bytes)
{
	pt_init(argc, argv, 0);
	pt_attach(table, count, segment_bytes);
}

void
pt_barrier(void)
{
	gex_Event_Wait(gex_Coll_BarrierNB(pt.tm, 0));
}

void
pt_finish(void)
{
	pt_phase("end");
	if (!__atomic_load_n(&checks_done, __ATOMIC_RELAXED))
		PT_FAIL("the program checked nothing");
	pt_barrier();
	pt_ranks_leave(0);
	gasnet_exit(0);
	abort();
}

void
pt_skip(const char *reason)
{
	if (!in_job || pt.rank == 0) {
		printf("SKIP: %s\n", reason);
		fflush(stdout);
	}
	if (in_job) {
		pt_barrier();
		pt_ranks_leave(77);
		gasnet_exit(77);
	}
	exit(77);
}

void
pt_phase(const char *text)
{
	__atomic_store_n(&phase, text, __ATOMIC_RELAXED);
}

unsigned long
pt_scale(unsigned long quick, unsigned long full)
{
	return pt.level == PT_QUICK ? quick : full;
}

void
pt_fail(const char *file, int line, const char *format, ...)
{
	char text[700];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	fprintf(stderr,
	        "pt: %s " PT_MODE ": rank %u of %u: FAIL %s:%d: %s (phase: %s; PT_SEED=%llu)\n",
	        pt.name ? pt.name : "?", (unsigned)pt.rank, (unsigned)pt.size, file, line, text,
	        phase, (unsigned long long)pt.seed);
	fflush(stderr);
	if (in_job)
		gasnet_exit(1);
	_exit(1);
}

void
pt_check(int good, const char *file, int line, const char *text)
{
	__atomic_add_fetch(&checks_done, 1, __ATOMIC_RELAXED);
	if (!good)
		pt_fail(file, line, "%s", text);
}

void
pt_check_eq(long long got, long long want, const char *file, int line, const char *text)
{
	__atomic_add_fetch(&checks_done, 1, __ATOMIC_RELAXED);
	if (got != want)
		pt_fail(file, line, "%s: got %lld (0x%llx), want %lld (0x%llx)", text, got,
		        (unsigned long long)got, want, (unsigned long long)want);
}

void
pt_check_le(unsigned long long small, unsigned long long large, const char *file, int line,
            const char *text)
{
	__atomic_add_fetch(&checks_done, 1, __ATOMIC_RELAXED);
	if (small > large)
		pt_fail(file, line, "%s: %llu > %llu", text, small, large);
}

void
pt_check_ptr(const void *got, const void *want, const char *file, int line, const char *text)
{
	__atomic_add_fetch(&checks_done, 1, __ATOMIC_RELAXED);
	if (got != want)
		pt_fail(file, line, "%s: got %p, want %p", text, got, want);
}

void
pt_check_str(const char *got, const char *want, const char *file, int line, const char *text)
{
	__atomic_add_fetch(&checks_done, 1, __ATOMIC_RELAXED);
	if (!got || strcmp(got, want) != 0)
		pt_fail(file, line, "%s: got \"%s\", want \"%s\"", text, got ? got : "(null)",
		        want);
}

void
pt_check_near(double got, double limit, const char *file, int line, const char *text)
{
	__atomic_add_fetch(&checks_done, 1, __ATOMIC_RELAXED);
	if (!(got < limit * pt.slack))
		pt_fail(file, line, "%s: got %g, limit %g", text, got, limit * pt.slack);
}

static gex_Rank_t
rank_at(gex_EP_Location_t at)
{
	gex_Rank_t rank = 0;

	while (rank < pt.size && (pt.where[rank].gex_rank != at.gex_rank ||
	                          pt.where[rank].gex_ep_index != at.gex_ep_index))
		rank++;
	PT_CHECK(rank < pt.size);
	return rank;
}

gex_Rank_t
pt_rank_in(gex_TM_t tm, gex_Rank_t rank)
{
	return rank_at(gex_TM_TranslateRankToEP(tm, rank, 0));
}

/* The sender's rank if ranks are threads, from the endpoint that sent the message. */
gex_Rank_t
pt_source(gex_Token_t token)
{
	const gex_EP_Location_t from = pst_token_source(token);
	gex_Token_Info_t info;

	PT_CHECK(gex_Token_Info(token, &info, GEX_TI_SRCRANK) & GEX_TI_SRCRANK);
	PT_EQ(info.gex_srcrank, from.gex_rank);
	if (!pt_is_thread() || !pt.where)
		return from.gex_rank;
	return rank_at(from);
}
