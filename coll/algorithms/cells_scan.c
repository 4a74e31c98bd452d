/*
 * Scans by cells: each member fills with a piece of its vector, and combines its own and those of
 * the lower ranks, from its own rank down; of an exclusive scan those of the lower ranks alone.
 */
#include "coll/cells_list.h"

#include "runtime/team/team.h"
#include "runtime/util/copy.h"

static void
scan_add(const struct pcoll_call *call, struct pcoll_piece piece, const unsigned char *cell,
         bool is_first)
{
	const struct pcoll_reduction *reduction = &call->reduction;
	char *out = (char *)call->dst + piece.at;

	if (is_first)
		psi_copy(out, cell, piece.len_bytes);
	else
		reduction->combine(cell, out, piece.len_bytes / reduction->elem_bytes,
		                   reduction->cdata);
}

static void
scan_read(const struct pcoll_call *call, struct pcoll_piece piece, gex_Rank_t from,
          const unsigned char *cell)
{
	scan_add(call, piece, cell, from == call->tm->rank);
}

static void
exscan_read(const struct pcoll_call *call, struct pcoll_piece piece, gex_Rank_t from,
            const unsigned char *cell)
{
	scan_add(call, piece, cell, from + 1 == call->tm->rank);
}

const struct pcoll_cells_kind pcoll_cells_scan = {
	.operation = PCOLL_SCAN,
	.root = { true, PCOLL_READS_DOWN_FROM_OWN }, .others = { true, PCOLL_READS_DOWN_FROM_OWN },
	.fill = pcoll_cells_fill_src, .read = scan_read,
};

const struct pcoll_cells_kind pcoll_cells_exscan = {
	.operation = PCOLL_EXSCAN,
	.root = { true, PCOLL_READS_DOWN_BELOW }, .others = { true, PCOLL_READS_DOWN_BELOW },
	.fill = pcoll_cells_fill_src, .read = exscan_read,
};
