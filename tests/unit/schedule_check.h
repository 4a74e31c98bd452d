/*
 * Carries out a schedule on symbols: each byte holds which operands were combined and in which
 * order, and each member knows of whom it has heard.  See schedule_check.c.
 */
#ifndef SCHEDULE_CHECK_H
#define SCHEDULE_CHECK_H

#include "coll/schedule.h"

#include <stdbool.h>

enum { SCHEDULE_TEXT_BYTES = 300 };

/* A set of these: a barrier is put before and behind; a device does the device steps. */
enum schedule_way { SCHEDULE_PLAIN = 0, SCHEDULE_BARRIERS = 1, SCHEDULE_DEVICE = 2 };

/*
 * Checks an algorithm for a shape, of which rank, target and lists are ignored; uneven: blocks have
 * lists.  It checks the result, that sources stay as they are, that no step goes beyond a buffer or
 * touches what is being sent or received, and that no member waits for ever, with so many messages
 * under way at a time.  with barriers nothing may be
 * touched before all have entered, and nobody may leave before all is done.  Returns false with the
 * reason.
 */
bool schedule_check(const struct pcoll_builder *builder, const struct pcoll_shape *shape,
                    bool uneven, uint32_t slots, enum schedule_way way,
                    char text_out[SCHEDULE_TEXT_BYTES]);

#endif
