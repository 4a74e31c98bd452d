/* The combined names of the ranks that have entered a phase of a barrier. */
#ifndef PCOLL_NAMES_H
#define PCOLL_NAMES_H

#include <stdbool.h>
#include <stdint.h>

struct pcoll_names {
	bool mismatch, named;
	int32_t id;
};

/* Combining is idempotent, so hearing twice does no harm. */
static inline struct pcoll_names
pcoll_names_combine(struct pcoll_names a, struct pcoll_names b)
{
	struct pcoll_names both = { .mismatch = a.mismatch || b.mismatch,
		                    .named = a.named || b.named };

	both.id = a.named ? a.id : b.id;
	if (a.named && b.named && a.id != b.id)
		both.mismatch = true;
	return both;
}

/* The names as one word.  Bits from PCOLL_NAMES_BITS on are free; 0 stands for no names. */
enum { PCOLL_NAMED_BIT = 32, PCOLL_MISMATCH_BIT = 33, PCOLL_NAMES_BITS = 48 };

static inline uint64_t
pcoll_names_word(struct pcoll_names names)
{
	return (uint32_t)names.id | (uint64_t)names.named << PCOLL_NAMED_BIT |
	       (uint64_t)names.mismatch << PCOLL_MISMATCH_BIT;
}

static inline struct pcoll_names
pcoll_names_of(uint64_t word)
{
	return (struct pcoll_names){
		.id = (int32_t)(uint32_t)word,
		.named = word >> PCOLL_NAMED_BIT & 1,
		.mismatch = word >> PCOLL_MISMATCH_BIT & 1,
	};
}

#endif
