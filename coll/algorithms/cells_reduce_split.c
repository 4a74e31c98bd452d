/*
 * A long reduction to all is three operations in a row: each member reduces one block of the
 * vector, then all gather the blocks, so that no member combines all of it.  What is left when the
 * vector is divided into blocks of one length comes first, as a reduction of its own.
 *
 * Source: R. Rabenseifner, "Optimization of collective reduction operations", 2004.
 */
#include "coll/cells_list.h"

#include "runtime/team/team.h"

/* From where on that is quicker (docs/performance.md, Collectives). */
enum { LEAST_BYTES = 64 << 10, LEAST_BYTES_OF_TWO = 512 << 10 };

static struct pcoll_call
part_of(const struct pcoll_call *call, size_t at, size_t len_bytes)
{
	struct pcoll_call part;

	pcoll_call_copy(&part, call);
	part.src = (const char *)call->src + at;
	part.dst = (char *)call->dst + at;
	part.len_bytes = len_bytes;
	part.in_all = part.out_all = false;
	return part;
}

/* 0: the call is not divided. */
static size_t
block_bytes(const struct pcoll_call *call)
{
	const size_t size = call->tm->size, elem_bytes = call->reduction.elem_bytes;

	if (call->len_bytes < (size > 2 ? LEAST_BYTES : LEAST_BYTES_OF_TWO) ||
	    pcoll_call_has_scalar(call) || size * elem_bytes > PSI_CELL_ROOM_BYTES)
		return 0;
	return call->len_bytes / elem_bytes / size * elem_bytes;
}

unsigned
pcoll_cells_reduce_split(const struct pcoll_call *call,
                         struct pcoll_cells_part parts[PCOLL_CELLS_PARTS])
{
	const size_t each = block_bytes(call), all = each * call->tm->size;
	unsigned char *block;
	unsigned count = 0;

	if (!each)
		return 0;
	block = (unsigned char *)call->dst + call->tm->rank * each;
	if (all < call->len_bytes)
		parts[count++] = (struct pcoll_cells_part){
			.kind = &pcoll_cells_reduce_to_all,
			.call = part_of(call, all, call->len_bytes - all) };
	parts[count] = (struct pcoll_cells_part){
		.kind = &pcoll_cells_reduce_scatter, .call = part_of(call, 0, each) };
	parts[count++].call.dst = block;
	parts[count] = (struct pcoll_cells_part){
		.kind = &pcoll_cells_gather_all, .call = part_of(call, 0, each),
		.results = PCOLL_CELLS_SENDS_RESULT };
	parts[count].call.src = block;
	parts[count++].call.out_all = call->out_all;
	parts[0].call.in_all = call->in_all;
	return count;
}
