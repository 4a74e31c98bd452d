/* gasnet_tools.h with a conduit: time, barriers, stack traces, waiting for a debugger. */
#include <gasnetex.h>

#include <gasnet_tools.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "tests/lib/pt_either.h"

#if GASNETT_MAX_THREADS < 1 || GASNETT_PAGESIZE != GASNET_PAGESIZE
#error "constants of the tools"
#endif
#if defined(GASNET_PAR) ? !GASNETT_THREAD_SAFE : !GASNETT_THREAD_SINGLE
#error "thread model of the tools"
#endif

GASNETT_BEGIN_EXTERNC
static volatile int thawed;
volatile int gasnet_frozen; /* a program may have it */
GASNETT_END_EXTERNC

enum { CROSSINGS = 24, LINE_WORDS = 16 };

/* Flags and data of the ordering tests, at the start of rank 0's segment. */
struct shared {
	volatile unsigned round[2], data, flag, seen[2][CROSSINGS];
	volatile unsigned word[2][CROSSINGS][LINE_WORDS];
};

static int
my_trace(int fd)
{
	return write(fd, "my way\n", 7) != 7;
}

/* The library finds this definition. */
gasnett_backtrace_type_t gasnett_backtrace_user = { "MYWAY", my_trace, 1 };

static void
check_time(void)
{
	uint64_t wall = gasnett_gettimeofday_us(), seconds = (uint64_t)time(NULL);
	gasnett_tick_t start = gasnett_ticks_now(), end;

	/* time() may lag by a tick */
	PT_CHECK(wall / 1000000 <= seconds + 1 && wall / 1000000 + 60 > seconds);
	PT_EQ(gasnett_nsleep(0), 0);
	PT_EQ(gasnett_nsleep(20000000), 0);
	gasnett_sched_yield();
	end = gasnett_ticks_now();
	PT_LE(20000000, gasnett_ticks_to_ns(end - start));
	PT_EQ(gasnett_ticks_to_us(end - start), gasnett_ticks_to_ns(end - start) / 1000);
	PT_LE(wall + 20000, gasnett_gettimeofday_us());
	PT_CHECK(GASNETT_TICK_MIN < start && end < GASNETT_TICK_MAX);
	PT_CHECK(gasnett_tick_granularityus() > 0 && gasnett_tick_granularityus() < 1000);
	PT_CHECK(gasnett_tick_overheadus() > 0 && gasnett_tick_overheadus() < 1000);
}

/* Spins for a while, so that both ranks go on at the same time, then makes room for the other. */
static void
wait_for(volatile unsigned *word, unsigned value)
{
	unsigned spins = 0;

	while (*word < value) {
		gasnett_spinloop_hint();
		if (++spins > 5000)
			gasnett_sched_yield();
	}
}

/* Waits until both ranks have come to this round, and for nothing else. */
static void
meet(struct shared *shared, unsigned round)
{
	gasnett_local_mb();
	shared->round[pt.rank] = round;
	wait_for(&shared->round[!pt.rank], round);
	gasnett_local_mb();
}

/* What was stored before a write barrier is there for who saw the flag behind it. */
static void
hand_over(struct shared *shared, unsigned round)
{
	if (pt.rank == 0) {
		shared->data = round * 3;
		gasnett_local_wmb();
		shared->flag = round;
		return;
	}
	wait_for(&shared->flag, round);
	gasnett_local_rmb();
	PT_EQ(shared->data, round * 3);
}

/* As functions. */
static void full_barrier(void) { gasnett_local_mb(); }
static void write_barrier(void) { gasnett_local_wmb(); }
static void weak_full_barrier(void) { gasnett_weak_mb(); }
static void weak_write_barrier(void) { gasnett_weak_wmb(); }

/* Each stores its words and reads the other's: with that barrier between, one of them sees. */
static void
cross(struct shared *shared, unsigned round, void (*barrier)(void))
{
	int me = (int)pt.rank, i;

	meet(shared, 3 * round);
	for (i = 0; i < CROSSINGS; i++) {
		shared->word[me][i][0] = round;
		barrier();
		shared->seen[me][i] = shared->word[!me][i][0];
	}
	meet(shared, 3 * round + 1);
	for (i = 0; i < CROSSINGS; i++)
		PT_CHECK(shared->seen[0][i] == round || shared->seen[1][i] == round);
	meet(shared, 3 * round + 2);
}

static void
check_order(void)
{
	/* the weak ones are for the threads of a program, and nothing where there are none */
	static void (*const barriers[])(void) = { full_barrier, write_barrier, weak_full_barrier,
		                                  weak_write_barrier };
	const unsigned kinds = PT_THREADED ? 4 : 2;
	struct shared *shared = (struct shared *)(void *)pt.peers[0].local;
	unsigned round, rounds = (unsigned)pt_scale(1000, 8000);

	PT_CHECK(shared != NULL);
	if (pt.rank == 0)
		memset(pt.base, 0, sizeof(*shared));
	pt_barrier();
	for (round = 1; pt.rank < 2 && pt.size > 1 && round <= rounds; round++) {
		hand_over(shared, round);
		cross(shared, round, barriers[round % kinds]);
	}
	gasnett_weak_rmb();
	gasnett_compiler_fence();
	pt_barrier();
}

/* What print writes; at most a screenful. */
static const char *
written_by(int (*print)(int fd), int *result_out)
{
	static char text[4096];
	int ends[2];
	ssize_t len;

	PT_EQ(pipe(ends), 0);
	PT_EQ(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
	*result_out = print(ends[1]);
	len = read(ends[0], text, sizeof(text) - 1);
	text[len > 0 ? len : 0] = '\0';
	close(ends[0]);
	close(ends[1]);
	return text;
}

static int
call_print(int fd)
{
	return gasnett_print_backtrace(fd);
}

static int
call_ifenabled(int fd)
{
	return gasnett_print_backtrace_ifenabled(fd);
}

static int
other_trace(int fd)
{
	return write(fd, "other\n", 6) != 6;
}

static void
check_traces(char **argv)
{
	int result;

	gasnett_backtrace_init(argv[0]);
	PT_STR(written_by(call_print, &result), "my way\n");
	PT_EQ(result, 0);
	PT_STR(written_by(call_ifenabled, &result), "");
	gasnett_print_backtrace_ifenabled = other_trace;
	PT_STR(written_by(call_ifenabled, &result), "other\n");
}

static void
thaw(int number)
{
	(void)number;
	gasnet_frozen = thawed = 1;
}

static void
freeze_now(void)
{
	gasnett_freezeForDebuggerNow(&thawed, "thawed");
}

/* Goes on when a signal handler lets it. */
static void
check_frozen_by(void (*freeze)(void))
{
	struct sigevent event;
	struct itimerspec soon;
	timer_t timer;
	gasnett_tick_t start = gasnett_ticks_now();

	thawed = gasnet_frozen = 0;
	memset(&event, 0, sizeof(event));
	memset(&soon, 0, sizeof(soon));
	event.sigev_notify = SIGEV_SIGNAL;
	event.sigev_signo = SIGUSR2;
	soon.it_value.tv_nsec = 100000000;
	PT_CHECK(signal(SIGUSR2, thaw) != SIG_ERR);
	PT_EQ(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
	PT_EQ(timer_settime(timer, 0, &soon, NULL), 0);
	freeze();
	PT_EQ(thawed, 1);
	PT_LE(100000000, gasnett_ticks_to_ns(gasnett_ticks_now() - start));
	PT_EQ(timer_delete(timer), 0);
}

static void
freeze_on_error(void)
{
	gasnett_freezeForDebuggerErr();
}

static void
check_freezing(void)
{
	gasnett_freezeForDebuggerErr(); /* not asked for: goes on */
	check_frozen_by(freeze_now);
	gasnett_setenv("GASNET_FREEZE_ON_ERROR", "1");
	check_frozen_by(freeze_on_error);
	gasnett_unsetenv("GASNET_FREEZE_ON_ERROR");
}

static void
check_lines(void)
{
	const char *file = "here";
	unsigned line = 3;

	GASNETT_TRACE_SETSOURCELINE(__FILE__, __LINE__);
	GASNETT_TRACE_FREEZESOURCELINE();
	GASNETT_TRACE_GETSOURCELINE(&file, &line);
	GASNETT_TRACE_UNFREEZESOURCELINE();
	PT_STR(file, "");
	PT_EQ(line, 0);
	GASNETT_TRACE_SET_TRACELOCAL(1);
	PT_EQ(GASNETT_TRACE_GET_TRACELOCAL(), 0);
	PT_CHECK(strstr(GASNETT_CONFIG_STRING, "SPEC=1.20") != NULL);
	PT_CHECK(strchr(GASNETT_SYSTEM_TUPLE, '-') != NULL);
	PT_STR(_STRINGIFY(GASNETT_THREAD_MODEL), strcmp(PT_MODE, "par") ? "SEQ" : "PAR");
}

int
main(int argc, char **argv)
{
	check_time(); /* tools need no job */
	pt_start(&argc, &argv, NULL, 0, GASNET_PAGESIZE);
	check_time();
	pt_phase("order");
	check_order();
	pt_phase("traces");
	check_traces(argv);
	pt_phase("freezing");
	check_freezing();
	check_lines();
	pt_finish();
}
