/*
 * What programs in the field do with nothing included but the header that HEADER names; TOOLS:
 * where it brings the tools.  C and C++, in any mode of either language.
 */
#include HEADER

#ifdef __cplusplus
#define AS(type, value)          (static_cast<type>(value))
#define REINTERPRET(type, value) (reinterpret_cast<type>(value))
#else
#define AS(type, value)          ((type)(value))
#define REINTERPRET(type, value) ((type)(value))
#endif

/* Standard headers come along. */
static int
system_headers(const char *text)
{
	char buf[64];
	pid_t pid = getpid();                     /* <sys/types.h>, <unistd.h> */
	sig_atomic_t flag = SIGTERM;              /* <signal.h> */
	uint64_t number = UINT64_C(7);            /* <inttypes.h> */
	char *copy = AS(char *, malloc(strlen(text) + 1)); /* <stdlib.h>, <string.h> */

	if (!copy)
		return ENOMEM;                    /* <errno.h> */
	strcpy(copy, text);
	snprintf(buf, sizeof buf, "%" PRIu64 "%c", number,
	         toupper(copy[0])); /* <stdio.h>, <ctype.h> */
	free(copy);
	errno = 0;
	return pid > INT_MAX || MIN(flag, 3) != 3 ||
	       MAX(flag, 3) == 3; /* <limits.h>, <sys/param.h> */
}

/* Expectations without a prefix. */
static int
expectations(int value)
{
	if_pf (value == 1)
		return 1;
	else
		value++;
	if_pt (value)
		return 2;
	return 3;
}

#if GASNET_RELEASE_VERSION_MAJOR < 2025 || GASNET_RELEASE_VERSION_MINOR < 1 ||                     \
	GASNET_RELEASE_VERSION_PATCH < 0
#error "the release"
#endif

#ifdef TOOLS
#if GASNET_RELEASE_VERSION_MAJOR != GASNETT_RELEASE_VERSION_MAJOR || \
	GASNET_RELEASE_VERSION_MINOR != GASNETT_RELEASE_VERSION_MINOR || \
	GASNET_RELEASE_VERSION_PATCH != GASNETT_RELEASE_VERSION_PATCH
#error "the release of the tools"
#endif

/* Against warnings of unused functions. */
typedef void function(void);

static int
functions(void)
{
	function *const unused[] = {
		REINTERPRET(function *, &_gasnett_trace_printf_noop),
#ifdef GASNET_PAR
		REINTERPRET(function *, &_gasneti_threadkey_init),
#endif
	};

	return unused[0] == unused[sizeof unused / sizeof unused[0] - 1];
}

static gasnett_mutex_t lock = GASNETT_MUTEX_INITIALIZER;

static uint64_t
tools(void)
{
	gasnett_mutex_lock(&lock);
	gasnett_local_mb();
	gasnett_mutex_unlock(&lock);
	return gasnett_ticks_to_ns(gasnett_ticks_now());
}
#endif

int use(const char *text);
int
use(const char *text)
{
#ifdef TOOLS
	if (!tools())
		return functions();
#endif
	return system_headers(text) + expectations(text[0]);
}
