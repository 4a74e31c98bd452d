/*
 * Texts against the readers of settings and of gasnet_tools.h and their naive doubles. As a program
 * of its own it makes them up, from pieces of numbers more often than not; built with PT_LIBFUZZER
 * it is a target of libFuzzer (scripts/fuzz).
 *
 *     fuzz_parsers [seconds [seed]]
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/parse_oracle.h"

enum { TEXT_BYTES = 64 };

static const uint64_t units[] = { 1, 2, 1000, 1024, 4096, 1000000000, UINT64_C(1) << 40,
				  UINT64_C(0x123456789abcdef), UINT64_MAX };

#if defined(PT_LIBFUZZER)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text;

	if (size == 0)
		return 0;
	text = malloc(size);
	if (!text)
		return 0;
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	parse_oracle_check(text, units[data[0] % (sizeof units / sizeof *units)]);
	free(text);
	return 0;
}

#else

#include "tests/unit/fuzz.h"

#include "gasnet_tools.h"

static void
make_up(char *text)
{
	static const char *const pieces[] = {
		"0",
		"1",
		"9",
		"25",
		"1024",
		"0x",
		"7f",
		"-",
		"+",
		".",
		"/",
		"e",
		"E3",
		"e-",
		" ",
		"K",
		"MB",
		"gb",
		"T",
		"b",
		"yes",
		"N",
		"18446744073709551615",
		"9223372036854775807",
		"9223372036854775808",
		"0.1",
		"1e308",
		"inf",
		"nan",
		"\t",
		",",
		"000000000",
	};
	unsigned left = (unsigned)fuzz_draw(6) + 1;
	size_t len = 0;

	while (left-- > 0) {
		const char *piece = pieces[fuzz_draw(sizeof pieces / sizeof *pieces)];
		char any[2] = { (char)(fuzz_draw(255) + 1), '\0' };

		if (fuzz_draw(16) == 0)
			piece = any;
		if (len + strlen(piece) >= TEXT_BYTES)
			break;
		strcpy(text + len, piece);
		len += strlen(piece);
	}
	text[len] = '\0';
}

/* What is formatted reads as the same number. */
static void
there_and_back(void)
{
	char text[TEXT_BYTES];
	int64_t value = (int64_t)(fuzz_draw(UINT64_MAX) << fuzz_draw(64) >> fuzz_draw(64));

	if (gasnett_parse_int(gasnett_format_number(value, text, sizeof text, 0), 0) != value ||
	    (value >= 0 &&
	     gasnett_parse_int(gasnett_format_number(value, text, sizeof text, 1), 1) != value)) {
		fprintf(stderr, "%lld is formatted as %s\n", (long long)value, text);
		abort();
	}
}

static void
try_one(void)
{
	char text[TEXT_BYTES + 1];

	make_up(text);
	parse_oracle_check(text, units[fuzz_draw(sizeof units / sizeof *units)]);
	there_and_back();
}

int
main(int argc, char **argv)
{
	return fuzz_run("fuzz_parsers", argc, argv, try_one);
}

#endif
