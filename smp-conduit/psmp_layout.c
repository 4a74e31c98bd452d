#include "smp-conduit/psmp_layout.h"

#include "smp-conduit/psmp_lane.h"

enum {
	LANES_BYTES = 1024 * 1024,      /* of one region, about */
	NETWORKS = 2,
	MIN_SLOTS = 16, MAX_SLOTS = 128,
	/* More bytes for payload would not stay in the nearest cache of either side. */
	MAX_DATA_BYTES = 8 * 1024,
};

static size_t
round_up(size_t bytes, size_t unit)
{
	return (bytes + unit - 1) / unit * unit;
}

static uint32_t
power_of_two_within(size_t most)
{
	uint32_t power = 1;

	while ((size_t)power * 2 <= most)
		power *= 2;
	return power;
}

/* Half of a lane's share for slots, the rest for payload, both within their bounds. */
static void
divide_lane(struct psmp_layout *layout)
{
	size_t share = LANES_BYTES / NETWORKS / layout->places;
	size_t slots = power_of_two_within(share / 2 / PSMP_SLOT_BYTES + 1);
	size_t data;

	if (slots < MIN_SLOTS)
		slots = MIN_SLOTS;
	if (slots > MAX_SLOTS)
		slots = MAX_SLOTS;
	layout->slots = (uint32_t)slots;
	data = share > slots * PSMP_SLOT_BYTES ? share - slots * PSMP_SLOT_BYTES : 0;
	layout->data_bytes = data < PSMP_PAGE_BYTES / 2 ? 0 : power_of_two_within(data);
	if (layout->data_bytes > MAX_DATA_BYTES)
		layout->data_bytes = MAX_DATA_BYTES;
	layout->lane_bytes = slots * PSMP_SLOT_BYTES + layout->data_bytes;
}

static struct psmp_layout
layout_of_region(uint32_t places, uint32_t senders)
{
	struct psmp_layout layout = { .places = places, .senders = senders };

	layout.words = (senders + PSMP_WORD_BITS - 1) / PSMP_WORD_BITS;
	divide_lane(&layout);
	layout.controls = round_up(psmp_shared_bytes(layout.words), PSMP_LINE_BYTES);
	layout.outs = layout.controls + (size_t)NETWORKS * senders * PSMP_LINE_BYTES;
	layout.ins = round_up(layout.outs + (size_t)NETWORKS * places * sizeof(struct psmp_out),
	                      PSMP_LINE_BYTES);
	layout.lanes = round_up(layout.ins + (size_t)NETWORKS * senders * sizeof(struct psmp_in),
	                        PSMP_PAGE_BYTES);
	layout.buffers = round_up(layout.lanes + NETWORKS * senders * layout.lane_bytes,
	                          PSMP_PAGE_BYTES);
	layout.region_bytes = layout.buffers + NETWORKS * PSMP_NETWORK_BUFFER_BYTES;
	layout.total_bytes = layout.region_bytes;
	return layout;
}

struct psmp_layout
psmp_layout_for(uint32_t places)
{
	struct psmp_layout layout = layout_of_region(places, places);

	layout.header_bytes = PSMP_PAGE_BYTES;
	layout.total_bytes = layout.header_bytes + places * layout.region_bytes;
	return layout;
}

struct psmp_layout
psmp_layout_further(uint32_t places)
{
	uint32_t indices = places < PSMP_SENDERS ? PSMP_SENDERS / places : 1;

	if (indices > 1 + PSMP_SENDING_ENDPOINTS)
		indices = 1 + PSMP_SENDING_ENDPOINTS;
	return layout_of_region(places, places * indices);
}
