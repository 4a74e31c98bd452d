/*
 * Start-up: gex_Client_Init and gasnet_init make the job, its one client, endpoint and team.
 */
#include "runtime/am/am.h"
#include "runtime/job/modules.h"
#include "runtime/job/start.h"
#include "runtime/process/endpoint.h"
#include "runtime/process/process.h"
#include "runtime/process/rules.h"
#include "runtime/process/thread.h"
#include "runtime/report/backtrace.h"
#include "runtime/report/freeze.h"
#include "runtime/report/reports.h"
#include "runtime/report/signals.h"
#include "runtime/rma/inline.h"
#include "runtime/segment/memlimits.h"
#include "runtime/segment/reach.h"
#include "runtime/segment/shmem.h"
#include "runtime/settings/settings.h"
#include "runtime/team/team.h"
#include "runtime/tools/fatal.h"
#include "runtime/util/hostname.h"
#include "runtime/util/topology.h"
#include "runtime/wait/receive_thread.h"
#include "runtime/wait/spread.h"
#include "runtime/wait/turns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct gex_EP_s primordial_ep;
static struct gex_TM_s primordial_tm;

/* -- who we are ------------------------------------------------------------------------------ */

/* "1.2" of the headers that the program was compiled with; the record's beginning never changes. */
static const char *
headers_release(const struct psi_client_build *build)
{
	const size_t end = offsetof(struct psi_client_build, config) + sizeof build->config;
	const char *mark = "PENSTOCK=", *at = NULL;

	if (build->size_bytes >= end && build->config)
		at = strstr(build->config, mark);
	return at ? at + strlen(mark) : "of an unknown release";
}

/* What the client was compiled against must fit this library; mismatches are refused by name, once
 * for all ranks. */
static void
job_check_build(const struct psi_client_build *build)
{
	const char *rank = getenv("PST_JOB_RANK"), *headers = headers_release(build);

	if (strcmp(headers, PSI_RELEASE) != 0 || build->size_bytes != sizeof *build ||
	    build->inline_abi != PSI_INLINE_ABI) {
		if (!rank || strcmp(rank, "0") == 0)
			psi_log_refuse("the program was compiled with the headers of Penstock %s "
			               "(layout %u), and finds the library of Penstock " PSI_RELEASE
			               " (layout %d): "
			               "compile it again with the headers of " PSI_RELEASE
			               ", or let it find "
			               "the library of its own release (ldd tells which it finds)",
			               headers, build->inline_abi, PSI_INLINE_ABI);
		exit(2);
	}
	psi.thread_mode = build->thread_mode;
	psi.threaded = build->thread_mode == PSI_MODE_PAR;
}

static void
job_know_host(void)
{
	psi.host = psi_hostname();
	psi.pid = getpid();
	psi_log_set_speaker(psi.boot.rank, psi.host);
}

/* The one line about a bad setting is all that is to be said. */
static void
job_leave_silently(int status)
{
	pboot_note_cause("", true);
	pboot_leave(status);
}

static void
job_end_rank(const char *text)
{
	psi_fatal("%s", text);
}

static void
job_read_settings(void)
{
	psi_fatal_end = job_end_rank;
	psi_settings_leave_by(job_leave_silently);
	psi_settings_speak(psi.boot.rank == 0);
	psi_settings_check();
	psi_settings_warn_unknown();
	psi.checks = psi_rules_wanted();
	psi_rules_payload_open();
	psi_reach_open();
	psi.max_sleep_ns = psi_setting_ns(psi_setting_named("PST_SLEEP_MAX"));
	psi.hang_report_ns = psi_setting_ns(psi_setting_named("PST_HANG_REPORT"));
	pboot_hang_after(psi.hang_report_ns);
	psi_spread_open();
	psi_turns_open();
}

/* What a rank tells the others of its host of the CPUs. */
struct job_cpus {
	struct psi_cpus allowed;
	uint64_t quota_milli;
	uint32_t cache;                 /* psi_topology_cache */
	char host[PSI_HOST_NAME_BYTES]; /* its name, which comes along */
};

/* In fewer ranks nobody looks at caches (coll/groups.c), and to read of them takes time. */
enum { CACHES_LEAST = 16 };

/* Sets psi.cache_of, unless some rank of the host shares its CPUs.  All ranks of the host come to
 * the same, as all[i] and sets[i] are of the rank with index i. */
static void
job_know_caches(const struct job_cpus *all, const struct psi_cpus *sets)
{
	const uint32_t here = psi.host_places;
	struct psi_topology topology = { .usable_cpus = 0 };
	uint32_t *cache_of;

	for (uint32_t i = 0; i < here; i++) {
		topology.quota_milli = all[i].quota_milli;
		if (psi_topology_crowded(&topology, sets, here, i))
			return;
	}
	cache_of = malloc(here * sizeof *cache_of);
	if (!cache_of)
		psi_fatal("no memory for the CPUs of %u ranks", here);
	for (uint32_t i = 0; i < here; i++)
		cache_of[i] = all[i].cache;
	psi.cache_of = cache_of;
	psi.host_cpus = psi_cpus_count_all(sets, here);
}

static void
job_know_hosts(const struct job_cpus *all)
{
	if (psi.boot.host_count < 2)
		return;
	psi.host_names = calloc(psi.boot.host_count, sizeof *psi.host_names);
	if (!psi.host_names)
		psi_fatal("no memory for the names of %u hosts", psi.boot.host_count);
	for (uint32_t rank = 0; rank < psi.boot.size; rank++)
		memcpy(psi.host_names[psi.boot.host_of[rank]], all[rank].host,
		       PSI_HOST_NAME_BYTES - 1);
}

/* All ranks of the host exchange their CPUs, so that all come to answers that fit. */
static void
job_know_cpus(void)
{
	struct psi_topology topology;
	struct job_cpus own = { .cache = PSI_NO_CACHE };
	struct job_cpus *all = calloc(psi.boot.size, sizeof *all);
	const uint32_t here = psi.host_places, me = psi.host_index[psi.boot.rank];
	struct psi_cpus *sets = calloc(here, sizeof *sets);

	if (!all || !sets)
		psi_fatal("no memory for the CPUs of %u ranks", psi.boot.size);
	psi_topology_read("", &topology);
	own.allowed = topology.allowed;
	own.quota_milli = topology.quota_milli;
	if (here >= CACHES_LEAST)
		own.cache = psi_topology_cache("", &topology.allowed);
	strncpy(own.host, psi.host, sizeof own.host - 1);
	pboot_exchange(&own, sizeof own, all);
	job_know_hosts(all);
	for (uint32_t i = 0; i < here; i++) {
		all[i] = all[psi.host_ranks[i]];
		sets[i] = all[i].allowed;
	}
	psi.crowded = psi_topology_crowded(&topology, sets, here, me);
	psi.sharers = psi_topology_sharers(&topology, sets, here, me, &psi.sharers_cpus);
	for (uint32_t i = 0; i < me; i++)
		psi.alike_before += memcmp(&sets[i], &sets[me], sizeof sets[i]) == 0;
	psi_threads_note_crowd();
	if (here >= CACHES_LEAST)
		job_know_caches(all, sets);
	free(sets);
	free(all);
}

/* From here on a fatal signal prints a line, and a rank may wait for a debugger. */
static void
job_watch_signals(void)
{
	static const struct psi_signals_hooks hooks = {
		.segment_covers = psi_segment_covers,
		.tell_given = psi_rules_report_given,
		.note_cause = pboot_note_cause,
		.leave = psi_exit_told,
	};

	psi_backtrace_open(psi.boot.rank);
	psi_signals_open(psi.boot.rank, psi.host, &hooks);
	psi.error_told = psi_signals_told;
	psi.signal_stack_open = psi_signals_stack_open;
	psi.signal_stack_close = psi_signals_stack_close;
	psi_freeze_open(psi.boot.rank, psi.host);
}

/* -- memory ---------------------------------------------------------------------------------- */

static void
job_limit_segments(void)
{
	struct psi_segment_case limits = {
		.store_bytes = pboot_range_limit(),
		.ranks = psi.host_places,
		.mapped_ranks = psi.host_places,
		.page_bytes = GASNET_PAGESIZE,
	};
	uint64_t *all = calloc(psi.boot.size, sizeof *all), mine;

	if (!all)
		psi_fatal("no memory for the exchange of %u ranks", psi.boot.size);
	psi_segment_case_beside(&limits, psi.attributes.shared_bytes / psi.host_places);
	psi_host_memory_read("", &limits.host);
	if (!pboot_range_in_file())
		limits.host.file_size = UINT64_MAX;
	mine = psi_memlimits_segment(&limits, gasnet_max_segsize_str, gasnet_max_segsize);
	pboot_exchange(&mine, sizeof mine, all);
	psi.max_segment = psi.max_segment_global = (uintptr_t)mine;
	for (uint32_t rank = 0; rank < psi.boot.size; rank++)
		if (all[rank] < psi.max_segment_global)
			psi.max_segment_global = (uintptr_t)all[rank];
	free(all);
	if (psi_segment_most(&limits, &psi.max_segment_bound) > psi.max_segment + GASNET_PAGESIZE)
		psi.max_segment_bound = "GASNET_MAX_SEGSIZE";
}

static void
job_open_tables(void)
{
	const size_t places = (size_t)psi.boot.size * GASNET_MAXEPS;
	size_t shared_bytes = psi_shared_bytes(psi.host_places, GASNET_MAXEPS - 1);
	struct psi_rank_shared *mine;

	psi.shared = psi_host_memory(shared_bytes, shared_bytes, &shared_bytes);
	mine = psi_shared_of(psi.boot.rank);
	psi_blocks_open(mine);
	atomic_store_explicit(&mine->joined, 1, memory_order_relaxed);
	atomic_store_explicit(&mine->endpoints, 1, memory_order_relaxed);
	psi.known = calloc(places, sizeof *psi.known);
	psi.peers = calloc(places, sizeof *psi.peers);
	if (!psi.known || !psi.peers)
		psi_fatal("no memory for the tables of %u ranks", psi.boot.size);
}

/* Describes the arena to processes that map it without being told its layout. */
static void
describe_shared(struct psi_host_shared *shared)
{
	enum { RANGE_OF_CONDUIT = 1 };
	size_t len_bytes = 0;

	shared->abi = PSI_SHARED_ABI;
	shared->size = psi.host_places;
	shared->job_size = psi.boot.size;
	snprintf(shared->conduit, sizeof shared->conduit, "%s", psi_conduit_local());
	if (psi.networked)
		snprintf(shared->network, sizeof shared->network, "%s", psi.ops->name);
	psi_host_memory_made(RANGE_OF_CONDUIT, &shared->conduit_key, &len_bytes);
	shared->conduit_bytes = len_bytes;
	atomic_store_explicit(&shared->magic, PSI_SHARED_MAGIC,
	                      memory_order_release); /* J1: release, to J2 in psi_report_map */
}

/* -- objects --------------------------------------------------------------------------------- */

static void
job_make_objects(const char *name, gex_Flags_t flags)
{
	gex_Client_t client = calloc(1, sizeof *client);

	if (!client || !(client->name = strdup(name ? name : "")))
		psi_fatal("no memory for the client");
	client->flags = flags;
	primordial_ep = (struct gex_EP_s){ .client = client, .place = psi.boot.rank };
	primordial_tm = (struct gex_TM_s){
		.client = client, .ep = &primordial_ep,
		.rank = psi.boot.rank, .size = psi.boot.size,
	};
	psi.client = client;
	psi.ep = &primordial_ep;
	psi.tm = &primordial_tm;
	psi_team_add(psi.tm);
	psi.legacy = flags & GEX_FLAG_USES_GASNET1;
}

static int __attribute__((cold))
job_open(const char *name, gex_Flags_t flags, const struct psi_client_build *build,
         const char *call)
{
	if (psi.open)
		return psi_refuse(GASNET_ERR_RESOURCE, call, "the job is open; a process opens it "
		                  "once, by gex_Client_Init or by gasnet_init");
	job_check_build(build);
	psi.modules = psi_modules;
	psi_reports_open();
	if (pboot_open(&psi.boot) != 0)
		return GASNET_ERR_RESOURCE;
	if (psi.threaded)
		psi_threads_open();
	job_know_host();
	psi_exit_open();
	job_read_settings();
	job_watch_signals();
	psi_hosts_open();
	job_know_cpus();
	psi_places_open();
	job_make_objects(name, flags);
	job_open_tables();
	psi_conduit_open(psi.ep);
	if (psi.boot.rank == psi.host_ranks[0])
		describe_shared(psi.shared);
	job_limit_segments();
	psi_modules_open(psi.ep);
	psi_inline_open();      /* what the modules have opened, semaphores among it */
	psi.places = psi.boot.size;
	psi.open = true;
	pboot_barrier();
	atomic_store_explicit(&psi_shared_of(psi.boot.rank)->joined, 2, memory_order_relaxed);
	psi_receive_thread_start();
	return GASNET_OK;
}

int
psi_client_init(gex_Client_t *client_p, gex_EP_t *ep_p, gex_TM_t *tm_p, const char *name, int *argc,
                char ***argv, gex_Flags_t flags, const struct psi_client_build *build)
{
	const char *call = "gex_Client_Init";
	int code;

	(void)argc, (void)argv; /* the launcher adds nothing to the command line */
	if (flags & ~(gex_Flags_t)(GEX_FLAG_USES_GASNET1 | GEX_FLAG_DEFER_THREADS))
		return psi_refuse(GASNET_ERR_BAD_ARG, call, "flags must be 0 or some of "
		                  "GEX_FLAG_USES_GASNET1 and GEX_FLAG_DEFER_THREADS");
	if (!client_p || !ep_p || !tm_p)
		return psi_refuse(GASNET_ERR_BAD_ARG, call, "client_p, ep_p and tm_p must not be "
		                                            "NULL");
	code = job_open(name, flags, build, call);
	if (code != GASNET_OK)
		return code;
	*client_p = psi.client;
	*ep_p = psi.ep;
	*tm_p = psi.tm;
	return GASNET_OK;
}

/* -- GASNet-1 -------------------------------------------------------------------------------- */

int
psi_legacy_init(int *argc, char ***argv, const struct psi_client_build *build)
{
	int code;

	(void)argc, (void)argv;
	code = job_open("LEGACY", GEX_FLAG_USES_GASNET1, build, "gasnet_init");
	if (code == GASNET_OK)
		psi.attach_first = true;
	return code;
}

static int
register_legacy(gasnet_handlerentry_t *table, int numentries)
{
	gex_AM_Entry_t *entries = calloc((size_t)numentries, sizeof *entries);
	int code;

	if (!entries)
		return GASNET_ERR_RESOURCE;
	for (int i = 0; i < numentries; i++) {
		entries[i] = (gex_AM_Entry_t){
			.gex_index = table[i].index, .gex_fnptr = table[i].fnptr,
			.gex_flags = GEX_FLAG_AM_SHORT | GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REQREP,
			.gex_nargs = PSI_MAX_ARGS,
		};
	}
	code = gex_EP_RegisterHandlers(psi.ep, entries, (size_t)numentries);
	for (int i = 0; i < numentries; i++) {
		table[i].index = entries[i].gex_index;
		psi_handler_take_any_count(psi.ep, table[i].index);
	}
	free(entries);
	return code;
}

int
gasnet_attach(gasnet_handlerentry_t *table, int numentries, uintptr_t segsize,
              uintptr_t minheapoffset)
{
	gex_Segment_t segment;
	int code;

	(void)minheapoffset;
	if (!psi.open)
		return GASNET_ERR_NOT_INIT;
	psi_rule_context("gasnet_attach");
	if (numentries < 0 || (numentries > 0 && !table))
		return psi_refuse(GASNET_ERR_BAD_ARG, "gasnet_attach", "the table has no entries; "
		                  "pass NULL and 0 for none");
	if (numentries > PSI_HANDLERS - GEX_AM_INDEX_BASE)
		return psi_refuse(GASNET_ERR_BAD_ARG, "gasnet_attach", "the table has more entries "
		                  "than there are indices, from 128 to 255; let some share one and "
		                  "an argument");
	if (segsize % GASNET_PAGESIZE || segsize > psi.max_segment)
		return psi_refuse(GASNET_ERR_BAD_ARG, "gasnet_attach", "segsize must be a multiple "
		                  "of GASNET_PAGESIZE, and gasnet_getMaxLocalSegmentSize() at "
		                  "most");
	if (psi.ep->segment)
		return psi_refuse(GASNET_ERR_RESOURCE, "gasnet_attach", "the endpoint has a "
		                                                        "segment already");
	psi.attach_first = false;
	if (numentries > 0) {
		code = register_legacy(table, numentries);
		if (code != GASNET_OK)
			return code;
	}
	return gex_Segment_Attach(&segment, psi.tm, segsize ? segsize : GASNET_PAGESIZE);
}

void
gasnet_QueryGexObjects(gex_Client_t *client_p, gex_EP_t *endpoint_p, gex_TM_t *tm_p,
                       gex_Segment_t *segment_p)
{
	psi_need_init("gasnet_QueryGexObjects");
	if (client_p)
		*client_p = psi.client;
	if (endpoint_p)
		*endpoint_p = psi.ep;
	if (tm_p)
		*tm_p = psi.tm;
	if (segment_p)
		*segment_p = psi.ep->segment;
}
