/* Passes the keeper's knowledge of the ranks to the hooks.  These read the ranks' memory and
 * print. */
#include "bootstrap/keeper/pboot_peers.h"

#include <stdio.h>
#include <stdlib.h>

static const struct pboot_hooks *hooks;

void
pboot_hooks_set(const struct pboot_hooks *given)
{
	hooks = given;
}

static struct pboot_rank_view
view_rank(const struct pboot_keeper *keeper, uint32_t rank)
{
	const struct pboot_keeper_rank *self = &keeper->ranks[rank];
	const struct pboot_rank_rule *rule = &keeper->rules.ranks[rank];

	return (struct pboot_rank_view) {
		.rank = pboot_keeper_job_rank(keeper, rank),
		.pid = self->init_pid ? self->init_pid : self->pid,
		.joined = rule->joined,
		.asked = rule->asked,
		.gone = rule->gone,
	};
}

/* False: no memory.  The caller frees view_out->ranks. */
static bool
view_open(const struct pboot_keeper *keeper, const char *why, struct pboot_view *view_out)
{
	const struct pboot_peers *peers = keeper->peers;
	struct pboot_rank_view *ranks = calloc(keeper->plan->size, sizeof *ranks);
	uint32_t rank;

	if (!ranks)
		return false;
	for (rank = 0; rank < keeper->plan->size; rank++)
		ranks[rank] = view_rank(keeper, rank);
	*view_out = (struct pboot_view) {
		.size = keeper->plan->size,
		.host = keeper->host,
		.why = why,
		.ranks = ranks,
		.packs = peers ? peers->packs : NULL,
		.pack_count = peers && peers->packs ? peers->host_count : 0,
		.is_packed = peers && peers->pack_is_sent,
		.map = pboot_arena_map,
		.map_first = pboot_arena_map_first,
		.map_of = pboot_arena_map_of,
		.unmap = pboot_arena_unmap,
		.say = pboot_say,
		.print = pboot_print,
	};
	return true;
}

static void
view_pass(const struct pboot_keeper *keeper, const char *why,
    void (*print)(const struct pboot_view *view))
{
	struct pboot_view view;

	if (!view_open(keeper, why, &view))
		return;
	print(&view);
	free((void *)(uintptr_t)view.ranks);
}

void
pboot_report_ranks(const struct pboot_keeper *keeper, const char *why)
{
	if (hooks && hooks->report)
		view_pass(keeper, why, hooks->report);
}

struct pboot_pack
pboot_report_pack(const struct pboot_keeper *keeper)
{
	struct pboot_pack pack = { .bytes = NULL };
	struct pboot_view view;

	if (!hooks || !hooks->pack || !view_open(keeper, "", &view))
		return pack;
	pack = hooks->pack(&view);
	free((void *)(uintptr_t)view.ranks);
	return pack;
}

void
pboot_report_ended(const struct pboot_keeper *keeper)
{
	if (hooks && hooks->ended)
		view_pass(keeper, "", hooks->ended);
}

void
pboot_report_hang(struct pboot_keeper *keeper, uint32_t rank, int waited_ms, bool quiet)
{
	char why[PBOOT_WHY_BYTES];

	if (keeper->hang_reported || (!quiet && keeper->long_wait_reported) ||
	    keeper->stopped_ns || keeper->rules.phase != PBOOT_RUNNING)
		return;
	keeper->hang_reported = quiet;
	keeper->long_wait_reported = true;
	snprintf(why, sizeof why, "rank %u has waited for %.3g s%s, see PST_HANG_REPORT",
	    pboot_keeper_job_rank(keeper, rank),
	    waited_ms / 1000.0, quiet ? "" : PBOOT_WHY_BUSY);
	pboot_report_ranks(keeper, why);
	pboot_peers_report(keeper);
}
