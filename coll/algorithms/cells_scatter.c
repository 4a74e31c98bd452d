/*
 * Scatter and exchange by cells: the root, or each member, fills with a piece of the block of each
 * other member, which reads it.
 */
#include "coll/cells_list.h"

#include "runtime/team/team.h"
#include "runtime/util/copy.h"

static void
scatter_begin(const struct pcoll_call *call)
{
	const char *own = (const char *)call->src + call->root * call->len_bytes;

	if (call->tm->rank == call->root && own != call->dst)
		psi_copy(call->dst, own, call->len_bytes);
}

static void
exchange_begin(const struct pcoll_call *call)
{
	const size_t own = call->tm->rank * call->len_bytes;

	psi_copy((char *)call->dst + own, (const char *)call->src + own, call->len_bytes);
}

static void
scatter_fill(const struct pcoll_call *call, struct pcoll_piece piece, unsigned char *cell,
             struct psi_distance *distance)
{
	const char *at = (const char *)call->src + piece.at;
	const gex_Rank_t own = call->tm->rank;

	for (gex_Rank_t to = 0; to < call->tm->size; to++)
		if (to != own)
			pcoll_cells_copy(distance,
			                 cell + pcoll_cells_index(own, to) * piece.len_bytes,
			                 at + to * call->len_bytes, piece.len_bytes);
}

static void
piece_read(const struct pcoll_call *call, struct pcoll_piece piece, gex_Rank_t from, void *dst,
           const unsigned char *cell)
{
	psi_copy((char *)dst + piece.at,
	         cell + pcoll_cells_index(from, call->tm->rank) * piece.len_bytes,
	         piece.len_bytes);
}

static void
scatter_read(const struct pcoll_call *call, struct pcoll_piece piece, gex_Rank_t from,
             const unsigned char *cell)
{
	piece_read(call, piece, from, call->dst, cell);
}

static void
exchange_read(const struct pcoll_call *call, struct pcoll_piece piece, gex_Rank_t from,
              const unsigned char *cell)
{
	piece_read(call, piece, from, (char *)call->dst + from * call->len_bytes, cell);
}

const struct pcoll_cells_kind pcoll_cells_scatter = {
	.operation = PCOLL_SCATTER, .for_each = true,
	.root = { true, PCOLL_READS_NONE }, .others = { false, PCOLL_READS_ROOT },
	.begin = scatter_begin, .fill = scatter_fill, .read = scatter_read,
};

const struct pcoll_cells_kind pcoll_cells_exchange = {
	.operation = PCOLL_EXCHANGE, .for_each = true,
	.root = { true, PCOLL_READS_OTHERS }, .others = { true, PCOLL_READS_OTHERS },
	.begin = exchange_begin, .fill = scatter_fill, .read = exchange_read,
};
