/* Tags of a member's messages. */
#ifndef SCHEDULE_TAGS_H
#define SCHEDULE_TAGS_H

#include "coll/schedule.h"

/* No two messages of a member to another have one tag, even where the first is long over.  The
 * member that was met last counts as a member of its own.  False: two have this one. */
bool schedule_tags_differ(const struct pcoll_schedule *schedule, uint32_t *peer_out,
                          uint32_t *tag_out);

#endif
