/* The list of modules.  This file alone names modules that lie above the runtime. */
#include "runtime/job/modules.h"

#include "runtime/op/op.h"
#include "runtime/signal/sem.h"
#include "runtime/team/team.h"
#include "runtime/wait/pollset.h"

extern const struct psi_module pcoll_barrier_module, pcoll_cells_module, pref_module, pcoll_module,
                               poff_module;

const struct psi_module *const psi_modules[] = {
	&psi_ops_module,
	&psi_serve_module,
	&psi_exchange_module,
	&psi_signal_module,
	&pcoll_barrier_module,
	&pref_module,
	&poff_module,   /* before the collectives that its progress lets go on */
	&pcoll_module,  /* before cells, which wait for what it does */
	&pcoll_cells_module,
	NULL
};

void
psi_module_open(const struct psi_module *module, gex_EP_t ep)
{
	if (module->open)
		module->open();
	if (module->register_handlers)
		module->register_handlers(ep);
	if (module->progress)
		psi_progress_add(module->progress);
}

void
psi_modules_open(gex_EP_t ep)
{
	for (const struct psi_module *const *at = psi_modules; *at; at++)
		psi_module_open(*at, ep);
}

void
psi_modules_close(const char *call)
{
	for (const struct psi_module *const *at = psi_modules; *at; at++)
		if ((*at)->close)
			(*at)->close(call);
}
