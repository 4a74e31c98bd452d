#include "bootstrap/engine/pboot_engine.h"

const struct pboot_engine *
pboot_engine_find(void)
{
	return pboot_engine_pmi1.probe() ? &pboot_engine_pmi1 : NULL;
}
