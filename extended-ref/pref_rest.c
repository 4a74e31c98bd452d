/* The list of rests, oldest first, and the progress function that sends them. */
#include "extended-ref/pref_rest.h"

#include "runtime/wait/waiting.h"

#include "runtime/util/spinlock.h"

enum { MANY_RESTS = 64 };

static struct {
	struct psi_spinlock lock;
	struct pref_rest *first, **end;
	_Atomic unsigned count;         /* written under the lock, read without it */
} rests = { .end = &rests.first };

static unsigned
rests_count(void)
{
	return atomic_load_explicit(&rests.count, memory_order_relaxed);
}

bool
pref_rests_are_many(void)
{
	return rests_count() >= MANY_RESTS;
}

void
pref_rest_add(struct pref_rest *rest)
{
	rest->next = NULL;
	psi_progress_begins();
	psi_spinlock_lock(&rests.lock);
	*rests.end = rest;
	rests.end = &rest->next;
	atomic_store_explicit(&rests.count, rests_count() + 1, memory_order_relaxed);
	psi_spinlock_unlock(&rests.lock);
}

/* Takes the lock even if another thread works on the list: that thread may have looked for room
 * before the caller was woken. */
void
pref_rest_advance(void)
{
	bool over = false;

	if (PSI_LIKELY(!rests_count()))
		return;
	psi_spinlock_lock(&rests.lock);
	for (struct pref_rest **at = &rests.first; *at;) {
		struct pref_rest *rest = *at, *next = rest->next;

		if (!rest->advance(rest)) {
			at = &rest->next;
			continue;
		}
		*at = next;
		if (!next)
			rests.end = at;
		atomic_store_explicit(&rests.count, rests_count() - 1, memory_order_relaxed);
		psi_progress_ends();
		over = true;
	}
	psi_spinlock_unlock(&rests.lock);
	if (over)
		psi_wake_own();
}
