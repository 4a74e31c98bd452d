/* This file stands in for pboot_pmix.c where configure found no pmix.h. */
#include "bootstrap/engine/pboot_engine.h"

#include "runtime/util/log.h"

#include <stdlib.h>

static bool
pmix_open(uint32_t *rank_out, uint32_t *size_out)
{
	(void)rank_out, (void)size_out;
	psi_log("this program was started under PMIx (PMIX_NAMESPACE=%.80s), and this build has no "
	    "PMIx: configure found no pmix.h; use penstock-run, or build Penstock with pmix.h",
	    getenv("PMIX_NAMESPACE"));
	return false;
}

static void
pmix_abort(int status, const char *text)
{
	(void)status, (void)text;
}

const struct pboot_engine pboot_engine_pmix = {
	.name = "PMIx",
	.probe = pboot_engine_has_namespace,
	.open = pmix_open,
	.abort = pmix_abort,
};
