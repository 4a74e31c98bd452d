/*
 * A short reduction in a team of several groups (coll/groups.h) is two operations in a row: who
 * leads a group combines what its members have, then the root, or each member, combines what those
 * have who lead.  Groups are runs of ranks and are combined from the highest down, so the order is
 * that of the ranks.
 */
#include "coll/cells_list.h"

#define ALL { .fills = true, .reads = PCOLL_READS_GROUP_DOWN }

static const struct pcoll_cells_kind within_groups = {
	.operation = PCOLL_REDUCE_TO_ALL, .combines = true, .root = ALL, .others = ALL,
};

#define EACH { .fills = true, .reads = PCOLL_READS_LEADS_DOWN }

static const struct pcoll_cells_kind to_one = {
	.operation = PCOLL_REDUCE_TO_ONE, .combines = true, .leads_fill = true,
	.root = EACH, .others = { .fills = true, .reads = PCOLL_READS_NONE },
};

static const struct pcoll_cells_kind to_all = {
	.operation = PCOLL_REDUCE_TO_ALL, .combines = true, .leads_fill = true,
	.root = EACH, .others = EACH,
};

unsigned
pcoll_cells_reduce_by_groups(const struct pcoll_call *call,
                             struct pcoll_cells_part parts[PCOLL_CELLS_PARTS])
{
	parts[0] = (struct pcoll_cells_part){
		.kind = &within_groups, .results = PCOLL_CELLS_KEEPS_PARTIAL };
	pcoll_call_copy(&parts[0].call, call);
	parts[0].call.out_all = false;
	parts[1] = (struct pcoll_cells_part){
		.kind = call->what.operation == PCOLL_REDUCE_TO_ONE ? &to_one : &to_all,
		.results = PCOLL_CELLS_SENDS_PARTIAL };
	pcoll_call_copy(&parts[1].call, call);
	parts[1].call.in_all = false;
	return 2;
}
