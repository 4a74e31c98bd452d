/* Clients and endpoints: what can be asked of them, and endpoints beyond the first. */
#include "runtime/job/start.h"
#include "runtime/process/endpoint.h"
#include "runtime/process/process.h"
#include "runtime/process/rules.h"
#include "runtime/wait/pollset.h"

#include "runtime/util/fence.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Objects that a call is given: the constant that names none is refused by name. */
static gex_Client_t
client_of_live(gex_Client_t client, const char *call)
{
	if (PSI_UNLIKELY(!client))
		psi_invalid(call, "GEX_CLIENT_INVALID");
	return client;
}

static gex_EP_t
ep_of_live(gex_EP_t ep, const char *call)
{
	if (PSI_UNLIKELY(!ep))
		psi_invalid(call, "GEX_EP_INVALID");
	return ep;
}

/* -- clients --------------------------------------------------------------------------------- */

gex_Flags_t
gex_Client_QueryFlags(gex_Client_t client)
{
	return client_of_live(client, "gex_Client_QueryFlags")->flags;
}

const char *
gex_Client_QueryName(gex_Client_t client)
{
	return client_of_live(client, "gex_Client_QueryName")->name;
}

void *
gex_Client_QueryCData(gex_Client_t client)
{
	return client_of_live(client, "gex_Client_QueryCData")->cdata;
}

void
gex_Client_SetCData(gex_Client_t client, const void *val)
{
	client_of_live(client, "gex_Client_SetCData")->cdata = (void *)(uintptr_t)val;
}

/* -- endpoints ------------------------------------------------------------------------------- */

gex_Client_t
gex_EP_QueryClient(gex_EP_t ep)
{
	return ep_of_live(ep, "gex_EP_QueryClient")->client;
}

gex_Flags_t
gex_EP_QueryFlags(gex_EP_t ep)
{
	return ep_of_live(ep, "gex_EP_QueryFlags")->flags;
}

gex_Segment_t
gex_EP_QuerySegment(gex_EP_t ep)
{
	return ep_of_live(ep, "gex_EP_QuerySegment")->segment;
}

gex_EP_Index_t
gex_EP_QueryIndex(gex_EP_t ep)
{
	return ep_of_live(ep, "gex_EP_QueryIndex")->index;
}

void *
gex_EP_QueryCData(gex_EP_t ep)
{
	return ep_of_live(ep, "gex_EP_QueryCData")->cdata;
}

void
gex_EP_SetCData(gex_EP_t ep, const void *val)
{
	ep_of_live(ep, "gex_EP_SetCData")->cdata = (void *)(uintptr_t)val;
}

/* -- further ones ---------------------------------------------------------------------------- */

static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;

/* A thread may still look at an endpoint that was kept.  It reads index, serial and port, so these
 * stay as they are. */
static bool
ep_can_be_at(unsigned index, bool serial)
{
	const gex_EP_t kept = psi_ep_kept((gex_EP_Index_t)index);

	return !psi_ep_of((gex_EP_Index_t)index) && (!kept || kept->serial == serial);
}

static gex_EP_t
ep_make_at(unsigned index, gex_Flags_t flags, bool serial, bool held)
{
	gex_EP_t kept = psi_ep_kept((gex_EP_Index_t)index),
		 ep = kept ? kept : calloc(1, sizeof *ep);
	struct psi_port *port;

	if (!ep)
		return NULL;
	if (!kept) {
		ep->client = psi.client;
		ep->index = (gex_EP_Index_t)index;
		ep->serial = serial;
		ep->place = index * psi.boot.size + psi.boot.rank;
		ep->ops = psi.ops;
	}
	ep->segment = NULL;
	ep->cdata = NULL;
	ep->flags = flags;
	memset(ep->handlers, 0, sizeof ep->handlers);
	/* All endpoints have the library's own handlers. */
	memcpy(ep->handlers, psi.ep->handlers, GEX_AM_INDEX_BASE * sizeof ep->handlers[0]);
	if (psi.ops->port_open(psi.conduit, ep->place, serial, ep, &port) != PSI_OK) {
		if (!kept)
			free(ep);
		return NULL;
	}
	if (!kept)
		ep->port = port;
	psi_handed_to_process(ep);
	psi_ep_keep(ep);
	if (held)
		psi_pollset_hold(ep);
	psi_ep_announce(ep);
	psi_pollset_add(ep);
	return ep;
}

gex_EP_t
psi_ep_make(unsigned first, gex_Flags_t flags, bool serial, bool held)
{
	gex_EP_t ep = NULL;

	pthread_mutex_lock(&making);
	while (first < GASNET_MAXEPS && !ep_can_be_at(first, serial))
		first++;
	if (first < GASNET_MAXEPS)
		ep = ep_make_at(first, flags, serial, held);
	pthread_mutex_unlock(&making);
	return ep;
}

void
psi_ep_unmake(gex_EP_t ep)
{
	pthread_mutex_lock(&making);
	psi_ep_withdraw(ep);
	psi_pollset_remove(ep);
	pthread_mutex_unlock(&making);
}

int
gex_EP_Create(gex_EP_t *ep_p, gex_Client_t client, gex_EP_Capabilities_t capabilities,
              gex_Flags_t flags)
{
	const char *call = "gex_EP_Create";
	gex_EP_t ep;

	psi_need_init(call);
	psi_rule_context(call);
	if (!ep_p || client != psi.client || !capabilities ||
	    (capabilities & ~(gex_EP_Capabilities_t)GEX_EP_CAPABILITY_ALL) ||
	    (flags & ~(gex_Flags_t)GEX_FLAG_HINT_ACCEL_ALL))
		return psi_refuse(GASNET_ERR_BAD_ARG, call,
		                  "client, capabilities and flags must be valid ones");
	/* All have all capabilities. */
	ep = psi_ep_make(1, flags, false, false);
	if (!ep)
		return psi_refuse(GASNET_ERR_RESOURCE, call, "a process has GASNET_MAXEPS "
		                  "endpoints at most, and memory for the queues of each");
	*ep_p = ep;
	return GASNET_OK;
}
