/*
 * A long reduction is three operations in a row: each member reduces one block of the vector, then
 * the root or all gather the blocks, so that no member combines all of it.  What is left when the
 * vector is divided into blocks of one length comes first, as a reduction of its own.
 *
 * Source: R. Rabenseifner, "Optimization of collective reduction operations", 2004.
 */
#include "coll/cells_list.h"

#include "runtime/process/process.h"
#include "runtime/team/team.h"

#include <stdlib.h>

/* From where on that is quicker (docs/performance.md).  To one, all but the root combine less, and
 * more is copied. */
enum { TO_ALL_BYTES = 64 << 10, TO_ONE_BYTES = 256 << 10, LEAST_SIZE = 3 };

static struct pcoll_call
part_of(const struct pcoll_call *call, size_t at, size_t len_bytes)
{
	struct pcoll_call part;

	pcoll_call_copy(&part, call);
	part.src = (const char *)call->src + at;
	part.dst = call->dst ? (char *)call->dst + at : NULL;
	part.len_bytes = len_bytes;
	part.in_all = part.out_all = false;
	return part;
}

/* Where the member's block of the result is until it is gathered: in dst, if it has one. */
static unsigned char *
block_of(const struct pcoll_call *call, size_t each, void **scratch_out)
{
	*scratch_out = NULL;
	if (call->what.operation == PCOLL_REDUCE_TO_ALL || call->tm->rank == call->root)
		return (unsigned char *)call->dst + call->tm->rank * each;
	*scratch_out = malloc(each);
	if (!*scratch_out)
		psi_fatal("no memory for a collective, which takes %zu bytes", each);
	return *scratch_out;
}

/* 0: the call is not divided. */
static size_t
block_bytes(const struct pcoll_call *call)
{
	const size_t size = call->tm->size, elem_bytes = call->reduction.elem_bytes;
	const bool to_all = call->what.operation == PCOLL_REDUCE_TO_ALL;
	const size_t least_bytes = to_all ? TO_ALL_BYTES : TO_ONE_BYTES;

	if (size < LEAST_SIZE || call->len_bytes < least_bytes || pcoll_call_has_scalar(call) ||
	    size * elem_bytes > PSI_CELL_ROOM_BYTES)
		return 0;
	return call->len_bytes / elem_bytes / size * elem_bytes;
}

unsigned
pcoll_cells_reduce_split(const struct pcoll_call *call,
                         struct pcoll_cells_part parts[PCOLL_CELLS_PARTS])
{
	const size_t each = block_bytes(call), all = each * call->tm->size;
	const bool to_all = call->what.operation == PCOLL_REDUCE_TO_ALL;
	unsigned char *block;
	void *scratch;
	unsigned count = 0;

	if (!each)
		return 0;
	block = block_of(call, each, &scratch);
	if (all < call->len_bytes)
		parts[count++] = (struct pcoll_cells_part){
			.kind = to_all ? &pcoll_cells_reduce_to_all : &pcoll_cells_reduce_to_one,
			.call = part_of(call, all, call->len_bytes - all) };
	parts[count] = (struct pcoll_cells_part){
		.kind = &pcoll_cells_reduce_scatter, .call = part_of(call, 0, each) };
	parts[count++].call.dst = block;
	parts[count] = (struct pcoll_cells_part){
		.kind = to_all ? &pcoll_cells_gather_all : &pcoll_cells_gather,
		.call = part_of(call, 0, each), .scratch = scratch };
	parts[count].call.src = block;
	parts[count++].call.out_all = call->out_all;
	parts[0].call.in_all = call->in_all;
	return count;
}
