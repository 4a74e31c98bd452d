/* Clients, endpoints and teams: one of each in this release, and what can be asked of them. */
#include "runtime/psi.h"

#include "runtime/rules.h"

#include <stdlib.h>

/* Objects that a call is given: the constant that names none is refused by name. */
static gex_Client_t
live_client(gex_Client_t client, const char *call)
{
	if (PSI_UNLIKELY(!client))
		psi_invalid(call, "GEX_CLIENT_INVALID");
	return client;
}

static gex_EP_t
live_ep(gex_EP_t ep, const char *call)
{
	if (PSI_UNLIKELY(!ep))
		psi_invalid(call, "GEX_EP_INVALID");
	return ep;
}

static gex_TM_t
live_tm(gex_TM_t tm, const char *call)
{
	if (PSI_UNLIKELY(!tm))
		psi_invalid(call, "GEX_TM_INVALID");
	if (PSI_UNLIKELY(psi_tm_is_pair(tm)))
		psi_fatal("%s: called with a pair of endpoints; pass a team", call);
	psi_rule_team(tm, call);
	return tm;
}

/* -- clients --------------------------------------------------------------------------------- */

gex_Flags_t
gex_Client_QueryFlags(gex_Client_t client)
{
	return live_client(client, "gex_Client_QueryFlags")->flags;
}

const char *
gex_Client_QueryName(gex_Client_t client)
{
	return live_client(client, "gex_Client_QueryName")->name;
}

void *
gex_Client_QueryCData(gex_Client_t client)
{
	return live_client(client, "gex_Client_QueryCData")->cdata;
}

void
gex_Client_SetCData(gex_Client_t client, const void *val)
{
	live_client(client, "gex_Client_SetCData")->cdata = (void *)(uintptr_t)val;
}

/* -- endpoints ------------------------------------------------------------------------------- */

gex_Client_t
gex_EP_QueryClient(gex_EP_t ep)
{
	return live_ep(ep, "gex_EP_QueryClient")->client;
}

gex_Flags_t
gex_EP_QueryFlags(gex_EP_t ep)
{
	return live_ep(ep, "gex_EP_QueryFlags")->flags;
}

gex_Segment_t
gex_EP_QuerySegment(gex_EP_t ep)
{
	return live_ep(ep, "gex_EP_QuerySegment")->segment;
}

gex_EP_Index_t
gex_EP_QueryIndex(gex_EP_t ep)
{
	return live_ep(ep, "gex_EP_QueryIndex")->index;
}

void *
gex_EP_QueryCData(gex_EP_t ep)
{
	return live_ep(ep, "gex_EP_QueryCData")->cdata;
}

void
gex_EP_SetCData(gex_EP_t ep, const void *val)
{
	live_ep(ep, "gex_EP_SetCData")->cdata = (void *)(uintptr_t)val;
}

/* GASNET_MAXEPS is 1, and the primordial endpoint takes that place. */
int
gex_EP_Create(gex_EP_t *ep_p, gex_Client_t client, gex_EP_Capabilities_t capabilities,
              gex_Flags_t flags)
{
	const gex_Flags_t hints = GEX_FLAG_HINT_ACCEL_ALL;

	psi_need_init("gex_EP_Create");
	psi_rule_context("gex_EP_Create");
	if (!ep_p || client != psi.client || !capabilities ||
	    (capabilities & ~(gex_EP_Capabilities_t)GEX_EP_CAPABILITY_ALL) || (flags & ~hints))
		return psi_refuse(GASNET_ERR_BAD_ARG, "gex_EP_Create",
		                  "client, capabilities and flags must be valid ones");
	return psi_refuse(GASNET_ERR_RESOURCE, "gex_EP_Create",
	                  "this release has one endpoint per process, which gex_Client_Init gave");
}

/* -- teams ----------------------------------------------------------------------------------- */

gex_Client_t
gex_TM_QueryClient(gex_TM_t tm)
{
	return live_tm(tm, "gex_TM_QueryClient")->client;
}

gex_EP_t
gex_TM_QueryEP(gex_TM_t tm)
{
	return live_tm(tm, "gex_TM_QueryEP")->ep;
}

gex_Flags_t
gex_TM_QueryFlags(gex_TM_t tm)
{
	return live_tm(tm, "gex_TM_QueryFlags")->flags;
}

gex_Rank_t
gex_TM_QueryRank(gex_TM_t tm)
{
	return live_tm(tm, "gex_TM_QueryRank")->rank;
}

gex_Rank_t
gex_TM_QuerySize(gex_TM_t tm)
{
	return live_tm(tm, "gex_TM_QuerySize")->size;
}

void *
gex_TM_QueryCData(gex_TM_t tm)
{
	return live_tm(tm, "gex_TM_QueryCData")->cdata;
}

void
gex_TM_SetCData(gex_TM_t tm, const void *val)
{
	live_tm(tm, "gex_TM_SetCData")->cdata = (void *)(uintptr_t)val;
}

static void
check_rank(gex_TM_t tm, gex_Rank_t rank, const char *call)
{
	psi_rule_context(call);
	(void)psi_target_of(live_tm(tm, call), rank, call);
}

gex_Rank_t
gex_TM_TranslateRankToJobrank(gex_TM_t tm, gex_Rank_t rank)
{
	check_rank(tm, rank, "gex_TM_TranslateRankToJobrank");
	return rank;
}

gex_Rank_t
gex_TM_TranslateJobrankToRank(gex_TM_t tm, gex_Rank_t jobrank)
{
	check_rank(tm, 0, "gex_TM_TranslateJobrankToRank");
	return jobrank < tm->size ? jobrank : GEX_RANK_INVALID;
}

gex_EP_Location_t
gex_TM_TranslateRankToEP(gex_TM_t tm, gex_Rank_t rank, gex_Flags_t flags)
{
	check_rank(tm, rank, "gex_TM_TranslateRankToEP");
	psi_check_flags(flags, 0, "gex_TM_TranslateRankToEP");
	return (gex_EP_Location_t){ .gex_rank = rank, .gex_ep_index = 0 };
}
