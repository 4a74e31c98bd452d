#include "smp-conduit/sysvnet/sysvnet_layout.h"

#include "smp-conduit/sysvnet/sysvnet.h"
#include "smp-conduit/sysvnet/sysvnet_lane.h"

_Static_assert((int)SYSVNET_MAX_PROCESSES == SYSVNET_WORD_BITS * SYSVNET_WORD_BITS,
               "a bitmap has two levels");
_Static_assert((int)SYSVNET_MEDIUM_BYTES == (int)SYSVNET_LARGE_BYTES, "a large buffer takes all");

enum {
	LANES_BYTES = 1024 * 1024,      /* of one region, about: slots and least windows */
	STREAMS_BYTES = 4 * LANES_BYTES, /* of one region: windows at their widest */
	NETWORKS = 2,
	MIN_SLOTS = 16, MAX_SLOTS = 128,
	/* More than the second caches of two CPUs hold: lines that both have lost come from the
	 * cache they share, in half the time they take from each other's. */
	MAX_STREAM_BYTES = 1024 * 1024,
	MIN_STREAM_BYTES = 64 * 1024,   /* less is not worth the address space */
};

static size_t
layout_round_up(size_t bytes, size_t unit)
{
	return (bytes + unit - 1) / unit * unit;
}

static uint32_t
layout_power_of_two_within(size_t most)
{
	uint32_t power = 1;

	while ((size_t)power * 2 <= most)
		power *= 2;
	return power;
}

/* A power of two, from half a page on. */
static uint32_t
layout_payload_within(size_t bytes)
{
	if (bytes < SYSVNET_PAGE_BYTES / 2)
		return 0;
	return layout_power_of_two_within(bytes < SYSVNET_WINDOW_BYTES ? bytes
	                                                               : SYSVNET_WINDOW_BYTES);
}

/* More than a least window where there are few lanes.  None of it is touched before streams are
 * sent. */
static uint32_t
layout_payload_at_widest(uint32_t least, uint32_t senders, bool wide)
{
	const size_t bytes = STREAMS_BYTES / NETWORKS / senders;

	if (!wide || bytes < MIN_STREAM_BYTES)
		return least;
	return layout_power_of_two_within(bytes < MAX_STREAM_BYTES ? bytes : MAX_STREAM_BYTES);
}

/* Half of a lane's share for slots, the rest for payload, both within their bounds. */
static void
layout_divide_lane(struct sysvnet_layout *layout)
{
	size_t share = LANES_BYTES / NETWORKS / layout->processes;
	size_t slots = layout_power_of_two_within(share / 2 / SYSVNET_SLOT_BYTES + 1);
	size_t data;

	if (slots < MIN_SLOTS)
		slots = MIN_SLOTS;
	if (slots > MAX_SLOTS)
		slots = MAX_SLOTS;
	layout->slots = (uint32_t)slots;
	data = share > slots * SYSVNET_SLOT_BYTES ? share - slots * SYSVNET_SLOT_BYTES : 0;
	layout->data_bytes = layout_payload_at_widest(layout_payload_within(data), layout->senders,
	                                              layout->wide);
	layout->lane_bytes = slots * SYSVNET_SLOT_BYTES + layout->data_bytes;
}

static struct sysvnet_layout
layout_of_region(uint32_t processes, uint32_t senders, bool wide)
{
	struct sysvnet_layout layout = { .processes = processes, .senders = senders, .wide = wide };

	layout.words = (senders + SYSVNET_WORD_BITS - 1) / SYSVNET_WORD_BITS;
	layout_divide_lane(&layout);
	layout.controls = layout_round_up(sysvnet_shared_bytes(layout.words), SYSVNET_LINE_BYTES);
	layout.outs = layout.controls + (size_t)NETWORKS * senders * SYSVNET_LINE_BYTES;
	layout.ins = layout_round_up(
		layout.outs + (size_t)NETWORKS * processes * sizeof(struct sysvnet_out),
		SYSVNET_LINE_BYTES);
	layout.lanes =
		layout_round_up(layout.ins + (size_t)NETWORKS * senders * sizeof(struct sysvnet_in),
	                        SYSVNET_PAGE_BYTES);
	layout.buffers = layout_round_up(layout.lanes + NETWORKS * senders * layout.lane_bytes,
	                                 SYSVNET_PAGE_BYTES);
	layout.region_bytes = layout.buffers + NETWORKS * SYSVNET_NETWORK_BUFFER_BYTES;
	layout.total_bytes = layout.region_bytes;
	return layout;
}

struct sysvnet_layout
sysvnet_layout_for(uint32_t processes, bool wide)
{
	struct sysvnet_layout layout = layout_of_region(processes, processes, wide);

	layout.header_bytes = SYSVNET_PAGE_BYTES;
	layout.total_bytes = layout.header_bytes + processes * layout.region_bytes;
	return layout;
}

struct sysvnet_layout
sysvnet_layout_further(uint32_t processes, bool wide)
{
	uint32_t indices = processes < SYSVNET_SENDERS ? SYSVNET_SENDERS / processes : 1;

	if (indices > 1 + SYSVNET_SENDING_ENDPOINTS)
		indices = 1 + SYSVNET_SENDING_ENDPOINTS;
	return layout_of_region(processes, processes * indices, wide);
}
