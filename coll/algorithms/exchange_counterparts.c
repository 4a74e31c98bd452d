/*
 * Each member sends all its blocks for another neighbourhood as one message to its *counterpart*
 * there, the member with its place, modulo the members there.  That one brings each block to the
 * member that it is for.  Blocks for the own neighbourhood go straight to their members, meanwhile.
 *
 * Source: J. L. Traeff, A. Rougier, "MPI collectives and datatypes for hierarchical all-to-all
 * communication", 2014.
 * Cost: a step over the network, in which a member sends one message to each other neighbourhood,
 * and one in memory; a block from elsewhere is sent twice.
 * Wins: blocks of some KiB, where one member that leads would be the bottleneck, and a message of
 * the network for each block takes many times as long as one in memory.
 */
#include "coll/schedule_list.h"
#include "coll/schedule_parts.h"

enum { COME_MOST_BYTES = 16 << 20 };

/* What the builder knows of one member. */
struct counterparts {
	struct pcoll_schedule *schedule;
	const struct pcoll_shape *shape;
	const uint32_t *ranks;          /* of the neighbourhood */
	uint32_t members, place, nbrhd;
	/* `come' has the blocks that counterparts send here, for each of these those of the
	 * neighbourhood one after the other, in the order of sources_next. */
	uint32_t src, dst, packed, come; /* views */
};

/* What comes to the member at `place' of this neighbourhood from others. */
struct source {
	uint32_t away, turn;            /* neighbourhoods below this one; how many before from it */
	uint32_t rank;
};

static uint32_t
members_of(const struct counterparts *parts, uint32_t nbrhd)
{
	return parts->shape->layout->start[nbrhd + 1] - parts->shape->layout->start[nbrhd];
}

/* The counterpart in another neighbourhood that comes `turn'-th to the member at `place'; false:
 * there are no more. */
static bool
counterpart_find(const struct counterparts *parts, uint32_t place, uint32_t nbrhd, uint32_t turn,
                 uint32_t *rank_out)
{
	const struct pcoll_layout *layout = parts->shape->layout;
	const uint64_t at = place + (uint64_t)turn * parts->members;

	if (at >= members_of(parts, nbrhd))
		return false;
	*rank_out = layout->ranks[layout->start[nbrhd] + at];
	return true;
}

/* Goes from {0, 0} or one source to the next; false: that was the last. */
static bool
source_next(const struct counterparts *parts, uint32_t place, struct source *source)
{
	const uint32_t nbrhds = parts->shape->layout->nbrhds;
	uint32_t from;

	for (source->turn++; ; source->away++, source->turn = 0) {
		if (source->away == nbrhds)
			return false;
		from = pcoll_place_of(parts->nbrhd, nbrhds, source->away);
		if (source->away &&
		    counterpart_find(parts, place, from, source->turn, &source->rank))
			return true;
	}
}

static uint32_t
sources_count(const struct counterparts *parts, uint32_t place)
{
	struct source source = { 0, 0, 0 };
	uint32_t count = 0;

	while (source_next(parts, place, &source))
		count++;
	return count;
}

/* Both ends of a message have it under the same distance and turn, so that none waits for a later
 * one. */
static void
far_trade(const struct counterparts *parts, uint32_t tag)
{
	const struct pcoll_layout *layout = parts->shape->layout;
	const uint32_t nbrhds = layout->nbrhds;
	uint32_t from, got = 0;
	bool comes = false;

	for (uint32_t away = 1; away < nbrhds; away++) {
		const uint32_t above = pcoll_rank_at(away, nbrhds, parts->nbrhd);
		const uint32_t below = pcoll_place_of(parts->nbrhd, nbrhds, away);
		const uint32_t there = members_of(parts, above), turn = parts->place / there;
		const uint32_t to = layout->ranks[layout->start[above] + parts->place % there];

		for (uint32_t i = 0; i <= turn || comes; i++) {
			if (i == turn)
				pcoll_add_send(parts->schedule, pcoll_at(to), pcoll_at(tag),
				               pcoll_span_of_nbrhd(parts->shape, above, parts->src,
				                                   parts->packed),
				               pcoll_no_span());
			comes = counterpart_find(parts, parts->place, below, i, &from);
			if (comes)
				pcoll_add_receive(parts->schedule, pcoll_at(from), pcoll_at(tag),
				                  pcoll_span(parts->come,
				                             pcoll_at(got++ * parts->members),
				                             parts->members),
				                  pcoll_no_span());
		}
	}
}

/* The members of the neighbourhood trade their own blocks. */
static void
near_trade(const struct counterparts *parts, uint32_t tag)
{
	const uint32_t rank = parts->shape->rank;

	for (uint32_t away = 1; away < parts->members; away++) {
		const uint32_t to =
			parts->ranks[pcoll_rank_at(away, parts->members, parts->place)];
		const uint32_t from =
			parts->ranks[pcoll_place_of(parts->place, parts->members, away)];

		pcoll_add_send(parts->schedule, pcoll_at(to), pcoll_at(tag),
		               pcoll_block(parts->src, pcoll_at(to)), pcoll_no_span());
		pcoll_add_receive(parts->schedule, pcoll_at(from), pcoll_at(tag),
		                  pcoll_block(parts->dst, pcoll_at(from)), pcoll_no_span());
	}
	if (!parts->shape->in_place)
		pcoll_add_copy(parts->schedule, pcoll_block(parts->dst, pcoll_at(rank)),
		               pcoll_block(parts->src, pcoll_at(rank)));
}

/* What has come for two members of the neighbourhood that are `away' from each other: the first of
 * each, then the second, ...; under the tag of the source. */
static void
come_trade(const struct counterparts *parts, uint32_t away, uint32_t tag)
{
	const uint32_t to = pcoll_rank_at(away, parts->members, parts->place);
	const uint32_t from = pcoll_place_of(parts->place, parts->members, away);
	struct source mine = { 0, 0, 0 }, theirs = mine;
	bool sends = true, receives = true;

	for (uint32_t at = to; sends || receives; at += parts->members) {
		sends = sends && source_next(parts, parts->place, &mine);
		receives = receives && source_next(parts, from, &theirs);
		if (sends)
			pcoll_add_send(parts->schedule, pcoll_at(parts->ranks[to]),
			               pcoll_at(tag + mine.rank),
			               pcoll_block(parts->come, pcoll_at(at)), pcoll_no_span());
		if (receives)
			pcoll_add_receive(parts->schedule, pcoll_at(parts->ranks[from]),
			                  pcoll_at(tag + theirs.rank),
			                  pcoll_block(parts->dst, pcoll_at(theirs.rank)),
			                  pcoll_no_span());
	}
}

static void
come_keep_own(const struct counterparts *parts)
{
	struct source source = { 0, 0, 0 };

	for (uint32_t at = parts->place; source_next(parts, parts->place, &source);
	     at += parts->members)
		pcoll_add_copy(parts->schedule, pcoll_block(parts->dst, pcoll_at(source.rank)),
		               pcoll_block(parts->come, pcoll_at(at)));
}

static void
exchange_counterparts_build(struct pcoll_schedule *schedule, const struct pcoll_shape *shape)
{
	struct counterparts parts = {
		.schedule = schedule, .shape = shape, .place = shape->layout->place[shape->rank],
		.nbrhd = shape->layout->nbrhd_of[shape->rank],
	};
	const uint32_t tag = schedule->tags;
	uint32_t sources;

	parts.ranks = pcoll_near_ranks(shape, &parts.members);
	parts.src = pcoll_add_exchange_source(schedule, shape);
	parts.dst = pcoll_view_members(schedule, PCOLL_DST, shape);
	parts.packed = pcoll_add_packed(schedule, shape);
	sources = sources_count(&parts, parts.place);
	parts.come = pcoll_view_tmp(schedule, sources ? sources * parts.members : 1,
	                            sources ? shape->len_bytes : 0);
	for (uint32_t nbrhd = 0; nbrhd < shape->layout->nbrhds; nbrhd++)
		if (nbrhd != parts.nbrhd)
			pcoll_add_pack(schedule, shape, nbrhd, parts.src, parts.packed);
	far_trade(&parts, tag);
	near_trade(&parts, tag);
	pcoll_add_round(schedule);
	for (uint32_t away = 1; away < parts.members; away++)
		come_trade(&parts, away, tag + 1);
	come_keep_own(&parts);
	schedule->tags += 1 + shape->size;
}

/* A member has room for the blocks of its sources, each of as many as its neighbourhood has. */
static bool
exchange_counterparts_serves(const struct pcoll_shape *shape)
{
	const struct pcoll_layout *layout = shape->layout;
	const uint64_t blocks = shape->size + (uint64_t)layout->nbrhds * layout->most;

	return blocks * shape->len_bytes <= COME_MOST_BYTES;
}

const struct pcoll_builder pcoll_build_exchange_counterparts = {
	.operation = PCOLL_EXCHANGE, .name = "counterparts",
	.summary = "each rank exchanges blocks of hosts with one rank of each host",
	.has_levels = true, .serves = exchange_counterparts_serves,
	.build = exchange_counterparts_build,
};
