#include "bootstrap/share/pboot_tag.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A line that gets longer is cut. */
enum { LINE_MAX_BYTES = 1 << 20, TAG_BYTES = 16 };

static bool
text_add(char **to, size_t *fill, size_t *room, const char *text, size_t len)
{
	char *larger;

	if (len > *room - *fill) {
		larger = realloc(*to, (*fill + len) * 2);
		if (!larger)
			return false;
		*to = larger;
		*room = (*fill + len) * 2;
	}
	if (len > 0)
		memcpy(*to + *fill, text, len);
	*fill += len;
	return true;
}

static bool
lines_add(struct pboot_tag_lines *lines, const char *text, size_t len)
{
	return text_add(&lines->text, &lines->len, &lines->room, text, len);
}

static bool
stream_keep(struct pboot_tag_stream *stream, const char *text, size_t len)
{
	return text_add(&stream->text, &stream->len, &stream->room, text, len);
}

/* Ends a line: the kept beginning, then this text. */
static bool
stream_end_line(struct pboot_tag_stream *stream, uint32_t rank, const char *text, size_t len,
    struct pboot_tag_lines *lines)
{
	char tag[TAG_BYTES];
	const size_t tag_len = (size_t)snprintf(tag, sizeof tag, "[%u] ", rank);
	const bool added = lines_add(lines, tag, tag_len) &&
	    lines_add(lines, stream->text, stream->len) && lines_add(lines, text, len) &&
	    lines_add(lines, "\n", 1);

	stream->len = 0;
	return added;
}

bool
pboot_tag_take(struct pboot_tag_stream *stream, uint32_t rank, const char *text, size_t len,
    struct pboot_tag_lines *lines)
{
	const bool ends = len == 0;
	const char *end;

	while (len > 0 && (end = memchr(text, '\n', len)) != NULL) {
		if (!stream_end_line(stream, rank, text, (size_t)(end - text), lines))
			return false;
		len -= (size_t)(end - text) + 1;
		text = end + 1;
	}
	if (!stream_keep(stream, text, len))
		return false;
	if (stream->len >= LINE_MAX_BYTES || (ends && stream->len > 0))
		return stream_end_line(stream, rank, "", 0, lines);
	return true;
}
