#include "coll/layout.h"

#include <stdlib.h>

#define UNNUMBERED UINT32_MAX

/* Numbers the neighbourhoods and counts their members, in start[nbrhd + 1]. */
static bool
members_count(struct pcoll_layout *layout, uint32_t most,
              uint32_t (*nbrhd_of_rank)(const void *arg, uint32_t rank), const void *arg)
{
	uint32_t *number = malloc(most * sizeof *number);

	if (!number)
		return false;
	for (uint32_t name = 0; name < most; name++)
		number[name] = UNNUMBERED;
	for (uint32_t rank = 0; rank < layout->size; rank++) {
		const uint32_t name = nbrhd_of_rank(arg, rank);

		if (number[name] == UNNUMBERED) {
			layout->leads[layout->nbrhds] = rank;
			number[name] = layout->nbrhds++;
		}
		layout->nbrhd_of[rank] = number[name];
		layout->place[rank] = layout->start[number[name] + 1]++;
		layout->lasts[number[name]] = rank;
	}
	free(number);
	return true;
}

/* Sets what is known of all neighbourhoods. */
static void
layout_sum_up(struct pcoll_layout *layout)
{
	layout->least = UINT32_MAX;
	layout->in_runs = true;
	for (uint32_t nbrhd = 0; nbrhd < layout->nbrhds; nbrhd++) {
		const uint32_t members = layout->start[nbrhd + 1] - layout->start[nbrhd];

		layout->least = members < layout->least ? members : layout->least;
		layout->most = members > layout->most ? members : layout->most;
		layout->in_runs = layout->in_runs && pcoll_nbrhd_is_run(layout, nbrhd);
	}
}

struct pcoll_layout *
pcoll_layout_make(uint32_t size, uint32_t most,
                  uint32_t (*nbrhd_of_rank)(const void *arg, uint32_t rank), const void *arg)
{
	struct pcoll_layout *layout = malloc(sizeof *layout);
	uint32_t *memory = calloc(6 * (size_t)size + 1, sizeof *memory);

	if (!layout || !memory) {
		free(layout);
		free(memory);
		return NULL;
	}
	*layout = (struct pcoll_layout){
		.size = size, .nbrhd_of = memory, .place = memory + size,
		.ranks = memory + 2 * (size_t)size, .leads = memory + 3 * (size_t)size,
		.lasts = memory + 4 * (size_t)size, .start = memory + 5 * (size_t)size,
	};
	if (!members_count(layout, most, nbrhd_of_rank, arg)) {
		pcoll_layout_free(layout);
		return NULL;
	}
	for (uint32_t nbrhd = 0; nbrhd < layout->nbrhds; nbrhd++)
		layout->start[nbrhd + 1] += layout->start[nbrhd];
	for (uint32_t rank = 0; rank < size; rank++)
		layout->ranks[layout->start[layout->nbrhd_of[rank]] + layout->place[rank]] = rank;
	layout_sum_up(layout);
	return layout;
}

void
pcoll_layout_free(struct pcoll_layout *layout)
{
	if (layout)
		free(layout->nbrhd_of);
	free(layout);
}
