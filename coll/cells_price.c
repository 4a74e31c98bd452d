/*
 * What a call by cells costs, from the start of all members to the end of the last one, where each
 * has a CPU.  The numbers are those of two ranks whose CPUs share a cache (docs/performance.md,
 * Collectives): 0.2 us for 8 bytes, and 0.08 ns for a byte that one member copies in and another
 * out at the same time.
 */
#include "coll/cells_side.h"

#include "runtime/team/team.h"

enum { CALL_NS = 150, READ_NS = 65, COPY_BYTE_PS = 80, COMBINE_BYTE_PS = 90 };

static uint64_t
group_largest(const struct pcoll_groups *groups)
{
	uint64_t largest = 0;

	for (uint32_t group = 0; group < groups->count; group++) {
		const uint64_t members = groups->first[group + 1] - groups->first[group];

		largest = members > largest ? members : largest;
	}
	return largest;
}

/* How many cells of others and its own the busiest member reads, in each phase. */
static uint64_t
reads_most(const struct pcoll_cells_kind *kind, gex_TM_t tm)
{
	const enum pcoll_cells_reads root = kind->root.reads, others = kind->others.reads;
	const uint64_t size = tm->size;

	if (root == PCOLL_READS_GROUP_DOWN)
		return group_largest(&tm->cells->groups);
	if (root == PCOLL_READS_LEADS_DOWN)
		return tm->cells->groups.count;
	if (root == PCOLL_READS_OTHERS || others == PCOLL_READS_OTHERS)
		return size - 1;
	return root == PCOLL_READS_NONE && others == PCOLL_READS_ROOT ? 1 : size;
}

static uint64_t
part_price_ns(const struct pcoll_cells_kind *kind, const struct pcoll_call *call)
{
	const uint64_t reads = reads_most(kind, call->tm), len_bytes = call->len_bytes;
	const uint64_t fills = kind->src_blocks ? call->tm->size : 0;
	const uint64_t byte_ps = kind->combines ? COMBINE_BYTE_PS : COPY_BYTE_PS;

	return CALL_NS + reads * READ_NS +
	       (reads * byte_ps + fills * COPY_BYTE_PS) * len_bytes / 1000;
}

uint64_t
pcoll_cells_price_ns(const struct pcoll_call *call, const struct pcoll_cells_kind *kind)
{
	struct pcoll_cells_part parts[PCOLL_CELLS_PARTS];
	const unsigned count = pcoll_cells_parts(call->tm->cells, call, kind, parts);
	uint64_t price_ns = 0;

	for (unsigned i = 0; i < count; i++)
		price_ns += part_price_ns(parts[i].kind, &parts[i].call);
	return count ? price_ns : part_price_ns(kind, call);
}
