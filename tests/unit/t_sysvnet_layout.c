/* Where things lie in the arena: nothing overlaps, all is aligned and within its bounds. */
#include <stdbool.h>
#include <stdlib.h>

#include "smp-conduit/sysvnet/sysvnet.h"
#include "smp-conduit/sysvnet/sysvnet_lane.h"
#include "tests/unit/main.h"

enum {
	NETWORKS = 2,
	LANES_BYTES_MOST = 1024 * 1024 + 4096,
	STREAMS_BYTES_MOST = 4 * 1024 * 1024 + LANES_BYTES_MOST,
};

static bool
power_of_two(uint64_t value)
{
	return value && !(value & (value - 1));
}

/* Payload begins where a lane's slots end, so lanes of lane_bytes each cannot overlap. */
static void
check_lanes(const struct sysvnet_layout *l)
{
	const size_t ring = (size_t)l->slots * SYSVNET_SLOT_BYTES;

	ck_assert(power_of_two(l->slots) && l->slots >= 4);
	ck_assert(l->data_bytes == 0 || power_of_two(l->data_bytes));
	ck_assert_uint_eq(l->data_bytes % SYSVNET_LINE_BYTES, 0);
	ck_assert_uint_eq(l->lane_bytes, ring + l->data_bytes);
	ck_assert_uint_eq(l->lane_bytes % SYSVNET_SLOT_BYTES, 0);
	/* the lap number needs whole rounds in 2^32 positions */
	ck_assert_uint_eq((UINT64_C(1) << 32) / l->slots % 65536, 0);
}

static void
check_region(const struct sysvnet_layout *l)
{
	const size_t lanes = (size_t)NETWORKS * l->senders, outs = (size_t)NETWORKS * l->processes;

	ck_assert_uint_ge(l->words * (size_t)SYSVNET_WORD_BITS, l->senders);
	ck_assert_uint_lt((l->words - 1) * (size_t)SYSVNET_WORD_BITS, l->senders);
	ck_assert_uint_le(sysvnet_shared_bytes(l->words), l->controls);
	ck_assert_uint_eq(l->controls % SYSVNET_LINE_BYTES, 0);
	ck_assert_uint_le(l->controls + lanes * sizeof(struct sysvnet_control), l->outs);
	ck_assert_uint_eq(l->outs % SYSVNET_LINE_BYTES, 0);
	ck_assert_uint_le(l->outs + outs * sizeof(struct sysvnet_out), l->ins);
	ck_assert_uint_eq(l->ins % SYSVNET_LINE_BYTES, 0);
	ck_assert_uint_le(l->ins + lanes * sizeof(struct sysvnet_in), l->lanes);
	ck_assert_uint_eq(l->lanes % SYSVNET_PAGE_BYTES, 0);
	ck_assert_uint_le(l->lanes + lanes * l->lane_bytes, l->buffers);
	ck_assert_uint_eq(l->buffers % SYSVNET_PAGE_BYTES, 0);
	ck_assert_uint_eq(l->region_bytes, l->buffers + NETWORKS * SYSVNET_NETWORK_BUFFER_BYTES);
	ck_assert_uint_eq(l->region_bytes % SYSVNET_PAGE_BYTES, 0);
}

static void
check_arena(const struct sysvnet_layout *l)
{
	ck_assert_uint_ge(l->header_bytes, sizeof(struct sysvnet_header));
	ck_assert_uint_eq(l->header_bytes % SYSVNET_PAGE_BYTES, 0);
	for (uint32_t place = 0; place < l->processes; place++)
		ck_assert_uint_eq(sysvnet_layout_region(l, place),
		                  l->header_bytes + place * l->region_bytes);
	ck_assert_uint_eq(l->total_bytes,
	                  sysvnet_layout_region(l, l->processes - 1) + l->region_bytes);
}

/* Every lane has an index of its own below 2 * senders. */
static void
check_lane_indices(const struct sysvnet_layout *l)
{
	unsigned char *seen = calloc(NETWORKS, l->senders);

	ck_assert_ptr_nonnull(seen);
	for (unsigned network = 0; network < NETWORKS; network++) {
		for (uint32_t sender = 0; sender < l->senders; sender++) {
			size_t lane = sysvnet_layout_lane(l, network, sender);

			ck_assert_uint_lt(lane, NETWORKS * (size_t)l->senders);
			ck_assert(!seen[lane]);
			seen[lane] = 1;
		}
	}
	free(seen);
}

static void
check_layout(uint32_t places, bool wide)
{
	struct sysvnet_layout layout = sysvnet_layout_for(places, wide);

	ck_assert_uint_eq(layout.processes, places);
	check_lanes(&layout);
	check_region(&layout);
	check_arena(&layout);
	check_lane_indices(&layout);
	/* streams may grow where ranks are few; lanes of 2 KiB decide from 256 places on */
	if (wide && layout.data_bytes > SYSVNET_WINDOW_BYTES)
		ck_assert_uint_le(layout.buffers - layout.lanes, STREAMS_BYTES_MOST);
	else if (places <= 256)
		ck_assert_uint_le(layout.buffers - layout.lanes, LANES_BYTES_MOST);
	else
		ck_assert_uint_le(
			layout.buffers - layout.lanes,
			NETWORKS * (size_t)places * 16 * SYSVNET_SLOT_BYTES + SYSVNET_PAGE_BYTES);
}

START_TEST(layout_for_every_count)
{
	for (unsigned wide = 0; wide < 2; wide++) {
		for (uint32_t places = 1; places <= 300; places++)
			check_layout(places, wide);
		check_layout(1024, wide);
		check_layout(SYSVNET_MAX_PROCESSES, wide);
	}
}
END_TEST

/* A further endpoint's region: as large lanes, one from each process and from further
 * endpoints of each, and nobody's number twice. */
START_TEST(further_for_every_count)
{
	for (uint32_t places = 1; places <= 300; places++) {
		const struct sysvnet_layout first = sysvnet_layout_for(places, true),
					 layout = sysvnet_layout_further(places, true);
		const uint32_t indices = layout.senders / places;

		ck_assert_uint_eq(layout.senders % places, 0);
		ck_assert_uint_ge(indices, 1);
		ck_assert(layout.senders <= SYSVNET_SENDERS || indices == 1);
		ck_assert(indices == 1 + SYSVNET_SENDING_ENDPOINTS ||
		          layout.senders + places > SYSVNET_SENDERS);
		ck_assert_uint_le(layout.data_bytes, first.data_bytes);
		ck_assert_uint_eq(sysvnet_window_least(layout.data_bytes),
		                  sysvnet_window_least(first.data_bytes));
		ck_assert_uint_eq(layout.slots, first.slots);
		ck_assert_uint_eq(layout.total_bytes, layout.region_bytes);
		check_lanes(&layout);
		check_region(&layout);
		check_lane_indices(&layout);
		for (uint32_t index = 0; index <= indices; index++)
			for (uint32_t place = 0; place < places; place++)
				ck_assert_uint_eq(sysvnet_layout_sender(&layout, place, index),
				                  index < indices ? index * places + place : place);
	}
}
END_TEST

START_TEST(lanes_only_shrink)
{
	for (uint32_t places = 1; places < SYSVNET_MAX_PROCESSES; places++) {
		struct sysvnet_layout here = sysvnet_layout_for(places, true),
				   more = sysvnet_layout_for(places + 1, true);

		ck_assert_uint_le(more.lane_bytes, here.lane_bytes);
		ck_assert_uint_le(more.slots, here.slots);
	}
}
END_TEST

/* What one poll needs of the shared block lies in lines of its own. */
START_TEST(groups_have_lines_of_their_own)
{
	const size_t at[] = {
		offsetof(struct sysvnet_shared, wake), offsetof(struct sysvnet_shared, top),
		offsetof(struct sysvnet_shared, room_top), offsetof(struct sysvnet_shared, busy),
		offsetof(struct sysvnet_shared, words),
	};

	for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
		ck_assert_uint_eq(at[i] % SYSVNET_LINE_BYTES, 0);
		ck_assert(i == 0 || at[i] > at[i - 1]);
	}
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("layout");

	tcase_add_test(tests, layout_for_every_count);
	tcase_add_test(tests, further_for_every_count);
	tcase_add_test(tests, lanes_only_shrink);
	tcase_add_test(tests, groups_have_lines_of_their_own);
	return unit_run("sysvnet layout", tests);
}
