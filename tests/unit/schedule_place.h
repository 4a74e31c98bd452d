/* Layouts of teams over several neighbourhoods, for tests of schedules. */
#ifndef SCHEDULE_PLACE_H
#define SCHEDULE_PLACE_H

#include "coll/layout.h"

#include <check.h>

/* Ways of placing members in neighbourhoods: runs of three; in turns over three; all but the last
 * in one; by chance over four. */
enum { RUNS, TURNS, ALL_BUT_LAST, BY_CHANCE, PLACEMENTS };

struct placement {
	unsigned kind;
	uint32_t size;
};

static inline uint32_t
schedule_nbrhd_of(const void *arg, uint32_t rank)
{
	const struct placement *placement = arg;

	switch (placement->kind) {
	case RUNS: return rank / 3;
	case TURNS: return rank % 3 % placement->size;
	case ALL_BUT_LAST: return rank + 1 == placement->size;
	default: return (rank * 2654435761u >> 28) % 4 % placement->size;
	}
}

static inline struct pcoll_layout *
layout_make(unsigned kind, uint32_t size)
{
	const struct placement placement = { kind, size };
	struct pcoll_layout *layout =
		pcoll_layout_make(size, size + 1, schedule_nbrhd_of, &placement);

	ck_assert_ptr_nonnull(layout);
	return layout;
}

#endif
