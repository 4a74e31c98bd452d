/*
 * Gets that give a credit, puts with signal that may be refused, many of them at once, and words:
 * round a ring, as in put_signal.c.
 */
#include "tests/lib/pt.h"

#include <penstock.h>

enum {
	MOST = 300000,
	INBOX = 64,             /* offsets in the segment; the words come first */
	OUTBOX = INBOX + MOST,
	SEGMENT = OUTBOX + MOST,
};

enum word { ADDED, SET_TO };

static PT_OWN pst_sem_set_t set;
static PT_OWN uint64_t added;    /* what the word has that the one before adds to */
static PT_OWN char source[MOST + 1];

static gex_Rank_t next(void) { return (pt.rank + 1) % pt.size; }

static uint64_t *
words_of(gex_Rank_t rank)
{
	return (uint64_t *)(void *)pt.peers[rank].owner;
}

/* -- get with credit --------------------------------------------------------------------------- */

static void
gets_all(void)
{
	static const size_t sizes[] = { 0, 1, 8, 1000, 65000, MOST };

	pt_fill(pt.base + OUTBOX, MOST, pt.rank);
	pt_barrier();
	for (unsigned i = 0; i < PT_COUNT(sizes); i++) {
		for (int how = 0; how < 3; how++) {
			const char *from = pt.peers[next()].owner + OUTBOX;
			const pst_signal_t sig = pst_signal_sem(pst_sem_set_ref(set, next(), 0), 1);
			gex_Event_t event;

			memset(source, 0, sizes[i] + 1);
			if (how == 0) {
				PT_OK(pst_get_signal(pt.tm, source, next(), from, sizes[i], &sig,
				                     0));
			} else if (how == 1) {
				event = pst_get_signal_nb(pt.tm, source, next(), from, sizes[i],
				                          &sig, 0);
				gex_Event_Wait(event);
			} else {
				PT_OK(pst_get_signal_nbi(pt.tm, source, next(), from, sizes[i],
				                         &sig, 0));
				gex_NBI_Wait(GEX_EC_GET, 0);
			}
			PT_MEM(source, sizes[i], next());
			PT_EQ(source[sizes[i]], 0);
			pst_sem_wait(pst_sem_set_mine(set, 0), 1);
		}
	}
}

/* -- IMMEDIATE, and many at once
 * ---------------------------------------------------------------- */

static void
immediate(void)
{
	const unsigned long count = pt_scale(500, 5000);
	const pst_sem_ref_t ref = pst_sem_set_ref(set, next(), 0);

	pt_barrier();
	for (unsigned long i = 0; i < count; i++) {
		const size_t nbytes = i % 3 * 40;
		gex_Event_t event;

		while ((event = pst_memput_signal_nb(pt.tm, next(), pt.peers[next()].owner + INBOX,
		                                     source, nbytes, ref, 1, GEX_FLAG_IMMEDIATE)) ==
		       GEX_EVENT_NO_OP)
			PT_OK(pst_poll(pt.ep));
		gex_Event_Wait(event);
	}
	pst_sem_wait(pst_sem_set_mine(set, 0), (unsigned)count);
	PT_EQ(pst_sem_value(pst_sem_set_mine(set, 0)), 0);
}

static void
many_at_once(void)
{
	enum { COUNT = 200 };
	const pst_signal_t sig = pst_signal_word(PST_SIGNAL_ADD, words_of(next()) + ADDED, 1);
	gex_Event_t events[COUNT];

	pt_barrier();
	for (unsigned i = 0; i < COUNT; i++) {
		pt_fill(source + i * 100, 100, i);
		events[i] =
			pst_put_signal_nb(pt.tm, next(), pt.peers[next()].owner + INBOX + i * 100,
		                          source + i * 100, 100, &sig, GEX_EVENT_DEFER, 0);
	}
	gex_Event_WaitAll(events, COUNT, 0);
	/* full completion: a get finds it */
	for (unsigned i = 0; i < COUNT; i++) {
		char got[100];

		PT_OK(gex_RMA_GetBlocking(pt.tm, got, next(),
		                          pt.peers[next()].owner + INBOX + i * 100, sizeof got, 0));
		PT_MEM(got, sizeof got, i);
	}
	added += COUNT;
	pst_signal_wait(pt.ep, words_of(pt.rank) + ADDED, PST_CMP_EQ, added);
}

/* -- words
 * -------------------------------------------------------------------------------------- */

static void
words_compared(void)
{
	static const struct {
		int cmp;
		uint64_t value;
		int holds;
	} rows[] = {
		{ PST_CMP_EQ, 5, 1 },          { PST_CMP_EQ, 4, 0 }, { PST_CMP_NE, 5, 0 },
		{ PST_CMP_NE, 4, 1 },          { PST_CMP_GT, 4, 1 }, { PST_CMP_GT, 5, 0 },
		{ PST_CMP_GE, 5, 1 },          { PST_CMP_GE, 6, 0 }, { PST_CMP_LT, 6, 1 },
		{ PST_CMP_LT, 5, 0 },          { PST_CMP_LE, 5, 1 }, { PST_CMP_LE, 4, 0 },
		{ PST_CMP_LT, UINT64_MAX, 1 },
	};
	uint64_t mine[3], values[3] = { 1, 1, 1 }, seen;
	uint64_t *words[3] = { &mine[0], &mine[1], &mine[2] };
	int done[3] = { 0, 0, 0 };
	size_t indices[3];

	for (int i = 0; i < 3; i++)
		pst_signal_store(&mine[i], 5);
	PT_EQ(pst_signal_fetch(&mine[0]), 5);
	for (unsigned i = 0; i < PT_COUNT(rows); i++) {
		seen = 77;
		PT_EQ(pst_signal_test(pt.ep, &mine[0], rows[i].cmp, rows[i].value, &seen),
		      rows[i].holds);
		PT_EQ(seen, rows[i].holds ? 5 : 77);
	}
	for (int i = 0; i < 3; i++)
		pst_signal_store(&mine[i], 0);
	PT_EQ(pst_signal_wait_any(pt.ep, words, values, 3, PST_CMP_EQ, done, 1000000), PST_NONE);
	pst_signal_store(&mine[1], 1);
	PT_EQ(pst_signal_wait_any(pt.ep, words, values, 3, PST_CMP_EQ, done, PST_FOREVER), 1);
	PT_EQ(pst_signal_wait_all(pt.ep, words, values, 3, PST_CMP_EQ, done, 0), 0);
	pst_signal_store(&mine[0], 1);
	PT_EQ(pst_signal_wait_some(pt.ep, words, values, 3, PST_CMP_EQ, done, PST_FOREVER, indices),
	      1);
	PT_EQ(indices[0], 0);
	pst_signal_store(&mine[2], 1);
	PT_EQ(pst_signal_wait_all(pt.ep, words, values, 3, PST_CMP_EQ, done, PST_FOREVER), 1);
	PT_EQ(pst_signal_wait_any(pt.ep, words, values, 3, PST_CMP_EQ, done, PST_FOREVER),
	      PST_NONE);
	PT_EQ(pst_signal_wait_all(pt.ep, words, values, 3, PST_CMP_EQ, NULL, PST_FOREVER), 1);
}

/* A put wakes nobody, and is seen all the same. Between threads, ThreadSanitizer tells of it as a
 * race. */
static void
words_put(void)
{
	uint64_t *word = words_of(pt.rank) + SET_TO;

#ifdef PT_TSAN
	if (pt_is_thread())
		return;
#endif
	pst_signal_store(word, 0);
	pt_barrier();
	pt_sleep_ms(5);
	PT_OK(gex_RMA_PutBlockingVal(pt.tm, next(), words_of(next()) + SET_TO, 9, 8, 0));
	PT_EQ(pst_signal_wait(pt.ep, word, PST_CMP_NE, 0), 9);
}

int
main(int argc, char **argv)
{
	pt_start(&argc, &argv, NULL, 0, SEGMENT);
	PT_OK(pst_sem_set_create(pt.tm, 1, PST_SEM_SPRODUCER | PST_SEM_SCONSUMER, &set, 0));
	pt_phase("gets");
	gets_all();
	pt_phase("many");
	immediate();
	many_at_once();
	pt_phase("words");
	words_compared();
	words_put();
	pt_barrier();
	pst_sem_set_destroy(set, 0);
	pt_finish();
}
