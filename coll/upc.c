/*
 * The collectives of UPC.  Those that move data are one call each.  Messages name the client's
 * call, except for the barriers in pst_upc_all_permute, _reduce and _prefix_reduce; of reductions
 * they tell the bytes of rows.
 *
 * Reductions go by rows of blocks (upc.h): each rank reduces each of its blocks to one element, and
 * the ranks reduce those row by row.  A rank that has no block in a row brings no element, so what
 * is reduced is *optional elements*, for which the client's operator is wrapped.
 */
#include "coll/combine.h"
#include "coll/pst.h"
#include "coll/upc.h"

#include "runtime/process/rules.h"
#include "runtime/team/team.h"

#include "runtime/util/copy.h"

#include <stdlib.h>
#include <string.h>

static gex_Flags_t
upc_flags(gex_Flags_t flags)
{
	if (!(flags & PCOLL_IN_FLAGS))
		flags |= PST_IN_ALLSYNC;
	if (!(flags & PCOLL_OUT_FLAGS))
		flags |= PST_OUT_ALLSYNC;
	return flags;
}

static void
array_check_given(const pst_upc_array_t *array, const char *name, const char *call)
{
	if (PSI_UNLIKELY(!array))
		psi_fatal("%s: %s is NULL, but should be an array; pass its description", call,
		          name);
}

/* The team of both arrays. */
static gex_TM_t
arrays_check(const pst_upc_array_t *dst, const pst_upc_array_t *src, const char *call)
{
	psi_need_init(call);
	array_check_given(dst, "dst", call);
	array_check_given(src, "src", call);
	(void)psi_team_live(dst->tm, call);
	if (PSI_UNLIKELY(dst->tm != src->tm))
		psi_fatal("%s: the arrays are of two teams; pass arrays of one team", call);
	pcoll_check_root(dst->tm, dst->first, call);
	pcoll_check_root(src->tm, src->first, call);
	psi_check_list(dst->base, dst->tm->size, sizeof *dst->base, "base of dst", call);
	psi_check_list(src->base, src->tm->size, sizeof *src->base, "base of src", call);
	return dst->tm;
}

static void *
array_own_part(const pst_upc_array_t *array)
{
	return array->base[array->tm->rank];
}

/* The own part on the array's first rank; NULL on other ranks. */
static void *
array_first_part(const pst_upc_array_t *array)
{
	return array->tm->rank == array->first ? array_own_part(array) : NULL;
}

/* -- data -------------------------------------------------------------------------------------- */

/* Begins a call with the client's flags. */
static void
upc_begin(struct pcoll_call *call_out, gex_TM_t tm, struct pcoll_what what, gex_Flags_t flags)
{
	pcoll_pst_check_flags(flags, 0, pcoll_call_name(what));
	pcoll_pst_begin(call_out, tm, what, upc_flags(flags), 0);
}

/* root: of an operation that has one.  nbytes: of a vector or a block. */
static void
data_move(gex_TM_t tm, enum pcoll_operation operation, gex_Rank_t root, void *dst, const void *src,
          size_t nbytes, gex_Flags_t flags)
{
	const struct pcoll_what what = { operation, PCOLL_UPC };
	struct pcoll_call call;

	upc_begin(&call, tm, what, flags);
	call.root = root;
	call.dst = dst;
	call.src = src;
	call.len_bytes = nbytes;
	pcoll_check_memory(&call, pcoll_call_name(what));
	gex_Event_Wait(pcoll_pst_start(&call));
}

void
pst_upc_all_broadcast(const pst_upc_array_t *dst, const pst_upc_array_t *src, size_t nbytes,
                      gex_Flags_t flags)
{
	gex_TM_t tm = arrays_check(dst, src, "pst_upc_all_broadcast");

	data_move(tm, PCOLL_BROADCAST, src->first, array_own_part(dst), array_first_part(src),
	          nbytes, flags);
}

void
pst_upc_all_scatter(const pst_upc_array_t *dst, const pst_upc_array_t *src, size_t nbytes,
                    gex_Flags_t flags)
{
	gex_TM_t tm = arrays_check(dst, src, "pst_upc_all_scatter");

	data_move(tm, PCOLL_SCATTER, src->first, array_own_part(dst), array_first_part(src), nbytes,
	          flags);
}

void
pst_upc_all_gather(const pst_upc_array_t *dst, const pst_upc_array_t *src, size_t nbytes,
                   gex_Flags_t flags)
{
	gex_TM_t tm = arrays_check(dst, src, "pst_upc_all_gather");

	data_move(tm, PCOLL_GATHER, dst->first, array_first_part(dst), array_own_part(src), nbytes,
	          flags);
}

void
pst_upc_all_gather_all(const pst_upc_array_t *dst, const pst_upc_array_t *src, size_t nbytes,
                       gex_Flags_t flags)
{
	gex_TM_t tm = arrays_check(dst, src, "pst_upc_all_gather_all");

	data_move(tm, PCOLL_GATHER_ALL, 0, array_own_part(dst), array_own_part(src), nbytes, flags);
}

void
pst_upc_all_exchange(const pst_upc_array_t *dst, const pst_upc_array_t *src, size_t nbytes,
                     gex_Flags_t flags)
{
	gex_TM_t tm = arrays_check(dst, src, "pst_upc_all_exchange");

	data_move(tm, PCOLL_EXCHANGE, 0, array_own_part(dst), array_own_part(src), nbytes, flags);
}

void
pst_upc_all_permute(const pst_upc_array_t *dst, const pst_upc_array_t *src,
                    const pst_upc_array_t *perm, size_t nbytes, gex_Flags_t flags)
{
	const struct pcoll_what what = { PCOLL_PERMUTE, PCOLL_UPC };
	const char *name = pcoll_call_name(what);
	gex_TM_t tm = arrays_check(dst, src, name);
	struct pcoll_call call;

	array_check_given(perm, "perm", name);
	(void)arrays_check(perm, src, name);
	psi_check_buffer(array_own_part(perm), sizeof(int), "perm", name);
	upc_begin(&call, tm, what, flags);
	if (call.in_all) {      /* others may still write to perm */
		pst_barrier(tm, 0);
		call.in_all = false;
	}
	pcoll_permute_fill(&call, (gex_Rank_t)*(const int *)array_own_part(perm),
	                   array_own_part(dst), array_own_part(src), nbytes);
	gex_Event_Wait(pcoll_pst_start(&call));
}

/* -- layout ------------------------------------------------------------------------------------ */

struct pcoll_upc_part
pcoll_upc_part_of(const pst_upc_array_t *array, gex_Rank_t size, gex_Rank_t rank)
{
	const size_t blk = array->blk_elems ? array->blk_elems : array->elems;
	const size_t blocks = blk ? array->elems / blk + (array->elems % blk != 0) : 0;
	const size_t place = ((size_t)rank + size - array->first) % size;
	struct pcoll_upc_part part = {
		.blk_elems = blk, .first_row = rank < array->first,
		.blocks = blocks > place ? (blocks - place - 1) / size + 1 : 0,
		.rows = blocks ? (array->first + blocks - 1) / size + 1 : 0,
	};

	part.last_elems = blk;
	if (part.blocks && (part.blocks - 1) * size + place == blocks - 1)
		part.last_elems = array->elems - (blocks - 1) * blk;
	return part;
}

size_t
pcoll_upc_block_elems(const struct pcoll_upc_part *part, size_t i)
{
	return i + 1 < part->blocks ? part->blk_elems : part->last_elems;
}

/* -- optional elements ------------------------------------------------------------------------- */

/* Byte 0 of an optional element is 1 if there is an element, which begins at OPTION_HEAD. */
enum { OPTION_HEAD = 16 };

struct wrapped {
	struct pcoll_reduction reduction;
	size_t option_bytes;
};

static unsigned char *
option_at(const struct wrapped *wrapped, void *options, size_t i)
{
	return (unsigned char *)options + i * wrapped->option_bytes;
}

/* out := element op out. */
static void
option_add(const struct wrapped *wrapped, const void *element, unsigned char *out)
{
	const struct pcoll_reduction *reduction = &wrapped->reduction;

	if (out[0])
		pcoll_combine(reduction, element, out + OPTION_HEAD, out + OPTION_HEAD,
		              reduction->elem_bytes);
	else
		psi_copy(out + OPTION_HEAD, element, reduction->elem_bytes);
	out[0] = 1;
}

static void
options_combine(const void *left_p, void *out_p, size_t count, const void *cdata)
{
	const struct wrapped *wrapped = cdata;
	const unsigned char *left = left_p;
	unsigned char *out = out_p;

	for (size_t i = 0; i < count; i++) {
		if (left[0])
			option_add(wrapped, left + OPTION_HEAD, out);
		left += wrapped->option_bytes;
		out += wrapped->option_bytes;
	}
}

/* The elements of a block, from the last one down, so that their order is kept. */
static void
option_of_block(const struct wrapped *wrapped, const unsigned char *block, size_t elems,
                unsigned char *out)
{
	while (elems-- > 0)
		option_add(wrapped, block + elems * wrapped->reduction.elem_bytes, out);
}

/* -- reductions -------------------------------------------------------------------------------- */

/* A reduction of arrays, of this rank: its blocks, and memory for three times `rows' options. */
struct along {
	gex_TM_t tm;
	gex_Flags_t flags;
	struct wrapped wrapped;
	struct pcoll_upc_part part;
	unsigned char *src;
	unsigned char *own, *sums, *before;
};

static void
along_open(struct along *along, const pst_upc_array_t *dst, const pst_upc_array_t *src,
           const struct pcoll_reduce_args *args, gex_Flags_t flags, const char *call)
{
	size_t bytes;

	along->tm = arrays_check(dst, src, call);
	pcoll_pst_check_flags(flags, 0, call);
	along->wrapped.reduction = pcoll_check_reduction(args, true, call);
	if (PSI_UNLIKELY(args->dt_cnt != src->elems || args->dt_sz != src->elem_bytes))
		psi_fatal("%s: %zu elements of %zu bytes, and the array has %zu of %zu; pass the "
		          "array's", call, args->dt_cnt, args->dt_sz, src->elems, src->elem_bytes);
	along->flags = upc_flags(flags);
	along->wrapped.option_bytes = OPTION_HEAD + (args->dt_sz + 15) / 16 * 16;
	along->part = pcoll_upc_part_of(src, along->tm->size, along->tm->rank);
	along->src = array_own_part(src);
	bytes = along->part.rows * along->wrapped.option_bytes;
	along->own = calloc(3, bytes ? bytes : 1);
	if (!along->own)
		psi_fatal("%s: no memory for a collective, which takes %zu bytes", call, 3 * bytes);
	along->sums = along->own + bytes;
	along->before = along->sums + bytes;
}

/* The bytes of this rank's part of the array. */
static size_t
along_src_bytes(const struct along *along)
{
	const struct pcoll_upc_part *part = &along->part;
	const size_t elems = part->blocks ? (part->blocks - 1) * part->blk_elems + part->last_elems
	                                  : 0;

	return elems * along->wrapped.reduction.elem_bytes;
}

/* dst has dst_bytes on this rank, perhaps none. */
static void
along_check_memory(const struct along *along, const void *dst, size_t dst_bytes, const char *call)
{
	const gex_DT_t type = pcoll_reduction_type(&along->wrapped.reduction);
	const size_t src_bytes = along_src_bytes(along);

	if (src_bytes)
		psi_check_buffer(along->src, src_bytes, "src", call);
	if (dst_bytes)
		psi_check_buffer(dst, dst_bytes, "dst", call);
	pcoll_check_aligned(dst_bytes ? dst : NULL, src_bytes ? along->src : NULL,
	                    pcoll_type_bytes(type), call);
	pcoll_check_overlap(dst, dst_bytes, along->src, src_bytes, 0, call);
}

static const unsigned char *
along_block(const struct along *along, size_t i)
{
	return along->src + i * along->part.blk_elems * along->wrapped.reduction.elem_bytes;
}

/* Each block to the option of its row. */
static void
along_reduce_blocks(struct along *along)
{
	for (size_t i = 0; i < along->part.blocks; i++)
		option_of_block(&along->wrapped, along_block(along, i),
		                pcoll_upc_block_elems(&along->part, i),
		                option_at(&along->wrapped, along->own,
		                          along->part.first_row + i));
}

/* Combines the rows into `out', from the last row to the first. */
static void
along_reduce_rows(struct along *along, unsigned char *rows, unsigned char *out)
{
	for (size_t row = along->part.rows; row-- > 0; )
		options_combine(option_at(&along->wrapped, rows, row), out, 1, &along->wrapped);
}

/* Combines a rank's rows to one if the order of elements does not matter.  Returns the number of
 * rows left.  `before' is not used yet, and serves for the sum. */
static size_t
along_merge_rows(struct along *along)
{
	unsigned char *merged = along->before;

	if (along->wrapped.reduction.ordered || along->part.rows < 2)
		return along->part.rows;
	along_reduce_rows(along, along->own, merged);
	psi_copy(along->own, merged, along->wrapped.option_bytes);
	along->part.rows = 1;
	return 1;
}

/* All ranks' options, row by row, in the order of ranks. */
static void
rows_reduce(struct along *along, enum pcoll_operation operation, gex_Rank_t root, void *dst)
{
	const struct pcoll_reduce_args args = {
		dst, along->own, GEX_DT_USER, along->wrapped.option_bytes, along->part.rows,
		GEX_OP_USER_NC, options_combine, &along->wrapped,
	};
	struct pcoll_call call;

	pcoll_pst_begin(&call, along->tm, (struct pcoll_what){ operation, PCOLL_UPC }, 0, 0);
	call.root = root;
	pcoll_reduction_fill(&call, &args);
	gex_Event_Wait(pcoll_pst_start(&call));
}

void
pst_upc_all_reduce(const pst_upc_array_t *dst, const pst_upc_array_t *src, gex_DT_t dt,
                   size_t dt_sz, size_t dt_cnt, gex_OP_t op, gex_Coll_ReduceFn_t user_op,
                   void *user_cdata, gex_Flags_t flags)
{
	const struct pcoll_reduce_args args = {
		.dt = dt, .dt_sz = dt_sz, .dt_cnt = dt_cnt, .op = op, .user_op = user_op,
		.user_cdata = user_cdata,
	};
	const char *call = "pst_upc_all_reduce";
	struct along along;
	unsigned char *result;
	size_t rows;

	along_open(&along, dst, src, &args, flags, call);
	along_check_memory(&along, array_first_part(dst),
	                   along.tm->rank == dst->first && src->elems ? dt_sz : 0, call);
	if (along.flags & PST_IN_ALLSYNC)
		pst_barrier(along.tm, 0);
	along_reduce_blocks(&along);
	rows = along_merge_rows(&along);
	rows_reduce(&along, PCOLL_REDUCE_TO_ONE, dst->first, along.sums);
	if (along.tm->rank == dst->first && rows) {
		result = along.before;
		memset(result, 0, along.wrapped.option_bytes);
		along_reduce_rows(&along, along.sums, result);
		psi_copy(array_own_part(dst), result + OPTION_HEAD, dt_sz);
	}
	if (along.flags & PST_OUT_ALLSYNC)
		pst_barrier(along.tm, 0);
	free(along.own);
}

/* From the elements before the block, if there are any, through the block. */
static void
prefix_of_block(const struct along *along, const unsigned char *block, size_t elems,
                const unsigned char *before, unsigned char *dst)
{
	const struct pcoll_reduction *reduction = &along->wrapped.reduction;
	const size_t elem = reduction->elem_bytes;
	const unsigned char *left = before[0] ? before + OPTION_HEAD : NULL;

	for (size_t i = 0; i < elems; i++, dst += elem) {
		if (dst != block + i * elem)
			psi_copy(dst, block + i * elem, elem);
		if (left)
			pcoll_combine(reduction, left, dst, dst, elem);
		left = dst;
	}
}

/* Afterwards before[row] is the reduction of all elements before this rank's block in that row.
 * sums has the rows' totals, and is overwritten. */
static void
along_carry_rows(struct along *along)
{
	for (size_t row = 1; row < along->part.rows; row++) {
		unsigned char *sum = option_at(&along->wrapped, along->sums, row);
		const unsigned char *last = sum - along->wrapped.option_bytes;

		options_combine(last, option_at(&along->wrapped, along->before, row), 1,
		                &along->wrapped);
		options_combine(last, sum, 1, &along->wrapped);
	}
}

void
pst_upc_all_prefix_reduce(const pst_upc_array_t *dst, const pst_upc_array_t *src, gex_DT_t dt,
                          size_t dt_sz, size_t dt_cnt, gex_OP_t op, gex_Coll_ReduceFn_t user_op,
                          void *user_cdata, gex_Flags_t flags)
{
	const struct pcoll_reduce_args args = {
		.dt = dt, .dt_sz = dt_sz, .dt_cnt = dt_cnt, .op = op, .user_op = user_op,
		.user_cdata = user_cdata,
	};
	const char *call = "pst_upc_all_prefix_reduce";
	unsigned char *out;
	struct along along;

	along_open(&along, dst, src, &args, flags, call);
	if (PSI_UNLIKELY(dst->elems != src->elems || dst->first != src->first ||
	                 dst->blk_elems != src->blk_elems || dst->elem_bytes != src->elem_bytes))
		psi_fatal("%s: dst is not laid out as src; pass an array of the same layout", call);
	out = array_own_part(dst);
	along_check_memory(&along, out, along_src_bytes(&along), call);
	if (along.flags & PST_IN_ALLSYNC)
		pst_barrier(along.tm, 0);
	along_reduce_blocks(&along);
	rows_reduce(&along, PCOLL_EXSCAN, 0, along.before);
	rows_reduce(&along, PCOLL_REDUCE_TO_ALL, 0, along.sums);
	along_carry_rows(&along);
	for (size_t i = 0; i < along.part.blocks; i++)
		prefix_of_block(&along, along_block(&along, i),
		                pcoll_upc_block_elems(&along.part, i),
		                option_at(&along.wrapped, along.before, along.part.first_row + i),
		                out + i * along.part.blk_elems * dt_sz);
	if (along.flags & PST_OUT_ALLSYNC)
		pst_barrier(along.tm, 0);
	free(along.own);
}
