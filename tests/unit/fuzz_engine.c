/*
 * Texts from outside against what reads an engine's answers: lines of PMI-1 and values in pieces.
 * As a program of its own it makes them up; built with PT_LIBFUZZER it is a target of libFuzzer
 * (scripts/fuzz).
 *
 *     fuzz_engine [seconds [seed]]
 */
#include "bootstrap/engine/pboot_blob.h"
#include "bootstrap/engine/pboot_card.h"
#include "bootstrap/engine/pboot_pmi1_line.h"

#include "tests/unit/fuzz_need.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 64, TEXT_BYTES = 256 };

/* Every word lies in the text, ends there, and is found by its key. */
static void
check_line(const char *source, size_t len)
{
	char *text = malloc(len + 1);
	struct pboot_pmi1_line line;
	int64_t number = 5;
	unsigned i;

	if (!text)
		return;
	memcpy(text, source, len);
	if (pboot_pmi1_split(text, len, &line)) {
		need(line.count > 0 && line.count <= PBOOT_PMI1_WORDS_MAX, "count of words");
		for (i = 0; i < line.count; i++) {
			const char *key = line.words[i].key, *value = line.words[i].value;

			need(key >= text && value > key && value + strlen(value) <= text + len,
			    "a word outside its line");
			need(*key && !strchr(value, ' '), "a word that is none");
			need(pboot_pmi1_value(&line, key) != NULL, "a word that is not found");
			if (pboot_pmi1_number(&line, key, -5, 1000, &number))
				need(number >= -5 && number <= 1000, "a number out of bounds");
		}
	}
	free(text);
}

/* The text's lines are pieces. */
static void
check_pieces(const char *source, size_t len)
{
	unsigned char *room = malloc(ROOM);
	char *text = malloc(len + 1), *at, *end;
	struct pboot_blob blob = { .bytes = room, .room_bytes = ROOM };
	int got = 0;

	if (!room || !text)
		abort();
	memcpy(text, source, len);
	text[len] = '\0';
	for (at = text; got == 0 && at; at = end ? end + 1 : NULL) {
		end = strchr(at, '\n');
		if (end)
			*end = '\0';
		got = pboot_blob_add(&blob, at);
	}
	if (got == 1)
		need(blob.len_bytes <= ROOM && blob.chars == pboot_blob_chars(blob.len_bytes),
		    "a value that is too long");
	free(room);
	free(text);
}

/* What is read as a card is one: its fields end, and are what a rank puts there. */
static void
check_card(const char *source, size_t len)
{
	struct pboot_card card;
	char *text = malloc(len + 1);

	if (!text)
		return;
	memcpy(text, source, len);
	if (pboot_card_read(text, len, &card) && card.version == PBOOT_WIRE_VERSION)
		need(card.pid > 0 && strlen(card.name) == PBOOT_NAME_BYTES - 1 &&
		     strlen(card.host) < sizeof card.host && *card.host, "no card");
	free(text);
}

static void
check(const char *source, size_t len)
{
	check_card(source, len);
	check_line(source, len);
	check_pieces(source, len);
}

#if defined(PT_LIBFUZZER)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check((const char *)data, size);
	return 0;
}

#else

#include "tests/unit/fuzz.h"

static size_t
make_up(char text[TEXT_BYTES])
{
	static const char *const pieces[] = {
		"cmd=",
		"cmd",
		"=",
		" ",
		"rc=0",
		"rc=-1",
		"msg=",
		"value=",
		"size=4",
		"maxes",
		"\n",
		"\t",
		"00000000",
		"00000002",
		"0000003f",
		"00000041",
		"ab",
		"f",
		"00",
		"ffffffff",
		"-",
		"7",
		"vallen_max=1024", "3 ", "0.1.0 ", "12 ", "0123456789abcdef ",
		"0123456789abcdef0123456789abcdef ",
		"a=b=c",
		"18446744073709551616",
	};
	unsigned left = (unsigned)fuzz_draw(24) + 1;
	size_t len = 0, piece_len;

	while (left-- > 0) {
		const char *piece = pieces[fuzz_draw(sizeof pieces / sizeof *pieces)];
		char any[2] = { (char)fuzz_draw(256), '\0' };

		if (fuzz_draw(24) == 0)
			piece = any;
		piece_len = piece == any ? 1 : strlen(piece);
		if (len + piece_len > TEXT_BYTES)
			break;
		memcpy(text + len, piece, piece_len);
		len += piece_len;
	}
	return len;
}

static void
try_one(void)
{
	char text[TEXT_BYTES];

	check(text, make_up(text));
}

int
main(int argc, char **argv)
{
	return fuzz_run("fuzz_engine", argc, argv, try_one);
}

#endif
