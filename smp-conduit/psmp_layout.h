/*
 * Where everything lies in the control arena, which all processes of a host map.
 *
 * The arena has a header and one region per endpoint of the host, which that endpoint receives in:
 *
 *     shared block | lane controls | the owner's sides | lanes [network][sender] | buffers [network]
 *
 * A lane is a ring of slots and a ring of payload bytes.  Lanes get smaller as endpoints get more, so
 * that a region's lanes stay within about 1 MiB; pages are taken from the system only when touched.
 */
#ifndef PSMP_LAYOUT_H
#define PSMP_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

enum {
	PSMP_LINE_BYTES = 64,
	PSMP_SLOT_BYTES = 2 * PSMP_LINE_BYTES,
	PSMP_PAGE_BYTES = 4096,
	PSMP_WORD_BITS = 64,
	PSMP_MAX_PLACES = PSMP_WORD_BITS * PSMP_WORD_BITS,

	/* Buffers per receiver and network: two sizes. */
	PSMP_LARGE_BYTES = 64 * 1024,
	PSMP_LARGE_COUNT = 8,
	PSMP_SMALL_BYTES = 4 * 1024,
	PSMP_SMALL_COUNT = 32,
};

struct psmp_layout {
	uint32_t places;        /* endpoints of the host, at most PSMP_MAX_PLACES */
	uint32_t words;         /* 64-bit words of a bitmap over places */
	uint32_t slots;         /* per lane; a power of two */
	uint32_t data_bytes;    /* payload ring per lane; 0 or a power of two */
	size_t lane_bytes;
	size_t header_bytes;
	/* Offsets in a region. */
	size_t controls, outs, ins, lanes, buffers, region_bytes;
	size_t total_bytes;
};

/* Pure. */
struct psmp_layout psmp_layout_for(uint32_t places);

/* Offset in the arena of the region of endpoint `place' of the host. */
static inline size_t
psmp_layout_region(const struct psmp_layout *layout, uint32_t place)
{
	return layout->header_bytes + (size_t)place * layout->region_bytes;
}

/* Index of a lane among those of a region. */
static inline size_t
psmp_layout_lane(const struct psmp_layout *layout, unsigned network, uint32_t sender)
{
	return (size_t)network * layout->places + sender;
}

#endif
