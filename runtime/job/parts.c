/* The list of parts.  This file alone names parts that lie above the runtime. */
#include "runtime/job/parts.h"

#include "runtime/op/op.h"
#include "runtime/signal/sem.h"
#include "runtime/wait/serve.h"

extern const struct psi_part pcoll_barrier_part, pref_part, pcoll_part;

const struct psi_part *const psi_parts[] = {
	&psi_ops_part,
	&psi_serve_part,
	&psi_exchange_part,
	&psi_signal_part,
	&pcoll_barrier_part,
	&pref_part,
	&pcoll_part,
	NULL
};

void
psi_part_open(const struct psi_part *part, gex_EP_t ep)
{
	if (part->open)
		part->open();
	if (part->register_handlers)
		part->register_handlers(ep);
	if (part->progress)
		psi_progress_add(part->progress);
}

void
psi_parts_open(gex_EP_t ep)
{
	for (const struct psi_part *const *at = psi_parts; *at; at++)
		psi_part_open(*at, ep);
}

void
psi_parts_close(const char *call)
{
	for (const struct psi_part *const *at = psi_parts; *at; at++)
		if ((*at)->close)
			(*at)->close(call);
}
