#include "config.h"

#include "runtime/report/backtrace.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#ifdef HAVE_EXECINFO_H
#include <execinfo.h>
#endif

#include "gasnet_tools.h"
#include "runtime/settings/settings.h"
#include "runtime/util/line.h"

enum { FRAMES_MAX = 64 };

/* Weak, so that a program's own definition counts. */
__attribute__((weak)) gasnett_backtrace_type_t gasnett_backtrace_user;

/* Written by psi_backtrace_open only. */
static struct {
	bool wanted, by_glibc, by_user;
} traces = { .by_glibc = true };

static const char *
ranges_skip_number(const char *text, unsigned long *out)
{
	char *end;

	if (*text < '0' || *text > '9')
		return NULL;
	*out = strtoul(text, &end, 10);
	return *out <= UINT32_MAX ? end : NULL;
}

/* Reads "3" or "2-4" and the comma behind it; NULL if the text is something else. */
static const char *
ranges_next(const char *text, unsigned long *first, unsigned long *last)
{
	text = ranges_skip_number(text, first);
	if (!text)
		return NULL;
	*last = *first;
	if (*text == '-')
		text = ranges_skip_number(text + 1, last);
	if (!text || (*text != '\0' && *text != ',') || strcmp(text, ",") == 0 || *last < *first)
		return NULL;
	return *text == ',' ? text + 1 : text;
}

bool
psi_ranks_accepted(const char *text)
{
	unsigned long first, last;

	if (strcmp(text, "*") == 0)
		return true;
	do
		text = ranges_next(text, &first, &last);
	while (text && *text);
	return text != NULL;
}

bool
psi_ranks_include(const char *list, uint32_t rank)
{
	unsigned long first, last;

	if (strcmp(list, "*") == 0)
		return true;
	while ((list = ranges_next(list, &first, &last)) != NULL) {
		if (first <= rank && rank <= last)
			return true;
		if (!*list)
			break;
	}
	return false;
}

static bool
frame_is_user(const char *word, size_t len)
{
	const char *name = gasnett_backtrace_user.name;

	return name && gasnett_backtrace_user.fnp && strlen(name) == len &&
	       strncasecmp(name, word, len) == 0;
}

static bool
frame_is_glibc(const char *word, size_t len)
{
	static const char name[] = "EXECINFO";

	return len == sizeof name - 1 && strncasecmp(name, word, len) == 0;
}

bool
psi_backtrace_types_accepted(const char *text)
{
	while (*text) {
		size_t len = strcspn(text, ",");

		if ((!frame_is_user(text, len) && !frame_is_glibc(text, len)) ||
		    strcmp(text + len, ",") == 0)
			return false;
		text += len;
		text += *text == ',';
	}
	return true;
}

static bool
token_names_type(const char *list, bool (*is)(const char *word, size_t len))
{
	while (*list) {
		size_t len = strcspn(list, ",");

		if (is(list, len))
			return true;
		list += len;
		list += *list == ',';
	}
	return false;
}

/* The first call of backtrace() loads a library, which a signal handler must not do. */
static void
backtrace_load_unwinder(void)
{
#ifdef HAVE_BACKTRACE
	void *frame[1];

	backtrace(frame, 1);
#endif
}

void
psi_backtrace_open(uint32_t rank)
{
	const char *types = psi_setting_text(psi_setting_named("GASNET_BACKTRACE_TYPE"));
	bool threads = psi_setting_bool(psi_setting_named("GASNET_BACKTRACE_MT"));

	traces.by_glibc = !types || token_names_type(types, frame_is_glibc);
	traces.by_user = gasnett_backtrace_user.fnp &&
	                 (!types || token_names_type(types, frame_is_user)) &&
	                 (!threads || gasnett_backtrace_user.threadsupport);
	traces.wanted = psi_setting_bool(psi_setting_named("GASNET_BACKTRACE")) &&
			psi_ranks_include(psi_setting_text(psi_setting_named("GASNET_BACKTRACE_NODES")),
					  rank);
	backtrace_load_unwinder();
}

bool
psi_backtrace_wanted(void)
{
	return traces.wanted;
}

static int
backtrace_by_glibc(int fd)
{
#ifdef HAVE_BACKTRACE
	void *frames[FRAMES_MAX];
	int count = backtrace(frames, FRAMES_MAX);

	if (count <= 0)
		return -1;
	backtrace_symbols_fd(frames, count, fd);
	return 0;
#else
	(void)fd;
	return -1;
#endif
}

int
psi_backtrace_print(int fd)
{
	if (traces.by_user && gasnett_backtrace_user.fnp(fd) == 0)
		return 0;
	return traces.by_glibc ? backtrace_by_glibc(fd) : -1;
}

static int
backtrace_if_wanted(int fd)
{
	return psi_backtrace_wanted() ? psi_backtrace_print(fd) : 0;
}

/* Programs may put a function of their own here. */
int (*gasnett_print_backtrace_ifenabled)(int fd) = backtrace_if_wanted;
