#include "words.h"

#include "program_find.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void
words_take(struct words *words, char *word)
{
	char **larger = realloc(words->list, (words->count + 2) * sizeof *words->list);

	if (!larger || !word)
		program_refuse("no memory");
	larger[words->count++] = word;
	larger[words->count] = NULL;
	words->list = larger;
}

void
words_add(struct words *words, const char *text)
{
	words_take(words, strdup(text));
}

void
words_add_pair(struct words *words, const char *option, const char *value)
{
	words_add(words, option);
	words_add(words, value);
}

void
words_add_formatted(struct words *words, const char *format, ...)
{
	char *word = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&word, format, args) < 0)
		word = NULL;
	va_end(args);
	words_take(words, word);
}

void
words_add_number(struct words *words, const char *option, uint32_t number)
{
	words_add(words, option);
	words_add_formatted(words, "%u", number);
}

void
words_add_command(struct words *words, char *const *command)
{
	for (; *command; command++)
		words_add(words, *command);
}

void
words_free(char **list)
{
	char **word;

	for (word = list; word && *word; word++)
		free(*word);
	free(list);
}
