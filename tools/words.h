/* A list of words that grows: the command line of another program. */
#ifndef TOOLS_WORDS_H
#define TOOLS_WORDS_H

#include <stddef.h>
#include <stdint.h>

struct words {
	char **list;    /* ends with a NULL; malloced, and so is each word; NULL: no word yet */
	size_t count;
};

/* Without memory these end the program with one line. */
void words_add(struct words *words, const char *text);
void words_add_pair(struct words *words, const char *option, const char *value);
void words_add_number(struct words *words, const char *option, uint32_t number);
void words_add_command(struct words *words, char *const *command);
void words_add_formatted(struct words *words, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void words_free(char **list);

#endif
