#include "runtime/util/settings_parse.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A decimal number: whole, and part / scale, which is less than 1; so "0.1" of a unit is exact. */
struct decimal {
	uint64_t whole, part, scale;
};

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

bool
psi_parse_bool(const char *text, bool *out)
{
	static const char *const words[] = { "0", "1", "n", "y", "no", "yes", NULL };
	unsigned at;

	if (!psi_parse_word(text, strlen(text), words, &at))
		return false;
	*out = at & 1;
	return true;
}

static int
digit_value(char c)
{
	if (is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return 99;
}

bool
psi_parse_int(const char *text, int64_t *out)
{
	bool negative = *text == '-', sign = negative || *text == '+';
	const char *digits = text + sign;
	bool hex = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
	uint64_t base = hex ? 16 : 10, limit = (uint64_t)INT64_MAX + negative, value = 0;

	text = digits + (hex ? 2 : 0);
	if (!*text)
		return false;
	for (; *text; text++) {
		uint64_t digit = (uint64_t)digit_value(*text);

		if (digit >= base || value > (limit - digit) / base)
			return false;
		value = value * base + digit;
	}
	*out = (int64_t)(negative ? 0 - value : value);
	return true;
}

/* Reads digits[.digits] and returns what follows, or NULL.  Of a fraction, 9 digits count. */
static const char *
read_decimal(const char *text, struct decimal *out)
{
	struct decimal number = { 0, 0, 1 };
	const char *at = text;
	bool digits = is_digit(*at);

	for (; is_digit(*at); at++) {
		if (__builtin_mul_overflow(number.whole, 10, &number.whole) ||
		    __builtin_add_overflow(number.whole, (uint64_t)(*at - '0'), &number.whole))
			return NULL;
	}
	if (*at == '.') {
		for (at++; is_digit(*at); at++, digits = true) {
			if (number.scale == 1000000000u)
				continue;
			number.part = number.part * 10 + (uint64_t)(*at - '0');
			number.scale *= 10;
		}
	}
	if (!digits)
		return NULL;
	*out = number;
	return at;
}

/* number * unit, rounded down; false if it does not fit.  Both scale and part are below 2^30. */
static bool
scale_up(struct decimal number, uint64_t unit, uint64_t *out)
{
	uint64_t value, part = number.part * (unit / number.scale) +
			       number.part * (unit % number.scale) / number.scale;

	if (__builtin_mul_overflow(number.whole, unit, &value) ||
	    __builtin_add_overflow(value, part, &value))
		return false;
	*out = value;
	return true;
}

/* The suffix of a size, or 0. */
static uint64_t
size_unit(const char *suffix, uint64_t plain)
{
	static const char letters[] = "KMGTkmgt";
	const char *found;
	unsigned power;

	if (!*suffix)
		return plain;
	if (*suffix == ' ')
		suffix++;
	if (strcasecmp(suffix, "b") == 0)
		return 1;
	found = *suffix ? strchr(letters, *suffix) : NULL;
	if (!found || (suffix[1] && strcasecmp(suffix + 1, "b") != 0))
		return 0;
	power = (unsigned)(found - letters) % 4 + 1;
	return UINT64_C(1) << (10 * power);
}

bool
psi_parse_size(const char *text, uint64_t unit_bytes, uint64_t *out)
{
	struct decimal number;
	const char *rest = read_decimal(text, &number);
	uint64_t unit = rest ? size_unit(rest, unit_bytes) : 0;

	return unit && scale_up(number, unit, out);
}

bool
psi_parse_count(const char *text, uint64_t *out)
{
	int64_t number;

	if (!psi_parse_int(text, &number))
		return psi_parse_size(text, 1, out);
	if (number < 0)
		return false;
	*out = (uint64_t)number;
	return true;
}

bool
psi_parse_time(const char *text, uint64_t unit_ns, uint64_t *out_ns)
{
	struct decimal number;
	const char *rest = read_decimal(text, &number);

	return rest && !*rest && scale_up(number, unit_ns, out_ns);
}

/* Digits, point and exponent only: neither hexadecimal nor infinite, whatever the locale. */
static const char *
read_double(const char *text, double *out)
{
	locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	char *end = NULL;
	double value = 0;

	if (plain) {
		value = strtod_l(text, &end, plain);
		freelocale(plain);
	}
	if (!end || end == text || strspn(text, "+-.0123456789eE") < (size_t)(end - text) ||
	    !isfinite(value))
		return NULL;
	*out = value;
	return end;
}

bool
psi_parse_double(const char *text, double *out)
{
	double top, bottom = 1;
	const char *rest = read_double(text, &top);

	if (rest && *rest == '/')
		rest = read_double(rest + 1, &bottom);
	if (!rest || *rest || bottom == 0 || !isfinite(top / bottom))
		return false;
	*out = top / bottom;
	return true;
}

bool
psi_parse_fraction(const char *text, double *out)
{
	return !text[strspn(text, "0123456789./")] && psi_parse_double(text, out);
}

bool
psi_parse_word(const char *text, size_t len, const char *const *words, unsigned *out)
{
	unsigned i;

	for (i = 0; words[i]; i++) {
		if (strlen(words[i]) == len && strncasecmp(words[i], text, len) == 0) {
			*out = i;
			return true;
		}
	}
	return false;
}

bool
psi_parse_set(const char *text, const char *const *words, uint64_t *out)
{
	uint64_t bits = 0;

	while (*text) {
		size_t len = strcspn(text, ",");
		unsigned at;

		if (!psi_parse_word(text, len, words, &at) || strcmp(text + len, ",") == 0)
			return false;
		bits |= UINT64_C(1) << at;
		text += len;
		text += *text == ',';
	}
	*out = bits;
	return true;
}
