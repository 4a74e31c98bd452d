/* Sums and counts over memory. */
#include <string.h>

#include "gasnet_tools.h"

#define PRIME UINT64_C(0x9e3779b97f4a7c15)

static uint64_t
bytes_mix(uint64_t sum, uint64_t word)
{
	sum = (sum ^ word) * PRIME;
	return sum ^ (sum >> 29);
}

/* Mixes whole words; the rest is filled up with zeros.  The length is mixed in too, so that
 * trailing zeros change the result. */
uint64_t
gasnett_checksum(const void *p, int numbytes)
{
	const char *at = p;
	size_t left = numbytes > 0 ? (size_t)numbytes : 0;
	uint64_t sum = bytes_mix(PRIME, left), word;

	for (; left >= sizeof word; left -= sizeof word, at += sizeof word) {
		memcpy(&word, at, sizeof word);
		sum = bytes_mix(sum, word);
	}
	word = 0;
	memcpy(&word, at, left);
	return bytes_mix(sum, word);
}

size_t
gasnett_count0s(const void *p, size_t numbytes)
{
	const char *at = p, *end = at + numbytes;
	size_t zeros = 0;
	uint64_t word;

	for (; (size_t)(end - at) >= sizeof word; at += sizeof word) {
		memcpy(&word, at, sizeof word);
		zeros += (size_t)gasnett_count0s_uint64_t(word);
	}
	for (; at < end; at++)
		zeros += *at == 0;
	return zeros;
}

size_t
gasnett_count0s_copy(void *GASNETT_RESTRICT dst, const void *GASNETT_RESTRICT src, size_t numbytes)
{
	const char *at = src, *end = at + numbytes;
	char *to = dst;
	size_t zeros = 0;
	uint64_t word;

	for (; (size_t)(end - at) >= sizeof word; at += sizeof word, to += sizeof word) {
		memcpy(&word, at, sizeof word);
		memcpy(to, &word, sizeof word);
		zeros += (size_t)gasnett_count0s_uint64_t(word);
	}
	for (; at < end; at++, to++) {
		zeros += *at == 0;
		*to = *at;
	}
	return zeros;
}
