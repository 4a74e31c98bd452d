/* Sets of members of a team. */
#ifndef SCHEDULE_SET_H
#define SCHEDULE_SET_H

#include <stdbool.h>
#include <stdint.h>

enum { SET_WORDS = 5, MOST_MEMBERS = 64 * SET_WORDS };

/* Members of whom something is known, as bits. */
struct set {
	uint64_t word[SET_WORDS];
};

static inline void
set_add(struct set *set, uint32_t rank)
{
	set->word[rank / 64] |= (uint64_t)1 << rank % 64;
}

static inline void
set_join(struct set *set, const struct set *other)
{
	for (unsigned i = 0; i < SET_WORDS; i++)
		set->word[i] |= other->word[i];
}

static inline bool
set_is_full(const struct set *set, uint32_t size)
{
	for (uint32_t rank = 0; rank < size; rank++)
		if (!(set->word[rank / 64] >> rank % 64 & 1))
			return false;
	return true;
}

#endif
