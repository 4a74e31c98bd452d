/* Endpoints by index and by place. */
#include "runtime/process/endpoint.h"
#include "runtime/process/process.h"

#include <stdio.h>

/* Endpoints by index; [0] is psi.ep.  NULL: not made, or gone.  An endpoint that is gone is kept
 * for the next one of its index, which has the same port, because another thread may still poll it,
 * or sleep and have it watched. */
static gex_EP_t table[GASNET_MAXEPS], kept[GASNET_MAXEPS];

gex_EP_t
psi_ep_of(gex_EP_Index_t index)
{
	if (index == 0)
		return psi.ep;
	if (index >= GASNET_MAXEPS)
		return NULL;
	return __atomic_load_n(&table[index],
	                       __ATOMIC_ACQUIRE); /* Q2: acquire, from Q1 in psi_ep_announce */
}

gex_EP_t
psi_ep_kept(gex_EP_Index_t index)
{
	return index ? __atomic_load_n(&kept[index], __ATOMIC_RELAXED) : psi.ep;
}

unsigned
psi_ep_count_of(gex_Rank_t jobrank)
{
	if (!psi_on_this_host(jobrank))
		return GASNET_MAXEPS;
	return atomic_load_explicit(&psi_shared_of(jobrank)->endpoints, memory_order_relaxed);
}

unsigned
psi_ep_count(void)
{
	return psi_ep_count_of(psi.boot.rank);
}

uint32_t
psi_place_of(gex_Rank_t jobrank, gex_EP_Index_t index)
{
	if (jobrank >= psi.places || (index && index >= psi_ep_count_of(jobrank)))
		return PSI_NO_PEER;
	return index * psi.boot.size + jobrank;
}

void
psi_place_text(uint32_t place, char text[PSI_PLACE_TEXT])
{
	if (psi_index_of(place))
		snprintf(text, PSI_PLACE_TEXT, "endpoint %u of rank %u", psi_index_of(place),
		         psi_jobrank_of(place));
	else
		snprintf(text, PSI_PLACE_TEXT, "rank %u", place);
}

void
psi_ep_keep(gex_EP_t ep)
{
	__atomic_store_n(&kept[ep->index], ep, __ATOMIC_RELAXED);
}

void
psi_ep_announce(gex_EP_t ep)
{
	_Atomic uint32_t *count = &psi_shared_of(psi.boot.rank)->endpoints;

	__atomic_store_n(&table[ep->index], ep,
	                 __ATOMIC_RELEASE); /* Q1: release, to Q2 in psi_ep_of */
	if (ep->index >= atomic_load_explicit(count, memory_order_relaxed))
		atomic_store_explicit(count, ep->index + 1u, memory_order_relaxed);
	atomic_store_explicit(&psi.several, true, memory_order_relaxed);
}

void
psi_ep_withdraw(gex_EP_t ep)
{
	__atomic_store_n(&table[ep->index], NULL, __ATOMIC_RELAXED);
}
