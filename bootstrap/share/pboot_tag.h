/* Lines of ranks with their rank in front, for --tag-output.  Pure. */
#ifndef PBOOT_TAG_H
#define PBOOT_TAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A stream of one rank, zeroed at first; text is the beginning of a line whose end has not come. */
struct pboot_tag_stream {
	char *text;
	size_t len, room;
};

/* Tagged lines, which are to be written together; the caller takes them and sets len to 0. */
struct pboot_tag_lines {
	char *text;
	size_t len, room;
};

/* Takes what the rank has printed and adds the lines that are whole; no bytes: the end of the
 * stream, and a line without an end is whole too.  False: no memory. */
bool pboot_tag_take(struct pboot_tag_stream *stream, uint32_t rank, const char *text, size_t len,
    struct pboot_tag_lines *lines);

#endif
