#include "bootstrap/engine/pboot_pmi1_line.h"

#include "runtime/util/settings_parse.h"

#include <string.h>

static bool
line_is_printable(const char *text, size_t len_bytes)
{
	size_t i;

	for (i = 0; i < len_bytes; i++)
		if (text[i] < ' ' || text[i] > '~')
			return false;
	return true;
}

/* Adds a word, which ends with a NUL.  False if it has no key or there is no room. */
static bool
line_add(struct pboot_pmi1_line *line, char *word)
{
	char *equals = strchr(word, '=');

	if (!equals)
		return true;
	if (equals == word || line->count == PBOOT_PMI1_WORDS_MAX)
		return false;
	*equals = '\0';
	line->words[line->count].key = word;
	line->words[line->count].value = equals + 1;
	line->count++;
	return true;
}

bool
pboot_pmi1_split(char *text, size_t len_bytes, struct pboot_pmi1_line *line_out)
{
	char *at = text;

	line_out->count = 0;
	if (!line_is_printable(text, len_bytes))
		return false;
	text[len_bytes] = '\0';
	while (*at) {
		const size_t word_len = strcspn(at, " ");
		const bool last = at[word_len] == '\0';

		at[word_len] = '\0';
		if (!line_add(line_out, at))
			return false;
		at += word_len + !last;
	}
	return line_out->count > 0 && strcmp(line_out->words[0].key, "cmd") == 0;
}

const char *
pboot_pmi1_value(const struct pboot_pmi1_line *line, const char *key)
{
	unsigned i;

	for (i = 0; i < line->count; i++)
		if (strcmp(line->words[i].key, key) == 0)
			return line->words[i].value;
	return NULL;
}

bool
pboot_pmi1_number(const struct pboot_pmi1_line *line, const char *key, int64_t least, int64_t most,
    int64_t *out)
{
	const char *text = pboot_pmi1_value(line, key);
	int64_t value;

	if (!text || !psi_parse_int(text, &value) || value < least || value > most)
		return false;
	*out = value;
	return true;
}
