#include "tests/unit/parse_oracle.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "runtime/util/settings_parse.h"

__extension__ typedef unsigned __int128 wide;

#define BILLION 1000000000u
#define TOO_WIDE ((wide)1 << 100)

static bool
oracle_bool(const char *text, bool *out)
{
	*out = !strcasecmp(text, "1") || !strcasecmp(text, "y") || !strcasecmp(text, "yes");
	return *out || !strcasecmp(text, "0") || !strcasecmp(text, "n") || !strcasecmp(text, "no");
}

static bool
oracle_int(const char *text, int64_t *out)
{
	bool negative = *text == '-';
	unsigned base = 10;
	wide value = 0;

	if (*text == '+' || *text == '-')
		text++;
	if (!strncasecmp(text, "0x", 2)) {
		base = 16;
		text += 2;
	}
	if (!*text)
		return false;
	for (; *text; text++) {
		char digit[2] = { *text, '\0' };

		if (base == 16 ? !isxdigit((unsigned char)*text) : !isdigit((unsigned char)*text))
			return false;
		if (value < TOO_WIDE)
			value = value * base + strtoul(digit, NULL, 16);
	}
	if (value > (wide)INT64_MAX + negative)
		return false;
	*out = negative ? (int64_t)(0 - (uint64_t)value) : (int64_t)value;
	return true;
}

/* Digits, perhaps a point and digits; the rest of the text, or NULL. */
static const char *
digits_of(const char *text, wide *whole_out, wide *billionths_out)
{
	size_t before = strspn(text, "0123456789"), behind = 0, i;
	const char *at = text + before;

	if (*at == '.')
		behind = strspn(++at, "0123456789");
	if (before + behind == 0)
		return NULL;
	*whole_out = *billionths_out = 0;
	for (i = 0; i < before; i++)
		if (*whole_out < TOO_WIDE)
			*whole_out = *whole_out * 10 + (unsigned)(text[i] - '0');
	for (i = 0; i < 9; i++) {
		const unsigned digit = i < behind ? (unsigned)(at[i] - '0') : 0u;

		*billionths_out = *billionths_out * 10 + digit;
	}
	return at + behind;
}

static bool
oracle_amount(const char *text, uint64_t unit, bool suffixes, uint64_t *out)
{
	static const char *const words[] = { "B", "KB", "MB", "GB", "TB" };
	wide whole, billionths, value;
	const char *rest = digits_of(text, &whole, &billionths);
	bool known = rest && !*rest;
	int i;

	for (i = 0; rest && suffixes && i < 5; i++) {
		const char *suffix = *rest == ' ' ? rest + 1 : rest;

		if (!strcasecmp(suffix, words[i]) ||
		    (i > 0 && suffix[0] && !suffix[1] && !strncasecmp(suffix, words[i], 1))) {
			unit = UINT64_C(1) << 10 * i;
			known = true;
		}
	}
	if (!known || unit == 0 || whole > UINT64_MAX)
		return false;
	value = whole * unit + billionths * unit / BILLION;
	*out = (uint64_t)value;
	return value <= UINT64_MAX;
}

/* A number alone, perhaps with sign and exponent: its length, or 0. */
static size_t
number_len(const char *text, bool plain)
{
	const char *at = text, *exponent;
	wide whole, part;

	if (!plain && (*at == '+' || *at == '-'))
		at++;
	at = digits_of(at, &whole, &part);
	if (!at)
		return 0;
	if (!plain && (*at == 'e' || *at == 'E')) {
		exponent = at + 1 + (at[1] == '+' || at[1] == '-');
		if (isdigit((unsigned char)*exponent))
			at = exponent + strspn(exponent, "0123456789");
	}
	return (size_t)(at - text);
}

static bool
oracle_double(const char *text, bool plain, double *out)
{
	size_t len = number_len(text, plain), rest = 0;
	double top, bottom = 1;

	if (len == 0)
		return false;
	top = strtod(text, NULL);
	if (text[len] == '/') {
		rest = number_len(text + len + 1, plain);
		if (rest == 0)
			return false;
		bottom = strtod(text + len + 1, NULL);
		rest++;
	}
	*out = top / bottom;
	return !text[len + rest] && isfinite(top) && isfinite(bottom) && bottom != 0 &&
	       isfinite(*out);
}

#define COMPARE(call, expected, type, format)                                              \
	do {                                                                               \
		type want = 0, got = 0;                                                    \
		bool wanted = expected, given = call;                                      \
                                                                                           \
		if (wanted != given || (given && memcmp(&want, &got, sizeof want) != 0)) { \
			fprintf(stderr, "\"%s\", unit %llu: " #call " is %d, " format      \
				", not %d, " format "\n", text, (unsigned long long)unit,  \
				given, got, wanted, want);                                 \
			abort();                                                           \
		}                                                                          \
	} while (0)

void
parse_oracle_check(const char *text, uint64_t unit)
{
	COMPARE(psi_parse_bool(text, &got), oracle_bool(text, &want), bool, "%d");
	COMPARE(psi_parse_int(text, &got), oracle_int(text, &want), int64_t, "%jd");
	COMPARE(psi_parse_size(text, unit, &got), oracle_amount(text, unit, true, &want), uint64_t,
		"%ju");
	COMPARE(psi_parse_time(text, unit, &got), oracle_amount(text, unit, false, &want), uint64_t,
		"%ju");
	COMPARE(psi_parse_fraction(text, &got), oracle_double(text, true, &want), double, "%g");
	COMPARE(psi_parse_double(text, &got), oracle_double(text, false, &want), double, "%g");
}
