/* Clients and endpoints: one of each in this release, and what can be asked of them. */
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

gex_EP_t psi_ep_of(gex_EP_Index_t index) { return index ? GEX_EP_INVALID : psi.ep; }

uint32_t
psi_place_of(gex_Rank_t jobrank, gex_EP_Index_t index)
{
	return index == 0 && jobrank < psi.places ? jobrank : PSI_NO_PEER;
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
