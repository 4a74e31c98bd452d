/* Waits for several signals at once. */
#include "runtime/signal/await.h"

/* -- told to posters ------------------------------------------------------------------------- */

static bool
entry_is_left(const struct psi_many *many, size_t i)
{
	return !many->done || !many->done[i];
}

/* Can one of the entries be taken whose thresholds were told?  None of them has been marked as done
 * since. */
static bool
signal_told_is_there(const struct psi_many *many)
{
	for (size_t i = many->told_first; i < many->told_end; i++)
		if (entry_is_left(many, i) && many->has(many, i))
			return true;
	return false;
}

static void
range_tell(struct psi_many *many, bool asleep)
{
	for (size_t i = many->told_first; i < many->told_end; i++)
		if (entry_is_left(many, i))
			many->tell(many, i, asleep);
	if (!asleep)
		many->told_end = many->told_first;
}

static void
many_announce(struct psi_wait_threshold *lack, bool asleep)
{
	struct psi_many *many = (struct psi_many *)lack;

	if (asleep) {
		many->lack.found = false;
		many->told_first = 0;
		while (many->all && !entry_is_left(many, many->told_first))
			many->told_first++;
		many->told_end = many->all ? many->told_first + 1 : many->count;
	}
	range_tell(many, asleep);
}

/* If one of them can be taken, withdraws their thresholds, before one is marked as done. */
static void
many_find_told(struct psi_many *many)
{
	if (!signal_told_is_there(many))
		return;
	range_tell(many, false);
	many->lack.found = true;
}

static bool
many_is_told(const struct psi_many *many, size_t i)
{
	return i >= many->told_first && i < many->told_end;
}

bool
psi_many_left(const struct psi_many *many)
{
	for (size_t i = 0; i < many->count; i++)
		if (entry_is_left(many, i))
			return true;
	return false;
}

/* -- taking ---------------------------------------------------------------------------------- */

/* One pass, from a place that moves, so that no entry starves another. */
static bool
many_take_some(void *what)
{
	static _Thread_local size_t start;
	struct psi_many *many = what;
	const size_t before = many->taken, first = start++ % many->count;

	many_find_told(many);
	for (size_t k = 0; k < many->count && many->taken < many->most; k++) {
		const size_t i = k + first < many->count ? k + first : k + first - many->count;

		if (!entry_is_left(many, i) || many_is_told(many, i) || !many->take(many, i))
			continue;
		if (many->done)
			many->done[i] = 1;
		if (many->indices_out)
			many->indices_out[many->taken] = i;
		many->taken++;
	}
	return many->taken > before;
}

static struct psi_reason
many_reason_of(struct psi_many *many)
{
	many->lack.tell = many_announce;
	return (struct psi_reason){
		.kind = many->kind, .number = many->count, .most_ns = many->most_ns,
		.ep = many->ep, .lack = many->tell ? &many->lack : NULL,
	};
}

bool
psi_many_wait(struct psi_many *many, uint64_t timeout_ns)
{
	struct psi_reason reason = many_reason_of(many);

	return many_take_some(many) ||
	       psi_signal_wait(many_take_some, many, timeout_ns, &reason, many->call);
}

static bool
many_take_all(void *what)
{
	struct psi_many *many = what;

	many_take_some(many);
	return !psi_many_left(many);
}

bool
psi_many_wait_all(struct psi_many *many, uint64_t timeout_ns)
{
	struct psi_reason reason = many_reason_of(many);

	many->all = true;
	return many_take_all(many) ||
	       psi_signal_wait(many_take_all, many, timeout_ns, &reason, many->call);
}
