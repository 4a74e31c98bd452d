/*
 * Lines of the PMI-1 wire protocol, as a server sends them: "cmd=maxes kvsname_max=256
 * keylen_max=64". Pure functions; no byte of a line is trusted.
 */
#ifndef PBOOT_PMI1_LINE_H
#define PBOOT_PMI1_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	PBOOT_PMI1_LINE_MAX = 4096,	/* bytes of a line that comes, with its newline */
	PBOOT_PMI1_REQUEST_MAX = 1024,	/* of a line that is sent; Slurm takes no longer one */
	PBOOT_PMI1_WORDS_MAX = 16,
};

struct pboot_pmi1_line {
	unsigned count;
	struct {
		const char *key, *value;
	} words[PBOOT_PMI1_WORDS_MAX];
};

/*
 * Splits a line (len_bytes, without its newline) into words.  Writes into text, which has room for
 * a NUL behind it, and keeps pointers to it.  A word without `=' belongs to the message of an error
 * and is left out.  Returns false if the line holds anything but printable ASCII, has too many
 * words or a word without a key, or does not begin with the key cmd.
 */
bool pboot_pmi1_split(char *text, size_t len_bytes, struct pboot_pmi1_line *line_out);

/* The value of the first word with that key; NULL if there is none. */
const char *pboot_pmi1_value(const struct pboot_pmi1_line *line, const char *key);

/* Reads that value as a decimal number from `least' to `most'; false if it is none. */
bool pboot_pmi1_number(const struct pboot_pmi1_line *line, const char *key, int64_t least,
                       int64_t most, int64_t *out);

#endif
