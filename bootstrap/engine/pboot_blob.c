#include "bootstrap/engine/pboot_blob.h"

#include <stdint.h>
#include <string.h>

static const char digits[] = "0123456789abcdef";

/* The character of the text at this offset. */
static char
blob_char(const unsigned char *value, size_t len_bytes, size_t at)
{
	if (at < PBOOT_BLOB_HEAD)
		return digits[len_bytes >> (4 * (PBOOT_BLOB_HEAD - 1 - at)) & 15];
	at -= PBOOT_BLOB_HEAD;
	return digits[at % 2 ? value[at / 2] & 15 : value[at / 2] >> 4];
}

size_t
pboot_blob_cut(const void *value, size_t len_bytes, size_t from, size_t max, char *piece_out)
{
	const size_t chars = pboot_blob_chars(len_bytes);
	size_t count = 0;

	while (count < max && from + count < chars) {
		piece_out[count] = blob_char(value, len_bytes, from + count);
		count++;
	}
	piece_out[count] = '\0';
	return count;
}

/* The value of a digit, -1 for any other character. */
static int
digit_value(char digit)
{
	const char *at = digit ? strchr(digits, digit) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* Takes one digit.  Returns false if there is no room or the value is already complete. */
static bool
blob_digit(struct pboot_blob *blob, unsigned value)
{
	size_t at;

	if (blob->chars < PBOOT_BLOB_HEAD) {
		blob->len_bytes = blob->len_bytes << 4 | value;
		return true;
	}
	at = (blob->chars - PBOOT_BLOB_HEAD) / 2;
	if (at >= blob->len_bytes || at >= blob->room_bytes)
		return false;
	if (blob->chars % 2 == 0)
		blob->bytes[at] = (unsigned char)(value << 4);
	else
		blob->bytes[at] = (unsigned char)(blob->bytes[at] | value);
	return true;
}

int
pboot_blob_add(struct pboot_blob *blob, const char *piece)
{
	const size_t len = strlen(piece);
	size_t i;

	if (len == 0 || len % 2 != 0)
		return -1;
	if (blob->chars == 0)
		blob->len_bytes = 0;
	for (i = 0; i < len; i++, blob->chars++) {
		const int value = digit_value(piece[i]);

		if (value < 0 || !blob_digit(blob, (unsigned)value))
			return -1;
	}
	if (blob->chars < PBOOT_BLOB_HEAD)
		return 0;
	if (blob->len_bytes > blob->room_bytes)
		return -1;
	return blob->chars == pboot_blob_chars(blob->len_bytes);
}
