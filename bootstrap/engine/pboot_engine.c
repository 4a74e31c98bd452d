#include "bootstrap/engine/pboot_engine.h"

/* PMIx comes first: where srun speaks both, it is the one that the user has chosen. */
static const struct pboot_engine *const engines[] = { &pboot_engine_pmix, &pboot_engine_pmi1 };

const struct pboot_engine *
pboot_engine_find(void)
{
	size_t i;

	for (i = 0; i < sizeof engines / sizeof *engines; i++)
		if (engines[i]->probe())
			return engines[i];
	return NULL;
}
