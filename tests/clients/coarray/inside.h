/* What the parts of the coarray layer share. */
#ifndef INSIDE_H
#define INSIDE_H

#include <gasnetex.h>
#include "coarray.h"

/* Teams entered by `change team', the outermost first. */
gex_TM_t team_current(void);
/* The rank in the job of an image of the current team. */
gex_Rank_t team_jobrank(int32_t image);

/* Memory of the segment. */
enum { SEGMENT_BYTES = 16 << 20 };

void memory_start(gex_TM_t all_images);
void *memory_take(size_t bytes);
/* Of that image of the job, one for each: how often it has come to `sync images' with this one. */
int64_t *memory_arrivals(gex_Rank_t jobrank);
/* Where byte `offset' of a coarray of that image of the job is. */
void *memory_place(int64_t coarray, int64_t offset, gex_Rank_t jobrank);

/* One domain for all integer(8): add, get and so on. Returns the value before. */
void atomics_start(gex_TM_t all_images);
int64_t atomics_apply(void *place, gex_Rank_t jobrank, gex_OP_t op, int64_t value, int64_t other);
/* Polls until a word of this image is at least `least'. */
void atomics_await(void *place, int64_t least);

/* Ends the job with a message. */
void give_up(const char *what);

#endif
