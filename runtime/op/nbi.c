/*
 * Implicit operations.  Each thread has a set, which its transfers without an event join.  An
 * access region is such a set with one event for all.
 */
#include "runtime/op/op.h"

#include "runtime/process/rules.h"

static void __attribute__((noreturn, cold))
mask_refuse(gex_EC_t mask, const char *call)
{
	psi_fatal("%s: categories 0x%x do not exist; pass some of GEX_EC_*, or GEX_EC_ALL",
	          call, mask & ~GEX_EC_ALL);
}

static void __attribute__((noreturn, cold))
region_refuse(const char *call)
{
	psi_fatal("%s: called in an access region; end the region and synchronise its event", call);
}

/* Checks the arguments, and returns the calling thread's set, or NULL if it has none. */
static const struct psi_op *
set_find(gex_EC_t mask, gex_Flags_t flags, const char *call)
{
	const struct psi_op_pool *pool;

	psi_rule_call(call);
	psi_check_flags(flags, 0, call);
	if (PSI_UNLIKELY(mask & ~GEX_EC_ALL))
		mask_refuse(mask, call);
	pool = &psi_thread_self()->ops;
	if (PSI_UNLIKELY(pool->region != NULL))
		region_refuse(call);
	return pool->set;
}

static bool
set_is_done(const struct psi_op *set, gex_EC_t mask)
{
	static const gex_EC_t bits[PSI_PART_CATEGORIES] = {
		[PSI_PART_PUT] = GEX_EC_PUT, [PSI_PART_GET] = GEX_EC_GET,
		[PSI_PART_RMW] = GEX_EC_RMW, [PSI_PART_AM] = GEX_EC_AM,
		[PSI_PART_LC] = GEX_EC_LC,
	};

	if (!set)
		return true;
	for (unsigned i = 0; i < PSI_PART_CATEGORIES; i++)
		if (mask & bits[i] && !psi_op_has_done(set, i))
			return false;
	return true;
}

int
gex_NBI_Test(gex_EC_t event_mask, gex_Flags_t flags)
{
	const struct psi_op *set = set_find(event_mask, flags, "gex_NBI_Test");

	return set_is_done(set, event_mask) ? GASNET_OK : GASNET_ERR_NOT_READY;
}

/* Forgets the endpoints of the calling thread's set if all of its operations are done. */
static void
set_forget_endpoints(void)
{
	struct psi_op *set = psi_thread_self()->ops.set;

	if (atomic_load_explicit(&set->open, memory_order_relaxed) == 1)
		set->root.ep = set->leaf.ep = NULL;
}

void
gex_NBI_Wait(gex_EC_t event_mask, gex_Flags_t flags)
{
	const struct psi_op *set = set_find(event_mask, flags, "gex_NBI_Wait");
	const struct psi_reason reason = { .kind = PSI_FOR_EVENTS,
		                           .ep = set ? set->root.ep : NULL };
	struct psi_wait wait = PSI_WAIT_FOR("gex_NBI_Wait", &reason);

	if (set_is_done(set, event_mask))
		return;
	do
		psi_wait_step(&wait);
	while (!set_is_done(set, event_mask));
	psi_wait_end(&wait);
	set_forget_endpoints();
}

void
gex_NBI_BeginAccessRegion(gex_Flags_t flags)
{
	const char *call = "gex_NBI_BeginAccessRegion";
	struct psi_op_pool *pool;

	psi_need_init(call);
	psi_rule_call(call);
	psi_check_flags(flags, 0, call);
	pool = &psi_thread_self()->ops;
	if (PSI_UNLIKELY(pool->region != NULL))
		psi_fatal("%s: called in an access region; regions do not nest, end the first",
		          call);
	pool->region = psi_op_new(pool, true);
}

gex_Event_t
gex_NBI_EndAccessRegion(gex_Flags_t flags)
{
	const char *call = "gex_NBI_EndAccessRegion";
	struct psi_op_pool *pool;
	struct psi_op *region;

	psi_need_init(call);
	psi_rule_call(call);
	psi_check_flags(flags, 0, call);
	pool = &psi_thread_self()->ops;
	region = pool->region;
	if (PSI_UNLIKELY(!region))
		psi_fatal("%s: no access region is open in this thread; begin one, and end it in "
		          "the same thread", call);
	pool->region = NULL;
	region->implicit = false;
	return psi_op_started(region, NULL);
}
