/* Annotations, system properties and the miscellany of gasnet_tools.h. */
#include "tests/lib/pt_either.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

GASNETT_IDENT(pt_ident, "$GASNetTest: tools_misc $");

#if GASNETT_CACHE_LINE_BYTES < 16 || GASNETT_PAGESIZE != 1 << GASNETT_PAGESHIFT
#error "constants of the system"
#endif

/* -- annotations ----------------------------------------------------------------------------- */

static int calls;

GASNETT_INLINE(inlined) int
inlined(int x)
{
	calls++;
	return x;
}

GASNETT_NEVER_INLINE(outlined, static int outlined(int x))
{
	calls++;
	return x;
}

static char *grab(size_t size) GASNETT_MALLOC GASNETT_WARN_UNUSED_RESULT GASNETT_USED;
static int hash(const char *text) GASNETT_PURE;
static int square(int x) GASNETT_CONST;
static void busy(void) GASNETT_HOT;
static void idle(void) GASNETT_COLD;
static void old(void) GASNETT_DEPRECATED GASNETT_USED;
static void leave(void) GASNETT_NORETURN GASNETT_USED;
GASNETT_NORETURNP(leave) GASNETT_MALLOCP(grab) GASNETT_PUREP(hash) GASNETT_CONSTP(square)
GASNETT_FORMAT_PRINTF(say, 1, 2, static int say(const char *format, ...));
GASNETT_FORMAT_PRINTF_FUNCPTR(say_by, 1, 2, static int (*say_by)(const char *format, ...)) = say;

static char *
grab(size_t size)
{
	return (char *)malloc(size);
}

static int
hash(const char *text)
{
	return text[0];
}

static int
square(int x)
{
	return x * x;
}

static void
busy(void)
{
	calls++;
}

static void
idle(void)
{
	calls++;
}

static void
old(void)
{
	calls++;
}

static void
leave(void)
{
	exit(3);
}

static int
say(const char *format, ...)
{
	return format[0];
}

static int
fall(int from)
{
	int passed = 0;

	switch (from) {
	case 0:
		passed++;
		GASNETT_FALLTHROUGH
	case 1:
		passed++;
		break;
	default:
		gasnett_unreachable();
	}
	return passed;
}

static int
add_all(int *GASNETT_RESTRICT to, const int *GASNETT_RESTRICT from)
{
	*to += *from;
	return *to;
}

static void
check_annotations(void)
{
	int zero = 0, one = 1, chosen = 0;

	PT_EQ(inlined(2) + outlined(3), 5);
	busy();
	idle();
	PT_EQ(calls, 4);
	PT_EQ(hash("A") + square(3), 'A' + 9);
	PT_EQ(say_by("%d", 1), '%');
	PT_EQ(fall(0), 2);
	PT_EQ(fall(1), 1);
	PT_EQ(add_all(&one, &zero), 1);
	gasnett_assume(one == 1);
	PT_CHECK(GASNETT_PREDICT_TRUE(one) && GASNETT_PREDICT_FALSE(one));
	PT_CHECK(!GASNETT_PREDICT_TRUE(zero) && !GASNETT_PREDICT_FALSE(zero));
	if_pf (zero)
		chosen = 1;
	else
		chosen = 2;
	PT_EQ(chosen, 2);
	if_pf (one)
		chosen = 4;
	PT_EQ(chosen, 4);
	if_pt (one)
		chosen = 3;
	PT_EQ(chosen, 3);
	PT_CHECK(gasnett_constant_p(7) == 0 || gasnett_constant_p(7) == 1);
	GASNETT_UNUSED_ARGS1(calls++);
	GASNETT_UNUSED_ARGS2(calls++, calls++);
	GASNETT_UNUSED_ARGS3(calls++, calls++, calls++);
	GASNETT_UNUSED_ARGS4(calls++, calls++, calls++, calls++);
	GASNETT_UNUSED_ARGS5(calls++, calls++, calls++, calls++, calls++);
	GASNETT_UNUSED_ARGS6(calls++, calls++, calls++, calls++, calls++, calls++);
	GASNETT_UNUSED_ARGS7(calls++, calls++, calls++, calls++, calls++, calls++, calls++);
	GASNETT_UNUSED_ARGS8(calls++, calls++, calls++, calls++, calls++, calls++, calls++,
	                     calls++);
	PT_EQ(calls, 40);
	PT_STR(GASNETT_CURRENT_FUNCTION, "check_annotations");
	PT_STR(pt_ident, "$GASNetTest: tools_misc $");
}

static void
check_position(void)
{
	char *first = gasnett_current_loc, *second = gasnett_current_loc;

	PT_CHECK(strstr(first, "check_position at ") == first && strstr(first, "tools_misc.c:"));
	PT_CHECK(first != second);
	free(first);
	free(second);
}

/* -- system ---------------------------------------------------------------------------------- */

static void
check_system(void)
{
	char name[256] = "", path[4096] = "";
	const uint32_t one = 1;

	PT_EQ(gethostname(name, sizeof(name) - 1), 0);
	PT_STR(gasnett_gethostname(), name);
	PT_CHECK(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
	PT_STR(gasnett_exe_name(), path);
	PT_EQ(gasnett_cpu_count(), sysconf(_SC_NPROCESSORS_ONLN));
	PT_LE(gasnett_getPhysMemSz(1), (uint64_t)sysconf(_SC_PHYS_PAGES) * 4096 + (1u << 30));
	PT_LE(UINT64_C(1) << 26, gasnett_getPhysMemSz(0));
	PT_EQ(gasnett_isLittleEndian(), *(const char *)&one);
	PT_STR(gasnett_release_version_str(), "2025.8.0");
	snprintf(name, sizeof(name), "%d.%d.%d", GASNET_RELEASE_VERSION_MAJOR,
	         GASNET_RELEASE_VERSION_MINOR, GASNET_RELEASE_VERSION_PATCH);
	PT_STR(gasnett_release_version_str(), name);
	PT_CHECK(gasnett_release_version() == UINT64_C(2025080000));
	PT_CHECK(gasnett_performance_warning_str() != NULL);
	PT_CHECK(GASNETT_PLATFORM_COMPILER_FAMILYID > 0 && GASNETT_PLATFORM_COMPILER_ID > 0 &&
	         GASNETT_PLATFORM_COMPILER_VERSION > 0);
	PT_CHECK(strlen(GASNETT_PLATFORM_COMPILER_IDSTR) > 4);
	PT_CHECK(GASNETT_CONFIGURE_ARGS[0] == '\0' || strchr(GASNETT_CONFIGURE_ARGS, '-'));
}

static void
check_affinity(void)
{
	cpu_set_t before, now;
	int round;

	PT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
	PT_EQ(GASNETT_SET_AFFINITY_SUPPORT, 1);
	for (round = 0; round < 3; round++) {
		PT_EQ(gasnett_set_affinity(round), 0);
		PT_EQ(sched_getaffinity(0, sizeof(now), &now), 0);
		PT_EQ(CPU_COUNT(&now), 1);
		PT_EQ(sched_setaffinity(0, sizeof(before), &before), 0);
	}
	PT_CHECK(gasnett_set_affinity(-1) != 0);
}

/* -- bytes ----------------------------------------------------------------------------------- */

static void
check_bytes(void)
{
	unsigned char from[67], to[67];
	size_t offset, len, i, zeros;
	uint64_t sum;

	for (i = 0; i < sizeof(from); i++)
		from[i] = i % 3 ? (unsigned char)(i * 37) : 0;
	for (offset = 0; offset < 9; offset++) {
		for (len = 0; len + offset <= sizeof(from); len++) {
			for (zeros = i = 0; i < len; i++)
				zeros += from[offset + i] == 0;
			PT_EQ(gasnett_count0s(from + offset, len), zeros);
			memset(to, 0xee, sizeof(to));
			PT_EQ(gasnett_count0s_copy(to, from + offset, len), zeros);
			PT_CHECK(memcmp(to, from + offset, len) == 0);
			PT_CHECK(len == sizeof(to) || to[len] == 0xee);
		}
	}
	PT_EQ(gasnett_count0s_uint32_t(0), 4);
	PT_EQ(gasnett_count0s_uint32_t(0x01000100u), 2);
	PT_EQ(gasnett_count0s_uint64_t(0), 8);
	PT_EQ(gasnett_count0s_uint64_t(UINT64_C(0x80ff007f00010000)), 4);
	PT_EQ(gasnett_count0s_uintptr_t(0), sizeof(uintptr_t));
	PT_EQ(gasnett_count0s_uintptr_t(UINTPTR_MAX), 0);

	sum = gasnett_checksum(from, sizeof(from));
	PT_CHECK(sum == gasnett_checksum(from, sizeof(from)));
	for (i = 0; i < sizeof(from) * 8; i++) {
		from[i / 8] ^= (unsigned char)(1 << i % 8);
		PT_CHECK(sum != gasnett_checksum(from, sizeof(from)));
		from[i / 8] ^= (unsigned char)(1 << i % 8);
	}
	memset(from, 0, sizeof(from));
	PT_CHECK(gasnett_checksum(from, 3) != gasnett_checksum(from, 4));
}

/* -- signals, streams, the end --------------------------------------------------------------- */

static volatile sig_atomic_t caught;

static void
catch_it(int number)
{
	caught = number;
}

static void
check_signals(void)
{
	gasnett_sighandlerfn_t before = gasnett_reghandler(SIGUSR1, catch_it);

	raise(SIGUSR1);
	PT_EQ(caught, SIGUSR1);
	PT_CHECK(gasnett_reghandler(SIGUSR1, SIG_IGN) == catch_it);
	raise(SIGUSR1);
	PT_CHECK(gasnett_reghandler(SIGUSR1, SIG_DFL) == SIG_IGN);
	PT_CHECK(gasnett_reghandler(SIGUSR1, before) == SIG_DFL);
	PT_STR(gasnett_signame_fromval(SIGSEGV), "SIGSEGV");
	PT_STR(gasnett_signame_fromval(SIGHUP), "SIGHUP");
	PT_CHECK(gasnett_signame_fromval(9999) != NULL);
}

/* In a child, whose end does not matter to the job. */
static int
status_of(void (*fn)(void))
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		fn();
		_exit(99);
	}
	PT_CHECK(waitpid(pid, &status, 0) == pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void
say_no(void)
{
	_exit(98);
}

static void
kill_me(void)
{
	atexit(say_no);
	gasnett_killmyprocess(17);
}

/* Standard output leads into a pipe; closed, it leads nowhere, and what is opened is none of the
 * three. */
static int ends[2];

static void
close_streams(void)
{
	int fd;

	dup2(ends[1], STDOUT_FILENO);
	gasnett_close_streams();
	fd = open("/dev/zero", O_RDONLY);
	_exit(fd > 2 && write(STDOUT_FILENO, "late", 4) == 4 ? 21 : 22);
}

static void
flush_streams(void)
{
	dup2(ends[1], STDOUT_FILENO);
	setvbuf(stdout, NULL, _IOFBF, BUFSIZ);
	printf("text");
	gasnett_flush_streams();
	_exit(23);
}

/* What came through the pipe since. */
static const char *
come(void)
{
	static char text[64];
	ssize_t len = read(ends[0], text, sizeof(text) - 1);

	text[len > 0 ? len : 0] = '\0';
	return text;
}

static void
check_ends(void)
{
	gasnett_flush_streams();
	PT_EQ(pipe(ends), 0);
	PT_EQ(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
	PT_EQ(status_of(kill_me), 17);
	PT_EQ(status_of(close_streams), 21);
	PT_STR(come(), "");
	PT_EQ(status_of(flush_streams), 23);
	PT_STR(come(), "text");
	close(ends[0]);
	close(ends[1]);
}

/* -- traces ---------------------------------------------------------------------------------- */

static void
tell_stats(int (*print)(const char *format, ...))
{
	print("never called\n");
}

static void
check_traces(void)
{
	PT_EQ(GASNETT_TRACE_ENABLED, 0);
	PT_STR(GASNETT_TRACE_GETMASK(), "");
	PT_STR(GASNETT_STATS_GETMASK(), "");
	GASNETT_TRACE_SETMASK("PGRSWBLAM");
	GASNETT_STATS_SETMASK("");
	if (calls)
		GASNETT_TRACE_PRINTF("%d and %s", 1, "two");
	else
		GASNETT_TRACE_PRINTF_FORCE("nothing");
	GASNETT_STATS_PRINTF("%d", 1);
	GASNETT_STATS_PRINTF_FORCE("%d", 1);
	GASNETT_STATS_INIT(tell_stats);
	GASNETT_STATS_DUMP(1);
}

int
main(int argc, char **argv)
{
	PT_BEGIN(argc, argv);
	check_annotations();
	check_position();
	check_system();
	check_affinity();
	check_bytes();
	check_signals();
	check_ends();
	check_traces();
	PT_END();
}
