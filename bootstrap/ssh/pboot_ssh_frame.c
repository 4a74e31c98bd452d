#include "bootstrap/ssh/pboot_ssh_frame.h"

#include <stdio.h>
#include <string.h>

#define GREETING "penstock-agent "

enum body { NOTHING, NUMBER, BYTES };

/* What each kind carries, and which side sends it. */
static const struct shape {
	bool launcher, agent;	/* may send it */
	bool ranked, stream;	/* rank is one of the sender's; is 0 or 1 */
	enum body body;
} shapes[PBOOT_SSH_KINDS] = {
	[PBOOT_SSH_ORDER] = { .launcher = true, .body = BYTES },
	[PBOOT_SSH_START] = { .launcher = true },
	[PBOOT_SSH_SIGNAL] = { .launcher = true, .body = NUMBER },
	[PBOOT_SSH_QUIT] = { .launcher = true, .body = NUMBER },
	[PBOOT_SSH_TIME_OVER] = { .launcher = true },
	[PBOOT_SSH_KILL] = { .launcher = true },
	[PBOOT_SSH_STDIN] = { .launcher = true, .body = BYTES },
	[PBOOT_SSH_READ] = { .launcher = true, .stream = true, .body = NUMBER },
	[PBOOT_SSH_NO_READER] = { .launcher = true, .stream = true },
	[PBOOT_SSH_JOINED] = { .agent = true, .ranked = true },
	[PBOOT_SSH_LEFT] = { .agent = true, .ranked = true },
	[PBOOT_SSH_ABORT] = { .agent = true, .ranked = true, .body = NUMBER },
	[PBOOT_SSH_STDOUT] = { .agent = true, .ranked = true, .body = BYTES },
	[PBOOT_SSH_STDERR] = { .agent = true, .ranked = true, .body = BYTES },
	[PBOOT_SSH_ENDED] = { .agent = true, .ranked = true, .body = NUMBER },
	[PBOOT_SSH_NO_EXEC] = { .agent = true, .ranked = true, .body = NUMBER },
	[PBOOT_SSH_ASKED] = { .agent = true, .body = NUMBER },
	[PBOOT_SSH_FAILED] = { .agent = true, .body = NUMBER },
	[PBOOT_SSH_HOST_LOST] = { .agent = true, .body = NUMBER },
	[PBOOT_SSH_STDIN_READ] = { .agent = true, .body = NUMBER },
	[PBOOT_SSH_STDIN_GONE] = { .agent = true },
	[PBOOT_SSH_FAULT] = { .agent = true, .body = BYTES },
	[PBOOT_SSH_DONE] = { .agent = true },
	[PBOOT_SSH_PAIRS] = { .launcher = true, .agent = true, .body = BYTES },
	[PBOOT_SSH_FENCE] = { .launcher = true, .agent = true },
};

static uint32_t
load_32(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 |
	    bytes[3];
}

static void
store_32(uint8_t *bytes_out, uint32_t value)
{
	bytes_out[0] = (uint8_t)(value >> 24);
	bytes_out[1] = (uint8_t)(value >> 16);
	bytes_out[2] = (uint8_t)(value >> 8);
	bytes_out[3] = (uint8_t)value;
}

void
pboot_ssh_frame_write(enum pboot_ssh_kind kind, uint32_t rank, uint32_t len_bytes,
    uint8_t head_out[PBOOT_SSH_HEAD_BYTES])
{
	store_32(head_out, len_bytes);
	store_32(head_out + 4, (uint32_t)kind);
	store_32(head_out + 8, rank);
}

static bool
head_is_right(const struct shape *shape, enum pboot_ssh_side from,
    const struct pboot_ssh_ranks *ranks, uint32_t rank, uint32_t len)
{
	if (!(from == PBOOT_SSH_LAUNCHER ? shape->launcher : shape->agent))
		return false;
	if (shape->ranked ? rank < ranks->first || rank - ranks->first >= ranks->count
	                  : rank > shape->stream)
		return false;
	if (shape->body == BYTES)
		return len <= PBOOT_SSH_BODY_MAX;
	return len == (shape->body == NUMBER ? 4 : 0);
}

int
pboot_ssh_frame_read(const uint8_t *bytes, size_t len_bytes, enum pboot_ssh_side from,
    const struct pboot_ssh_ranks *ranks, struct pboot_ssh_frame *frame_out)
{
	uint32_t len, kind, rank;

	if (len_bytes < PBOOT_SSH_HEAD_BYTES)
		return 0;
	len = load_32(bytes);
	kind = load_32(bytes + 4);
	rank = load_32(bytes + 8);
	if (kind >= PBOOT_SSH_KINDS || !head_is_right(&shapes[kind], from, ranks, rank, len))
		return -1;
	if (len_bytes - PBOOT_SSH_HEAD_BYTES < len)
		return 0;
	*frame_out = (struct pboot_ssh_frame) {
		.kind = (enum pboot_ssh_kind)kind,
		.rank = rank,
		.len_bytes = len,
		.bytes = bytes + PBOOT_SSH_HEAD_BYTES,
	};
	if (shapes[kind].body == NUMBER)
		frame_out->number = load_32(frame_out->bytes);
	return (int)(PBOOT_SSH_HEAD_BYTES + len);
}

int
pboot_ssh_greeting_read(const uint8_t *bytes, size_t len_bytes,
    char release_out[PBOOT_SSH_RELEASE_BYTES])
{
	const uint8_t *at = memmem(bytes, len_bytes, GREETING, strlen(GREETING)), *end;
	size_t len;

	if (!at)
		return len_bytes > PBOOT_SSH_NOISE_MAX ? -1 : 0;
	at += strlen(GREETING);
	end = memchr(at, '\n', len_bytes - (size_t)(at - bytes));
	len = (end ? (size_t)(end - at) : len_bytes - (size_t)(at - bytes));
	if (len >= PBOOT_SSH_RELEASE_BYTES)
		return -1;
	if (!end)
		return 0;
	memcpy(release_out, at, len);
	release_out[len] = '\0';
	return (int)(end - bytes) + 1;
}

size_t
pboot_ssh_greeting_write(const char *release, char text_out[PBOOT_SSH_GREETING_MAX])
{
	return (size_t)snprintf(text_out, PBOOT_SSH_GREETING_MAX, GREETING "%.31s\n", release);
}
