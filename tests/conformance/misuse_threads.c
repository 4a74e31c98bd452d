/* Locks, threads and sections that are used as they may not be. */
#include <gasnet.h>

#include <penstock.h>

#include "tests/lib/pt_misuse.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { REQ_WAITS = 128, REQ_SHORT };

static gex_HSL_t lock = GEX_HSL_INITIALIZER, other = GEX_HSL_INITIALIZER;
static pt_count inside; /* a handler runs */

static void req_short(gex_Token_t token) { (void)token; }

static void
req_waits(gex_Token_t token)
{
	(void)token;
	PT_SET(inside, 1);
	pt_sleep_ms(3000);
}

static void
locks_twice(void)
{
	gex_HSL_Lock(&lock);
	gex_HSL_Lock(&lock);
}

static void unlocks_free(void) { gex_HSL_Unlock(&lock); }

static void
out_of_order(void)
{
	gex_HSL_Lock(&lock);
	gex_HSL_Lock(&other);
	gex_HSL_Unlock(&lock);
}

static void *
unlock_here(void *hsl)
{
	gex_HSL_Unlock((gex_HSL_t *)hsl);
	return NULL;
}

static void
unlocks_elsewhere(void)
{
	gex_HSL_Lock(&lock);
	pt_misuse_in_thread(unlock_here, &lock);
}

static void
locks_garbage(void)
{
	gex_HSL_t garbage;

	memset(&garbage, 0x5a, sizeof(garbage));
	gex_HSL_Lock(&garbage);
}

static void
destroys_held(void)
{
	gex_HSL_Lock(&lock);
	gex_HSL_Destroy(&lock);
}

static void
holds_twice(void)
{
	gasnet_hold_interrupts();
	gasnet_hold_interrupts();
}

static void resumes(void) { gasnet_resume_interrupts(); }

static void
sends_held(void)
{
	gasnet_hold_interrupts();
	(void)gex_AM_RequestShort0(pt.tm, 0, REQ_SHORT, 0);
}

static void
in_child(void)
{
	pid_t child = fork();

	if (child == 0) {
		(void)gasnet_AMPoll();
		_exit(0);
	}
	PT_EQ(waitpid(child, NULL, 0), child);
	abort();
}

#ifdef GASNET_PAR
static gex_EP_t serial_eps[2];
static gex_TM_t serial_tms[2];

static void *
poll_serial(void *unused)
{
	(void)unused;
	pst_thread_bind(serial_eps[0]);
	while (!PT_GET(inside))
		pt_sleep_ms(1);
	(void)gasnet_AMPoll();
	return NULL;
}

static void *
send_serial(void *unused)
{
	(void)unused;
	while (!PT_GET(inside))
		pt_sleep_ms(1);
	(void)gex_AM_RequestShort0(serial_tms[0], 0, REQ_SHORT, 0);
	return NULL;
}

/* The endpoint's thread is in a handler when the other comes. */
static void
at_one_endpoint(void *(*intruder)(void *))
{
	gex_AM_Entry_t table[] = { PT_HANDLER(REQ_WAITS, req_waits, PT_REQ_SHORT, 0),
		                   PT_HANDLER(REQ_SHORT, req_short, PT_REQ_SHORT, 0) };
	pthread_t id;

	PT_OK(pst_team_create_threads(pt.tm, 2, 0, table, PT_COUNT(table), serial_eps, serial_tms,
	                              PST_FLAG_EP_SERIAL));
	PT_EQ(pthread_create(&id, NULL, intruder, NULL), 0);
	PT_OK(gex_AM_RequestShort0(serial_tms[1], 0, REQ_WAITS, 0));
	pst_thread_bind(serial_eps[0]);
	PT_OK(gasnet_AMPoll());
}

static unsigned
recurse(unsigned depth)
{
	volatile char frame[1024];

	frame[0] = (char)depth;
	return depth == UINT32_MAX ? 0 : recurse(depth + 1) + (unsigned)frame[0];
}

static void *
fill_stack(void *unused)
{
	(void)unused;
	(void)gasnet_AMPoll();
	return recurse(0) ? NULL : &lock;
}

static void fills_stack(void) { pt_misuse_in_thread(fill_stack, NULL); }
static void
runs_nothing(void)
{
	PT_EQ(pst_threads_run(pt.tm, 2, 0, NULL, 0, NULL, NULL, 0), GASNET_ERR_BAD_ARG);
}

static void polls_serial(void) { at_one_endpoint(poll_serial); }
static void sends_serial(void) { at_one_endpoint(send_serial); }
#else
static void *
poll_here(void *unused)
{
	(void)unused;
	while (!PT_GET(inside))
		pt_sleep_ms(1);
	(void)gasnet_AMPoll();
	return NULL;
}

/* One thread is in a handler, and so in the library, when the other calls. */
static void
two_threads(void)
{
	pthread_t id;

	PT_EQ(pthread_create(&id, NULL, poll_here, NULL), 0);
	PT_OK(gex_AM_RequestShort0(pt.tm, 0, REQ_WAITS, 0));
}
#endif

#ifdef GASNET_SEQ
#define TWO_THREADS \
	"a second thread calls the library, which a program compiled with GASNET_SEQ may not; " \
	"compile it with GASNET_PARSYNC or GASNET_PAR"
#else
#define TWO_THREADS "two threads are in the library at a time, which a program compiled with " \
	"GASNET_PARSYNC may not; let them take turns, or compile it with GASNET_PAR"
#endif

static const struct pt_misuse cases[] = {
	{ "locks_twice", PT_LOCKS, 1, locks_twice, "a lock that the thread has, locked again",
	  "gex_HSL_Lock: this thread holds the lock at 0x* already; handler-safe locks are not "
	  "recursive",
	  0 },
	{ "unlocks_free", PT_LOCKS, 1, unlocks_free, "a lock that is free, unlocked",
	  "gex_HSL_Unlock: the lock at 0x* is not held by this thread; the one that locked it "
	  "unlocks it",
	  0 },
	{ "out_of_order", PT_LOCKS, 1, out_of_order, "locks unlocked in the order of locking",
	  "gex_HSL_Unlock: the lock at 0x* was not the last that this thread locked; unlock the "
	  "one at 0x* first",
	  0 },
	{ "unlocks_elsewhere", PT_THREADS, 1, unlocks_elsewhere,
	  "a lock unlocked by another "
	  "thread",
	  "gex_HSL_Unlock: the lock at 0x* is not held by this thread; the one that locked it "
	  "unlocks it",
	  0 },
	{ "locks_garbage", PT_BROKEN_LOCKS, 1, locks_garbage, "a lock that was never initialised",
	  "gex_HSL_Lock: Invalid argument; initialise the lock by gex_HSL_Init or "
	  "GEX_HSL_INITIALIZER, and use no copy of it",
	  0 },
	{ "destroys_held", PT_BROKEN_LOCKS, 1, destroys_held, "a lock destroyed while held",
	  "gex_HSL_Destroy: the lock at 0x* is held; unlock it first", 0 },
	{ "holds_twice", PT_DEBUG, 1, holds_twice, "a section without interrupts inside another",
	  "gasnet_hold_interrupts: called twice; such sections do not nest", 0 },
	{ "resumes", PT_DEBUG, 1, resumes, "the end of a section that was not begun",
	  "gasnet_resume_interrupts: called without gasnet_hold_interrupts before it; pair them",
	  0 },
	{ "sends_held", PT_DEBUG, 1, sends_held, "a message in a section without interrupts",
	  "gex_AM_RequestShort: called between gasnet_hold_interrupts and "
	  "gasnet_resume_interrupts; resume first",
	  0 },
#ifdef GASNET_PAR
	{ "fills_stack", PT_FAULT, 1, fills_stack, "a thread whose stack is full",
	  "ended by SIGSEGV (11) at address 0x*, in *: the thread's stack is full; raise ulimit "
	  "-s, or pthread_attr_setstacksize",
	  0 },
	{ "runs_nothing", PT_REFUSED, 1, runs_nothing, "ranks as threads without a function to run",
	  "pst_threads_run: fn is NULL; pass what each rank is to run", 0 },
	{ "polls_serial", PT_CHECKED, 1, polls_serial,
	  "two threads at a time that poll an endpoint for one (`PST_FLAG_EP_SERIAL`)",
	  "a poll: another thread uses endpoint *, which only one thread at a time may use; let "
	  "them take turns, or leave PST_FLAG_EP_SERIAL out",
	  0 },
	{ "sends_serial", PT_CHECKED, 1, sends_serial,
	  "a message from an endpoint for one thread, "
	  "by another",
	  "gex_AM_RequestShort: another thread uses endpoint *, which only one thread at a time "
	  "may use; let them take turns, or leave PST_FLAG_EP_SERIAL out",
	  0 },
#else
	{ "two_threads", PT_CHECKED, 1, two_threads, "two threads at a time in SEQ or PARSYNC",
	  TWO_THREADS, 0 },
#endif
	{ "in_child", PT_ALWAYS, 1, in_child, "a call in a process that the program forked",
	  "gasnet_AMPoll: called in a child that the program forked, which is no rank; only the "
	  "process that called gex_Client_Init or gasnet_init is",
	  0 },
};

static gex_AM_Entry_t handlers[] = {
	PT_HANDLER(REQ_WAITS, req_waits, PT_REQ_SHORT, 0),
	PT_HANDLER(REQ_SHORT, req_short, PT_REQ_SHORT, 0),
};

const struct pt_misuse_set pt_misuse_acts = {
	.cases = cases,
	.count = PT_COUNT(cases),
	.handlers = handlers,
	.handler_count = PT_COUNT(handlers),
};
