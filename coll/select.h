/* Which algorithm is used for which call. */
#ifndef PCOLL_SELECT_H
#define PCOLL_SELECT_H

#include "coll/schedule.h"

struct pcoll_rule;

/* Chooses from what all members have in common, so that all choose alike.  Sets shape's radix and
 * piece_bytes. */
const struct pcoll_builder *pcoll_select(struct pcoll_shape *shape);
/* The same among those that no device takes part in. */
const struct pcoll_builder *pcoll_select_software(struct pcoll_shape *shape);
/* Does the algorithm serve the shape? */
bool pcoll_builder_serves(const struct pcoll_builder *builder, const struct pcoll_shape *shape);
/* Does a rule of the user's choose for it? */
bool pcoll_select_is_users(const struct pcoll_shape *shape);
/* The first rule of the user's that fits, which may be one of cells; or NULL. */
const struct pcoll_rule *pcoll_select_users(const struct pcoll_shape *shape);
/* Does a rule of the user's take the call of a team on one host from shared memory? */
bool pcoll_select_is_for_messages(const struct pcoll_shape *shape);

#endif
