#include "tests/lib/pt_misuse.h"

#include <fnmatch.h>
#include <pthread.h>

enum { ABORTED = 128 + 6, FAULTED = 128 + 11, SERVE_MS = 6000, LIMIT_MS = 8000 };

void
pt_misuse_in_thread(void *(*fn)(void *), void *arg)
{
	pthread_t id;

	PT_EQ(pthread_create(&id, NULL, fn, arg), 0);
	PT_EQ(pthread_join(id, NULL), 0);
}

/* The watching program reports what this rank did not notice.  It goes on for long, since the rank
 * that acts may not have run for a while. */
static void
serve(void)
{
	for (unsigned i = 0; i < SERVE_MS; i++) {
		gasnet_AMPoll();
		pt_sleep_ms(1);
	}
	gasnet_exit(0);
}

void
pt_misuse_ask(gex_AM_Index_t handler)
{
	PT_OK(gex_AM_RequestShort0(pt.tm, pt.rank, handler, 0));
	serve();
}

void (*pt_misuse_call)(void);

/* Sets pt_misuse_call; title is "case", or "case call". */
static const struct pt_misuse *
find(const struct pt_misuse_set *set, const char *title)
{
	const struct pt_misuse *act = set->cases;
	const size_t len = strcspn(title, " ");
	size_t i = 0;

	while (strlen(act->name) != len || strncmp(act->name, title, len))
		PT_CHECK(++act < set->cases + set->count);
	if (!title[len])
		return act;
	while (strcmp(set->calls[i].name, title + len + 1))
		PT_CHECK(++i < set->call_count);
	pt_misuse_call = set->calls[i].call;
	return act;
}

static void
job(int argc, char **argv, const struct pt_misuse_set *set)
{
	const struct pt_misuse *act = find(set, argv[1]);

	if (!act->bare)
		pt_start(&argc, &argv, set->handlers, set->handler_count, 1);
	if (act->bare || pt.rank == 0)
		act->body();
	if (act->when == PT_REFUSED)
		exit(0);
	if (act->when == PT_TOLD && pt.rank == 0)
		gasnet_exit(0);
	serve();
}

static int
applies(enum pt_misuse_when when)
{
#ifdef GASNET_DEBUG
	const int debug = 1;
#else
	const int debug = 0;
#endif
#ifdef GASNET_SEQ
	const int seq = 1;
#else
	const int seq = 0;
#endif
#ifdef PT_TSAN
	const int tsan = 1;
#else
	const int tsan = 0;
#endif
#if defined(PT_TSAN) || defined(PT_ASAN)
	const int sanitized = 1;
#else
	const int sanitized = 0;
#endif

	switch (when) {
	case PT_THREADS: return !seq;
	case PT_LOCKS: return !seq || debug;
	case PT_BROKEN_LOCKS: return (!seq || debug) && !tsan;
	case PT_DEBUG: return debug;
	case PT_FAULT: return !sanitized;
	default: return 1;
	}
}

void
pt_misuse_run(const struct pt_misuse *act)
{
	const int status = act->when == PT_REFUSED || act->when == PT_TOLD ? 0
	                   : act->when == PT_FAULT                         ? FAULTED
	                                                                   : ABORTED;
	const int told = act->when != PT_ALWAYS && act->when != PT_REFUSED;
	char ranks[40] = "GASNET_PSHM_NODES";   /* of one: not set */
	const char *const settings[] = {
		"GASNET_BACKTRACE=0", "GASNET_QUIET=1", told ? "PST_CHECK=1" : "PST_CHECK=0",
		ranks,
		"LSAN_OPTIONS=detect_leaks=0",  /* leftovers of a wrong program are not the
		                                 * library's */
		NULL
	};
	struct pt_outcome out;
	char pattern[600];

	if (!applies(act->when))
		return;
	pt_phase(act->name);
	if (act->ranks > 1)
		snprintf(ranks, sizeof(ranks), "GASNET_PSHM_NODES=%u", (unsigned)act->ranks);
	PT_CHECK(act->when == PT_REFUSED || strchr(act->message, ';'));
	pt_spawn("/proc/self/exe", act->name, settings, LIMIT_MS, &out);
	snprintf(pattern, sizeof(pattern), "*penstock:*%s*", act->message);
	if (out.status != status || fnmatch(pattern, out.text, 0) != 0 ||
	    (act->when == PT_REFUSED && fnmatch("*penstock:*penstock:*", out.text, 0) == 0))
		PT_FAIL("case %s ended with %d, and did not say \"%s\" once; it said:\n%s",
		        act->name, out.status, act->message, out.text);
}

static void
run_with(const struct pt_misuse *act, const struct pt_misuse_call *call)
{
	struct pt_misuse one = *act;
	char title[80], message[300];

	snprintf(title, sizeof(title), "%s %s", act->name, call->name);
	snprintf(message, sizeof(message), "%s%s", call->told_as ? call->told_as : call->name,
	         act->message);
	one.name = title;
	one.message = message;
	pt_misuse_run(&one);
}

/* "| act | fault | remedy | when |" */
static void
print_row(const struct pt_misuse *act)
{
	static const char *const when[] = {
		[PT_ALWAYS] = "always", [PT_REFUSED] = "always, returned", [PT_CHECKED] = "checked",
		[PT_TOLD] = "checked, at the end",
		[PT_THREADS] = "checked", [PT_LOCKS] = "checked, not SEQ",
		[PT_BROKEN_LOCKS] = "checked, not SEQ", [PT_DEBUG] = "debug build",
		[PT_FAULT] = "checked",
	};
	const char *remedy = strrchr(act->message, ';');
	const int fault_bytes = remedy ? (int)(remedy - act->message) : (int)strlen(act->message);

	printf("| %s | `%.*s` | %s | %s |\n", act->act, fault_bytes, act->message,
	       remedy ? remedy + 2 : "", when[act->when]);
}

static void
print_table(const struct pt_misuse_set *set)
{
	for (size_t i = 0; i < set->count; i++)
		print_row(&set->cases[i]);
	if (set->call_count)
		printf("\nThe calls:");
	for (size_t i = 0; i < set->call_count; i++)
		printf("%s`%s`%s", i % 3 ? " " : "\n", set->calls[i].name,
		       i + 1 < set->call_count ? "," : ".\n");
}

int
pt_misuse_main(int argc, char **argv, const struct pt_misuse_set *set)
{
	if (argc > 1 && !strcmp(argv[1], "--table")) {
		print_table(set);
		return 0;
	}
	pt_prepare(argv);
	if (argc > 1)
		job(argc, argv, set);
	for (size_t i = 0; i < set->count; i++) {
		if (!set->call_count)
			pt_misuse_run(&set->cases[i]);
		for (size_t c = 0; c < set->call_count; c++)
			run_with(&set->cases[i], &set->calls[c]);
	}
	return 0;
}
