/* Faults that tests ask for: `what[:key=value]...', by commas.  The keys: member, the one to whom
 * it happens (all); p, how often, from 0 to 1 (1); after, how many chances are let pass (0); ns. */
#include "offload/cau/cau.h"

#include <stdlib.h>
#include <string.h>

static const char *const kinds[CAU_FAULTS] = {
	[CAU_REFUSE_QUERY] = "refuse_query", [CAU_REFUSE_JOIN] = "refuse_join",
	[CAU_DROP] = "drop", [CAU_STALL] = "stall", [CAU_CORRUPT] = "corrupt", [CAU_DIE] = "die",
};

static bool
word_is(const char *text, size_t len, const char *word)
{
	return strlen(word) == len && memcmp(text, word, len) == 0;
}

/* key=value, which ends at `end'. */
static bool
fault_read_key(struct cau_fault *fault, const char *text, const char *end)
{
	const char *value = memchr(text, '=', (size_t)(end - text));
	const size_t len = value ? (size_t)(value - text) : 0;
	char *after;

	if (!value || value + 1 == end || value[1] < '0' || value[1] > '9')
		return false;
	value++;
	if (word_is(text, len, "p")) {
		const double p = strtod(value, &after);

		fault->per_mille = (uint32_t)(p * 1000 + 0.5);
		return after == end && p <= 1;
	}
	if (word_is(text, len, "member"))
		fault->member = (uint32_t)strtoul(value, &after, 10);
	else if (word_is(text, len, "after"))
		fault->after = strtoull(value, &after, 10);
	else if (word_is(text, len, "ns"))
		fault->ns = strtoull(value, &after, 10);
	else
		return false;
	return after == end;
}

static bool
fault_read(struct cau_faults *faults, const char *text, const char *end)
{
	const char *at = text + strcspn(text, ":,");
	struct cau_fault fault = { .on = true, .member = UINT32_MAX, .per_mille = 1000,
		                   .ns = 1000 * 1000 };
	unsigned kind = 0;

	while (kind < CAU_FAULTS && !word_is(text, (size_t)(at - text), kinds[kind]))
		kind++;
	if (kind == CAU_FAULTS)
		return false;
	while (at < end) {
		const char *key = at + 1;

		at = key + strcspn(key, ":,");
		if (!fault_read_key(&fault, key, at))
			return false;
	}
	faults->fault[kind] = fault;
	return true;
}

bool
poff_cau_faults_read(struct cau_faults *faults, const char *text, const char **why_out)
{
	while (*text) {
		const char *end = text + strcspn(text, ",");

		if (!fault_read(faults, text, end)) {
			*why_out = "FAULT is no list of refuse_query, refuse_join, drop, stall, "
			           "corrupt and die with :member=, :p=, :after= and :ns=";
			return false;
		}
		text = end + (*end == ',');
	}
	return true;
}

/* xorshift64 */
static uint64_t
random_next(struct cau_faults *faults)
{
	uint64_t x = faults->random;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return faults->random = x;
}

bool
poff_cau_fault_happens(struct cau_faults *faults, enum cau_fault_kind kind, uint32_t member)
{
	struct cau_fault *fault = &faults->fault[kind];

	if (!fault->on || (fault->member != UINT32_MAX && fault->member != member))
		return false;
	if (fault->after) {
		fault->after--;
		return false;
	}
	return random_next(faults) % 1000 < fault->per_mille;
}
