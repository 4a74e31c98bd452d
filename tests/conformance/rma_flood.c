/* More operations under way than any queue holds, all ranks at once, and a few very large ones. */
#include <gasnet.h>

#include "tests/lib/pt.h"

enum { MOST_WORDS = 66000, LARGE_BYTES = 3 << 20, LARGE = 4 };

static PT_OWN size_t words_count;
static PT_OWN uint64_t *words;
static PT_OWN gex_Event_t *events;

static uint64_t *
there(gex_Rank_t rank, size_t i)
{
	return (uint64_t *)(void *)(pt.peers[rank].owner + (size_t)pt.rank * words_count * 8) + i;
}

static uint64_t
expected(size_t i)
{
	return ((uint64_t)pt.rank << 40) + i * 7;
}

static void
explicit_ones(gex_Rank_t rank)
{
	for (size_t i = 0; i < words_count; i++) {
		words[i] = expected(i);
		events[i] = gex_RMA_PutNB(pt.tm, rank, there(rank, i), &words[i], 8,
		                          GEX_EVENT_DEFER, 0);
	}
	gex_Event_WaitAll(events, words_count, 0);
	memset(words, 0, words_count * 8);
	for (size_t i = 0; i < words_count; i++)
		events[i] = gex_RMA_GetNB(pt.tm, &words[i], rank, there(rank, i), 8, 0);
	for (size_t i = words_count; i-- > 0;)
		gex_Event_Wait(events[i]);
	for (size_t i = 0; i < words_count; i++)
		if (words[i] != expected(i))
			PT_EQ(words[i], expected(i));
}

static void
implicit_ones(gex_Rank_t rank)
{
	for (size_t i = 0; i < words_count; i++)
		PT_OK(gex_RMA_PutNBIVal(pt.tm, rank, there(rank, i), ~expected(i), 8, 0));
	gex_NBI_Wait(GEX_EC_PUT, 0);
	for (size_t i = 0; i < words_count; i++)
		PT_OK(gex_RMA_GetNBI(pt.tm, &words[i], rank, there(rank, i), 8, 0));
	gex_NBI_Wait(GEX_EC_GET, 0);
	for (size_t i = 0; i < words_count; i++)
		if (words[i] != ~expected(i))
			PT_EQ(words[i], ~expected(i));
}

/* Several at a time, both ways. */
static void
large_ones(void)
{
	const gex_Rank_t right = (pt.rank + 1) % pt.size;
	char *base = pt.peers[right].owner + (size_t)pt.size * words_count * 8;
	char *from = malloc((size_t)LARGE * LARGE_BYTES), *to = malloc((size_t)LARGE * LARGE_BYTES);
	gex_Event_t leaves[LARGE], roots[LARGE];

	PT_CHECK(from != NULL && to != NULL);
	pt_fill(from, (size_t)LARGE * LARGE_BYTES, pt.rank);
	for (size_t i = 0; i < LARGE; i++)
		roots[i] = gex_RMA_PutNB(pt.tm, right, base + i * LARGE_BYTES,
		                         from + i * LARGE_BYTES, LARGE_BYTES, &leaves[i], 0);
	gex_Event_WaitAll(leaves, LARGE, 0);
	memset(from, 0, (size_t)LARGE * LARGE_BYTES);
	gex_Event_WaitAll(roots, LARGE, 0);
	for (size_t i = 0; i < LARGE; i++)
		roots[i] = gex_RMA_GetNB(pt.tm, to + i * LARGE_BYTES, right, base + i * LARGE_BYTES,
		                         LARGE_BYTES, 0);
	gex_Event_WaitAll(roots, LARGE, 0);
	PT_MEM(to, (size_t)LARGE * LARGE_BYTES, pt.rank);
	pt_barrier();
	PT_MEM(pt.base + (size_t)pt.size * words_count * 8, (size_t)LARGE * LARGE_BYTES,
	       (pt.rank + pt.size - 1) % pt.size);
	free(from);
	free(to);
}

int
main(int argc, char **argv)
{
	pt_start(&argc, &argv, NULL, 0, (size_t)8 * MOST_WORDS * 8 + (size_t)LARGE * LARGE_BYTES);
	PT_CHECK(pt.size <= 8);
	words_count = pt_scale(3000, MOST_WORDS);
	words = malloc(words_count * 8);
	events = malloc(words_count * sizeof(*events));
	PT_CHECK(words != NULL && events != NULL);
	pt_phase("explicit ones");
	explicit_ones((pt.rank + 1) % pt.size);
	pt_phase("implicit ones");
	implicit_ones((pt.rank + pt.size - 1) % pt.size);
	pt_phase("large ones");
	pt_barrier();
	large_ones();
	pt_barrier();
	free(words);
	free(events);
	pt_finish();
}
