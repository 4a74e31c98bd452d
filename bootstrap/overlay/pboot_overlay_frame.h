/*
 * The head of the frames that two keepers exchange after their handshake, and the checks that it
 * must pass.  Pure functions.  All numbers are big-endian.
 *
 *     bytes 0-3    length of what follows the head
 *           4      type
 *           5      0
 *           6-7    kind
 *           8-11   from
 *          12-15   to
 */
#ifndef PBOOT_OVERLAY_FRAME_H
#define PBOOT_OVERLAY_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pboot_frame_type {
	PBOOT_FRAME_BEAT = 1,	/* a heartbeat */
	PBOOT_FRAME_BYE,	/* the sender closes; only BEAT follows */
	PBOOT_FRAME_LOSS,	/* host `to' is lost, `from' saw it; kind: how; bytes: why */
	PBOOT_FRAME_DATA,	/* the caller's bytes, `from' one host `to' another or ALL */
	PBOOT_FRAME_PIECE,	/* a piece of host `from's blob; `to': number of the collective */
	PBOOT_FRAME_BARRIER,	/* `to': the same; all hosts below have arrived, or all */
};

enum {
	PBOOT_FRAME_HEAD_BYTES = 16,
	PBOOT_FRAME_DATA_BYTES = 64 * 1024,		/* most bytes of DATA */
	PBOOT_FRAME_BYTES = PBOOT_FRAME_HEAD_BYTES + PBOOT_FRAME_DATA_BYTES,
	PBOOT_FRAME_WHY_BYTES = 160,			/* most bytes of the text of LOSS */
	PBOOT_FRAME_BLOB_BYTES = 1024 * 1024,		/* most bytes of a blob */
	PBOOT_FRAME_PART_BYTES = 16 * 1024,		/* most bytes of a blob in a PIECE */
	/* A PIECE begins with the length of the whole blob. */
	PBOOT_FRAME_PIECE_BYTES = 4 + PBOOT_FRAME_PART_BYTES,
};

#define PBOOT_FRAME_ALL UINT32_MAX

struct pboot_frame {
	enum pboot_frame_type type;
	uint16_t kind;
	uint32_t from, to;
	uint32_t len_bytes;
};

static inline uint32_t
pboot_load_32(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 |
	    bytes[3];
}

static inline uint16_t
pboot_load_16(const uint8_t *bytes)
{
	return (uint16_t)(bytes[0] << 8 | bytes[1]);
}

static inline void
pboot_store_32(uint8_t *bytes_out, uint32_t value)
{
	bytes_out[0] = (uint8_t)(value >> 24);
	bytes_out[1] = (uint8_t)(value >> 16);
	bytes_out[2] = (uint8_t)(value >> 8);
	bytes_out[3] = (uint8_t)value;
}

static inline void
pboot_store_16(uint8_t *bytes_out, uint16_t value)
{
	bytes_out[0] = (uint8_t)(value >> 8);
	bytes_out[1] = (uint8_t)value;
}

void pboot_frame_write(const struct pboot_frame *frame, uint8_t head_out[PBOOT_FRAME_HEAD_BYTES]);

/*
 * Reads the head of a frame that host `self' of `host_count' got from the neighbour at the end of a
 * branch.  Returns false if no keeper of this job would send it there: an unknown type, a length
 * that the type does not have, a host that is not in the job, a sender that is not behind that
 * branch, a frame that would go back where it came from.
 */
bool pboot_frame_read(const uint8_t head[PBOOT_FRAME_HEAD_BYTES], uint32_t self, uint32_t branch,
    uint32_t host_count, struct pboot_frame *frame_out);

#endif
