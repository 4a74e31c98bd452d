/*
 * The job's processes, hosts and neighbourhoods.  A neighbourhood is a host, or a part of one where
 * GASNET_SUPERNODE_MAXSIZE divides it: consecutive ranks of the host, so many each.
 */
#include "runtime/process/endpoint.h"
#include "runtime/process/process.h"
#include "runtime/process/rules.h"
#include "runtime/settings/settings_tables.h"

#include <stdlib.h>

struct members {
	struct { gex_Rank_t gex_jobrank; } *ranks;
	gex_Rank_t count, mine;         /* mine: index of the caller */
};

static struct members my_host, my_nbrhd;
static uint32_t *nbrhd_of;              /* [size]: index of the rank's neighbourhood in the job */
static gex_Rank_t nbrhd_count;

static const struct psi_setting rows[] = {
	{ .name = "GASNET_MAX_THREADS",
	  .kind = PSI_SETTING_INT,
	  .default_text = "65535",
	  .unit = "threads",
	  .min = 1,
	  .max = 65535,
	  .help = "threads of a process that may call the library at the same time "
		  "(PAR, PARSYNC)" },
};

const struct psi_setting_table psi_settings_processes = PSI_SETTING_TABLE("Processes", rows);

static void *
queries_allocate(size_t count, size_t size)
{
	void *memory = calloc(count, size);

	if (!memory)
		psi_fatal("no memory for the tables of %u ranks", psi.boot.size);
	return memory;
}

/* What init needs of the hosts before it can read settings. */
void
psi_hosts_open(void)
{
	uint32_t *next = queries_allocate(psi.boot.host_count, sizeof *next);
	uint32_t *host_index = queries_allocate(psi.boot.size, sizeof *host_index), *host_ranks;

	for (uint32_t rank = 0; rank < psi.boot.size; rank++)
		host_index[rank] = next[psi.boot.host_of[rank]]++;
	psi.host_index = host_index;
	psi.host_places = next[psi.boot.host_index];
	psi.host_ranks = host_ranks = queries_allocate(psi.host_places, sizeof *host_ranks);
	for (uint32_t rank = 0; rank < psi.boot.size; rank++)
		if (psi_on_this_host(rank))
			host_ranks[host_index[rank]] = rank;
	free(next);
}

/* Numbers neighbourhoods in the order of their lowest ranks. */
static void
hosts_divide(uint32_t most)
{
	uint32_t *here = queries_allocate(psi.boot.host_count, sizeof *here);
	uint32_t *current = queries_allocate(psi.boot.host_count, sizeof *current);

	nbrhd_of = queries_allocate(psi.boot.size, sizeof *nbrhd_of);
	for (uint32_t rank = 0; rank < psi.boot.size; rank++) {
		uint32_t host = psi.boot.host_of[rank];

		if (here[host] == 0 || (most && here[host] % most == 0))
			current[host] = nbrhd_count++;
		here[host]++;
		nbrhd_of[rank] = current[host];
	}
	free(here);
	free(current);
}

static void
hosts_collect(struct members *set, const uint32_t *group_of)
{
	set->ranks = queries_allocate(psi.boot.size, sizeof *set->ranks);
	for (uint32_t rank = 0; rank < psi.boot.size; rank++) {
		if (group_of[rank] != group_of[psi.boot.rank])
			continue;
		if (rank == psi.boot.rank)
			set->mine = set->count;
		set->ranks[set->count++].gex_jobrank = rank;
	}
}

void
psi_places_open(void)
{
	hosts_divide((uint32_t)psi_setting_int(psi_setting_named("GASNET_SUPERNODE_MAXSIZE")));
	hosts_collect(&my_host, psi.boot.host_of);
	hosts_collect(&my_nbrhd, nbrhd_of);
}

uint32_t
psi_nbrhd_of(uint32_t rank)
{
	return nbrhd_of[rank];
}

uint32_t
psi_nbrhds(void)
{
	return nbrhd_count;
}

const char *
psi_transport_between(uint32_t nbrhds)
{
	return nbrhds > 1 ? psi.attributes.transport : "smp";
}

bool
psi_in_my_nbrhd(uint32_t rank)
{
	return nbrhd_of[rank] == nbrhd_of[psi.boot.rank];
}

static void
nbrhd_answer(const struct members *set, gex_RankInfo_t **info_p, gex_Rank_t *info_count_p,
       gex_Rank_t *my_info_index_p)
{
	if (info_p)
		*info_p = (gex_RankInfo_t *)(void *)set->ranks;
	if (info_count_p)
		*info_count_p = set->count;
	if (my_info_index_p)
		*my_info_index_p = set->mine;
}

void
gex_System_QueryNbrhdInfo(gex_RankInfo_t **info_p, gex_Rank_t *info_count_p,
                          gex_Rank_t *my_info_index_p)
{
	psi_need_init("gex_System_QueryNbrhdInfo");
	nbrhd_answer(&my_nbrhd, info_p, info_count_p, my_info_index_p);
}

void
gex_System_QueryHostInfo(gex_RankInfo_t **info_p, gex_Rank_t *info_count_p,
                         gex_Rank_t *my_info_index_p)
{
	psi_need_init("gex_System_QueryHostInfo");
	nbrhd_answer(&my_host, info_p, info_count_p, my_info_index_p);
}

void
gex_System_QueryMyPosition(gex_Rank_t *nbrhd_set_size_p, gex_Rank_t *nbrhd_set_rank_p,
                           gex_Rank_t *host_set_size_p, gex_Rank_t *host_set_rank_p)
{
	psi_need_init("gex_System_QueryMyPosition");
	if (nbrhd_set_size_p)
		*nbrhd_set_size_p = nbrhd_count;
	if (nbrhd_set_rank_p)
		*nbrhd_set_rank_p = nbrhd_of[psi.boot.rank];
	if (host_set_size_p)
		*host_set_size_p = psi.boot.host_count;
	if (host_set_rank_p)
		*host_set_rank_p = psi.boot.host_index;
}

gex_Rank_t
gex_System_QueryJobRank(void)
{
	if (PSI_UNLIKELY(!psi.open))
		psi_need_init("gex_System_QueryJobRank");
	return psi.boot.rank;
}

gex_Rank_t
gex_System_QueryJobSize(void)
{
	if (PSI_UNLIKELY(!psi.open))
		psi_need_init("gex_System_QueryJobSize");
	return psi.boot.size;
}

int
gasnet_getNodeInfo(gasnet_nodeinfo_t *nodeinfo_table, int numentries)
{
	psi_need_init("gasnet_getNodeInfo");
	psi_rule_context("gasnet_getNodeInfo");
	if (!nodeinfo_table && numentries > 0)
		return psi_refuse(GASNET_ERR_BAD_ARG, "gasnet_getNodeInfo", "nodeinfo_table is "
		                  "NULL; pass an array of numentries");
	for (int i = 0; i < numentries && (uint32_t)i < psi.boot.size; i++) {
		uint32_t rank = (uint32_t)i;

		nodeinfo_table[i] = (gasnet_nodeinfo_t){
			.host = psi.boot.host_of[rank], .supernode = nbrhd_of[rank],
			.offset = psi_in_my_nbrhd(rank) ? psi.peers[rank].offset : 0,
		};
	}
	return GASNET_OK;
}

/* The launcher passes on its whole environment. */
char *
gasnet_getenv(const char *name)
{
	return getenv(name);
}

uint64_t
gex_System_QueryMaxThreads(void)
{
	return psi.thread_mode == PSI_MODE_SEQ ? 1 : (uint64_t)psi_setting_int(&rows[0]);
}

int
gex_System_QueryHiddenAMConcurrencyLevel(void)
{
	return psi.receive_thread;
}
