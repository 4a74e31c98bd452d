/* Endpoints by index and by place, and where their processes are. */
#ifndef PSI_ENDPOINT_H
#define PSI_ENDPOINT_H

#include "runtime/process/process.h"

/* The place of a process's endpoint; PSI_NO_PEER if there is none. */
uint32_t psi_place_of(gex_Rank_t jobrank, gex_EP_Index_t index);
/* This process's endpoint of that index, or NULL. */
gex_EP_t psi_ep_of(gex_EP_Index_t index);
/* The same, or the last one that had it. */
gex_EP_t psi_ep_kept(gex_EP_Index_t index);

/* Endpoint i of process r has place i * size + r. */
static inline gex_Rank_t
psi_jobrank_of(uint32_t place)
{
	return PSI_LIKELY(place < psi.boot.size) ? place : place % psi.boot.size;
}

static inline gex_EP_Index_t
psi_index_of(uint32_t place)
{
	return (gex_EP_Index_t)(PSI_LIKELY(place < psi.boot.size) ? 0 : place / psi.boot.size);
}

/* This process's endpoint at a place, or NULL. */
static inline gex_EP_t
psi_ep_at(uint32_t place)
{
	return psi_jobrank_of(place) == psi.boot.rank ? psi_ep_of(psi_index_of(place)) : NULL;
}

/* For the code that makes endpoints, which runs in one thread at a time.  psi_ep_keep keeps an
 * endpoint for the next one of its index.  psi_ep_announce lets psi_ep_of find an endpoint;
 * psi_ep_withdraw ends that. */
void psi_ep_keep(gex_EP_t ep);
void psi_ep_announce(gex_EP_t ep);
void psi_ep_withdraw(gex_EP_t ep);

/* "rank 3", or "endpoint 2 of rank 3". */
enum { PSI_PLACE_TEXT = 48 };
void psi_place_text(uint32_t place, char text[PSI_PLACE_TEXT]);

/* Above the highest index that this process has, or had. */
unsigned psi_ep_count(void);
/* The same of any process of this host.  Those of other hosts do not tell: all indices count. */
unsigned psi_ep_count_of(gex_Rank_t jobrank);

/* What a further endpoint of a process of this host keeps in the control arena. */
static inline struct psi_further *
psi_further_at(uint32_t place)
{
	return psi_shared_further(psi.shared, psi.host_places, psi_index_of(place),
	                          psi.host_index[psi_jobrank_of(place)]);
}

/* -- the job's places (queries.c) ------------------------------------------------------------- */

/* Computes which ranks are on this host, and each one's index on its own; after boot. */
void psi_hosts_open(void);
/* Computes the answers of the queries, after that and settings. */
void psi_places_open(void);
bool psi_in_my_nbrhd(uint32_t rank);
/* The index of the rank's neighbourhood in the job. */
uint32_t psi_nbrhd_of(uint32_t rank);
/* How many neighbourhoods the job has. */
uint32_t psi_nbrhds(void);
/* What messages within so many neighbourhoods go through: "smp", or the network's. */
const char *psi_transport_between(uint32_t nbrhds);

#endif
