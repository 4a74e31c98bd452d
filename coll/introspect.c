#include "coll/introspect.h"
#include "coll/schedule_price.h"
#include "coll/select.h"
#include "coll/tuning.h"

/*
 * Of a message over TCP between two ranks of one host, each with a CPU, as measured
 * (docs/performance.md, "By messages").
 */
static const struct pcoll_costs tcp_costs = {
	.latency_ps = 9000000, .overhead_ps = 2500000, .gap_ps = 1000000, .byte_ps = 1000,
	.copy_byte_ps = 100, .combine_byte_ps = 300, .eager_bytes = 4096,
};

/* A prediction carries out the schedules of all members. */
enum { MOST_RANKS = 256 };

static void
fact_tell(struct pcoll_shape shape, void (*tell)(const struct pcoll_fact *fact, void *arg),
          void *arg)
{
	struct pcoll_fact fact = { .bytes = shape.len_bytes, .predicted_ns = UINT64_MAX };
	const struct pcoll_builder *builder = pcoll_select(&shape);
	uint64_t price_ps;

	fact.operation = pcoll_operation_word(shape.operation);
	fact.algorithm = builder->name;
	fact.summary = builder->summary;
	fact.radix = builder->has_radix ? shape.radix : 0;
	fact.piece_bytes = builder->has_pieces ? shape.piece_bytes : 0;
	fact.by_user = pcoll_select_is_users(&shape);
	if (shape.size <= MOST_RANKS) {
		price_ps = pcoll_builder_price_ps(builder, &shape, &tcp_costs);
		fact.predicted_ns = price_ps == UINT64_MAX ? UINT64_MAX : price_ps / 1000;
	}
	tell(&fact, arg);
}

void
pcoll_introspect(uint32_t ranks, void (*tell)(const struct pcoll_fact *fact, void *arg), void *arg)
{
	static const size_t lengths[] = { 8, 1 << 10, 16 << 10, 64 << 10, 1 << 20 };
	struct pcoll_shape shape = { .size = ranks, .elem_bytes = 8 };

	pcoll_tuning_open();
	for (unsigned operation = 0; operation < PCOLL_OPERATIONS; operation++) {
		const bool is_barrier = operation == PCOLL_BARRIER;
		const size_t count = is_barrier ? 1 : sizeof lengths / sizeof lengths[0];

		shape.operation = (enum pcoll_operation)operation;
		for (size_t i = 0; i < count; i++) {
			shape.len_bytes = is_barrier ? 0 : lengths[i];
			fact_tell(shape, tell, arg);
		}
	}
}
