/*
 * Who sleeps for a word is woken by the signal that makes it large enough, and not by those before
 * it; by each signal where it waits for another comparison.
 */
#include "tests/lib/pt.h"

#include <penstock.h>

enum {
	SIGNALS = 8,            /* of each rank to rank 0, one at a time */
	PAUSE_MS = 4,           /* between them: longer than a waiter looks before it sleeps */
	LONGEST_PAUSE_MS = 512,
	FEW = 2,                /* rings beyond one for each time that it is to be woken */
	WORDS = 4,
};

/* Of rank 0; and of each rank, where it hears that it may signal once more, and that it is
 * enough. */
static uint64_t *words, *turn, *over;

static uint64_t rings(void) { return pt_counter(pt.rank, "wakeups_received"); }

static void
signal_word(gex_Rank_t to, uint64_t *word)
{
	const pst_signal_t one = pst_signal_word(PST_SIGNAL_ADD, word, 1);

	PT_OK(pst_put_signal(pt.tm, to, word, NULL, 0, &one, 0));
}

/* Sets the words back, and lets all begin. */
static void
begin(const char *what)
{
	pt_phase(what);
	pt_barrier();
	if (pt.rank == 0)
		for (unsigned i = 0; i < WORDS; i++)
			pst_signal_store(words + i, 0);
	pst_signal_store(turn, 0);
	pst_signal_store(over, 0);
	pt_barrier();
}

static unsigned
all_signals(void)
{
	return SIGNALS * (pt.size - 1);
}

/* -- woken when there is enough ---------------------------------------------------------------- */

static void
wait_one(void)
{
	PT_LE(all_signals(), pst_signal_wait(pt.ep, words, PST_CMP_GE, all_signals()));
}

static void
wait_above(void)
{
	PT_LE(all_signals(), pst_signal_wait(pt.ep, words, PST_CMP_GT, all_signals() - 1));
}

/* Each word gets the same number. */
static void
wait_all_words(void)
{
	uint64_t *all[WORDS], values[WORDS];
	int done[WORDS] = { 0 };

	for (unsigned i = 0; i < WORDS; i++) {
		all[i] = words + i;
		values[i] = all_signals() / WORDS;
	}
	PT_EQ(pst_signal_wait_all(pt.ep, all, values, WORDS, PST_CMP_GE, done, PST_FOREVER), 1);
}

/* The first but one is the one that gets enough. */
static void
wait_any_word(void)
{
	uint64_t *all[2] = { words + 1, words };
	const uint64_t values[2] = { 1, all_signals() };

	PT_EQ(pst_signal_wait_any(pt.ep, all, values, 2, PST_CMP_GE, NULL, PST_FOREVER), 1);
}

static void
woken_once(const char *what, void (*wait)(void), size_t entries, unsigned wakes)
{
	uint64_t before;

	begin(what);
	if (pt.rank != 0) {
		for (unsigned i = 0; i < SIGNALS; i++) {
			pt_sleep_ms(PAUSE_MS);
			signal_word(0, words + i % entries);
		}
		return;
	}
	pt_sleep_ms(PAUSE_MS / 2);      /* the ranks ring as they leave the barrier */
	before = rings();
	wait();
	PT_LE(rings() - before, wakes + FEW);
}

/* Signals to a word for which nobody waits. */
static void
wait_for_another(void)
{
	PT_EQ(pst_signal_wait(pt.ep, words + 1, PST_CMP_GE, pt.size - 1), pt.size - 1);
}

static void
others_wake_nobody(void)
{
	uint64_t before;

	begin("signals to others");
	if (pt.rank != 0) {
		for (unsigned i = 0; i < SIGNALS; i++) {
			pt_sleep_ms(PAUSE_MS);
			signal_word(0, words);
		}
		signal_word(0, words + 1);
		return;
	}
	pt_sleep_ms(PAUSE_MS / 2);      /* the ranks ring as they leave the barrier */
	before = rings();
	wait_for_another();
	PT_LE(rings() - before, 1 + FEW);
}

/* -- woken at all ------------------------------------------------------------------------------ */

static uint64_t *
at_rank_1(const uint64_t *own)
{
	return (uint64_t *)(void *)pt.peers[1].owner + (own - words);
}

/* What the next signal fulfils, of a word that has `seen'. */
static uint64_t
wait_next(int cmp, uint64_t seen)
{
	switch (cmp) {
	case PST_CMP_GE:
	case PST_CMP_EQ:
		return pst_signal_wait(pt.ep, words, cmp, seen + 1);
	case PST_CMP_NE:
	case PST_CMP_GT:
		return pst_signal_wait(pt.ep, words, cmp, seen);
	default:        /* the word goes on from below 0 */
		return pst_signal_wait(pt.ep, words, cmp, UINT64_MAX / 2);
	}
}

/* Each after a longer pause, since how long a waiter looks before it sleeps depends on the
 * machine. */
static void
signal_in_turn(void)
{
	uint64_t *const either[2] = { turn, over };
	uint64_t values[2] = { 1, 1 };
	unsigned pause_ms = PAUSE_MS;

	while (pst_signal_wait_any(pt.ep, either, values, 2, PST_CMP_GE, NULL, PST_FOREVER) == 0) {
		values[0]++;
		pt_sleep_ms(pause_ms);
		pause_ms += pause_ms < LONGEST_PAUSE_MS ? pause_ms : 0;
		signal_word(0, words);
	}
}

/* Of as many signals as it takes until one finds rank 0 asleep. */
static void
some_signal_wakes(const char *what, int cmp)
{
	const int from_below = cmp == PST_CMP_LT || cmp == PST_CMP_LE;
	uint64_t seen = 0, before;

	begin(what);
	pt_sleep_ms(PAUSE_MS / 2);      /* the ranks ring as they leave the barrier */
	before = rings();
	if (pt.rank == 1) {
		signal_in_turn();
	} else if (pt.rank == 0) {
		while (rings() == before) {
			if (from_below)
				pst_signal_store(words, UINT64_MAX);
			signal_word(1, at_rank_1(turn));
			seen = wait_next(cmp, seen);
		}
		signal_word(1, at_rank_1(over));
	}
}

#ifdef GASNET_PAR
/* -- several that wait ------------------------------------------------------------------------- */

/* Thread 0 for all, 1 for the first, 2 for any change; of the same word. */
static void
wait_in_turn(unsigned index, void *unused)
{
	(void)unused;
	if (index == 0)
		wait_one();
	else if (index == 1)
		pst_signal_wait(pt.ep, words, PST_CMP_GE, 1);
	else
		pst_signal_wait(pt.ep, words, PST_CMP_NE, 0);
}

static void
several_threads(void)
{
	begin("several threads");
	if (pt.rank == 0)
		pt_threads(3, wait_in_turn, NULL);
	for (unsigned i = 0; pt.rank != 0 && i < SIGNALS; i++) {
		pt_sleep_ms(PAUSE_MS);
		signal_word(0, words);
	}
}
#endif

int
main(int argc, char **argv)
{
	setenv("PST_HANG_REPORT", "0", 1);
	pt_start(&argc, &argv, NULL, 0, 4096);
	words = (uint64_t *)(void *)pt.peers[0].owner;
	turn = (uint64_t *)(void *)pt.peers[pt.rank].owner + WORDS;
	over = turn + 1;
	woken_once("one", wait_one, 1, 1);
	woken_once("above", wait_above, 1, 1);
	woken_once("all", wait_all_words, WORDS, WORDS);
	woken_once("any", wait_any_word, 1, 1);
	others_wake_nobody();
	some_signal_wakes("at least", PST_CMP_GE);
	some_signal_wakes("more", PST_CMP_GT);
	some_signal_wakes("equal", PST_CMP_EQ);
	some_signal_wakes("another", PST_CMP_NE);
	some_signal_wakes("less", PST_CMP_LT);
	some_signal_wakes("at most", PST_CMP_LE);
#ifdef GASNET_PAR
	several_threads();
#endif
	pt_barrier();
	pt_finish();
}
