/* What gasnet_tools.h says of wrong values, and, in a debug library, of wrong uses of locks. */
#include "tests/lib/pt_spawn.h"

#include <gasnet_tools.h>

#include <pthread.h>

static gasnett_mutex_t mutex = GASNETT_MUTEX_INITIALIZER, other = GASNETT_MUTEX_INITIALIZER;
static gasnett_cond_t cond = GASNETT_COND_INITIALIZER;
static gasnett_rwlock_t rwlock = GASNETT_RWLOCK_INITIALIZER;

/* -- values ---------------------------------------------------------------------------------- */

static void parse_word(void) { gasnett_parse_int("twelve", 0); }
static void parse_large(void) { gasnett_parse_int("9223372036854775808", 0); }
static void parse_size(void) { gasnett_parse_int("9000000TB", 1); }
static void parse_negative(void) { gasnett_parse_int("-1KB", 1); }
static void get_int(void) { gasnett_getenv_int_withdefault("PT_BAD", 0, 0); }
static void get_size(void) { gasnett_getenv_int_withdefault("PT_BAD", 0, 1); }
static void get_yesno(void) { gasnett_getenv_yesno_withdefault("PT_BAD", 0); }
static void get_dbl(void) { gasnett_getenv_dbl_withdefault("PT_BAD", 0); }
static void fatal(void) { gasnett_fatalerror("code %d", 7); }
static void fatal_nopos(void) { gasnett_fatalerror_nopos("code %d", 7); }

static void
show(void)
{
	gasnett_envint_display("PT_SIZE", 65536, 0, 1);
	gasnett_envint_display("PT_SIZE", 65536, 0, 1); /* once is enough */
	gasnett_getenv_withdefault("PT_TEXT", "text");
	gasnett_envstr_display("PT_WORD", "word", 0);
	gasnett_envdbl_display("PT_REAL", 0.25, 1);
	if (gasnett_verboseenv() != (pt.rank == 0))
		exit(9);
	pt_barrier();
	gasnet_exit(0);
}

/* -- locks ----------------------------------------------------------------------------------- */

static void *
hold(void *arg)
{
	gasnett_mutex_lock(&mutex);
	gasnett_rwlock_wrlock(&rwlock);
	return arg;
}

static void *
wait_for_cond(void *arg)
{
	gasnett_mutex_lock(&mutex);
	for (;;)
		gasnett_cond_wait(&cond, &mutex);
	return arg;
}

/* A thread that does that, and has done it. */
static void
beside(void *(*fn)(void *), int ends)
{
	pthread_t thread;

	pthread_create(&thread, NULL, fn, NULL);
	if (ends)
		pthread_join(thread, NULL);
	else
		pt_sleep_ms(100);
}

static void lock_twice(void) { gasnett_mutex_lock(&mutex), gasnett_mutex_lock(&mutex); }
static void unlock_free(void) { gasnett_mutex_unlock(&mutex); }
static void unlock_foreign(void) { beside(hold, 1), gasnett_mutex_unlock(&mutex); }
static void destroy_held(void) { gasnett_mutex_lock(&mutex), gasnett_mutex_destroy(&mutex); }
static void destroy_foreign(void) { beside(hold, 1), gasnett_mutex_destroy(&mutex); }
static void assert_locked(void) { gasnett_mutex_assertlocked(&mutex); }
static void assert_free(void) { gasnett_mutex_lock(&mutex), gasnett_mutex_assertunlocked(&mutex); }
static void wait_free(void) { gasnett_cond_wait(&cond, &mutex); }
static void signal_free(void) { beside(wait_for_cond, 0), gasnett_cond_signal(&cond); }
static void broadcast_free(void) { beside(wait_for_cond, 0), gasnett_cond_broadcast(&cond); }
static void destroy_cond(void) { beside(wait_for_cond, 0), gasnett_cond_destroy(&cond); }

static void
wait_other(void)
{
	beside(wait_for_cond, 0);
	gasnett_mutex_lock(&other);
	gasnett_cond_wait(&cond, &other);
}

static void read_twice(void) { gasnett_rwlock_rdlock(&rwlock), gasnett_rwlock_rdlock(&rwlock); }
static void write_read(void) { gasnett_rwlock_wrlock(&rwlock), gasnett_rwlock_rdlock(&rwlock); }
static void read_write(void) { gasnett_rwlock_rdlock(&rwlock), gasnett_rwlock_wrlock(&rwlock); }
static void rw_unlock_free(void) { gasnett_rwlock_unlock(&rwlock); }
static void rw_unlock_foreign(void) { beside(hold, 1), gasnett_rwlock_unlock(&rwlock); }
static void rw_destroy(void) { gasnett_rwlock_rdlock(&rwlock), gasnett_rwlock_destroy(&rwlock); }
static void rw_assert(void) { gasnett_rwlock_assertlocked(&rwlock); }
static void
rw_assert_rd(void)
{
	gasnett_rwlock_wrlock(&rwlock), gasnett_rwlock_assertrdlocked(&rwlock);
}
static void
rw_assert_wr(void)
{
	gasnett_rwlock_rdlock(&rwlock), gasnett_rwlock_assertwrlocked(&rwlock);
}
static void
rw_assert_free(void)
{
	gasnett_rwlock_rdlock(&rwlock), gasnett_rwlock_assertunlocked(&rwlock);
}
static void assumed(void) { gasnett_assume(pt.size == 0); }
static void reached(void) { gasnett_unreachable(); }

/* -- table ----------------------------------------------------------------------------------- */

enum when { ALWAYS, DEBUG, DEBUG_THREADS };

static const struct act {
	const char *name;
	void (*fn)(void);
	enum when when;
	const char *setting;
	int status;
	const char *says[4];
} acts[] = {
#define VALUE(fn, setting, ...) { #fn, fn, ALWAYS, setting, 2, { __VA_ARGS__ } }
#define ABORT(fn, when, ...) { #fn, fn, when, NULL, 134, { __VA_ARGS__ } }
	VALUE(parse_word, NULL, ": twelve: expected", "a whole number"),
	VALUE(parse_large, NULL, ": 9223372036854775808: expected", "64 bits"),
	VALUE(parse_size, NULL, ": 9000000TB: expected", "below 8 EB"),
	VALUE(parse_negative, NULL, ": -1KB: expected", "a size such as"),
	VALUE(get_int, "PT_BAD=1.5", "PT_BAD=1.5", "a whole number"),
	VALUE(get_size, "PT_BAD=10 apples", "PT_BAD=10 apples", "a size such as"),
	VALUE(get_yesno, "PT_BAD=perhaps", "PT_BAD=perhaps", "y, yes"),
	VALUE(get_dbl, "PT_BAD=1/0", "PT_BAD=1/0", "3/8"),
	{ "show", show, ALWAYS, "GASNET_VERBOSEENV=1", 0,
	  { "PT_SIZE = 64 KB (environment)", "PT_TEXT = text (default)", "PT_REAL = 0.25 (default)",
	    "PT_WORD = word (environment)" } },
	ABORT(fatal, ALWAYS, "code 7 (fatal at ", "tools_bad.c:"),
	ABORT(fatal_nopos, ALWAYS, "code 7"),
	ABORT(lock_twice, DEBUG, "gasnett_mutex_lock", "already", "tools_bad.c:"),
	ABORT(unlock_free, DEBUG, "gasnett_mutex_unlock", "nobody"),
	ABORT(unlock_foreign, DEBUG, "gasnett_mutex_unlock", "another thread"),
	ABORT(destroy_held, DEBUG, "gasnett_mutex_destroy", "this thread"),
	ABORT(destroy_foreign, DEBUG, "gasnett_mutex_destroy", "another thread"),
	ABORT(assert_locked, DEBUG, "gasnett_mutex_assertlocked", "does not hold"),
	ABORT(assert_free, DEBUG, "gasnett_mutex_assertunlocked", "holds"),
	ABORT(wait_free, DEBUG, "gasnett_cond_wait", "lock it first"),
	ABORT(wait_other, DEBUG_THREADS, "gasnett_cond_wait", "another mutex"),
	ABORT(signal_free, DEBUG_THREADS, "gasnett_cond_signal", "without the mutex"),
	ABORT(broadcast_free, DEBUG_THREADS, "gasnett_cond_broadcast", "without the mutex"),
	ABORT(destroy_cond, DEBUG_THREADS, "gasnett_cond_destroy", "1 threads wait"),
	ABORT(read_twice, DEBUG, "gasnett_rwlock_rdlock", "reads the lock already"),
	ABORT(write_read, DEBUG, "gasnett_rwlock_rdlock", "writes the lock already"),
	ABORT(read_write, DEBUG, "gasnett_rwlock_wrlock", "reads the lock already"),
	ABORT(rw_unlock_free, DEBUG, "gasnett_rwlock_unlock", "does not hold"),
	ABORT(rw_unlock_foreign, DEBUG, "gasnett_rwlock_unlock", "does not hold"),
	ABORT(rw_destroy, DEBUG, "gasnett_rwlock_destroy", "this thread"),
	ABORT(rw_assert, DEBUG, "gasnett_rwlock_assertlocked", "does not hold"),
	ABORT(rw_assert_rd, DEBUG, "gasnett_rwlock_assertrdlocked", "for writing"),
	ABORT(rw_assert_wr, DEBUG, "gasnett_rwlock_assertwrlocked", "for reading"),
	ABORT(rw_assert_free, DEBUG, "gasnett_rwlock_assertunlocked", "for reading"),
	ABORT(assumed, DEBUG, "pt.size == 0", "does not hold"),
	ABORT(reached, DEBUG, "this place is reached"),
};

static void
job(const char *name, int argc, char **argv)
{
	size_t i;

	pt_start(&argc, &argv, NULL, 0, GASNET_PAGESIZE);
	for (i = 0; i < PT_COUNT(acts); i++) {
		if (strcmp(acts[i].name, name) == 0)
			acts[i].fn();
	}
	gasnet_exit(99);
}

#ifdef GASNET_DEBUG
#define CHECKED DEBUG_THREADS
#else
#define CHECKED ALWAYS
#endif

static void
check_act(const struct act *act)
{
	const char *const settings[] = { act->setting ? act->setting : "PT_BAD", NULL };
	struct pt_outcome out;
	size_t i, lines = 0;

	pt_phase(act->name);
	pt_spawn("/proc/self/exe", act->name, settings, 5000, &out);
	for (i = 0; i < PT_COUNT(act->says) && act->says[i]; i++) {
		if (!strstr(out.text, act->says[i]))
			PT_FAIL("%s does not say \"%s\" but:\n%s", act->name, act->says[i],
			        out.text);
	}
	for (i = 0; out.text[i]; i++)
		lines += out.text[i] == '\n' && act->when == ALWAYS && act->status == 2;
	if (out.status != act->status || lines > 1)
		PT_FAIL("%s: status %d, not %d, or more than a line:\n%s", act->name, out.status,
		        act->status, out.text);
	PT_CHECK(1);
}

int
main(int argc, char **argv)
{
	size_t i;

	if (argc > 1)
		job(argv[1], argc, argv);
	pt_prepare(argv);
	for (i = 0; i < PT_COUNT(acts); i++) {
		if (acts[i].when <= CHECKED)
			check_act(&acts[i]);
	}
	return 0;
}
