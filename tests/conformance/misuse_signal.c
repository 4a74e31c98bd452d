/* Puts with signal, and words, that are used as they may not be. */
#include "tests/lib/pt_misuse.h"

#include <penstock.h>

static char memory[64];

/* -- puts ------------------------------------------------------------------------------------ */

static void
put(const pst_signal_t *sig, gex_Event_t *lc_opt, gex_Flags_t flags)
{
	gex_Event_Wait(pst_put_signal_nb(pt.tm, 0, pt.base, memory, 8, sig, lc_opt, flags));
}

static pst_signal_t
word_at(char *at)
{
	return pst_signal_word(PST_SIGNAL_ADD, (uint64_t *)(void *)at, 1);
}

static void
no_lc(void)
{
	pst_signal_t sig = word_at(pt.base + 64);

	put(&sig, NULL, 0);
}

static void
group_lc(void)
{
	pst_signal_t sig = word_at(pt.base + 64);

	put(&sig, GEX_EVENT_GROUP, 0);
}

static void no_signal(void) { put(NULL, GEX_EVENT_DEFER, 0); }

static void
no_such_signal(void)
{
	pst_signal_t sig = pst_signal_word(9, NULL, 0);

	put(&sig, GEX_EVENT_NOW, 0);
}

static void
word_misaligned(void)
{
	pst_signal_t sig = word_at(pt.base + 65);

	put(&sig, GEX_EVENT_NOW, 0);
}

static void
word_outside(void)
{
	pst_signal_t sig = word_at(memory);

	put(&sig, GEX_EVENT_NOW, 0);
}

static void
word_in_payload(void)
{
	pst_signal_t sig = word_at(pt.base);

	put(&sig, GEX_EVENT_NOW, 0);
}

static void
word_in_vector(void)
{
	const pst_signal_t sig = word_at(pt.base + 64);
	const gex_Memvec_t to[2] = { { pt.base, 8 }, { pt.base + 60, 8 } }, from = { memory, 16 };

	PT_OK(pst_putv_signal(pt.tm, 0, 2, to, 1, &from, &sig, 0));
}

static void
word_in_indexed(void)
{
	const pst_signal_t sig = word_at(pt.base + 64);
	void *const to[2] = { pt.base, pt.base + 68 }, *const from[1] = { memory };

	PT_OK(pst_puti_signal(pt.tm, 0, 2, to, 8, 1, from, 16, &sig, 0));
}

/* In the last of four blocks, at 0, 16, 56 and 72. */
static void
word_in_strided(void)
{
	const pst_signal_t sig = word_at(pt.base + 72);
	const size_t count[2] = { 2, 2 };
	const ptrdiff_t to[2] = { 16, 56 }, from[2] = { 8, 16 };

	PT_OK(pst_puts_signal(pt.tm, 0, pt.base, to, memory, from, 8, count, 2, &sig, 0));
}

/* By messages, to a rank that does not listen for a while. */
static void
set_and_add(void)
{
	pst_signal_t set, add;

	setenv("PST_TEST_CONDUIT_MASK", "signal", 1);
	pt_init(NULL, NULL, 0);
	pt_attach(NULL, 0, 4096);
	if (pt.rank != 0) {
		pt_sleep_ms(3000);
		return;
	}
	add = word_at(pt.peers[1].owner + 64);
	set = pst_signal_word(PST_SIGNAL_SET, add.pst_word, 5);
	PT_OK(pst_put_signal_nbi(pt.tm, 1, pt.peers[1].owner, memory, 8, &set, GEX_EVENT_DEFER, 0));
	PT_OK(pst_put_signal_nbi(pt.tm, 1, pt.peers[1].owner, memory, 8, &add, GEX_EVENT_DEFER, 0));
}

static void
put_outside(void)
{
	pst_sem_t sem;

	PT_OK(pst_sem_alloc(pt.ep, 0, 1, &sem));
	pst_memput_signal(pt.tm, 0, memory, memory, 8, pst_sem_ref(sem), 1);
}

static void
value_of_nine(void)
{
	pst_signal_t sig = word_at(pt.base + 64);

	PT_OK(pst_putval_signal(pt.tm, 0, pt.base, 1, 9, &sig, 0));
}

static void
get_local(void)
{
	pst_signal_t sig = word_at(pt.base + 64);

	PT_OK(pst_get_signal(pt.tm, memory, 0, pt.base, 8, &sig, PST_FLAG_LOCAL_ONLY));
}

/* -- words ----------------------------------------------------------------------------------- */

static uint64_t word, *const words[1] = { &word };

static void
wait_misaligned(void)
{
	PT_LE(pst_signal_wait(pt.ep, (uint64_t *)(void *)(memory + 1), PST_CMP_NE, 1), 0);
}

static void no_compare(void) { PT_LE(pst_signal_wait(pt.ep, &word, 7, 0), 0); }

static void
words_none(void)
{
	PT_LE(pst_signal_wait_any(pt.ep, NULL, NULL, 1, PST_CMP_EQ, NULL, 0), 0);
}

static void
words_without_done(void)
{
	const uint64_t value = 1;

	PT_EQ(pst_signal_wait_all(pt.ep, words, &value, 1, PST_CMP_EQ, NULL, 0), 0);
}

static const struct pt_misuse cases[] = {
	{ "no_lc", PT_ALWAYS, 1, no_lc, "a put with signal that does not say what of its source",
	  "pst_put_signal_nb: lc_opt is NULL; pass GEX_EVENT_NOW or GEX_EVENT_DEFER", 0 },
	{ "group_lc", PT_ALWAYS, 1, group_lc, "`GEX_EVENT_GROUP` for an explicit one",
	  "pst_put_signal_nb: lc_opt is GEX_EVENT_GROUP, which this call does not allow; pass "
	  "GEX_EVENT_NOW or GEX_EVENT_DEFER",
	  0 },
	{ "no_signal", PT_CHECKED, 1, no_signal, "a signal that is not there",
	  "pst_put_signal_nb: sig is NULL; pass a signal, such as pst_signal_sem makes", 0 },
	{ "no_such_signal", PT_ALWAYS, 1, no_such_signal, "a signal of no kind",
	  "pst_put_signal_nb: pst_what is 9; it is one of PST_SIGNAL_SEM, _SET and _ADD", 0 },
	{ "word_misaligned", PT_ALWAYS, 1, word_misaligned, "a word that is not aligned",
	  "pst_put_signal_nb: the word at 0x* is not aligned to 8 bytes; align it", 0 },
	{ "word_outside", PT_ALWAYS, 1, word_outside, "a word outside the segment",
	  "pst_put_signal_nb: 8 bytes at 0x* do not lie in the segment of rank 0, which is * bytes "
	  "at 0x*; gex_EP_QueryBoundSegmentNB tells its bounds",
	  0 },
	{ "word_in_payload", PT_CHECKED, 1, word_in_payload, "a word in the payload",
	  "pst_put_signal_nb: the word at 0x* lies in the payload, 8 bytes at 0x*; put it "
	  "elsewhere",
	  0 },
	{ "word_in_vector", PT_CHECKED, 1, word_in_vector, "the same, in a piece of a vector",
	  "pst_putv_signal: the word at 0x* lies in the payload, 8 bytes at 0x*; put it elsewhere",
	  0 },
	{ "word_in_indexed", PT_CHECKED, 1, word_in_indexed, "the same, in an indexed piece",
	  "pst_puti_signal: the word at 0x* lies in the payload, 8 bytes at 0x*; put it elsewhere",
	  0 },
	{ "word_in_strided", PT_CHECKED, 1, word_in_strided,
	  "the same, in a block of a strided "
	  "one",
	  "pst_puts_signal: the word at 0x* lies in the payload, 8 bytes at 0x*; put it elsewhere",
	  0 },
	{ "set_and_add", PT_CHECKED, 2, set_and_add, "SET and ADD of a word at a time",
	  "pst_put_signal_nbi: PST_SIGNAL_ADD of the word at 0x* while a PST_SIGNAL_SET to it is "
	  "under way; let that arrive first, or use one operator for the word",
	  1 },
	{ "put_outside", PT_ALWAYS, 1, put_outside, "a payload outside the segment",
	  "pst_memput_signal: 8 bytes at 0x* do not lie in the segment of rank 0, which is * bytes "
	  "at 0x*; gex_EP_QueryBoundSegmentNB tells its bounds",
	  0 },
	{ "value_of_nine", PT_ALWAYS, 1, value_of_nine, "a value of nine bytes",
	  "pst_putval_signal: a value of 9 bytes; it has 1 to 8", 0 },
	{ "get_local", PT_ALWAYS, 1, get_local, "a get whose event is that of its source",
	  "pst_get_signal: flags 0x80000000 have no meaning in this call, which takes those of "
	  "0x*; leave them out",
	  0 },
	{ "wait_misaligned", PT_ALWAYS, 1, wait_misaligned, "a wait for a word that is not aligned",
	  "pst_signal_wait: the word at 0x* is not aligned to 8 bytes; align it", 0 },
	{ "no_compare", PT_ALWAYS, 1, no_compare, "a comparison that there is not",
	  "pst_signal_wait: cmp is 7; it is PST_CMP_EQ, _NE, _GT, _GE, _LT or _LE", 0 },
	{ "words_none", PT_ALWAYS, 1, words_none, "words that are not there",
	  "pst_signal_wait_any: words is NULL, but should have 1 entries; pass the list", 0 },
	{ "words_without_done", PT_ALWAYS, 1, words_without_done,
	  "a wait for all words that may "
	  "end early",
	  "pst_signal_wait_all: done is NULL, and there is a time-out; pass an array, or "
	  "PST_FOREVER",
	  0 },
};

const struct pt_misuse_set pt_misuse_acts = { .cases = cases, .count = PT_COUNT(cases) };
