/* Waits for several signals at once. */
#include "runtime/await.h"

bool
psi_many_left(const struct psi_many *many)
{
	for (size_t i = 0; i < many->count; i++)
		if (!many->done || !many->done[i])
			return true;
	return false;
}

/* One pass, from a place that moves, so that no entry starves another. */
static bool
take_some(void *what)
{
	static _Thread_local size_t start;
	struct psi_many *many = what;
	const size_t before = many->taken, first = start++ % many->count;

	for (size_t k = 0; k < many->count && many->taken < many->most; k++) {
		const size_t i = k + first < many->count ? k + first : k + first - many->count;

		if ((many->done && many->done[i]) || !many->take(many, i))
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
reason_of(const struct psi_many *many)
{
	return (struct psi_reason){
		.kind = many->kind, .number = many->count, .most_ns = many->most_ns,
		.ep = many->ep,
	};
}

bool
psi_many_wait(struct psi_many *many, uint64_t timeout_ns)
{
	struct psi_reason reason = reason_of(many);

	return take_some(many) || psi_await(take_some, many, timeout_ns, &reason, many->call);
}

static bool
take_all(void *what)
{
	struct psi_many *many = what;

	take_some(many);
	return !psi_many_left(many);
}

bool
psi_many_wait_all(struct psi_many *many, uint64_t timeout_ns)
{
	struct psi_reason reason = reason_of(many);

	return take_all(many) || psi_await(take_all, many, timeout_ns, &reason, many->call);
}
