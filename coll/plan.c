/*
 * Plans.  A plan has a team of its own, with the members of the client's in the same ranks: so its
 * runs are ordered among themselves alone, and go by cells where the team gets some.  That team
 * keeps the schedule.
 */
#include "coll/pst.h"

#include "runtime/process/rules.h"
#include "runtime/team/team.h"

#include <stdlib.h>
#include <string.h>

struct pst_plan_s {
	struct pst_plan_s *next;        /* with PST_CHECK: in `live' */
	struct pcoll_call call;         /* by the plan's team */
	gex_TM_t parent;
	bool may_rebind;
	size_t *lists;                  /* copies of the client's arrays */
};

/* With PST_CHECK: all plans that have not been freed. */
static struct {
	struct pst_plan_s *first;
	struct psi_spinlock lock;
} live;

static void
live_add(pst_plan_t plan)
{
	psi_spinlock_lock(&live.lock);
	plan->next = live.first;
	live.first = plan;
	psi_spinlock_unlock(&live.lock);
}

/* Returns where the list names the plan; NULL: it does not.  The caller holds the lock. */
static struct pst_plan_s **
live_find(pst_plan_t plan)
{
	struct pst_plan_s **at = &live.first;

	while (*at && *at != plan)
		at = &(*at)->next;
	return *at ? at : NULL;
}

static bool
live_has(pst_plan_t plan)
{
	bool has;

	psi_spinlock_lock(&live.lock);
	has = live_find(plan) != NULL;
	psi_spinlock_unlock(&live.lock);
	return has;
}

/* Returns false if the list does not name the plan. */
static bool
live_remove(pst_plan_t plan)
{
	struct pst_plan_s **at;

	psi_spinlock_lock(&live.lock);
	at = live_find(plan);
	if (at)
		*at = plan->next;
	psi_spinlock_unlock(&live.lock);
	return at != NULL;
}

/* Copies an array of `size' numbers to `memory', and makes *list point there.  Returns the memory
 * behind it. */
static size_t *
counts_copy(const size_t **list, gex_Rank_t size, size_t *memory)
{
	if (!*list)
		return memory;
	memcpy(memory, *list, size * sizeof *memory);
	*list = memory;
	return memory + size;
}

static bool
plan_copy_lists(pst_plan_t plan)
{
	const gex_Rank_t size = plan->parent->size;
	struct pcoll_call *call = &plan->call;
	size_t *rest;

	if (!pcoll_call_has_lists(call))
		return true;
	plan->lists = calloc((size_t)4 * size, sizeof *plan->lists);
	if (!plan->lists)
		return false;
	rest = counts_copy(&call->src_counts.counts, size, plan->lists);
	rest = counts_copy(&call->src_counts.displs, size, rest);
	rest = counts_copy(&call->dst_counts.counts, size, rest);
	(void)counts_copy(&call->dst_counts.displs, size, rest);
	return true;
}

static void
plan_close(pst_plan_t plan)
{
	if (plan)
		free(plan->lists);
	free(plan);
}

int
pcoll_plan_make(const struct pcoll_call *call, pst_plan_t *plan_out, gex_Flags_t flags)
{
	gex_TM_t tm = call->tm;
	pst_plan_t plan;
	bool has;

	psi_check_buffer(plan_out, sizeof *plan_out, "plan_out", pcoll_call_name(call->what));
	plan = calloc(1, sizeof *plan);
	has = plan != NULL;
	if (has) {
		plan->call = *call;
		plan->parent = tm;
		plan->may_rebind = flags & PST_PLAN_REBIND;
		has = plan_copy_lists(plan);
	}
	if (!pcoll_plan_all_have(tm, has)) {
		plan_close(plan);
		return GASNET_ERR_RESOURCE;
	}
	gex_TM_Split(&plan->call.tm, tm, 0, (int)tm->rank, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
	plan->call.tm->is_plan = true;
	psi_team_hold(tm);
	if (PSI_UNLIKELY(psi.checks))
		live_add(plan);
	*plan_out = plan;
	return GASNET_OK;
}

static void __attribute__((noreturn, cold))
plan_is_gone(pst_plan_t plan, const char *call)
{
	psi_fatal("%s: plan %p has been freed, or is no plan; pass one that a call pst_*_plan made",
	          call, (void *)plan);
}

static void
plan_check(pst_plan_t plan, const char *call)
{
	psi_need_init(call);
	if (PSI_UNLIKELY(!plan))
		psi_fatal("%s: plan is PST_PLAN_INVALID; pass one that a call pst_*_plan made",
		          call);
	if (PSI_UNLIKELY(psi.checks) && !live_has(plan))
		plan_is_gone(plan, call);
}

static void
plan_check_over(pst_plan_t plan, const char *call)
{
	if (PSI_UNLIKELY(atomic_load_explicit(&plan->call.tm->users, memory_order_relaxed)))
		psi_fatal("%s: a run of the plan is not over; synchronise it first", call);
}

gex_Event_t
pst_plan_start(pst_plan_t plan)
{
	plan_check(plan, "pst_plan_start");
	plan_check_over(plan, "pst_plan_start");
	psi_rule_call("pst_plan_start");
	return pcoll_pst_start(&plan->call);
}

int
pst_plan_rebind(pst_plan_t plan, void *dst, const void *src)
{
	const char *call = "pst_plan_rebind";

	plan_check(plan, call);
	if (!plan->may_rebind)
		return GASNET_ERR_BAD_ARG;
	plan->call.dst = dst;
	plan->call.src = src;
	pcoll_check_memory(&plan->call, call);
	return GASNET_OK;
}

void
pst_plan_free(pst_plan_t plan, gex_Flags_t flags)
{
	const char *call = "pst_plan_free";

	plan_check(plan, call);
	psi_rule_call(call);
	psi_check_flags(flags, 0, call);
	plan_check_over(plan, call);
	if (PSI_UNLIKELY(psi.checks) && !live_remove(plan))
		plan_is_gone(plan, call);
	(void)gex_TM_Destroy(plan->call.tm, NULL, 0);
	psi_team_release(plan->parent);
	plan_close(plan);
}
