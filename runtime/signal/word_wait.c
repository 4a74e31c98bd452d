/* Words that signals change: waiting until they compare. */
#include "runtime/signal/await.h"

#include "penstock_signal.h"
#include "runtime/process/rules.h"
#include "runtime/signal/threshold.h"

/* A device or a plain store wakes no thread. */
static const uint64_t word_sleep_ns = 1000000;

static bool
word_compares(uint64_t seen, int cmp, uint64_t value)
{
	switch (cmp) {
	case PST_CMP_EQ:
		return seen == value;
	case PST_CMP_NE:
		return seen != value;
	case PST_CMP_GT:
		return seen > value;
	case PST_CMP_GE:
		return seen >= value;
	case PST_CMP_LT:
		return seen < value;
	default:
		return seen <= value;
	}
}

/* Below this the word does not compare; 0: no such bound, so that each signal is to wake. */
static uint64_t
word_least(int cmp, uint64_t value)
{
	switch (cmp) {
	case PST_CMP_GE:
		return value;
	case PST_CMP_GT:
		return value < UINT64_MAX ? value + 1 : value;
	default:
		return 0;
	}
}

static void
word_tell(const uint64_t *word, int cmp, uint64_t value, bool asleep)
{
	if (asleep)
		psi_word_threshold_set(word, word_least(cmp, value));
	else
		psi_word_threshold_clear(word);
}

static void
word_check_call(gex_EP_t ep, int cmp, const char *call)
{
	psi_need_init(call);
	psi_rule_call(call);
	if (PSI_UNLIKELY(!ep))
		psi_invalid(call, "GEX_EP_INVALID");
	if (PSI_UNLIKELY(cmp < PST_CMP_EQ || cmp > PST_CMP_LE))
		psi_fatal("%s: cmp is %d; it is PST_CMP_EQ, _NE, _GT, _GE, _LT or _LE", call, cmp);
}

static void
word_check(const uint64_t *word, const char *call)
{
	if (PSI_UNLIKELY(!word || (uintptr_t)word % sizeof *word))
		psi_fatal("%s: the word at %p is not aligned to 8 bytes; align it", call,
		          (const void *)word);
}

/* -- one ------------------------------------------------------------------------------------- */

struct compare {
	struct psi_wait_threshold lack;
	const uint64_t *word;
	int cmp;
	uint64_t value, seen;
};

static bool
word_look(void *what)
{
	struct compare *compare = what;

	compare->seen = pst_signal_fetch(compare->word);
	return word_compares(compare->seen, compare->cmp, compare->value);
}

static void
word_threshold_announce(struct psi_wait_threshold *lack, bool asleep)
{
	const struct compare *compare = (const struct compare *)lack;

	word_tell(compare->word, compare->cmp, compare->value, asleep);
}

static bool
word_wait_one(struct compare *compare, gex_EP_t ep, uint64_t timeout_ns, const char *call)
{
	struct psi_reason reason = {
		.kind = PSI_FOR_WORD, .number = (uintptr_t)compare->word, .most_ns = word_sleep_ns,
		.ep = ep, .lack = &compare->lack,
	};

	word_check_call(ep, compare->cmp, call);
	word_check(compare->word, call);
	return psi_look_often(word_look, compare) ||
	       psi_signal_wait(word_look, compare, timeout_ns, &reason, call);
}

uint64_t
pst_signal_wait(gex_EP_t ep, const uint64_t *word, int cmp, uint64_t value)
{
	struct compare compare = { { word_threshold_announce, false }, word, cmp, value, 0 };

	word_wait_one(&compare, ep, PST_FOREVER, "pst_signal_wait");
	return compare.seen;
}

int
pst_signal_test(gex_EP_t ep, const uint64_t *word, int cmp, uint64_t value, uint64_t *seen_out)
{
	struct compare compare = { { word_threshold_announce, false }, word, cmp, value, 0 };

	if (!word_wait_one(&compare, ep, 0, "pst_signal_test"))
		return 0;
	if (seen_out)
		*seen_out = compare.seen;
	return 1;
}

/* -- several --------------------------------------------------------------------------------- */

static bool
word_take_entry(const struct psi_many *many, size_t i)
{
	uint64_t *const *words = many->items;
	const uint64_t *values = many->values;

	return word_compares(pst_signal_fetch(words[i]), many->cmp, values[i]);
}

static void
word_tell_entry(const struct psi_many *many, size_t i, bool asleep)
{
	uint64_t *const *words = many->items;
	const uint64_t *values = many->values;

	word_tell(words[i], many->cmp, values[i], asleep);
}

static struct psi_many
word_many_of(gex_EP_t ep, uint64_t *const *words, const uint64_t *values, size_t count, int cmp,
             int *done, const char *call)
{
	word_check_call(ep, cmp, call);
	psi_check_list(words, count, sizeof *words, "words", call);
	psi_check_list(values, count, sizeof *values, "values", call);
	for (size_t i = 0; i < count; i++)
		if (!done || !done[i])
			word_check(words[i], call);
	return (struct psi_many){
		.call = call,
		.take = word_take_entry,
		.has = word_take_entry,
		.tell = word_tell_entry,
		.count = count,
		.done = done,
		.kind = PSI_FOR_WORDS,
		.most_ns = word_sleep_ns,
		.ep = ep,
		.items = words,
		.values = values,
		.cmp = cmp,
	};
}

size_t
pst_signal_wait_any(gex_EP_t ep, uint64_t *const *words, const uint64_t *values, size_t count,
                    int cmp, int *done, uint64_t timeout_ns)
{
	struct psi_many many =
		word_many_of(ep, words, values, count, cmp, done, "pst_signal_wait_any");
	size_t index;

	many.most = 1;
	many.indices_out = &index;
	return psi_many_left(&many) && psi_many_wait(&many, timeout_ns) ? index : PST_NONE;
}

size_t
pst_signal_wait_some(gex_EP_t ep, uint64_t *const *words, const uint64_t *values, size_t count,
                     int cmp, int *done, uint64_t timeout_ns, size_t *indices_out)
{
	struct psi_many many =
		word_many_of(ep, words, values, count, cmp, done, "pst_signal_wait_some");

	many.most = count;
	many.indices_out = indices_out;
	return psi_many_left(&many) && psi_many_wait(&many, timeout_ns) ? many.taken : 0;
}

/* One after the other, since a word that compared once may not do so later. */
static int
word_wait_each(const struct psi_many *many, gex_EP_t ep)
{
	uint64_t *const *words = many->items;
	const uint64_t *values = many->values;

	for (size_t i = 0; i < many->count; i++) {
		struct compare compare = {
			{ word_threshold_announce, false }, words[i], many->cmp, values[i], 0
		};

		word_wait_one(&compare, ep, PST_FOREVER, many->call);
	}
	return 1;
}

int
pst_signal_wait_all(gex_EP_t ep, uint64_t *const *words, const uint64_t *values, size_t count,
                    int cmp, int *done, uint64_t timeout_ns)
{
	const char *call = "pst_signal_wait_all";
	struct psi_many many = word_many_of(ep, words, values, count, cmp, done, call);

	if (!done && timeout_ns != PST_FOREVER)
		psi_fatal("%s: done is NULL, and there is a time-out; pass an array, or "
		          "PST_FOREVER", call);
	if (!done)
		return word_wait_each(&many, ep);
	many.most = count;
	return !psi_many_left(&many) || psi_many_wait_all(&many, timeout_ns);
}

int
pst_poll(gex_EP_t ep)
{
	const struct psi_reason reason = { .ep = ep };
	const struct psi_wait wait = PSI_WAIT_FOR("pst_poll", &reason);

	psi_need_init("pst_poll");
	psi_rule_call("pst_poll");
	if (PSI_UNLIKELY(!ep))
		psi_invalid("pst_poll", "GEX_EP_INVALID");
	psi_poll_for(&wait);
	return GASNET_OK;
}
