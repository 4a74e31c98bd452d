/*
 * Atomic domains are made, queried and destroyed here.  A rank that executes an operation for
 * another needs nothing of the domain, so operations may arrive before its gex_AD_Create has
 * returned.
 */
#include "runtime/atomic/atomic.h"

#include "runtime/process/rules.h"
#include "runtime/segment/reach.h"
#include "runtime/team/team.h"
#include "runtime/util/spinlock.h"

#include <stdlib.h>

static struct psi_spinlock list_lock;
static struct psi_domain *all_domains;  /* under list_lock; with checks, destroyed ones too */

/* -- the list -------------------------------------------------------------------------------- */

static void
domain_enlist(struct psi_domain *domain)
{
	psi_spinlock_lock(&list_lock);
	domain->next = all_domains;
	all_domains = domain;
	psi_spinlock_unlock(&list_lock);
}

static void
domain_delist(struct psi_domain *domain)
{
	struct psi_domain **at = &all_domains;

	psi_spinlock_lock(&list_lock);
	while (*at != domain)
		at = &(*at)->next;
	*at = domain->next;
	psi_spinlock_unlock(&list_lock);
}

static bool
domain_is_listed(const struct psi_domain *domain)
{
	const struct psi_domain *at;

	psi_spinlock_lock(&list_lock);
	for (at = all_domains; at && at != domain; at = at->next)
		;
	psi_spinlock_unlock(&list_lock);
	return at;
}

static void
domain_check_live(struct psi_domain *domain, const char *call)
{
	if (!domain_is_listed(domain))
		psi_fatal("%s: %p is no atomic domain of this process; pass what gex_AD_Create "
		          "wrote here",
		          call, (void *)domain);
	if (domain->destroyed)
		psi_fatal("%s: the atomic domain was destroyed before; destroy it when all ranks "
		          "have completed their operations, and passed a barrier", call);
}

struct psi_domain *
psi_domain_live(gex_AD_t ad, const char *call)
{
	struct psi_domain *domain = (struct psi_domain *)ad;

	if (PSI_UNLIKELY(!ad))
		psi_invalid(call, "GEX_AD_INVALID");
	if (PSI_UNLIKELY(psi.checks))
		domain_check_live(domain, call);
	return domain;
}

void
psi_domains_close(void)
{
	/* The lock's holder may be a thread that is not here. */
	for (struct psi_domain *domain = all_domains; domain; domain = domain->next)
		domain->inlines.size = 0;
}

/* -- creation -------------------------------------------------------------------------------- */

const char *
psi_domain_type_name(gex_DT_t dt)
{
#define NAME(DT, type, width) \
	if (dt == GEX_DT##DT) \
		return "GEX_DT" #DT;
	PSI_ATOMIC_TYPES(NAME)
#undef NAME
	return "an unknown type";
}

static gex_OP_t
domain_ops_of(gex_DT_t dt)
{
	switch (dt) {
#define INTEGER(DT, type, width) case GEX_DT##DT: return PSI_ATOMIC_OPS_INTEGER;
	PSI_ATOMIC_INTEGERS(INTEGER)
#define FLOAT(DT, type, width) case GEX_DT##DT: return PSI_ATOMIC_OPS_FLOAT;
	PSI_ATOMIC_FLOATS(FLOAT)
	default: return 0;
#undef INTEGER
#undef FLOAT
	}
}

static void
domain_check_arguments(gex_AD_t *ad_p, gex_TM_t tm, gex_DT_t dt, gex_OP_t ops, gex_Flags_t flags)
{
	const char *call = "gex_AD_Create";
	const gex_Flags_t hints = GEX_FLAG_AD_FAVOR_MY_RANK | GEX_FLAG_AD_FAVOR_MY_NBRHD |
	                          GEX_FLAG_AD_FAVOR_REMOTE;

	if (!ad_p)
		psi_fatal("%s: ad_p is NULL; pass where the domain goes", call);
	(void)psi_team_live(tm, call);
	if (!domain_ops_of(dt))
		psi_fatal("%s: data type 0x%x is not one for atomics; pass one of GEX_DT_I32, "
		          "U32, I64, U64, FLT and DBL", call, dt);
	if (!ops || (ops & ~domain_ops_of(dt)))
		psi_fatal("%s: operations 0x%x %s; pass those that will be used, of 0x%x", call,
		          ops & ~domain_ops_of(dt),
		          ops ? "do not exist for the type" : "are none at all", domain_ops_of(dt));
	psi_check_flags(flags, hints, call);
	if (flags & (flags - 1))
		psi_fatal("%s: flags 0x%x favour several at once; pass one of GEX_FLAG_AD_FAVOR_* "
		          "at most",
		          call, flags);
}

/* Those that a device makes of additions, and of compare and swap. */
static const gex_OP_t device_ops =
	GEX_OP_GET |
	PSI_ATOMIC_OPS_BOTH(GEX_OP_ADD | GEX_OP_SUB | GEX_OP_INC | GEX_OP_DEC | GEX_OP_CAS);

static bool
members_are_apart(gex_TM_t tm)
{
	uint8_t *seen = calloc(psi_nbrhds(), 1);
	bool apart = true;

	if (!seen)
		psi_fatal("gex_AD_Create: no memory for the tables of %u ranks", tm->size);
	for (gex_Rank_t rank = 0; apart && rank < tm->size; rank++) {
		const struct psi_target member = psi_target_of(tm, rank, "gex_AD_Create");
		const uint32_t nbrhd = psi_nbrhd_of(psi_jobrank_of(member.place));

		apart = !seen[nbrhd];
		seen[nbrhd] = 1;
	}
	free(seen);
	return apart;
}

/* As far as this rank knows: the device of another host may have no atomics. */
static bool
domain_suits_device(gex_TM_t tm, gex_DT_t dt, gex_OP_t ops, gex_Flags_t flags)
{
	return psi.attributes.device_atomics && tm->size > 1 &&
	       (dt == GEX_DT_I64 || dt == GEX_DT_U64) && !(ops & ~device_ops) &&
	       !(flags & (GEX_FLAG_AD_FAVOR_MY_RANK | GEX_FLAG_AD_FAVOR_MY_NBRHD)) &&
	       !psi_way_is_masked(PSI_WAY_ATOMIC) && members_are_apart(tm);
}

/* The data that the members exchange. */
struct member {
	gex_DT_t dt;
	gex_OP_t ops;
	gex_Flags_t flags;
	uint32_t by_device;
};

/* All pass the same.  True: all can have the operations made by devices. */
static bool
domain_agree(gex_TM_t tm, gex_DT_t dt, gex_OP_t ops, gex_Flags_t flags)
{
	const struct member mine = { dt, ops, flags, domain_suits_device(tm, dt, ops, flags) };
	struct member *all = calloc(tm->size, sizeof *all);
	bool by_device = true;

	if (!all)
		psi_fatal("gex_AD_Create: no memory for the tables of %u ranks", tm->size);
	psi_team_gather(tm, &mine, sizeof mine, all, "gex_AD_Create");
	for (gex_Rank_t rank = 0; rank < tm->size; rank++) {
		by_device = by_device && all[rank].by_device;
		if (all[rank].dt != dt || all[rank].ops != ops || all[rank].flags != flags)
			psi_fatal("gex_AD_Create: type 0x%x, operations 0x%x, flags 0x%x, but rank "
			          "%u of the team passes 0x%x, 0x%x, 0x%x; pass the same in all "
			          "ranks", dt, ops,
			          flags, rank, all[rank].dt, all[rank].ops, all[rank].flags);
	}
	free(all);
	return by_device;
}

/* Segments of the team's ranks, which the inlines read. */
static const struct pst_peer *
domain_peers_of(gex_TM_t tm)
{
	struct pst_peer *peers;

	if (tm == psi.tm)
		return psi.peers;
	peers = calloc(tm->size, sizeof *peers);
	if (!peers)
		psi_fatal("gex_AD_Create: no memory for the tables of %u ranks", tm->size);
	for (gex_Rank_t rank = 0; rank < tm->size; rank++)
		peers[rank] = psi.peers[psi_target_of(tm, rank, "gex_AD_Create").place];
	return peers;
}

void
gex_AD_Create(gex_AD_t *ad_p, gex_TM_t tm, gex_DT_t dt, gex_OP_t ops, gex_Flags_t flags)
{
	struct psi_domain *domain;

	psi_need_init("gex_AD_Create");
	psi_rule_call("gex_AD_Create");
	domain_check_arguments(ad_p, tm, dt, ops, flags);
	domain = calloc(1, sizeof *domain);
	if (!domain)
		psi_fatal("gex_AD_Create: no memory for an atomic domain");
	*domain = (struct psi_domain){
		.inlines = { .size = tm->size,
		             .peers = domain_peers_of(tm),
		             .counts = psi.blocks[0].count },
		.tm = tm,
		.dt = dt,
		.ops = ops,
		.flags = flags,
	};
	domain->by_device = domain_agree(tm, dt, ops, flags);
	psi_team_hold(tm);
	if (!psi.checks && !psi_way_is_masked(PSI_WAY_ATOMIC) && !domain->by_device)
		domain->inlines.inlined[__builtin_ctz(dt)] = ops;
	domain_enlist(domain);
	*ad_p = &domain->inlines;
}

void
gex_AD_Destroy(gex_AD_t ad)
{
	struct psi_domain *domain;

	psi_rule_call("gex_AD_Destroy");
	domain = psi_domain_live(ad, "gex_AD_Destroy");
	psi_team_release(domain->tm);
	if (domain->tm != psi.tm)
		free((void *)(uintptr_t)domain->inlines.peers);
	domain->destroyed = true;
	if (psi.checks)
		return;         /* it stays in the list, so that a later use is recognised */
	domain_delist(domain);
	free(domain);
}

/* -- queries --------------------------------------------------------------------------------- */

gex_Flags_t
gex_AD_QueryFlags(gex_AD_t ad)
{
	return psi_domain_live(ad, "gex_AD_QueryFlags")->flags;
}

gex_TM_t
gex_AD_QueryTM(gex_AD_t ad)
{
	return psi_domain_live(ad, "gex_AD_QueryTM")->tm;
}

gex_DT_t
gex_AD_QueryDT(gex_AD_t ad)
{
	return psi_domain_live(ad, "gex_AD_QueryDT")->dt;
}

gex_OP_t
gex_AD_QueryOps(gex_AD_t ad)
{
	return psi_domain_live(ad, "gex_AD_QueryOps")->ops;
}

void
gex_AD_SetCData(gex_AD_t ad, const void *val)
{
	psi_domain_live(ad, "gex_AD_SetCData")->cdata = (void *)(uintptr_t)val;
}

void *
gex_AD_QueryCData(gex_AD_t ad)
{
	return psi_domain_live(ad, "gex_AD_QueryCData")->cdata;
}
