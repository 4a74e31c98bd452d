/*
 * The choice of an algorithm: the first rule that fits what all members of a team know alike
 * (tuning.h).
 */
#include "coll/select.h"
#include "coll/tuning.h"

#include <stdlib.h>
#include <string.h>

enum { PIECES_MOST = 1 << 20 };

/* Whole elements, one at least, and no more than PIECES_MOST pieces. */
static size_t
piece_of_vector(size_t piece_bytes, const struct pcoll_shape *shape)
{
	const size_t least = shape->len_bytes / PIECES_MOST + shape->elem_bytes;

	if (piece_bytes < least)
		piece_bytes = least;
	return piece_bytes / shape->elem_bytes * shape->elem_bytes;
}

/* A reproducible reduction goes as on one host, wherever its members are. */
static bool
team_fits(const struct pcoll_rule *rule, const struct pcoll_shape *shape)
{
	const uint32_t hosts = shape->reproducible ? 1 : shape->hosts;
	const char *mode = shape->reproducible ? "smp" : shape->mode;

	return shape->size >= rule->least_size && shape->size <= rule->most_size &&
	       hosts >= rule->least_hosts && hosts <= rule->most_hosts &&
	       (!rule->mode[0] || strcmp(rule->mode, mode) == 0);
}

/* Lengths in lists differ between members, so they do not count. */
static bool
length_fits(const struct pcoll_rule *rule, const struct pcoll_shape *shape)
{
	return shape->listed || (shape->len_bytes >= rule->least_bytes &&
	                         shape->len_bytes <= rule->most_bytes);
}

/* Where no two members share memory, a device is still worth its step; two levels are not. */
static bool
layout_fits(const struct pcoll_builder *builder, const struct pcoll_shape *shape)
{
	return !builder->has_levels ||
	       (!shape->reproducible && shape->layout && pcoll_layout_has_levels(shape->layout));
}

bool
pcoll_builder_serves(const struct pcoll_builder *builder, const struct pcoll_shape *shape)
{
	return (!shape->listed || builder->serves_lists) &&
	       (!shape->ordered || !builder->reorders) && layout_fits(builder, shape) &&
	       (!builder->serves || builder->serves(shape));
}

static bool
rule_fits(const struct pcoll_rule *rule, const struct pcoll_shape *shape)
{
	return rule->operation == shape->operation && team_fits(rule, shape) &&
	       length_fits(rule, shape) &&
	       (rule->by_cells || pcoll_builder_serves(rule->builder, shape));
}

/* The library's own rules have one of software for every shape. */
static size_t
rule_find(const struct pcoll_shape *shape, bool by_device)
{
	const struct pcoll_rule *rule;
	size_t i;

	for (i = 0; (rule = pcoll_tuning_rule(i)) != NULL; i++)
		if (!rule->by_cells && (by_device || !rule->builder->has_device) &&
		    rule_fits(rule, shape))
			return i;
	abort();
}

const struct pcoll_rule *
pcoll_select_users(const struct pcoll_shape *shape)
{
	for (size_t i = 0; pcoll_tuning_is_users(i); i++)
		if (rule_fits(pcoll_tuning_rule(i), shape))
			return pcoll_tuning_rule(i);
	return NULL;
}

/* A device is tried at a call by cells, too. */
bool
pcoll_select_is_for_messages(const struct pcoll_shape *shape)
{
	const struct pcoll_rule *rule = pcoll_select_users(shape);

	return rule && !rule->by_cells && !rule->builder->has_device;
}

bool
pcoll_select_is_users(const struct pcoll_shape *shape)
{
	return pcoll_tuning_is_users(rule_find(shape, true));
}

static const struct pcoll_builder *
rule_take(struct pcoll_shape *shape, bool by_device)
{
	const struct pcoll_rule *rule = pcoll_tuning_rule(rule_find(shape, by_device));

	shape->radix = rule->radix;
	shape->piece_bytes = rule->piece_bytes ? piece_of_vector(rule->piece_bytes, shape) : 0;
	return rule->builder;
}

const struct pcoll_builder *
pcoll_select(struct pcoll_shape *shape)
{
	return rule_take(shape, true);
}

const struct pcoll_builder *
pcoll_select_software(struct pcoll_shape *shape)
{
	return rule_take(shape, false);
}
