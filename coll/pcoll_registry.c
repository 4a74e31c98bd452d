/* The lists of algorithms: kinds of cells, and those that build schedules. */
#include "coll/cells_list.h"
#include "coll/device.h"
#include "coll/schedule_cache.h"
#include "coll/schedule_list.h"
#include "coll/select.h"
#include "coll/tuning.h"

#include "runtime/process/process.h"

#include <string.h>

const struct pcoll_cells_kind *const pcoll_cells_kinds[PCOLL_OPERATIONS] = {
	[PCOLL_BROADCAST] = &pcoll_cells_broadcast,
	[PCOLL_REDUCE_TO_ONE] = &pcoll_cells_reduce_to_one,
	[PCOLL_REDUCE_TO_ALL] = &pcoll_cells_reduce_to_all,
	[PCOLL_SCATTER] = &pcoll_cells_scatter,
	[PCOLL_GATHER] = &pcoll_cells_gather,
	[PCOLL_GATHER_ALL] = &pcoll_cells_gather_all,
	[PCOLL_EXCHANGE] = &pcoll_cells_exchange,
	[PCOLL_PERMUTE] = &pcoll_cells_permute,
	[PCOLL_REDUCE_SCATTER] = &pcoll_cells_reduce_scatter,
	[PCOLL_SCAN] = &pcoll_cells_scan,
	[PCOLL_EXSCAN] = &pcoll_cells_exscan,
};

const struct pcoll_builder *const pcoll_builders[] = {
	&pcoll_build_barrier_dissemination,
	&pcoll_build_barrier_levels,
	&pcoll_build_barrier_device,
	&pcoll_build_broadcast_knomial,
	&pcoll_build_broadcast_binary,
	&pcoll_build_broadcast_chain,
	&pcoll_build_broadcast_flat,
	&pcoll_build_broadcast_scatter,
	&pcoll_build_broadcast_levels,
	&pcoll_build_broadcast_device,
	&pcoll_build_reduce_knomial,
	&pcoll_build_reduce_binary,
	&pcoll_build_reduce_chain,
	&pcoll_build_reduce_halving,
	&pcoll_build_reduce_levels,
	&pcoll_build_reduce_to_all_doubling,
	&pcoll_build_reduce_to_all_halving,
	&pcoll_build_reduce_to_all_tree,
	&pcoll_build_reduce_to_all_levels,
	&pcoll_build_reduce_to_all_levels_tree,
	&pcoll_build_reduce_to_all_parts,
	&pcoll_build_reduce_to_all_device,
	&pcoll_build_scatter_knomial,
	&pcoll_build_scatter_levels,
	&pcoll_build_scatter_flat,
	&pcoll_build_gather_knomial,
	&pcoll_build_gather_levels,
	&pcoll_build_gather_flat,
	&pcoll_build_gather_all_bruck,
	&pcoll_build_gather_all_ring,
	&pcoll_build_gather_all_flat,
	&pcoll_build_gather_all_levels,
	&pcoll_build_gather_all_device,
	&pcoll_build_exchange_bruck,
	&pcoll_build_exchange_flat,
	&pcoll_build_exchange_levels,
	&pcoll_build_exchange_counterparts,
	&pcoll_build_exchange_pairwise,
	&pcoll_build_permute_direct,
	&pcoll_build_reduce_scatter_flat,
	&pcoll_build_reduce_scatter_ring,
	&pcoll_build_reduce_scatter_levels,
	&pcoll_build_reduce_scatter_device,
	&pcoll_build_scan_doubling,
	&pcoll_build_scan_levels,
	&pcoll_build_scan_chain,
	&pcoll_build_exscan_doubling,
	&pcoll_build_exscan_levels,
	&pcoll_build_exscan_chain,
	NULL,
};

const struct pcoll_builder *
pcoll_builder_find(enum pcoll_operation operation, const char *name)
{
	for (size_t i = 0; pcoll_builders[i]; i++)
		if (pcoll_builders[i]->operation == operation &&
		    strcmp(pcoll_builders[i]->name, name) == 0)
			return pcoll_builders[i];
	return NULL;
}

bool
pcoll_device_serves_call(const struct pcoll_call *call)
{
	return !pcoll_call_has_lists(call) && pcoll_device_serves_near(&(struct pcoll_shape){
		.operation = call->what.operation, .size = call->tm->size,
		.len_bytes = call->len_bytes, .ordered = call->reduction.ordered,
		.reproducible = call->reproducible && call->reduction.elem_bytes });
}

/* A team that has cells is on one host. */
static __attribute__((noinline, cold)) bool
call_is_for_messages(const struct pcoll_call *call)
{
	struct pcoll_shape shape = pcoll_shape_of_call(call);

	shape.hosts = 1;
	shape.mode = "smp";
	return pcoll_select_is_for_messages(&shape);
}

const struct pcoll_cells_kind *
pcoll_cells_choose(const struct pcoll_call *call)
{
	const struct pcoll_cells_kind *kind = pcoll_cells_kinds[call->what.operation];

	/* a team that has made such calls has cells */
	if (!kind || (!call->tm->cells && !pcoll_cells_are_lent(call->tm)) ||
	    (call->reproducible && call->reduction.elem_bytes))
		return NULL;
	/* what software does is compared where it stands behind the device step */
	if (PSI_UNLIKELY(pcoll_device && pcoll_device->verifies && pcoll_device_serves_call(call)))
		return NULL;
	if (PSI_UNLIKELY(pcoll_tuning_has_users(call->what.operation)) &&
	    call_is_for_messages(call))
		return NULL;
	return pcoll_cells_pieces(call, kind) ? kind : NULL;
}

const char *const pcoll_call_names[PCOLL_OPERATIONS][PCOLL_APIS] = {
	[PCOLL_BARRIER] = {
		[PCOLL_GEX] = "gex_Coll_BarrierNB", [PCOLL_PST] = "pst_barrier",
	},
	[PCOLL_BROADCAST] = {
		[PCOLL_GEX] = "gex_Coll_BroadcastNB",
		[PCOLL_LEGACY] = "gasnet_coll_broadcast", [PCOLL_PST] = "pst_bcast",
		[PCOLL_PST_VALUE] = "pst_bcast_value",
		[PCOLL_UPC] = "pst_upc_all_broadcast",
	},
	[PCOLL_REDUCE_TO_ONE] = {
		[PCOLL_GEX] = "gex_Coll_ReduceToOneNB", [PCOLL_PST] = "pst_reduce",
		[PCOLL_UPC] = "pst_upc_all_reduce",
	},
	[PCOLL_REDUCE_TO_ALL] = {
		[PCOLL_GEX] = "gex_Coll_ReduceToAllNB", [PCOLL_PST] = "pst_allreduce",
		[PCOLL_PST_VALUE] = "pst_allreduce_value",
		[PCOLL_PST_BARRIER] = "pst_barrier_value",
		[PCOLL_PST_PLAN] = "pst_*_plan",
		[PCOLL_UPC] = "pst_upc_all_prefix_reduce",
	},
	[PCOLL_SCATTER] = {
		[PCOLL_LEGACY] = "gasnet_coll_scatter", [PCOLL_PST] = "pst_scatter",
		[PCOLL_PST_LISTS] = "pst_scatterv",
		[PCOLL_UPC] = "pst_upc_all_scatter",
	},
	[PCOLL_GATHER] = {
		[PCOLL_LEGACY] = "gasnet_coll_gather", [PCOLL_PST] = "pst_gather",
		[PCOLL_PST_LISTS] = "pst_gatherv",
		[PCOLL_UPC] = "pst_upc_all_gather",
	},
	[PCOLL_GATHER_ALL] = {
		[PCOLL_LEGACY] = "gasnet_coll_gather_all", [PCOLL_PST] = "pst_gather_all",
		[PCOLL_PST_LISTS] = "pst_gather_allv",
		[PCOLL_UPC] = "pst_upc_all_gather_all",
	},
	[PCOLL_EXCHANGE] = {
		[PCOLL_LEGACY] = "gasnet_coll_exchange", [PCOLL_PST] = "pst_exchange",
		[PCOLL_PST_LISTS] = "pst_exchangev",
		[PCOLL_UPC] = "pst_upc_all_exchange",
	},
	[PCOLL_PERMUTE] = {
		[PCOLL_PST] = "pst_permute",
		[PCOLL_UPC] = "pst_upc_all_permute",
	},
	[PCOLL_REDUCE_SCATTER] = {
		[PCOLL_PST] = "pst_reduce_scatter",
		[PCOLL_PST_LISTS] = "pst_reduce_scatterv",
	},
	[PCOLL_SCAN] = { [PCOLL_PST] = "pst_scan" },
	[PCOLL_EXSCAN] = {
		[PCOLL_PST] = "pst_exscan", [PCOLL_PST_VALUE] = "pst_exscan_value",
		[PCOLL_UPC] = "pst_upc_all_prefix_reduce",
	},
};
