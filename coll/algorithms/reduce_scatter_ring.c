/*
 * The sum of a block begins at the member above its own, goes around the ring, gets each member's
 * operand on its way, and ends at its own member.
 *
 * Cost: n - 1 steps of latency; each member sends n - 1 blocks, and needs memory for two.
 * Wins: large blocks, where the order does not matter.
 */
#include "coll/schedule_list.h"
#include "coll/schedule_parts.h"

struct ring {
	struct pcoll_schedule *schedule;
	uint32_t size, rank, tags;
	uint32_t src, sums;             /* views; sums has two */
};

static size_t
ring_longest_block(const struct pcoll_shape *shape)
{
	size_t most = shape->len_bytes;

	for (uint32_t rank = 0; shape->src_list.bytes && rank < shape->size; rank++)
		if (shape->src_list.bytes[rank] > most)
			most = shape->src_list.bytes[rank];
	return most;
}

/* The own operand of the block that comes in step at, at + 1, ... */
static struct pcoll_span
ring_operand(const struct ring *ring, uint32_t at, int32_t step)
{
	const uint64_t first = (uint64_t)ring->rank + 2 * (uint64_t)ring->size - 2 - at;

	return pcoll_block(ring->src, pcoll_around((uint32_t)(first % ring->size), -step,
	                                           ring->size));
}

static struct pcoll_span
ring_sum(const struct ring *ring, uint32_t at, int32_t step)
{
	return pcoll_block(ring->sums, pcoll_around(at % 2, step, 2));
}

/* Receives the sum of a step, and adds to it. */
static void
ring_receive(const struct ring *ring, uint32_t at, int32_t step)
{
	const struct pcoll_span operand = ring_operand(ring, at, step);

	pcoll_add_receive(ring->schedule,
	                  pcoll_at(pcoll_place_of(ring->rank, ring->size, 1)),
	                  pcoll_from(ring->tags + at, step), ring_sum(ring, at, step), operand);
	pcoll_add_round(ring->schedule);
	pcoll_add_combine(ring->schedule, operand, ring_sum(ring, at, step), operand);
}

/* Sends what came in the step before: step `at' of the sender is that of the receiver. */
static void
ring_send(const struct ring *ring, struct pcoll_span sum, uint32_t at, int32_t step,
          struct pcoll_span like)
{
	pcoll_add_send(ring->schedule, pcoll_at(pcoll_rank_at(1, ring->size, ring->rank)),
	               pcoll_from(ring->tags + at, step), sum, like);
}

static void
reduce_scatter_ring_build(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	const uint32_t size = shape->size, rank = shape->rank;
	const struct ring ring = {
		.schedule = schedule, .size = size, .rank = rank, .tags = schedule->tags,
		.src = pcoll_view_members(schedule, PCOLL_SRC, shape),
		.sums = pcoll_view_tmp(schedule, 2, ring_longest_block(shape)),
	};
	const struct pcoll_span dst =
		pcoll_vector(schedule, PCOLL_DST, shape);
	const struct pcoll_span below =
		pcoll_block(ring.src, pcoll_at(pcoll_place_of(rank, size, 1)));

	schedule->tags += size;
	if (size == 1) {
		if (!shape->in_place)
			pcoll_add_copy(schedule, dst, pcoll_block(ring.src, pcoll_at(0)));
		return;
	}
	ring_send(&ring, below, 0, 0, pcoll_no_span());
	ring_receive(&ring, 0, 0);
	pcoll_loop_begin(schedule, size - 2);
	ring_send(&ring, ring_sum(&ring, 0, 1), 1, 1, ring_operand(&ring, 0, 1));
	ring_receive(&ring, 1, 1);
	pcoll_loop_end(schedule);
	pcoll_add_copy(schedule, dst, ring_sum(&ring, size, 0));
}

const struct pcoll_builder pcoll_build_reduce_scatter_ring = {
	.operation = PCOLL_REDUCE_SCATTER, .name = "ring",
	.summary = "sums of blocks go around a ring", .serves_lists = true, .reorders = true,
	.build = reduce_scatter_ring_build,
};
