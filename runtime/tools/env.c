/* Numbers as people write them, and environment variables. */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gasnet_tools.h"
#include "runtime/settings/settings.h"
#include "runtime/util/settings_parse.h"
#include "runtime/util/log.h"

#define SIZE_ACCEPTED "a size such as 64KB or 1.5GB, below 8 EB"
#define INT_ACCEPTED  "a whole number of 64 bits, decimal or with 0x"

enum { NUMBER_BYTES = 48 };

char *
gasnett_format_number(int64_t val, char *buf, size_t bufsz, int is_mem_size)
{
	static const char *const units[] = { "B", "KB", "MB", "GB", "TB" };
	unsigned unit = 0;

	if (!is_mem_size) {
		snprintf(buf, bufsz, "%" PRId64, val);
		return buf;
	}
	while (val != 0 && val % 1024 == 0 && unit + 1 < sizeof units / sizeof units[0]) {
		val /= 1024;
		unit++;
	}
	snprintf(buf, bufsz, "%" PRId64 " %s", val, units[unit]);
	return buf;
}

static bool
env_parse(const char *text, uint64_t unit, int64_t *out)
{
	uint64_t bytes;

	if (unit == 0)
		return psi_parse_int(text, out);
	if (!psi_parse_size(text, unit, &bytes) || bytes > INT64_MAX)
		return false;
	*out = (int64_t)bytes;
	return true;
}

static const char *
env_accepted(uint64_t unit)
{
	return unit ? SIZE_ACCEPTED : INT_ACCEPTED;
}

int64_t
gasnett_parse_int(const char *str, uint64_t mem_size_multiplier)
{
	int64_t value = 0;

	if (!env_parse(str, mem_size_multiplier, &value))
		psi_settings_refuse("", str, env_accepted(mem_size_multiplier));
	return value;
}

void
gasnett_setenv(const char *key, const char *value)
{
	if (setenv(key, value, 1) != 0)
		gasnett_fatalerror_nopos("gasnett_setenv(\"%s\"): %s", key, strerror(errno));
}

void
gasnett_unsetenv(const char *key)
{
	if (unsetenv(key) != 0)
		gasnett_fatalerror_nopos("gasnett_unsetenv(\"%s\"): %s", key, strerror(errno));
}

char *
gasnett_getenv(const char *keyname)
{
	return getenv(keyname);
}

int
gasnett_verboseenv(void)
{
	return psi_settings_verbose();
}

/* Names that have been reported; kept for the life of the process. */
struct reported {
	struct reported *next;
	char key[];
};

static pthread_mutex_t reported_lock = PTHREAD_MUTEX_INITIALIZER;
static struct reported *reported_keys;

/* True the first time for each key; with no memory to note it, each time. */
static bool
env_is_news(const char *key)
{
	size_t bytes = strlen(key) + 1;
	struct reported *at;

	pthread_mutex_lock(&reported_lock);
	for (at = reported_keys; at && strcmp(at->key, key) != 0; at = at->next)
		;
	if (!at) {
		struct reported *added = malloc(sizeof *added + bytes);

		if (added) {
			memcpy(added->key, key, bytes);
			added->next = reported_keys;
			reported_keys = added;
		}
	}
	pthread_mutex_unlock(&reported_lock);
	return !at;
}

void
gasnett_envstr_display(const char *key, const char *val, int is_dflt)
{
	if (psi_settings_verbose() && env_is_news(key))
		psi_settings_print(key, val, is_dflt ? PSI_ORIGIN_DEFAULT : PSI_ORIGIN_ENVIRONMENT);
}

void
gasnett_envint_display(const char *key, int64_t val, int is_dflt, int is_mem_size)
{
	char text[NUMBER_BYTES];

	gasnett_envstr_display(key, gasnett_format_number(val, text, sizeof text, is_mem_size),
	                       is_dflt);
}

void
gasnett_envdbl_display(const char *key, double val, int is_dflt)
{
	char text[NUMBER_BYTES];

	snprintf(text, sizeof text, "%g", val);
	gasnett_envstr_display(key, text, is_dflt);
}

/* The text of a variable that is set and not empty, or NULL. */
static const char *
env_given(const char *key)
{
	const char *text = getenv(key);

	return text && *text ? text : NULL;
}

char *
gasnett_getenv_withdefault(const char *keyname, const char *defaultval)
{
	char *text = getenv(keyname);

	gasnett_envstr_display(keyname, text ? text : defaultval, !text);
	return text ? text : (char *)(uintptr_t)defaultval;
}

int
gasnett_getenv_yesno_withdefault(const char *keyname, int defaultval)
{
	const char *text = env_given(keyname);
	bool value = defaultval != 0;

	if (text && !psi_parse_bool(text, &value))
		psi_settings_refuse(keyname, text, "1, y, yes, 0, n or no");
	gasnett_envstr_display(keyname, value ? "YES" : "NO", !text);
	return value;
}

int64_t
gasnett_getenv_int_withdefault(const char *keyname, int64_t defaultval,
                               uint64_t mem_size_multiplier)
{
	const char *text = env_given(keyname);
	int64_t value = defaultval;

	if (text && !env_parse(text, mem_size_multiplier, &value))
		psi_settings_refuse(keyname, text, env_accepted(mem_size_multiplier));
	gasnett_envint_display(keyname, value, !text, mem_size_multiplier != 0);
	return value;
}

double
gasnett_getenv_dbl_withdefault(const char *keyname, double defaultval)
{
	const char *text = env_given(keyname);
	double value = defaultval;

	if (text && !psi_parse_double(text, &value))
		psi_settings_refuse(keyname, text, "a number such as 0.5 or 1e-3, or a fraction "
		                                   "such as 3/8");
	gasnett_envdbl_display(keyname, value, !text);
	return value;
}
