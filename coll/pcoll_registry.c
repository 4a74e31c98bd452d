/* Which algorithm does what: the first that serves the call. */
#include "coll/algorithms.h"
#include "coll/schedule_list.h"

#include "runtime/process/process.h"

static const struct pcoll_algorithm *const algorithms[] = {
	&pcoll_barrier_dissemination,
	&pcoll_broadcast_binomial,
	&pcoll_reduce_to_one_binomial,
	&pcoll_reduce_to_one_ordered,
	&pcoll_reduce_to_all_binomial,
	&pcoll_scatter_direct,
	&pcoll_gather_direct,
	&pcoll_gather_all_direct,
	&pcoll_exchange_direct,
};

static const struct pcoll_cells_kind *const kinds[] = {
	&pcoll_cells_broadcast,
	&pcoll_cells_reduce_to_one,
	&pcoll_cells_reduce_to_all,
	&pcoll_cells_scatter,
	&pcoll_cells_gather,
	&pcoll_cells_gather_all,
	&pcoll_cells_exchange,
};

const struct pcoll_builder *const pcoll_builders[] = {
	&pcoll_build_barrier_dissemination,
	&pcoll_build_broadcast_knomial,
	&pcoll_build_broadcast_binary,
	&pcoll_build_broadcast_chain,
	&pcoll_build_broadcast_flat,
	&pcoll_build_broadcast_scatter,
	&pcoll_build_reduce_knomial,
	&pcoll_build_reduce_binary,
	&pcoll_build_reduce_chain,
	&pcoll_build_reduce_halving,
	&pcoll_build_reduce_to_all_doubling,
	&pcoll_build_reduce_to_all_halving,
	&pcoll_build_reduce_to_all_tree,
	&pcoll_build_scatter_knomial,
	&pcoll_build_scatter_flat,
	&pcoll_build_gather_knomial,
	&pcoll_build_gather_flat,
	&pcoll_build_gather_all_bruck,
	&pcoll_build_gather_all_ring,
	&pcoll_build_gather_all_flat,
	&pcoll_build_exchange_bruck,
	&pcoll_build_exchange_flat,
	&pcoll_build_exchange_pairwise,
	NULL,
};

const struct pcoll_cells_kind *
pcoll_cells_choose(const struct pcoll_call *call)
{
	const size_t count = sizeof kinds / sizeof kinds[0];

	if (!pcoll_cells_are_lent(call->tm))
		return NULL;
	for (size_t i = 0; i < count; i++)
		if (kinds[i]->operation == call->operation)
			return pcoll_cells_pieces(call, kinds[i]) ? kinds[i] : NULL;
	return NULL;
}

const struct pcoll_algorithm *
pcoll_choose(const struct pcoll_call *call)
{
	const size_t count = sizeof algorithms / sizeof algorithms[0];

	for (size_t i = 0; i < count; i++)
		if (algorithms[i]->operation == call->operation &&
		    (!algorithms[i]->serves || algorithms[i]->serves(call)))
			return algorithms[i];
	psi_fatal("%s: no algorithm serves the call", pcoll_operation_name(call->operation));
}

const char *
pcoll_operation_name(enum pcoll_operation operation)
{
	static const char *const names[PCOLL_OPERATIONS] = {
		[PCOLL_BARRIER] = "gex_Coll_BarrierNB",
		[PCOLL_BROADCAST] = "gex_Coll_BroadcastNB",
		[PCOLL_REDUCE_TO_ONE] = "gex_Coll_ReduceToOneNB",
		[PCOLL_REDUCE_TO_ALL] = "gex_Coll_ReduceToAllNB",
		[PCOLL_SCATTER] = "gasnet_coll_scatter",
		[PCOLL_GATHER] = "gasnet_coll_gather",
		[PCOLL_GATHER_ALL] = "gasnet_coll_gather_all",
		[PCOLL_EXCHANGE] = "gasnet_coll_exchange",
	};

	return operation < PCOLL_OPERATIONS ? names[operation] : "another";
}
