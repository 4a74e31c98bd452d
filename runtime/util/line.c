#include "runtime/util/line.h"

#include "runtime/util/nowait.h"

/* Room is kept for a newline or a zero. */
static void
line_append(struct psi_line *line, char c)
{
	if (line->len < PSI_LINE_BYTES - 1)
		line->text[line->len++] = c;
}

void
psi_line_text(struct psi_line *line, const char *text)
{
	while (*text)
		line_append(line, *text++);
}

static void
line_append_number(struct psi_line *line, uint64_t number, unsigned base)
{
	char digits[20];
	unsigned count = 0;

	do {
		digits[count++] = "0123456789abcdef"[number % base];
		number /= base;
	} while (number != 0);
	while (count > 0)
		line_append(line, digits[--count]);
}

void
psi_line_number(struct psi_line *line, uint64_t number)
{
	line_append_number(line, number, 10);
}

void
psi_line_address(struct psi_line *line, const void *address)
{
	psi_line_text(line, "0x");
	line_append_number(line, (uintptr_t)address, 16);
}

const char *
psi_line_string(struct psi_line *line)
{
	line->text[line->len] = '\0';
	return line->text;
}

bool
psi_line_write(struct psi_line *line, int fd)
{
	line->text[line->len] = '\n';
	return psi_write_within(fd, line->text, line->len + 1, PSI_LAST_WORD_NS);
}
