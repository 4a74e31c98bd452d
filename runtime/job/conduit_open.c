/* The conduit is chosen, given its services, and opened. */
#include "runtime/am/am.h"
#include "runtime/conduit/conduit_list.h"
#include "runtime/conduit/conduits.h"
#include "runtime/job/start.h"
#include "runtime/op/begin.h"
#include "runtime/process/process.h"
#include "runtime/segment/shmem.h"
#include "runtime/settings/settings.h"
#include "runtime/util/copy.h"

#include <stdlib.h>

/* -- services -------------------------------------------------------------------------------- */

static const char *
conduit_setting_text(const char *name)
{
	const struct psi_setting *row = psi_setting_find(name);

	return row ? psi_setting_value(row, NULL) : NULL;
}

static uint64_t *
conduit_own_counts(void)
{
	return psi_block()->count;
}

static uint32_t
conduit_agree_least(uint32_t value)
{
	uint32_t *all = calloc(psi.boot.size, sizeof *all), least = value;

	if (!all)
		psi_fatal("no memory for the exchange of %u ranks", psi.boot.size);
	pboot_exchange(&value, sizeof value, all);
	for (uint32_t rank = 0; rank < psi.boot.size; rank++)
		least = all[rank] < least ? all[rank] : least;
	free(all);
	return least;
}

static const struct psi_services services = {
	.abi = PSI_CONDUIT_ABI,
	.size_bytes = sizeof services,
	.log = psi_log,
	.setting = conduit_setting_text,
	.host_memory = psi_host_memory,
	.endpoint_memory = psi_endpoint_memory,
	.deliver = psi_deliver,
	.completed = psi_completed,
	.copy_owning = psi_copy_owning,
	.copy_far = psi_copy_far,
	.agree_least = conduit_agree_least,
	.counts = conduit_own_counts,
};

/* -- open ------------------------------------------------------------------------------------ */

#define NAME(name) #name,
static const char *const built[] = { PSI_CONDUIT_LIST(NAME) };
#undef NAME

/* The first of this build, which has one until there is a second. */
static const struct psi_conduit_ops *
conduit_choose(void)
{
	const struct psi_conduit_ops *ops = psi_conduit_named(built[0]);
	char reason[160];

	if (ops->abi != PSI_CONDUIT_ABI || ops->size_bytes != sizeof *ops)
		psi_fatal("conduit %s is of ABI %u, this runtime needs %d; rebuild it", ops->name,
		          ops->abi, PSI_CONDUIT_ABI);
	if (!ops->probe(&services, reason, sizeof reason))
		psi_fatal("conduit %s cannot run here: %s", ops->name, reason);
	return ops;
}

static void
conduit_describe_job(void)
{
	uint32_t *host_index = calloc(psi.boot.size, sizeof *host_index);
	uint32_t *next = calloc(psi.boot.host_count, sizeof *next);
	uint8_t *local = calloc(psi.boot.size, sizeof *local);

	if (!host_index || !next || !local)
		psi_fatal("no memory for the tables of %u ranks", psi.boot.size);
	for (uint32_t rank = 0; rank < psi.boot.size; rank++) {
		uint32_t host = psi.boot.host_of[rank];

		host_index[rank] = next[host]++;
		local[rank] = host == psi.boot.host_index;
	}
	psi.conduit_job = (struct psi_conduit_job){
		.place = psi.boot.rank, .places = psi.boot.size,
		.host_places = next[psi.boot.host_index], .host_index = host_index,
		.local = local, .threaded = psi.threaded, .crowded = psi.crowded,
		.counts = psi.block ? psi.block->count : NULL,
	};
	free(next);
}

/* The operations of the module that has some. */
static const struct psi_conduit_ops *
reference(void)
{
	for (const struct psi_module *const *at = psi.modules; *at; at++)
		if ((*at)->operations)
			return (*at)->operations;
	return NULL;
}

static void
conduit_lay_table(const struct psi_conduit_ops *ops)
{
	const char *lacks = psi_conduit_lay(ops, reference(), &psi.ops);

	if (lacks)
		psi_fatal("conduit %s lacks its operation %s", ops->name, lacks);
}

/* Prints the conduit's description once for the job, if GASNET_VERBOSEENV is set. */
static void
conduit_tell_job(void)
{
	char text[200];

	if (psi.boot.rank != 0 || !psi_setting_bool(psi_setting_named("GASNET_VERBOSEENV")))
		return;
	psi.ops->describe(psi.conduit, text, sizeof text);
	psi_log("conduit %s: %s", psi.ops->name, text);
}

void
psi_conduit_open(gex_EP_t ep)
{
	const struct psi_conduit_ops *ops = conduit_choose();

	conduit_lay_table(ops);
	conduit_describe_job();
	ep->ops = psi.ops;
	if (ep->ops->open(&services, &psi.conduit_job, &psi.attributes, &psi.conduit) != PSI_OK ||
	    ep->ops->port_open(psi.conduit, psi.boot.rank, false, ep, &ep->port) != PSI_OK)
		psi_fatal("conduit %s did not open", ops->name);
	if (ep->ops->connect(psi.conduit) != PSI_OK)
		psi_fatal("conduit %s did not connect", ops->name);
	conduit_tell_job();
}
