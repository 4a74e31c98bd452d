/*
 * Semaphores and puts with signal between ranks that are threads, for ThreadSanitizer: each round
 * all send to all, by posts, puts and pieces, and wait in a way that the seed chooses; payloads are
 * read without any order but that of the signals, and credits say when they may be written again.
 */
#include "tests/lib/pt.h"

#include <penstock.h>

#ifndef GASNET_PAR
#error this program is for PAR
#endif

enum { RANKS = 4, SLOT = 512, SEGMENT = RANKS * SLOT, ENTRIES = 3, CREDIT = ENTRIES };

struct self {
	gex_TM_t tm;
	gex_Rank_t rank, size;
	pst_sem_set_t set;      /* ENTRIES for what comes, one for credits */
	char *base[RANKS];      /* of the segments, by rank */
	struct pt_rng common;   /* the same numbers on all ranks */
	struct pt_rng own;
};

static size_t bytes_of(uint64_t key) { return 8 + key % (SLOT - 8); }
static uint64_t key_of(uint64_t round, gex_Rank_t from) { return round * 100 + from; }

static void
put_to(const struct self *self, gex_Rank_t to, uint64_t round, unsigned entry)
{
	static const ptrdiff_t apart[1] = { 4 };
	const uint64_t key = key_of(round, self->rank);
	const pst_signal_t sig = pst_signal_sem(pst_sem_set_ref(self->set, to, entry), 1);
	const size_t bytes = bytes_of(key), quads[1] = { bytes / 4 };
	char source[SLOT], *there = self->base[to] + self->rank * SLOT;

	pt_fill(source, bytes, (unsigned)key);
	switch (key % 4) {
	case 0:
		pst_memput_signal(self->tm, to, there, source, bytes, sig.pst_ref, 1);
		break;
	case 1:
		PT_OK(pst_puts_signal(self->tm, to, there, apart, source, apart, 4, quads, 1, &sig,
		                      0));
		break;
	case 2:
		PT_OK(gex_RMA_PutBlocking(self->tm, to, there, source, bytes, 0));
		PT_OK(pst_sem_post(self->tm, to, sig.pst_ref, 1, 0));
		break;
	default:
		PT_OK(pst_put_signal(self->tm, to, there, source, bytes, &sig, 0));
		break;
	}
}

/* All that is to come to the entries: so many each. */
static void
await(struct self *self, const unsigned n[ENTRIES])
{
	pst_sem_t sems[ENTRIES];
	unsigned left = ENTRIES;
	int done[ENTRIES] = { 0 };

	for (unsigned i = 0; i < ENTRIES; i++) {
		sems[i] = pst_sem_set_mine(self->set, i);
		done[i] = n[i] == 0;
		left -= n[i] == 0;
	}
	switch (pt_rand(&self->own) % 4) {
	case 0:
		PT_EQ(pst_sem_wait_all(sems, n, ENTRIES, done, PST_FOREVER), 1);
		break;
	case 1:
		for (; left; left--)
			PT_LE(pst_sem_wait_any(sems, n, ENTRIES, done, PST_FOREVER), ENTRIES - 1);
		break;
	case 2:
		while (left)
			left -= (unsigned)pst_sem_wait_some(sems, n, ENTRIES, done, 100000, NULL);
		break;
	default:
		for (unsigned i = 0; i < ENTRIES; i++)
			if (n[i])
				pst_sem_wait(sems[i], n[i]);
		break;
	}
}

static void
round_of(struct self *self, uint64_t round)
{
	unsigned n[ENTRIES] = { 0 };
	uint64_t draw = pt_rand(&self->common);

	for (gex_Rank_t from = 0; from < self->size; from++)
		n[(draw + from) % ENTRIES]++;
	for (gex_Rank_t i = 0; i < self->size; i++)
		put_to(self, (self->rank + i) % self->size, round,
		       (unsigned)((draw + self->rank) % ENTRIES));
	await(self, n);
	for (gex_Rank_t from = 0; from < self->size; from++) {
		const uint64_t key = key_of(round, from);
		const size_t bytes = bytes_of(key);

		PT_MEM(self->base[self->rank] + from * SLOT, key % 4 == 1 ? bytes / 4 * 4 : bytes,
		       (unsigned)key);
		PT_OK(pst_sem_post(self->tm, from, pst_sem_set_ref(self->set, from, CREDIT), 1, 0));
	}
	pst_sem_wait(pst_sem_set_mine(self->set, CREDIT), self->size);
}

static int
in_rank(gex_TM_t tm, void *rounds)
{
	struct self self = { .tm = tm, .rank = gex_TM_QueryRank(tm), .size = gex_TM_QuerySize(tm) };

	PT_LE(self.size, RANKS);
	self.common = pt_rng_make(1000);
	self.own = pt_rng_make(self.rank);
	for (gex_Rank_t rank = 0; rank < self.size; rank++) {
		void *base = NULL;

		gex_Event_Wait(gex_EP_QueryBoundSegmentNB(tm, rank, &base, NULL, NULL, 0));
		self.base[rank] = (char *)base;
	}
	PT_OK(pst_sem_set_create(tm, ENTRIES + 1, 0, &self.set, 0));
	for (uint64_t round = 1; round <= *(uint64_t *)rounds; round++)
		round_of(&self, round);
	pst_sem_set_destroy(self.set, 0);
	return 0;
}

int
main(int argc, char **argv)
{
	uint64_t rounds;

	setenv("PST_SLEEP_MAX", "0", 1);
	pt_start(&argc, &argv, NULL, 0, 4096);
	rounds = pt.level == PT_LONG ? 20000 : pt_scale(100, 500);
	PT_EQ(pst_threads_run(pt.tm, RANKS / (int)pt.size, GASNET_PAGESIZE, NULL, 0, in_rank,
	                      &rounds, 0),
	      0);
	pt_barrier();
	pt_finish();
}
