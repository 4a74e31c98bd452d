/* Puts the rank in front of the lines that ranks print, for --tag-output.  Pure functions. */
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

/* Takes len bytes that the rank has printed, and adds the lines that are whole.  len 0 is the end
 * of the stream; then a line without a newline is whole too.  Returns false if memory is
 * missing. */
bool pboot_tag_take(struct pboot_tag_stream *stream, uint32_t rank, const char *text, size_t len,
    struct pboot_tag_lines *lines);

#endif
