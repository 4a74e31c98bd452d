/*
 * One line of text put together and written in a signal handler: no stdio, no allocation, no
 * locale.  What does not fit is cut.
 */
#ifndef PSI_UTIL_LINE_H
#define PSI_UTIL_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PSI_LINE_BYTES = 512 };

struct psi_line {
	char text[PSI_LINE_BYTES];
	size_t len;
};

void psi_line_text(struct psi_line *line, const char *text);
void psi_line_number(struct psi_line *line, uint64_t number);
void psi_line_address(struct psi_line *line, const void *address);

/* Ends the text with a zero, for calls that take strings; more may be appended. */
const char *psi_line_string(struct psi_line *line);

/* The line and a newline, by one write; false if its reader took nothing for half a second. */
bool psi_line_write(struct psi_line *line, int fd);

#endif
