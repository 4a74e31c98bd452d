/* A blob is a value that travels as text, in pieces, through stores that take short texts without
 * blanks.  The text is the number of bytes as 8 hexadecimal digits and then the bytes, two digits
 * each; pieces are cut from it in order.  Pure functions; no byte of a text is trusted. */
#ifndef PBOOT_BLOB_H
#define PBOOT_BLOB_H

#include <stdbool.h>
#include <stddef.h>

enum { PBOOT_BLOB_HEAD = 8 };

/* Characters of the text for a value of this length. */
static inline size_t
pboot_blob_chars(size_t len_bytes)
{
	return PBOOT_BLOB_HEAD + 2 * len_bytes;
}

/* Writes the characters from `from' of the text, at most max of them (both even), and a NUL.
 * Returns how many it wrote; 0 behind the end. */
size_t pboot_blob_cut(const void *value, size_t len_bytes, size_t from, size_t max,
                      char *piece_out);

/* A value that comes in pieces. */
struct pboot_blob {
	unsigned char *bytes;	/* the caller's, room_bytes of them */
	size_t room_bytes;
	size_t chars;		/* of the text, so far */
	size_t len_bytes;	/* of the value, as the text's head says */
};

/* Takes the next piece: 1 if the value is complete, 0 if more must come, -1 if this cannot be a
 * piece of it or the value is longer than the room. */
int pboot_blob_add(struct pboot_blob *blob, const char *piece);

#endif
