#include "tests/unit/schedule_tags.h"

#include <stdlib.h>

static int
keys_compare(const void *one, const void *other)
{
	const uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;

	return (a > b) - (a < b);
}

/* The peer and the tag of each message that the member sends, in order.  The caller frees them. */
static uint64_t *
keys_make(const struct pcoll_schedule *schedule, size_t *count_out)
{
	struct pcoll_cursor cursor = { .next = 0 };
	struct pcoll_act act;
	size_t count = 0, at = 0;
	uint64_t *keys;

	while (pcoll_cursor_next(schedule, &cursor, &act))
		count += pcoll_act_sends(&act);
	keys = calloc(count + 1, sizeof *keys);
	if (!keys)
		abort();
	for (cursor = (struct pcoll_cursor){ .next = 0 };
	     pcoll_cursor_next(schedule, &cursor, &act); )
		if (pcoll_act_sends(&act))
			keys[at++] = (uint64_t)act.peer << 32 | act.tag;
	qsort(keys, count, sizeof *keys, keys_compare);
	*count_out = count;
	return keys;
}

bool
schedule_tags_differ(const struct pcoll_schedule *schedule, uint32_t *peer_out, uint32_t *tag_out)
{
	size_t count, i = 1;
	uint64_t *keys = keys_make(schedule, &count);
	bool differ;

	while (i < count && keys[i] != keys[i - 1])
		i++;
	differ = i >= count;
	if (!differ) {
		*peer_out = (uint32_t)(keys[i] >> 32);
		*tag_out = (uint32_t)keys[i];
	}
	free(keys);
	return differ;
}
