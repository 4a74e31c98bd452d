#include "runtime/settings/settings.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/util/settings_parse.h"
#include "runtime/util/log.h"

enum { ROWS_MAX = 256, ACCEPTS_BYTES = 256, BAD_SETTING = 2 };

/* Changed by init only, before other threads exist. */
static bool speaks = true;
static void (*leave)(int status) = exit;

/* One flag per row, in table order: its value has been reported under GASNET_VERBOSEENV. */
static atomic_bool reported[ROWS_MAX];

/* A parsed value.  The row's kind says which member is used. */
union parsed {
	bool flag;
	int64_t number;
	uint64_t amount;
	unsigned choice;
};

const struct psi_setting *
psi_setting_row(size_t number)
{
	for (size_t t = 0; psi_settings_lists[t]; t++) {
		if (number < psi_settings_lists[t]->count)
			return &psi_settings_lists[t]->rows[number];
		number -= psi_settings_lists[t]->count;
	}
	return NULL;
}

const struct psi_setting *
psi_setting_find(const char *name)
{
	const struct psi_setting *row;

	for (size_t i = 0; (row = psi_setting_row(i)); i++)
		if (strcmp(row->name, name) == 0)
			return row;
	return NULL;
}

const struct psi_setting *
psi_setting_named(const char *name)
{
	const struct psi_setting *row = psi_setting_find(name);

	if (!row) {
		psi_log("internal error: no setting is named %s", name);
		abort();
	}
	return row;
}

/* The number of a row among all rows; ROWS_MAX if it is in no table. */
static size_t
setting_row_number(const struct psi_setting *row)
{
	const struct psi_setting *other;

	for (size_t i = 0; (other = psi_setting_row(i)); i++)
		if (other == row)
			return i;
	return ROWS_MAX;
}

const char *
psi_setting_value(const struct psi_setting *row, enum psi_setting_origin *origin_out)
{
	const char *text = getenv(row->name);
	bool given = text && *text;

	if (origin_out)
		*origin_out = given ? PSI_ORIGIN_ENVIRONMENT : PSI_ORIGIN_DEFAULT;
	return given ? text : row->default_text;
}

bool
psi_setting_given(const struct psi_setting *row)
{
	enum psi_setting_origin origin;

	psi_setting_value(row, &origin);
	return origin == PSI_ORIGIN_ENVIRONMENT;
}

static uint64_t
unit_ns(const struct psi_setting *row)
{
	if (strcmp(row->unit, "us") == 0)
		return 1000;
	return strcmp(row->unit, "ms") == 0 ? 1000000 : 1000000000;
}

static uint64_t
unit_bytes(const struct psi_setting *row)
{
	uint64_t bytes = 1;

	if (row->unit)
		psi_parse_size(row->unit[0] == 'B'   ? "1"
		               : row->unit[0] == 'K' ? "1K"
		                                     : "1M",
		               1, &bytes);
	return bytes;
}

static bool
setting_in_range(const struct psi_setting *row, bool above_min, bool below_max)
{
	return above_min && (below_max || row->max == 0);
}

static bool
setting_parse(const struct psi_setting *row, const char *text, union parsed *out)
{
	switch (row->kind) {
	case PSI_SETTING_BOOL:
		return psi_parse_bool(text, &out->flag);
	case PSI_SETTING_INT:
		return psi_parse_int(text, &out->number) &&
		       setting_in_range(row, out->number >= row->min, out->number <= row->max);
	case PSI_SETTING_SIZE:
		return psi_parse_size(text, unit_bytes(row), &out->amount) &&
		       setting_in_range(row, out->amount >= (uint64_t)row->min,
		                        out->amount <= (uint64_t)row->max);
	case PSI_SETTING_TIME:
		return psi_parse_time(text, unit_ns(row), &out->amount) &&
		       setting_in_range(row, true,
		                        out->amount <= (uint64_t)row->max * unit_ns(row));
	case PSI_SETTING_CHOICE:
		return psi_parse_word(text, strlen(text), row->choices, &out->choice);
	case PSI_SETTING_SET:
		return psi_parse_set(text, row->choices, &out->amount);
	case PSI_SETTING_TEXT:
		return !row->check || row->check(text);
	}
	return false;
}

bool
psi_setting_accepted(const struct psi_setting *row, const char *text)
{
	union parsed value;

	return setting_parse(row, text, &value);
}

/* Appends "a, b, c". */
static void
setting_append_words(char *buf, size_t size, const char *const *words)
{
	size_t i;

	for (i = 0; words[i]; i++) {
		size_t len = strlen(buf);

		snprintf(buf + len, size - len, "%s%s", i ? ", " : " ", words[i]);
	}
}

static void
setting_append_range(char *buf, size_t size, const struct psi_setting *row, const char *unit)
{
	size_t len = strlen(buf);

	if (row->max != 0)
		snprintf(buf + len, size - len, " from %lld to %lld%s", (long long)row->min,
			 (long long)row->max, unit);
	else if (row->min != 0)
		snprintf(buf + len, size - len, " of at least %lld%s", (long long)row->min, unit);
}

const char *
psi_setting_accepts(const struct psi_setting *row, char *buf, size_t size)
{
	char unit[16];

	switch (row->kind) {
	case PSI_SETTING_BOOL:
		snprintf(buf, size, "1, y, yes, 0, n or no");
		break;
	case PSI_SETTING_INT:
		snprintf(buf, size, "a whole number");
		setting_append_range(buf, size, row, "");
		break;
	case PSI_SETTING_SIZE:
		snprintf(buf, size, "a size such as 64KB, 1.5GB or a number of %s,",
			 row->unit ? row->unit : "B");
		setting_append_range(buf, size, row, " B");
		if (buf[strlen(buf) - 1] == ',')
			buf[strlen(buf) - 1] = '\0';
		break;
	case PSI_SETTING_TIME:
		snprintf(buf, size, "a time in %s, such as 2 or 0.5%s", row->unit,
		         row->max ? "," : "");
		snprintf(unit, sizeof unit, " %s", row->unit);
		setting_append_range(buf, size, row, unit);
		break;
	case PSI_SETTING_CHOICE:
		snprintf(buf, size, "one of");
		setting_append_words(buf, size, row->choices);
		break;
	case PSI_SETTING_SET:
		snprintf(buf, size, "a comma-separated list of");
		setting_append_words(buf, size, row->choices);
		break;
	case PSI_SETTING_TEXT:
		snprintf(buf, size, "%s", row->accepts ? row->accepts : "any text");
		break;
	}
	return buf;
}

void
psi_settings_speak(bool speak)
{
	speaks = speak;
}

void
psi_settings_leave_by(void (*fn)(int status))
{
	leave = fn;
}

bool
psi_settings_warns(void)
{
	return speaks && !psi_setting_bool(psi_setting_named("GASNET_QUIET"));
}

void
psi_settings_refuse(const char *name, const char *text, const char *accepts)
{
	/* Rank 0 says it for all, and the job ends; if not, its environment is another one. */
	if (!speaks)
		sleep(1);
	psi_log("%s%s%s: expected %s", name, *name ? "=" : "", text, accepts);
	leave(BAD_SETTING);
	abort();
}

static _Noreturn void
setting_refuse(const struct psi_setting *row, const char *text)
{
	char accepts[ACCEPTS_BYTES];

	psi_settings_refuse(row->name, text, psi_setting_accepts(row, accepts, sizeof accepts));
}

bool
psi_settings_verbose(void)
{
	const char *text = getenv("GASNET_VERBOSEENV");
	bool on = false;

	return speaks && text && psi_parse_bool(text, &on) && on;
}

void
psi_settings_print(const char *name, const char *text, enum psi_setting_origin origin)
{
	if (psi_settings_verbose())
		psi_log("setting %s = %s (%s)", name, text ? text : "",
			origin == PSI_ORIGIN_DEFAULT ? "default" : "environment");
}

/* Prints the value in force, once per row. */
static void
setting_report(const struct psi_setting *row, const char *text, enum psi_setting_origin origin)
{
	size_t number = setting_row_number(row);

	if (number < ROWS_MAX && psi_settings_verbose() &&
	    !atomic_exchange(&reported[number], true))
		psi_settings_print(row->name, text, origin);
}

static union parsed
setting_read_row(const struct psi_setting *row, enum psi_setting_kind kind)
{
	enum psi_setting_origin origin;
	const char *text = psi_setting_value(row, &origin);
	union parsed value = { .amount = 0 };

	assert(row->kind == kind);
	(void)kind;
	if (text && !setting_parse(row, text, &value))
		setting_refuse(row, text);
	setting_report(row, text, origin);
	return value;
}

bool
psi_setting_bool(const struct psi_setting *row)
{
	return setting_read_row(row, PSI_SETTING_BOOL).flag;
}

int64_t
psi_setting_int(const struct psi_setting *row)
{
	return setting_read_row(row, PSI_SETTING_INT).number;
}

uint64_t
psi_setting_size(const struct psi_setting *row)
{
	return setting_read_row(row, PSI_SETTING_SIZE).amount;
}

uint64_t
psi_setting_ns(const struct psi_setting *row)
{
	return setting_read_row(row, PSI_SETTING_TIME).amount;
}

unsigned
psi_setting_choice(const struct psi_setting *row)
{
	return setting_read_row(row, PSI_SETTING_CHOICE).choice;
}

uint64_t
psi_setting_set(const struct psi_setting *row)
{
	return setting_read_row(row, PSI_SETTING_SET).amount;
}

const char *
psi_setting_text(const struct psi_setting *row)
{
	setting_read_row(row, PSI_SETTING_TEXT);
	return psi_setting_value(row, NULL);
}

const char *
psi_setting_value_of(const char *name)
{
	const struct psi_setting *row = psi_setting_find(name);

	return row ? psi_setting_value(row, NULL) : NULL;
}

void
psi_settings_check(void)
{
	const struct psi_setting *row;

	for (size_t i = 0; (row = psi_setting_row(i)); i++) {
		enum psi_setting_origin origin;
		const char *text = psi_setting_value(row, &origin);

		if (text && !psi_setting_accepted(row, text))
			setting_refuse(row, text);
		if (origin == PSI_ORIGIN_ENVIRONMENT)
			setting_report(row, text, origin);
	}
}
