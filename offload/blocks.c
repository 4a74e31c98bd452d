/*
 * How the bytes of a device step lie.  Of an operation in which members have blocks of each other,
 * one side has a block of each member: its pieces follow each other, and each has its part of all
 * blocks, as a call of the device gives and gets them.  The client has whole blocks.
 */
#include "offload/offload.h"

#include "coll/coll.h"

#include <string.h>

static bool
gathers(enum pcoll_device_does does)
{
	return does == PCOLL_DEVICE_GATHERS_ALL;
}

static bool
scatters(enum pcoll_device_does does)
{
	return does == PCOLL_DEVICE_REDUCES_SCATTER;
}

/* The bytes of each block that one call of the device takes, of whole elements, behind which the
 * next piece is as well aligned. */
static size_t
piece_most(const struct poff_team *team, size_t len_bytes, size_t elem, uint32_t blocks)
{
	const size_t most = team->agreed.max_payload_bytes / blocks;
	size_t unit = elem;

	if (len_bytes <= most || most < elem)
		return most / elem * elem;
	while (unit % (team->agreed.align_bytes ? team->agreed.align_bytes : 1))
		unit += elem;
	return most / unit * unit;
}

struct poff_blocks
poff_blocks_of(const struct poff_team *team, const struct pcoll_op *op,
               enum pcoll_device_does does, size_t len_bytes)
{
	const size_t elem = op->call.reduction.elem_bytes ? op->call.reduction.elem_bytes : 1;
	const uint32_t members = team->channel.members;
	struct poff_blocks blocks = {
		.len_bytes = len_bytes, .given = scatters(does) ? members : 1,
		.got = gathers(does) ? members : 1,
	};

	blocks.piece_bytes = piece_most(team, len_bytes, elem,
	                                blocks.given > blocks.got ? blocks.given : blocks.got);
	if (gathers(does) || scatters(does))
		blocks.result_at = (blocks.given * len_bytes + POFF_ALIGN - 1) / POFF_ALIGN *
		                   POFF_ALIGN;
	return blocks;
}

/* Copies one of `count' blocks between a side of a step and memory of its own. */
static void
block_copy(const struct poff_blocks *blocks, unsigned char *side, uint32_t count, uint32_t number,
           unsigned char *block, bool to_side)
{
	size_t part;

	for (size_t at = 0; at < blocks->len_bytes; at += part) {
		unsigned char *in_side;

		part = blocks->len_bytes - at;
		if (count > 1 && part > blocks->piece_bytes && blocks->piece_bytes)
			part = blocks->piece_bytes;
		in_side = side + count * at + number * part;
		memcpy(to_side ? in_side : block + at, to_side ? block + at : in_side, part);
	}
}

void
poff_blocks_put(const struct poff_blocks *blocks, unsigned char *bytes,
                const unsigned char *operand)
{
	for (uint32_t i = 0; i < blocks->given; i++)
		block_copy(blocks, bytes, blocks->given, i,
		           (unsigned char *)(uintptr_t)operand + i * blocks->len_bytes, true);
}

void
poff_blocks_operand(const struct poff_blocks *blocks, const unsigned char *bytes, uint32_t number,
                    unsigned char *block_out)
{
	block_copy(blocks, (unsigned char *)(uintptr_t)bytes, blocks->given, number, block_out,
	           false);
}

void
poff_blocks_result(const struct poff_blocks *blocks, const unsigned char *result,
                   unsigned char *to_out)
{
	for (uint32_t i = 0; i < blocks->got; i++)
		block_copy(blocks, (unsigned char *)(uintptr_t)result, blocks->got, i,
		           to_out + i * blocks->len_bytes, false);
}
