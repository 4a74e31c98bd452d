/* Which algorithm is used for which call. */
#ifndef PCOLL_SELECT_H
#define PCOLL_SELECT_H

#include "coll/schedule.h"

/* Chooses from what all members have in common, so that all choose alike.  Sets shape's radix and
 * piece_bytes. */
const struct pcoll_builder *pcoll_select(struct pcoll_shape *shape);
/* The same among those that no device takes part in. */
const struct pcoll_builder *pcoll_select_software(struct pcoll_shape *shape);
/* Does the algorithm serve the shape? */
bool pcoll_builder_serves(const struct pcoll_builder *builder, const struct pcoll_shape *shape);
/* Does a rule of the user's choose for it? */
bool pcoll_select_is_users(const struct pcoll_shape *shape);

#endif
