/* Clients, endpoints and teams: one of each in this release, and what can be asked of them. */
#include "runtime/psi.h"

#include <stdlib.h>

/* -- clients --------------------------------------------------------------------------------- */

gex_Flags_t gex_Client_QueryFlags(gex_Client_t client) { return client->flags; }
const char *gex_Client_QueryName(gex_Client_t client) { return client->name; }
void *gex_Client_QueryCData(gex_Client_t client) { return client->cdata; }

void
gex_Client_SetCData(gex_Client_t client, const void *val)
{
	client->cdata = (void *)(uintptr_t)val;
}

/* -- endpoints ------------------------------------------------------------------------------- */

gex_Client_t gex_EP_QueryClient(gex_EP_t ep) { return ep->client; }
gex_Flags_t gex_EP_QueryFlags(gex_EP_t ep) { return ep->flags; }
gex_Segment_t gex_EP_QuerySegment(gex_EP_t ep) { return ep->segment; }
gex_EP_Index_t gex_EP_QueryIndex(gex_EP_t ep) { return ep->index; }
void *gex_EP_QueryCData(gex_EP_t ep) { return ep->cdata; }

void
gex_EP_SetCData(gex_EP_t ep, const void *val)
{
	ep->cdata = (void *)(uintptr_t)val;
}

/* GASNET_MAXEPS is 1, and the primordial endpoint takes that place. */
int
gex_EP_Create(gex_EP_t *ep_p, gex_Client_t client, gex_EP_Capabilities_t capabilities,
              gex_Flags_t flags)
{
	const gex_Flags_t hints = GEX_FLAG_HINT_ACCEL_ALL;

	psi_need_init("gex_EP_Create");
	if (!ep_p || client != psi.client || !capabilities ||
	    (capabilities & ~(gex_EP_Capabilities_t)GEX_EP_CAPABILITY_ALL) || (flags & ~hints))
		return GASNET_ERR_BAD_ARG;
	if (gex_System_GetVerboseErrors())
		psi_log("gex_EP_Create: this build has room for %d endpoint per process",
		        GASNET_MAXEPS);
	return GASNET_ERR_RESOURCE;
}

/* -- teams ----------------------------------------------------------------------------------- */

gex_Client_t gex_TM_QueryClient(gex_TM_t tm) { return tm->client; }
gex_EP_t gex_TM_QueryEP(gex_TM_t tm) { return tm->ep; }
gex_Flags_t gex_TM_QueryFlags(gex_TM_t tm) { return tm->flags; }
gex_Rank_t gex_TM_QueryRank(gex_TM_t tm) { return tm->rank; }
gex_Rank_t gex_TM_QuerySize(gex_TM_t tm) { return tm->size; }
void *gex_TM_QueryCData(gex_TM_t tm) { return tm->cdata; }

void
gex_TM_SetCData(gex_TM_t tm, const void *val)
{
	tm->cdata = (void *)(uintptr_t)val;
}

static void
check_rank(gex_TM_t tm, gex_Rank_t rank, const char *call)
{
	if (psi_tm_is_pair(tm))
		psi_fatal("%s: a pair of endpoints is not a team", call);
	(void)psi_target_of(tm, rank, call);
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
	(void)flags;
	check_rank(tm, rank, "gex_TM_TranslateRankToEP");
	return (gex_EP_Location_t){ .gex_rank = rank, .gex_ep_index = 0 };
}
