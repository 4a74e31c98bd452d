/*
 * A member puts its blocks in the order of how far above it their receivers are.  In a round with
 * distance d, a power of two, it sends to the member d above those blocks whose way has that d in
 * it, all in one message, and puts what it receives in their place.  At the end block i is from the
 * member i below.
 *
 * Source: J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal, D. Weathersby, "Efficient algorithms for
 * all-to-all communications in multiport message-passing systems", 1997.
 * Cost: log2 n steps of latency; a block goes log2 n / 2 times on average, and is copied twice each
 * time.
 * Wins: small blocks on many members.
 */
#include "coll/schedule_list.h"
#include "coll/schedule_parts.h"

/* Views of blocks: by distance, and those that are sent and received in a round. */
struct bruck {
	struct pcoll_schedule *schedule;
	uint32_t size;
	uint32_t blocks, out, in;
};

/* The blocks of a round come in runs of `distance', each behind as many others; the last run may be
 * shorter. */
static uint32_t
bruck_runs(const struct bruck *bruck, uint32_t distance, uint32_t *rest_out)
{
	const uint32_t behind = bruck->size % (2 * distance);

	*rest_out = behind > distance ? behind - distance : 0;
	return bruck->size / (2 * distance);
}

/* Copies a run of blocks to or from where they are packed. */
static void
bruck_copy(const struct bruck *bruck, bool pack, struct pcoll_index packed,
           struct pcoll_index unpacked, uint32_t blocks)
{
	const struct pcoll_span apart = pcoll_span(bruck->blocks, unpacked, blocks);

	if (pack)
		pcoll_add_copy(bruck->schedule, pcoll_span(bruck->out, packed, blocks), apart);
	else
		pcoll_add_copy(bruck->schedule, apart, pcoll_span(bruck->in, packed, blocks));
}

/* Returns the number of blocks. */
static uint32_t
bruck_copy_all(const struct bruck *bruck, bool pack, uint32_t distance)
{
	uint32_t rest;
	const uint32_t runs = bruck_runs(bruck, distance, &rest);

	pcoll_loop_begin(bruck->schedule, runs);
	bruck_copy(bruck, pack, pcoll_from(0, (int32_t)distance),
	           pcoll_from(distance, 2 * (int32_t)distance), distance);
	pcoll_loop_end(bruck->schedule);
	if (rest)
		bruck_copy(bruck, pack, pcoll_at(runs * distance),
		           pcoll_at((2 * runs + 1) * distance), rest);
	return runs * distance + rest;
}

static void
bruck_round(const struct bruck *bruck, uint32_t rank, uint32_t distance)
{
	const struct pcoll_index tag = pcoll_at(bruck->schedule->tags++);
	const uint32_t above = pcoll_rank_at(distance, bruck->size, rank);
	const uint32_t below = pcoll_place_of(rank, bruck->size, distance);
	const uint32_t blocks = bruck_copy_all(bruck, true, distance);

	pcoll_add_send(bruck->schedule, pcoll_at(above), tag,
	               pcoll_span(bruck->out, pcoll_at(0), blocks), pcoll_no_span());
	pcoll_add_receive(bruck->schedule, pcoll_at(below), tag,
	                  pcoll_span(bruck->in, pcoll_at(0), blocks), pcoll_no_span());
	pcoll_add_round(bruck->schedule);
	(void)bruck_copy_all(bruck, false, distance);
}

/* From the order of ranks to that of distance. */
static void
bruck_begin(const struct bruck *bruck, uint32_t rank, uint32_t src)
{
	const uint32_t to_last = bruck->size - rank;

	pcoll_add_copy(bruck->schedule, pcoll_span(bruck->blocks, pcoll_at(0), to_last),
	               pcoll_span(src, pcoll_at(rank), to_last));
	if (rank)
		pcoll_add_copy(bruck->schedule, pcoll_span(bruck->blocks, pcoll_at(to_last), rank),
		               pcoll_span(src, pcoll_at(0), rank));
}

static void
exchange_bruck_build(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	const uint32_t size = shape->size, rank = shape->rank;
	const uint32_t dst = pcoll_view_members(schedule, PCOLL_DST, shape);
	const uint32_t src = pcoll_view_members(schedule, PCOLL_SRC, shape);
	struct bruck bruck = {
		.schedule = schedule, .size = size,
		.blocks = pcoll_view_tmp(schedule, size, shape->len_bytes),
	};

	bruck_begin(&bruck, rank, src);
	if (size > 1) {
		bruck.out = pcoll_view_tmp(schedule, size / 2, shape->len_bytes);
		bruck.in = pcoll_view_tmp(schedule, size / 2, shape->len_bytes);
	}
	for (uint64_t distance = 1; distance < size; distance *= 2)
		bruck_round(&bruck, rank, (uint32_t)distance);
	pcoll_loop_begin(schedule, size);
	pcoll_add_copy(schedule, pcoll_block(dst, pcoll_around(rank, -1, size)),
	               pcoll_block(bruck.blocks, pcoll_from(0, 1)));
	pcoll_loop_end(schedule);
}

const struct pcoll_builder pcoll_build_exchange_bruck = {
	.operation = PCOLL_EXCHANGE, .name = "bruck",
	.summary = "blocks go by powers of two, many in one message",
	.build = exchange_bruck_build,
};
