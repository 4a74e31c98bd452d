/* Each member has a clock, and each direction of its wire has the time at which it is free. */
#include "coll/schedule_price.h"

#include "coll/schedule_model.h"

#include <stdlib.h>

struct clocks {
	uint64_t now, round_end, out_free, in_free;
};

struct prices {
	const struct pcoll_shape *shape;
	const struct pcoll_costs *costs;
	struct clocks *clocks;
};

static uint64_t
later(uint64_t one, uint64_t other)
{
	return one > other ? one : other;
}

static const struct pcoll_link *
link_between(const struct prices *prices, uint32_t one, uint32_t other)
{
	const struct pcoll_layout *layout = prices->shape->layout;
	const bool near = layout ? layout->nbrhd_of[one] == layout->nbrhd_of[other]
	                         : prices->shape->hosts <= 1;

	return near ? &prices->costs->near : &prices->costs->far;
}

static void
price_local(void *arg, uint32_t rank, const struct pcoll_act *act)
{
	const struct prices *prices = arg;
	const struct pcoll_costs *costs = prices->costs;

	prices->clocks[rank].now += act->len_bytes * (act->kind == PCOLL_STEP_COPY
	                                                      ? costs->copy_byte_ps
	                                                      : costs->combine_byte_ps);
}

/* The stamp is the time at which the processor has begun the message.  Who sends to
 * this member in a permutation is known, since it is a ring here. */
static uint64_t
price_begun(void *arg, uint32_t rank, const struct pcoll_act *act)
{
	const struct prices *prices = arg;

	const uint32_t size = prices->shape->size;
	const uint32_t peer = act->kind == PCOLL_STEP_MEET ? (rank + size - 1) % size : act->peer;

	return prices->clocks[rank].now += link_between(prices, rank, peer)->overhead_ps;
}

static void
price_met(void *arg, const struct pcoll_act *send, uint64_t sent, const struct pcoll_act *receive,
          uint64_t asked)
{
	const struct prices *prices = arg;
	const struct pcoll_link *link = link_between(prices, receive->peer, send->peer);
	struct clocks *from = &prices->clocks[receive->peer], *to = &prices->clocks[send->peer];
	const uint64_t wire = link->gap_ps + send->len_bytes * link->byte_ps;
	uint64_t begin = later(sent, from->out_free), end;

	if (send->len_bytes > prices->costs->eager_bytes)
		begin = later(begin, asked + link->latency_ps);
	from->out_free = begin + wire;
	end = later(begin + link->latency_ps, to->in_free) + wire;
	to->in_free = end;
	from->round_end = later(from->round_end, from->out_free);
	to->round_end = later(to->round_end, end + link->overhead_ps);
}

static void
price_round(void *arg, uint32_t rank)
{
	struct clocks *clocks = &((const struct prices *)arg)->clocks[rank];

	clocks->now = later(clocks->now, clocks->round_end);
}

static uint64_t
price_schedules_ps(const struct pcoll_schedule *schedules, const struct pcoll_shape *shape,
                   const struct pcoll_costs *costs)
{
	enum { SLOTS = UINT16_MAX };
	const uint32_t size = shape->size;
	struct prices prices = { shape, costs, calloc(size, sizeof *prices.clocks) };
	const struct pcoll_model_events events = {
		&prices, price_local, price_begun, price_met, price_round, NULL,
	};
	char text[PCOLL_MODEL_TEXT_BYTES];
	uint64_t end = 0;

	if (!prices.clocks || !pcoll_model_run(schedules, size, SLOTS, &events, text))
		end = UINT64_MAX;
	for (uint32_t rank = 0; end != UINT64_MAX && rank < size; rank++)
		end = later(end, prices.clocks[rank].now);
	free(prices.clocks);
	return end;
}

uint64_t
pcoll_builder_price_ps(const struct pcoll_builder *builder, const struct pcoll_shape *shape,
                       const struct pcoll_costs *costs)
{
	struct pcoll_schedule *schedules = calloc(shape->size, sizeof *schedules);
	bool whole = true;
	uint64_t price;

	if (!schedules)
		return UINT64_MAX;
	for (uint32_t rank = 0; rank < shape->size; rank++) {
		struct pcoll_shape own = *shape;

		own.rank = rank;
		own.target = (rank + 1) % shape->size;
		builder->build(&schedules[rank], &own);
		whole = whole && !schedules[rank].lacks_memory;
	}
	price = whole ? price_schedules_ps(schedules, shape, costs) : UINT64_MAX;
	for (uint32_t rank = 0; rank < shape->size; rank++)
		pcoll_schedule_close(&schedules[rank]);
	free(schedules);
	return price;
}
