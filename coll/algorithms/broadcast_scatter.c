/*
 * The vector is divided into a part for each member, scattered down a binomial tree, and then goes
 * around a ring.
 *
 * Source: M. Barnett, S. Gupta, D. Payne, L. Shuler, R. van de Geijn, "Building a high-performance
 * collective communication library", 1994.
 * Cost: log2 n + n - 1 steps of latency; each member sends and receives about twice the bytes.
 * Wins: large payloads on many members.
 */
#include "coll/schedule_list.h"
#include "coll/schedule_parts.h"

/* Parts are counted from the root on: part i is that of the member i above it. */
struct scatter {
	struct pcoll_schedule *schedule;
	const struct pcoll_shape *shape;
	uint32_t place, parts;          /* the view */
};

static struct pcoll_span
scatter_run(const struct scatter *scatter, uint32_t rank, uint32_t run)
{
	const uint32_t first = pcoll_place_of(rank, scatter->shape->size, scatter->shape->root);

	return pcoll_span(scatter->parts, pcoll_at(first), run);
}

static void
scatter_down(const struct scatter *scatter)
{
	const struct pcoll_shape *shape = scatter->shape;
	const struct pcoll_index tag = pcoll_at(scatter->schedule->tags);
	struct pcoll_kin kin;

	pcoll_kin_knomial(shape->rank, shape->size, shape->root, 2, &kin);
	if (!kin.is_root) {
		pcoll_add_receive(scatter->schedule, pcoll_at(kin.parent), tag,
		                  scatter_run(scatter, shape->rank, kin.run), pcoll_no_span());
		pcoll_add_round(scatter->schedule);
	}
	for (uint32_t i = kin.children; i-- > 0; )
		pcoll_add_send(scatter->schedule, pcoll_at(kin.child[i]), tag,
		               scatter_run(scatter, kin.child[i], kin.child_run[i]),
		               pcoll_no_span());
	pcoll_add_round(scatter->schedule);
}

/* The member below the root sends it nothing: the root has all parts. */
static void
scatter_around(const struct scatter *scatter)
{
	struct pcoll_schedule *schedule = scatter->schedule;
	const uint32_t size = scatter->shape->size, rank = scatter->shape->rank;
	const uint32_t place = scatter->place;
	const struct pcoll_index tag = pcoll_from(schedule->tags + 1, 1);

	pcoll_loop_begin(schedule, size - 1);
	if (place != size - 1)
		pcoll_add_send(schedule, pcoll_at((rank + 1) % size), tag,
		               pcoll_block(scatter->parts, pcoll_around(place, -1, size)),
		               pcoll_no_span());
	if (place != 0)
		pcoll_add_receive(
			schedule, pcoll_at((rank + size - 1) % size), tag,
			pcoll_block(scatter->parts, pcoll_around(place + size - 1, -1, size)),
			pcoll_no_span());
	pcoll_add_round(schedule);
	pcoll_loop_end(schedule);
}

static void
broadcast_scatter_build(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	const bool is_root = shape->rank == shape->root;
	const struct scatter scatter = {
		.schedule = schedule, .shape = shape,
		.place = pcoll_place_of(shape->rank, shape->size, shape->root),
		.parts = pcoll_view_parts(schedule, is_root ? PCOLL_SRC : PCOLL_DST, shape->size,
		                          shape->elem_bytes, shape->len_bytes),
	};

	scatter_down(&scatter);
	scatter_around(&scatter);
	schedule->tags += shape->size;
	if (is_root && !shape->in_place)
		pcoll_add_own_copy(schedule, shape);
}

const struct pcoll_builder pcoll_build_broadcast_scatter = {
	.operation = PCOLL_BROADCAST, .name = "scatter",
	.summary = "parts are scattered, then go around a ring",
	.build = broadcast_scatter_build,
};
