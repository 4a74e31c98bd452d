#include "template.h"

#include "program_find.h"
#include "words.h"

#include <stdio.h>
#include <stdlib.h>

/* Appends text to a shell command; a word is quoted, so that the shell passes it on unchanged. */
static void
shell_add(FILE *out, const char *word)
{
	fputc('\'', out);
	for (; *word; word++) {
		if (*word == '\'')
			fputs("'\\''", out);
		else
			fputc(*word, out);
	}
	fputc('\'', out);
}

static void
shell_add_command(FILE *out, char *const *command)
{
	char *const *word;

	for (word = command; *word; word++) {
		if (word != command)
			fputc(' ', out);
		shell_add(out, *word);
	}
}

/* The user's template, run by a shell: "mpirun -np %N %C". */
static void
template_fill(FILE *out, const char *variable, uint32_t size, char *const *command)
{
	const char *at;

	for (at = getenv(variable); *at; at++) {
		if (*at != '%')
			fputc(*at, out);
		else if (*++at == 'N')
			fprintf(out, "%u", size);
		else if (*at == 'C')
			shell_add_command(out, command);
		else if (*at == '%')
			fputc('%', out);
		else
			program_refuse("%s=%s: expected %%N for the number of ranks, %%C for the "
			               "command, %%%% for a percent sign, and no other letter "
			               "behind %%", variable, getenv(variable));
	}
}

char **
template_command(const char *variable, uint32_t size, char *const *command)
{
	const char *template = getenv(variable);
	struct words words = { NULL, 0 };
	char *text = NULL;
	size_t bytes;
	FILE *out;

	if (!template || !*template)
		return NULL;
	out = open_memstream(&text, &bytes);
	if (!out)
		program_refuse("no memory");
	fputs("exec ", out);
	template_fill(out, variable, size, command);
	if (fclose(out) != 0)
		program_refuse("no memory");
	words_add(&words, "/bin/sh");
	words_add_pair(&words, "-c", text);
	free(text);
	return words.list;
}
