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

struct pboot_pack
pboot_report_look(const struct pboot_keeper *keeper)
{
	struct pboot_pack look = { .bytes = NULL };
	struct pboot_view view;

	if (!hooks || !hooks->look || !view_open(keeper, "", &view))
		return look;
	look = hooks->look(&view);
	free((void *)(uintptr_t)view.ranks);
	return look;
}

void
pboot_report_print(const struct pboot_keeper *keeper, const char *why, struct pboot_pack *looks,
    uint32_t count)
{
	struct pboot_view view;

	if (!hooks || !hooks->report || !view_open(keeper, why, &view))
		return;
	view.packs = looks;
	view.pack_count = count;
	hooks->report(&view);
	free((void *)(uintptr_t)view.ranks);
}

void
pboot_report_alone(const struct pboot_keeper *keeper, const char *why)
{
	struct pboot_pack look = pboot_report_look(keeper);

	look.host = keeper->host;
	if (!look.bytes)
		look.missing = "no memory for it";
	pboot_report_print(keeper, why, &look, 1);
	free(look.bytes);
}

bool
pboot_report_is_first(struct pboot_keeper *keeper, enum pboot_report_kind kind)
{
	bool *const reported = kind == PBOOT_REPORT_TIMEOUT ? &keeper->timeout_reported :
	    kind == PBOOT_REPORT_HANG ? &keeper->hang_reported : &keeper->long_wait_reported;

	if (kind == PBOOT_REPORT_ASKED)
		return true;
	if (*reported)
		return false;
	*reported = true;
	keeper->long_wait_reported |= kind == PBOOT_REPORT_HANG;
	return true;
}

void
pboot_report_ranks(struct pboot_keeper *keeper, enum pboot_report_kind kind, const char *why)
{
	if (pboot_report_is_first(keeper, kind) && !pboot_peers_report(keeper, kind, why))
		pboot_report_alone(keeper, why);
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
	struct pboot_view view;

	if (!hooks || !hooks->ended || !view_open(keeper, "", &view))
		return;
	hooks->ended(&view);
	free((void *)(uintptr_t)view.ranks);
}

void
pboot_report_hang(struct pboot_keeper *keeper, uint32_t rank, int waited_ms, bool quiet)
{
	char why[PBOOT_WHY_BYTES];

	if (keeper->stopped_ns || keeper->rules.phase != PBOOT_RUNNING)
		return;
	snprintf(why, sizeof why, "rank %u has waited for %.3g s%s, see PST_HANG_REPORT",
	    pboot_keeper_job_rank(keeper, rank),
	    waited_ms / 1000.0, quiet ? "" : PBOOT_WHY_BUSY);
	pboot_report_ranks(keeper, quiet ? PBOOT_REPORT_HANG : PBOOT_REPORT_LONG_WAIT, why);
}
