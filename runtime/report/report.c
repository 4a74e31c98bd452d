/* The hooks of reports, for the keeper; and the report of a job without a keeper, which its only
 * rank prints. */
#include "runtime/report/report.h"
#include "runtime/process/process.h"
#include "runtime/report/reports.h"
#include "runtime/segment/shmem.h"
#include "runtime/wait/waiting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
psi_reports_open(void)
{
	static const struct pboot_hooks hooks = {
		.look = psi_report_look,
		.report = psi_report_print,
		.pack = psi_report_counters_pack,
		.ended = psi_report_counters,
	};

	pboot_hooks_set(&hooks);
	psi_hang_tell_alone = psi_report_alone;
}

/* -- without a keeper ------------------------------------------------------------------------ */

static const void *
report_map_own(uint64_t key, size_t len_bytes)
{
	uint64_t made;
	size_t len = 0;
	void *base;

	for (unsigned i = 0; (base = psi_host_memory_made(i, &made, &len)) != NULL; i++)
		if (made == key)
			return len_bytes <= len ? base : NULL;
	return NULL;
}

static const void *
report_map_own_first(size_t len_bytes)
{
	uint64_t key;
	size_t len;
	void *base = psi_host_memory_made(0, &key, &len);

	return base && len_bytes <= len ? base : NULL;
}

static const void *
report_map_own_of(uint32_t index, uint64_t key, size_t len_bytes)
{
	return pboot_range_map(1 + index, key, len_bytes);
}

/* The mappings that this process has anyway stay.  A second view of a further endpoint's queues
 * stays too, since a report is printed twice at most. */
static void
report_unmap_own(const void *base, size_t len_bytes)
{
	(void)base, (void)len_bytes;
}

/* Flushes the program's output, then prints. */
static bool
report_print_own(const char *what, const char *name, const char *text, size_t len_bytes)
{
	if (strcmp(name, "stdout") == 0)
		fflush(stdout);
	return pboot_print(what, name, text, len_bytes);
}

/* The report of a job of one rank. */
static struct pboot_view
report_view_self(struct pboot_rank_view *rank_out, const char *why)
{
	*rank_out = (struct pboot_rank_view){ .pid = psi.pid, .joined = true };
	return (struct pboot_view){
		.size = 1,
		.host = psi.host,
		.why = why,
		.ranks = rank_out,
		.say = psi_log,
		.print = report_print_own,
		.map = report_map_own,
		.map_first = report_map_own_first,
		.map_of = report_map_own_of,
		.unmap = report_unmap_own,
	};
}

void
psi_report_alone(uint64_t waited_ns, bool quiet)
{
	static _Atomic int printed[2];
	struct pboot_rank_view rank;
	struct pboot_view view;
	struct pboot_pack pack;
	char why[PBOOT_WHY_BYTES];

	if (atomic_exchange_explicit(&printed[quiet], 1, memory_order_relaxed))
		return;
	snprintf(why, sizeof why, "this rank has waited for %.3g s%s, see PST_HANG_REPORT",
	         (double)waited_ns / 1e9, quiet ? "" : PBOOT_WHY_BUSY);
	view = report_view_self(&rank, why);
	pack = psi_report_look(&view);
	pack.host = view.host;
	view.packs = &pack;
	view.pack_count = 1;
	psi_report_print(&view);
	free(pack.bytes);
}

void
psi_report_alone_ended(void)
{
	struct pboot_rank_view rank;
	struct pboot_view view;

	if (pboot_death_signal() || !psi.open)
		return;
	view = report_view_self(&rank, "");
	psi_report_counters(&view);
}
