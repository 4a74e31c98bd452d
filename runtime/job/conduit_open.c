/*
 * The conduits are chosen, given their services, and opened: smp, and the network of PST_CONDUIT
 * where some ranks share no memory.
 */
#include "runtime/am/am.h"
#include "runtime/conduit/conduit_list.h"
#include "runtime/conduit/conduits.h"
#include "runtime/conduit/pair.h"
#include "runtime/conduit/plugin.h"
#include "runtime/job/start.h"
#include "runtime/op/begin.h"
#include "runtime/process/endpoint.h"
#include "runtime/process/process.h"
#include "runtime/segment/reach.h"
#include "runtime/segment/shmem.h"
#include "runtime/settings/settings.h"
#include "runtime/signal/post.h"
#include "runtime/util/copy.h"
#include "runtime/vis/vis.h"
#include "runtime/wait/waiting.h"
#include "runtime/wait/wake_fd.h"

#include "runtime/util/clock.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- services -------------------------------------------------------------------------------- */

/* While conduits open, the first line that one says is kept, so that one rank says it for all; but
 * what is said after a while tells what they wait for. */
static bool keeps_lines;
static uint64_t kept_since_ns;
static const uint64_t keep_ns = 5000000000;
static char kept_line[PSI_PLUGIN_LACK_BYTES + 96];

static void __attribute__((format(printf, 1, 2)))
conduit_log(const char *format, ...)
{
	char line[sizeof kept_line];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof line, format, args);
	va_end(args);
	if (!keeps_lines || psi_now_ns() - kept_since_ns >= keep_ns)
		psi_log("%s", line);
	else if (!kept_line[0])
		memcpy(kept_line, line, sizeof kept_line);
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

static const char *
conduit_host_name(uint32_t process)
{
	return psi.host_names ? psi.host_names[psi.boot.host_of[process]] : psi.host;
}

static void
conduit_unreachable(uint32_t place, const char *why)
{
	char whose[PSI_PLACE_TEXT];

	if (place == PSI_NO_PEER)
		psi_fatal("the network between hosts has failed: %s", why);
	psi_place_text(place, whose);
	psi_fatal("a message to %s (%s) was lost: %s; is its host up, and does a firewall let the "
	          "network through?", whose, conduit_host_name(psi_jobrank_of(place)), why);
}

static unsigned
conduit_device_fds(int *fds_out, uint64_t *most_ns_out)
{
	*most_ns_out = 0;
	return psi.device_fds ? psi.device_fds(fds_out, most_ns_out) : 0;
}

static uint32_t
conduit_job_processes(void)
{
	return psi.boot.size;
}

static uint32_t
conduit_knocker(void)
{
	const uint32_t rank = pboot_knocker();

	return rank == PBOOT_NOBODY ? PSI_NO_PEER : rank;
}

static const struct psi_services services = {
	.abi = PSI_CONDUIT_ABI,
	.size_bytes = sizeof services,
	.log = conduit_log,
	.setting = psi_setting_value_of,
	.job_processes = conduit_job_processes,
	.host_memory = psi_host_memory,
	.endpoint_memory = psi_endpoint_memory,
	.deliver = psi_deliver,
	.completed = psi_completed,
	.look_again = psi_wake_own,
	.signal_arrived = psi_signal_arrived,
	.copy_owning = psi_copy_owning,
	.copy_far = psi_copy_far,
	.cursor_open = psi_cursor_open,
	.cursor_look = psi_cursor_look,
	.cursor_take = psi_cursor_take,
	.agree_least = conduit_agree_least,
	.exchange = pboot_exchange,
	.wake_fd = psi_wake_fd,
	.wake_asleep = psi_wake_asleep,
	.device_fds = conduit_device_fds,
	.knock = pboot_knock,
	.knocker = conduit_knocker,
	.counts = conduit_own_counts,
	.unreachable = conduit_unreachable,
	.host_name = conduit_host_name,
};

/* -- what the ranks say of it ---------------------------------------------------------------- */

/*
 * All ranks have come as far as that, or the job ends: the first rank that knows why not says so,
 * in one line.
 */
static void
conduit_settle(bool good, const char *name)
{
	const uint32_t silent = UINT32_MAX - 1;
	const uint32_t mine = good ? UINT32_MAX : kept_line[0] ? psi.boot.rank : silent;
	const uint32_t first = conduit_agree_least(mine);

	if (first == UINT32_MAX)
		return;
	if (first == psi.boot.rank)
		psi_log("%s", kept_line);
	else if (first == silent && psi.boot.rank == 0)
		psi_log("conduit %s does not open", name);
	pboot_note_cause("", true);
	pboot_leave(1);
}

/* -- open ------------------------------------------------------------------------------------ */

#define NAME(name) #name,
static const char *const built[] = { PSI_CONDUIT_LIST(NAME) };
#undef NAME

const char *
psi_conduit_local(void)
{
	return built[0];
}

/* The one of this build, for ranks that share memory. */
static const struct psi_conduit_ops *
local_choose(void)
{
	const struct psi_conduit_ops *ops = psi_conduit_named(psi_conduit_local());
	char lack[PSI_PLUGIN_LACK_BYTES];

	if (!psi_plugin_fits(ops, ops->name, lack))
		psi_fatal("%s", lack);
	if (!ops->probe(&services, lack, sizeof lack))
		psi_fatal("conduit %s cannot run here: %s", ops->name, lack);
	return ops;
}

static bool
all_share_memory(void)
{
	for (uint32_t rank = 0; rank < psi.boot.size; rank++)
		if (!psi_in_my_nbrhd(rank))
			return false;
	return true;
}

/* NULL after a line that is kept. */
static const struct psi_conduit_ops *
network_open(const char *name, bool hosts)
{
	const struct psi_conduit_ops *ops = NULL;
	char lack[PSI_PLUGIN_LACK_BYTES];

	if (strcmp(name, psi_conduit_local()) == 0)
		snprintf(lack, sizeof lack, "it carries nothing to another host; unset "
		         "PST_CONDUIT, or set it to a network");
	else if ((ops = psi_plugin_open(name, lack)) != NULL &&
	         !ops->probe(&services, lack, sizeof lack))
		ops = NULL;
	if (!ops && hosts)
		snprintf(kept_line, sizeof kept_line, "the job has %u hosts, and conduit %s: %s",
		         psi.boot.host_count, name, lack);
	else if (!ops)
		snprintf(kept_line, sizeof kept_line, "conduit %s: %s", name, lack);
	return ops;
}

/* NULL: the job has no use for a network, or, on one host, the user wants none. */
static const struct psi_conduit_ops *
network_choose(void)
{
	const bool hosts = psi.boot.host_count > 1;
	const char *name = psi_plugin_network(hosts);
	const struct psi_conduit_ops *ops;

	if (!hosts && (strcmp(name, psi_conduit_local()) == 0 || all_share_memory()))
		return NULL;
	ops = network_open(name, hosts);
	conduit_settle(ops != NULL, name);
	return ops;
}

/* Ranks that the network reaches share no memory with this one, on this host or not. */
static void
conduit_describe_job(void)
{
	uint8_t *local = calloc(psi.boot.size, sizeof *local);

	if (!local)
		psi_fatal("no memory for the tables of %u ranks", psi.boot.size);
	for (uint32_t rank = 0; rank < psi.boot.size; rank++)
		local[rank] = psi.networked ? psi_in_my_nbrhd(rank) : psi_on_this_host(rank);
	psi.conduit_job = (struct psi_conduit_job){
		.place = psi.boot.rank, .places = psi.boot.size,
		.host_places = psi.host_places, .host_index = psi.host_index,
		.local = local, .threaded = psi.threaded, .crowded = psi.crowded,
		.counts = psi.block ? psi.block->count : NULL,
	};
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

/* The network's operations without those that a test wants by messages. */
static const struct psi_conduit_ops *
network_unmasked(const struct psi_conduit_ops *network)
{
	static struct psi_conduit_ops unmasked;

	unmasked = *network;
	if (psi_way_is_masked(PSI_WAY_PUT))
		unmasked.put = NULL;
	if (psi_way_is_masked(PSI_WAY_PUT) || psi_way_is_masked(PSI_WAY_SIGNAL))
		unmasked.put_signal = NULL;
	if (psi_way_is_masked(PSI_WAY_GET))
		unmasked.get = NULL;
	if (psi_way_is_masked(PSI_WAY_LONG))
		unmasked.am_long = NULL;
	return &unmasked;
}

static void
conduit_refuse(const struct psi_conduit_ops *ops, const char *lacks)
{
	if (lacks)
		psi_fatal("conduit %s lacks its operation %s", ops->name, lacks);
}

/* What the pair has does not say whether the network has it. */
static void
conduit_lay_table(const struct psi_conduit_ops *local, const struct psi_conduit_ops *network)
{
	const struct psi_conduit_ops *ops = local;

	if (network) {
		conduit_refuse(network, psi_conduit_lacks(network));
		ops = psi_pair_make(local, network_unmasked(network), reference());
	}
	conduit_refuse(ops, psi_conduit_lay(ops, reference(), &psi.ops));
}

/* Prints the conduit's description, and what rules of collectives see of the job (coll/tuning.h),
 * once for the job, if GASNET_VERBOSEENV is set. */
static void
conduit_tell_job(void)
{
	const uint32_t hosts = psi.networked ? psi_nbrhds() : 1;
	char text[500];

	if (psi.boot.rank != 0 || !psi_setting_bool(psi_setting_named("GASNET_VERBOSEENV")))
		return;
	psi.ops->describe(psi.conduit, text, sizeof text);
	psi_log("conduit %s: %s", psi.ops->name, text);
	psi_log("rules of collectives: %u ranks, hosts %u, mode %s", psi.boot.size, hosts,
	        psi_transport_between(hosts));
}

static bool
open_table(gex_EP_t ep)
{
	return ep->ops->open(&services, &psi.conduit_job, &psi.attributes, &psi.conduit) ==
	               PSI_OK &&
	       ep->ops->port_open(psi.conduit, psi.boot.rank, false, ep, &ep->port) == PSI_OK;
}

/* In a job of one conduit the ranks need not agree: what one rank lacks all lack. */
static void
conduit_step(bool good, const char *what)
{
	if (psi.networked)
		conduit_settle(good, psi.ops->name);
	else if (!good)
		psi_fatal("conduit %s did not %s", psi.ops->name, what);
}

void
psi_conduit_open(gex_EP_t ep)
{
	const struct psi_conduit_ops *local = local_choose(), *network = network_choose();

	psi.networked = network != NULL;
	conduit_lay_table(local, network);
	conduit_describe_job();
	ep->ops = psi.ops;
	keeps_lines = psi.networked;
	kept_since_ns = psi_now_ns();
	conduit_step(open_table(ep), "open");
	conduit_step(ep->ops->connect(psi.conduit) == PSI_OK, "connect");
	keeps_lines = false;
	conduit_tell_job();
}
