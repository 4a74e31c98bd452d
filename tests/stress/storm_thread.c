/* What a thread of the storm does. */
#include "tests/stress/storm.h"

#include <sched.h>
#include <time.h>

__thread struct storm_thread *storm_self;

/* ------------------------------------------------------------------------------ chance --- */

void
storm_pause(struct pt_rng *rng)
{
	uint64_t which = pt_rand_below(rng, 4096);

	if (which < 400) {
		for (volatile uint64_t i = pt_rand_below(rng, 600); i; i--)
			;
	} else if (which < 500) {
		sched_yield();
	} else if (which < 540) {
		nanosleep(&(struct timespec){ 0, (long)pt_rand_below(rng, 300000) }, NULL);
	} else if (which == 540) {
		pt_sleep_ms(1 + (unsigned)pt_rand_below(rng, 12));
	} else if (which == 541) {
		pt_spin_ms(1 + (unsigned)pt_rand_below(rng, 8));
	}
}

size_t
storm_length(struct pt_rng *rng, size_t most_bytes)
{
	const size_t bounds[] = { 1, 16, 160, 700, 5000, 70000, most_bytes };
	size_t bound = bounds[pt_rand_below(rng, PT_COUNT(bounds))];

	if (pt_rand_below(rng, 32) == 0)
		return most_bytes;
	return pt_rand_below(rng, (bound < most_bytes ? bound : most_bytes) + 1);
}

static int
one_in(struct storm_thread *self, unsigned n)
{
	return pt_rand_below(&self->rng, n) == 0;
}

/* ---------------------------------------------------------------------------- requests --- */

static struct storm_entry *
free_entry(struct storm_thread *self)
{
	unsigned at = (unsigned)pt_rand_below(&self->rng, ENTRIES);

	GASNET_BLOCKUNTIL(PT_GET(self->waiting) < ENTRIES);
	while (PT_GET(self->entry[at].waiting))
		at = (at + 1) % ENTRIES;
	return &self->entry[at];
}

/* What the answer shall be, in the bits of A_WANT. */
static int
choose_answer(struct storm_thread *self, const struct storm_entry *entry)
{
	int want = (int)pt_rand_below(&self->rng, WANT_BITS) & ~(WANT_KIND | WANT_WAY);
	int kind = (int)pt_rand_below(&self->rng, STORM_KINDS);

	if (kind == STORM_LONG && entry - self->entry >= LONG_ANSWERS)
		kind = STORM_MEDIUM;
	return want | kind | (int)pt_rand_below(&self->rng, WAYS) << WANT_WAY_SHIFT;
}

static void
choose_kind(struct storm_message *m, struct storm_thread *self)
{
	const unsigned chance = (unsigned)pt_rand_below(&self->rng, 8);

	m->kind = chance < 3 ? STORM_SHORT : chance < 6 ? STORM_MEDIUM : STORM_LONG;
	if (m->kind == STORM_LONG && PT_GET(self->long_busy[m->rank]))
		m->kind = STORM_MEDIUM;
	if (m->kind == STORM_SHORT)
		return;
	m->way = (enum storm_way)pt_rand_below(&self->rng, WAYS);
	m->cancel = m->way != WAY_FIXED && one_in(self, 6);
	m->len_bytes = storm_length(&self->rng, m->kind == STORM_LONG ? LONG_BYTES
	                                                              : storm.medium_bytes);
	m->dest = storm_long_at(m->rank, pt.rank, self->index);
}

/* From now on its answer may come. */
static void
expect_answer(struct storm_thread *self, struct storm_entry *entry, struct storm_message *m)
{
	entry->owner = self;
	entry->key = (uint32_t)m->args[A_KEY];
	entry->want = choose_answer(self, entry);
	entry->rank = m->rank;
	entry->is_long = m->kind == STORM_LONG;
	if (entry->is_long)
		PT_SET(self->long_busy[m->rank], 1);
	m->args[A_WHO] |= (gex_AM_Arg_t)(entry - self->entry) << 8;
	m->args[A_WANT] = entry->want;
	PT_INC(self->waiting);
	PT_SET(entry->waiting, 1);
}

static void
forget_answer(struct storm_thread *self, struct storm_entry *entry)
{
	if (entry->is_long)
		PT_SET(self->long_busy[entry->rank], 0);
	PT_SET(entry->waiting, 0);
	__atomic_sub_fetch(&self->waiting, 1, __ATOMIC_ACQ_REL);
}

static void
request(struct storm_thread *self)
{
	struct storm_message m = {
		.rank = (gex_Rank_t)pt_rand_below(&self->rng, pt.size),
		.wide = one_in(self, 3), .immediate = one_in(self, 4), .buffer = self->buffer,
	};
	struct storm_entry *entry = NULL;

	choose_kind(&m, self);
	m.args[A_KEY] = (gex_AM_Arg_t)pt_rand(&self->rng);
	m.args[A_WHO] = (gex_AM_Arg_t)self->index;
	m.args[A_WANT] = STORM_KINDS | (one_in(self, 8) ? WANT_PAUSE : 0);
	if (m.kind == STORM_LONG || !one_in(self, 3)) {
		entry = free_entry(self);
		/* meanwhile answers have come, and freed what they held; nobody takes it */
		expect_answer(self, entry, &m);
	}
	storm_seal(&m, m.rank);
	if (storm_send(&m, self)) {
		storm_tally_add(&storm.sent[m.rank], (uint32_t)m.args[A_KEY]);
		self->requests++;
		return;
	}
	self->refused++;
	if (entry)
		forget_answer(self, entry);
}

/* -------------------------------------------------------------------------------- acts --- */

void
storm_act(struct storm_thread *self)
{
	const unsigned which = (unsigned)pt_rand_below(&self->rng, 20);

	if (which < 14) {
		request(self);
	} else if (which < 16) {
		storm_transfer(self);
	} else if (which < 18) {
		gasnet_AMPoll();
	} else if (which < 19) {
		const int most = (int)pt_rand_below(&self->rng, ENTRIES);

		GASNET_BLOCKUNTIL(PT_GET(self->waiting) <= most);
	} else {
		storm_drain(self);
	}
}

void
storm_drain(struct storm_thread *self)
{
	GASNET_BLOCKUNTIL(PT_GET(self->waiting) == 0);
}
