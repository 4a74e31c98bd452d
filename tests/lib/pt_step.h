/*
 * An operator that does not commute, for tests of reductions: elements are functions x -> a x + b,
 * and to join two is to apply one behind the other.  Arithmetic wraps around.
 */
#ifndef PT_STEP_H
#define PT_STEP_H

#include <stddef.h>
#include <stdint.h>

struct pt_step {
	uint64_t a, b;
};

static inline struct pt_step
pt_step_join(struct pt_step left, struct pt_step right)
{
	const struct pt_step both = { left.a * right.a, left.a * right.b + left.b };

	return both;
}

/* A gex_Coll_ReduceFn_t. */
static inline void
pt_steps_combine(const void *left_p, void *out_p, size_t count, const void *cdata)
{
	const struct pt_step *left = (const struct pt_step *)left_p;
	struct pt_step *out = (struct pt_step *)out_p;

	(void)cdata;
	for (size_t i = 0; i < count; i++)
		out[i] = pt_step_join(left[i], out[i]);
}

#endif
