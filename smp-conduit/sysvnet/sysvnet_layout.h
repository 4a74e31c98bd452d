/*
 * Where everything lies in the control arena, which all processes of a host map.
 *
 * The arena has a header and one region per process of the host, in which its first endpoint
 * receives:
 *
 *     shared block | lane controls | owner's sides | lanes [network][sender] | buffers [network]
 *
 * A lane is a ring of slots and a ring of payload bytes.  Lanes get smaller as processes get more,
 * so that a region's lanes stay within about 1 MiB, but for the bytes that streams of payload may
 * grow into (sysvnet_window.h), which stay within 4 MiB; pages are taken from the system only when
 * touched.
 *
 * The senders are processes.  Further endpoints have regions of their own, outside the arena, with
 * more lanes, of as many slots: there the first endpoints of index 1 and so on of each process are
 * senders, too.
 */
#ifndef SYSVNET_LAYOUT_H
#define SYSVNET_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	SYSVNET_LINE_BYTES = 64,
	SYSVNET_SLOT_BYTES = 2 * SYSVNET_LINE_BYTES,
	SYSVNET_PAGE_BYTES = 4096,
	SYSVNET_WORD_BITS = 64,

	/* A further endpoint has a lane from each process, and one from each of so many further
	 * endpoints of it, while these are not more senders than that. */
	SYSVNET_SENDING_ENDPOINTS = 16,
	SYSVNET_SENDERS = 256,

	/* Where each process has a CPU, a lane takes no more: then what two processes hand to
	 * and fro stays in the CPUs' nearest caches.  Where CPUs are shared, more messages at a
	 * turn are worth more. */
	SYSVNET_ROOMY_SLOTS = 32,

	/* Of a lane's bytes for payload, as many as stay in the nearest cache of either side:
	 * the least window. */
	SYSVNET_WINDOW_BYTES = 8 * 1024,
	/* A sender with so many under way waits, since all senders share the buffers. */
	SYSVNET_WINDOW_AMPLE_BYTES = 64 * 1024,

	/* Buffers per receiver and network: two sizes. */
	SYSVNET_LARGE_BYTES = 64 * 1024,
	SYSVNET_LARGE_COUNT = 8,
	SYSVNET_SMALL_BYTES = 4 * 1024,
	SYSVNET_SMALL_COUNT = 32,
};

struct sysvnet_layout {
	uint32_t processes;     /* of the host, at most SYSVNET_MAX_PROCESSES */
	uint32_t senders;       /* a multiple of processes */
	uint32_t words;         /* 64-bit words of a bitmap over senders */
	uint32_t slots;         /* per lane, a power of two; fewer once these are known to do */
	uint32_t data_bytes;    /* payload ring per lane at its widest; 0 or a power of two */
	bool wide;              /* payload rings have room for streams */
	size_t lane_bytes;
	size_t header_bytes;
	/* Offsets in a region. */
	size_t controls, outs, ins, lanes, buffers, region_bytes;
	size_t total_bytes;
};

/* Pure.  The arena's; and that of a further endpoint's region, for which total_bytes is
 * region_bytes. A wide one has payload rings that streams may grow into; all processes of the
 * host have the same. */
struct sysvnet_layout sysvnet_layout_for(uint32_t processes, bool wide);
struct sysvnet_layout sysvnet_layout_further(uint32_t processes, bool wide);

/* A sender by its process and the index of its endpoint; that of the process itself, whose lane
 * all its threads may use, where such an endpoint has no lanes. */
static inline uint32_t
sysvnet_layout_sender(const struct sysvnet_layout *layout, uint32_t host_index, uint32_t index)
{
	const uint32_t sender = index * layout->processes + host_index;

	return sender < layout->senders ? sender : host_index;
}

/* Offset in the arena of the region of the process of that host index. */
static inline size_t
sysvnet_layout_region(const struct sysvnet_layout *layout, uint32_t host_index)
{
	return layout->header_bytes + (size_t)host_index * layout->region_bytes;
}

/* Index of a lane among those of a region. */
static inline size_t
sysvnet_layout_lane(const struct sysvnet_layout *layout, unsigned network, uint32_t sender)
{
	return (size_t)network * layout->senders + sender;
}

#endif
