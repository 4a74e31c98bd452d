/* Every way to end a job gives the status it should, in time, and says nothing twice. */
#include "tests/lib/pt_spawn.h"

#include <signal.h>
#include <unistd.h>

enum { REQ_EXIT = 128, REQ_EXIT_LOCKED };

static gex_HSL_t lock = GEX_HSL_INITIALIZER;

static void
req_exit(gex_Token_t token, gex_AM_Arg_t code)
{
	(void)token;
	gasnet_exit(code);
}

static void
req_exit_locked(gex_Token_t token, gex_AM_Arg_t code)
{
	(void)token;
	gex_HSL_Lock(&lock);
	gasnet_exit(code);
}

static void
serve_for_ever(void)
{
	for (;;)
		PT_OK(gasnet_AMPoll());
}

static void
leave_tracks(void)
{
	fputs("atexit ran\n", stderr);
}

/* Of the cases that end by gasnet_exit; returns from others. */
static void
end_by_call(const char *which, int last)
{
	if (!strcmp(which, "all")) {
		pt_barrier();
		gasnet_exit(23);
	}
	if (!strcmp(which, "all_zero")) {
		pt_barrier();
		gasnet_exit(0);
	}
	if (!strcmp(which, "one_polling")) {
		if (last)
			gasnet_exit(24);
		serve_for_ever();
	}
	if (!strcmp(which, "one_zero")) {
		if (last)
			gasnet_exit(0);
		serve_for_ever();
	}
	if (!strcmp(which, "one_blocking")) {
		if (last) {
			pt_sleep_ms(30);
			gasnet_exit(25);
		}
		GASNET_BLOCKUNTIL(0);
	}
	if (!strcmp(which, "one_computing")) {
		if (last)
			gasnet_exit(26);
		for (;;)
			pt_spin_ms(10);
	}
	if (!strcmp(which, "handler") || !strcmp(which, "handler_locked")) {
		if (last)
			PT_OK(gex_AM_RequestShort1(pt.tm, 0, which[7] ? REQ_EXIT_LOCKED : REQ_EXIT,
			                           0, 27));
		serve_for_ever();
	}
	if (!strcmp(which, "output_of_others")) {
		printf("last words of %u", (unsigned)pt.rank);
		pt_barrier();
		if (last)
			gasnet_exit(31);
		if (pt.rank % 2)
			GASNET_BLOCKUNTIL(0);
		for (;;)
			pt_spin_ms(10);
	}
	if (!strcmp(which, "output")) {
		atexit(leave_tracks);
		printf("last words of %u", (unsigned)pt.rank); /* no newline: gasnet_exit flushes */
		pt_barrier();
		gasnet_exit(0);
	}
}

/* Of the others; returns from "return". */
static void
end_otherwise(const char *which, int last)
{
	if (!strcmp(which, "return")) {
		pt_barrier();
		return;
	}
	if (!strcmp(which, "exit")) {
		pt_barrier();
		exit(29);
	}
	if (!strcmp(which, "exit_one")) {
		if (last)
			exit(30);
		serve_for_ever();
	}
	if (!strcmp(which, "abort")) {
		if (last)
			abort();
		serve_for_ever();
	}
	if (!strcmp(which, "kill")) {
		if (last)
			raise(SIGKILL);
		GASNET_BLOCKUNTIL(0);
	}
	PT_FAIL("no case %s", which);
}

/* The last rank does `which`, the others what its name says. */
static void
end_as(const char *which)
{
	const int last = pt.rank == pt.size - 1;

	end_by_call(which, last);
	end_otherwise(which, last);
}

static void
job(int argc, char **argv)
{
	gex_AM_Entry_t table[] = {
		PT_HANDLER(REQ_EXIT, req_exit, PT_REQ_SHORT, 1),
		PT_HANDLER(REQ_EXIT_LOCKED, req_exit_locked, PT_REQ_SHORT, 1),
	};
	const char *which = argv[1];

	pt_start(&argc, &argv, table, PT_COUNT(table), 1);
	end_as(which);
}

static void
check_output(const struct pt_outcome *out, unsigned long ranks)
{
	char words[40];

	for (unsigned long rank = 0; rank < ranks; rank++) {
		const char *first;

		snprintf(words, sizeof(words), "last words of %lu", rank);
		first = strstr(out->text, words);
		if (!first)
			PT_FAIL("\"%s\" is missing in: %s", words, out->text);
		PT_CHECK(strstr(first + 1, words) == NULL);
	}
	PT_CHECK(strstr(out->text, "atexit ran") == NULL); /* gasnet_exit goes past atexit */
}

int
main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int status;
	} cases[] = {
		{ "all", 23 },     { "all_zero", 0 },        { "one_polling", 24 },
		{ "one_zero", 0 }, { "one_blocking", 25 },   { "one_computing", 26 },
		{ "handler", 27 }, { "handler_locked", 27 }, { "return", 28 },
		{ "exit", 29 },    { "exit_one", 30 },       { "abort", 134 },
		{ "kill", 137 },   { "output", 0 },          { "output_of_others", 31 },
	};
	static const char *const settings[] = { "GASNET_BACKTRACE=0", NULL };
	const char *ranks = getenv("GASNET_PSHM_NODES");
	struct pt_outcome out;
	int wrong = 0;

	pt_prepare(argv);
	if (argc > 1) {
		job(argc, argv);
		return 28;
	}
	for (size_t i = 0; i < PT_COUNT(cases); i++) {
		pt_phase(cases[i].name);
		pt_spawn("/proc/self/exe", cases[i].name, settings, 2500, &out);
		if (out.status != cases[i].status || strstr(out.text, "deadline over")) {
			fprintf(stderr, "case %s ended with %d, not %d; it said:\n%s\n",
			        cases[i].name, out.status, cases[i].status, out.text);
			wrong++;
		}
		if (!strncmp(cases[i].name, "output", 6))
			check_output(&out, ranks ? strtoul(ranks, NULL, 10) : 1);
	}
	PT_EQ(wrong, 0);
	printf("%zu ways to end\n", PT_COUNT(cases));
	return 0;
}
