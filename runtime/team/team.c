/* Teams: the list of those of this process, what can be asked of them, and what their ranks
 * mean. */
#include "runtime/team/team.h"
#include "runtime/process/endpoint.h"
#include "runtime/process/process.h"
#include "runtime/team/team_rules.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* -- the list -------------------------------------------------------------------------------- */

/*
 * Messages name a team by its id, so the library's own handlers look it up here.  All teams but the
 * primordial one are in buckets by id; `lock' is for PAR.  Teams are added and removed while others
 * are looked up, but no thread looks up a team that is being removed.
 */
enum { BUCKETS = 64 };

static struct psi_spinlock lock;
static gex_TM_t buckets[BUCKETS];
static gex_TM_t destroyed;              /* with checks: kept, so that their use is told */

static gex_TM_t *
team_bucket_of(uint64_t id)
{
	/* The lower half counts, the upper half is the process that gave the id. */
	return &buckets[(id ^ id >> 32) % BUCKETS];
}

void
psi_team_add(gex_TM_t tm)
{
	gex_TM_t *bucket = team_bucket_of(tm->id);

	psi_spinlock_lock(&lock);
	tm->next = *bucket;
	*bucket = tm;
	psi_spinlock_unlock(&lock);
}

gex_TM_t
psi_team_find(uint64_t id, gex_EP_t ep)
{
	gex_TM_t tm;

	psi_spinlock_lock(&lock);
	for (tm = *team_bucket_of(id); tm && (tm->id != id || tm->ep != ep); tm = tm->next)
		;
	psi_spinlock_unlock(&lock);
	return tm;
}

static bool
team_is_in(gex_TM_t list, gex_TM_t tm)
{
	while (list && list != tm)
		list = list->next;
	return list != NULL;
}

bool
psi_team_is_known(gex_TM_t tm)
{
	bool known = false;

	if (tm == psi.tm)
		return true;
	psi_spinlock_lock(&lock);
	for (unsigned i = 0; i < BUCKETS && !known; i++)
		known = team_is_in(buckets[i], tm);
	psi_spinlock_unlock(&lock);
	return known;
}

bool
psi_team_was_destroyed(gex_TM_t tm)
{
	bool was;

	psi_spinlock_lock(&lock);
	was = team_is_in(destroyed, tm);
	psi_spinlock_unlock(&lock);
	return was;
}

gex_TM_t
psi_team_borrowing(const void *addr, size_t bytes)
{
	const uintptr_t from = (uintptr_t)addr;
	gex_TM_t found = NULL;

	psi_spinlock_lock(&lock);
	for (unsigned i = 0; i < BUCKETS && !found; i++)
		for (gex_TM_t tm = buckets[i]; tm && !found; tm = tm->next)
			if (tm->scratch.gex_addr && (uintptr_t)tm->scratch.gex_addr - from < bytes)
				found = tm;
	psi_spinlock_unlock(&lock);
	return found;
}

/* -- for people ------------------------------------------------------------------------------ */

enum { RANGES_NAMED = 4 };

/* The rank in the job of the member that is number i in the order of processes. */
static gex_Rank_t
group_process(const struct psi_group *group, gex_Rank_t i)
{
	return group->locations[group->by_process[i]].gex_rank;
}

/* The first member from i on, in the order of processes, that is not of the same process nor of one
 * in a row with it; the last process of that row goes to last_out. */
static gex_Rank_t
group_range_end(const struct psi_group *group, gex_Rank_t i, gex_Rank_t *last_out)
{
	*last_out = group_process(group, i);
	while (++i < group->size && group_process(group, i) <= *last_out + 1)
		*last_out = group_process(group, i);
	return i;
}

/* Appends to a text of that length; returns the new one. */
static size_t __attribute__((format(printf, 4, 5)))
text_add(char *text, size_t len, size_t text_bytes, const char *format, ...)
{
	va_list args;
	int more;

	va_start(args, format);
	more = vsnprintf(text + len, text_bytes - len, format, args);
	va_end(args);
	return more > 0 && len + (size_t)more < text_bytes ? len + (size_t)more : text_bytes - 1;
}

void
psi_team_describe(gex_TM_t tm, char *text_out, size_t text_bytes)
{
	const struct psi_group *group = tm->group;
	const char *separator = " (ranks ";
	gex_Rank_t last;
	size_t len;

	if (tm == psi.tm || !group) {
		snprintf(text_out, text_bytes, "the team of all ranks");
		return;
	}
	len = text_add(text_out, 0, text_bytes, "%steam %u.%u of %u",
	               tm->is_plan ? "a plan's " : "", (unsigned)(tm->id >> 32),
	               (unsigned)tm->id, (unsigned)tm->size);
	for (gex_Rank_t i = 0, ranges = 0, end; i < group->size; i = end, separator = ", ") {
		const gex_Rank_t first = group_process(group, i);

		if (ranges++ == RANGES_NAMED) {
			len = text_add(text_out, len, text_bytes, " and more");
			break;
		}
		end = group_range_end(group, i, &last);
		len = text_add(text_out, len, text_bytes, "%s%u", separator, (unsigned)first);
		if (last > first)
			len = text_add(text_out, len, text_bytes, "%s%u",
			               last > first + 1 ? "-" : ", ", (unsigned)last);
	}
	(void)text_add(text_out, len, text_bytes, ")");
}

/* -- their ends ------------------------------------------------------------------------------ */

static void
team_unlink(gex_TM_t tm)
{
	gex_TM_t *at = team_bucket_of(tm->id);

	psi_spinlock_lock(&lock);
	while (*at != tm)
		at = &(*at)->next;
	*at = tm->next;
	if (psi.checks) {
		tm->next = destroyed;
		destroyed = tm;
	}
	psi_spinlock_unlock(&lock);
}

void
psi_group_join(struct psi_group *group)
{
	psi_spinlock_lock(&lock);
	group->members_here++;
	psi_spinlock_unlock(&lock);
}

void
psi_group_free(struct psi_group *group)
{
	free(group->locations);
	free(group->places);
	free(group->by_process);
	free(group->lent);
	free(group->cells);
	free(group);
}

static void
group_leave(struct psi_group *group)
{
	bool last;

	psi_spinlock_lock(&lock);
	last = --group->members_here == 0;
	psi_spinlock_unlock(&lock);
	if (last)
		psi_group_free(group);
}

void
psi_team_is_gone(uint32_t source)
{
	psi_fatal("rank %u makes a collective call over a team that was destroyed here; let all "
	          "members finish such calls before gex_TM_Destroy", source);
}

void
psi_team_in_use(const char *call)
{
	psi_fatal("%s: another member is in a collective call over the team; let all members "
	          "finish such calls before", call);
}

void
psi_team_remove(gex_TM_t tm, const char *call)
{
	struct psi_group *group = tm->group;

	for (const struct psi_module *const *at = psi.modules; *at; at++)
		if ((*at)->team_ends)
			(*at)->team_ends(tm, call);
	tm->group = NULL;
	tm->places = NULL;
	tm->size = 0;
	team_unlink(tm);
	group_leave(group);
	if (!psi.checks)
		free(tm);
}

void
psi_teams_forget(void)
{
	for (unsigned i = 0; i < BUCKETS; i++)
		for (gex_TM_t tm = buckets[i]; tm; tm = tm->next)
			tm->size = 0;
}

/* -- ranks ----------------------------------------------------------------------------------- */

void
psi_target_bad(gex_TM_t tm, gex_Rank_t rank, const char *call)
{
	psi_need_init(call);
	if (tm == GEX_TM_INVALID)
		psi_invalid(call, "GEX_TM_INVALID");
	if (psi_tm_is_pair(tm) && rank < psi.boot.size)
		psi_fatal("%s: the pair names an endpoint that does not exist; create it, and let "
		          "all wait for that before they send", call);
	if (psi_tm_is_pair(tm))
		psi_fatal("%s: rank %u does not exist, the job has %u; count from 0", call, rank,
		          psi.boot.size);
	psi_fatal("%s: rank %u does not exist, the team has %u; count from 0", call, rank,
	          tm->size);
}

struct psi_target
psi_target_far(gex_TM_t tm, gex_Rank_t rank, const char *call)
{
	const uintptr_t bits = (uintptr_t)tm >> 1;
	struct psi_target target;

	if (!psi_tm_is_pair(tm))
		psi_target_bad(tm, rank, call);
	target.ep = psi_ep_of(bits & UINT16_MAX);
	target.place = psi_place_of(rank, (gex_EP_Index_t)(bits >> 16));
	if (!target.ep || target.place == PSI_NO_PEER)
		psi_target_bad(tm, rank, call);
	return target;
}

gex_EP_Location_t
psi_team_location(gex_TM_t tm, gex_Rank_t rank)
{
	if (tm->group)
		return tm->group->locations[rank];
	return (gex_EP_Location_t){ .gex_rank = rank, .gex_ep_index = 0 };
}

gex_Rank_t
psi_team_rank_of(gex_TM_t tm, gex_Rank_t jobrank)
{
	const struct psi_group *group = tm->group;
	gex_Rank_t low = 0, high = tm->size;

	if (!group)
		return jobrank < tm->size ? jobrank : GEX_RANK_INVALID;
	while (low < high) {
		const gex_Rank_t middle = low + (high - low) / 2;

		if (group->locations[group->by_process[middle]].gex_rank < jobrank)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == tm->size || group->locations[group->by_process[low]].gex_rank != jobrank)
		return GEX_RANK_INVALID;
	return group->by_process[low];
}

static void
team_check_rank(gex_TM_t tm, gex_Rank_t rank, const char *call)
{
	psi_rule_context(call);
	(void)psi_target_of(psi_team_live(tm, call), rank, call);
}

gex_Rank_t
gex_TM_TranslateRankToJobrank(gex_TM_t tm, gex_Rank_t rank)
{
	team_check_rank(tm, rank, "gex_TM_TranslateRankToJobrank");
	return psi_team_location(tm, rank).gex_rank;
}

gex_Rank_t
gex_TM_TranslateJobrankToRank(gex_TM_t tm, gex_Rank_t jobrank)
{
	team_check_rank(tm, 0, "gex_TM_TranslateJobrankToRank");
	return psi_team_rank_of(tm, jobrank);
}

gex_EP_Location_t
gex_TM_TranslateRankToEP(gex_TM_t tm, gex_Rank_t rank, gex_Flags_t flags)
{
	team_check_rank(tm, rank, "gex_TM_TranslateRankToEP");
	psi_check_flags(flags, 0, "gex_TM_TranslateRankToEP");
	return psi_team_location(tm, rank);
}

/* -- queries --------------------------------------------------------------------------------- */

gex_TM_t
psi_team_live(gex_TM_t tm, const char *call)
{
	if (PSI_UNLIKELY(!tm))
		psi_invalid(call, "GEX_TM_INVALID");
	if (PSI_UNLIKELY(psi_tm_is_pair(tm)))
		psi_fatal("%s: called with a pair of endpoints; pass a team", call);
	psi_rule_team(tm, call);
	return tm;
}

gex_Client_t
gex_TM_QueryClient(gex_TM_t tm)
{
	return psi_team_live(tm, "gex_TM_QueryClient")->client;
}

gex_EP_t
gex_TM_QueryEP(gex_TM_t tm)
{
	return psi_team_live(tm, "gex_TM_QueryEP")->ep;
}

gex_Flags_t
gex_TM_QueryFlags(gex_TM_t tm)
{
	return psi_team_live(tm, "gex_TM_QueryFlags")->flags;
}

gex_Rank_t
gex_TM_QueryRank(gex_TM_t tm)
{
	return psi_team_live(tm, "gex_TM_QueryRank")->rank;
}

gex_Rank_t
gex_TM_QuerySize(gex_TM_t tm)
{
	return psi_team_live(tm, "gex_TM_QuerySize")->size;
}

void *
gex_TM_QueryCData(gex_TM_t tm)
{
	return psi_team_live(tm, "gex_TM_QueryCData")->cdata;
}

void
gex_TM_SetCData(gex_TM_t tm, const void *val)
{
	psi_team_live(tm, "gex_TM_SetCData")->cdata = (void *)(uintptr_t)val;
}
