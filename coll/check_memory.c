/*
 * What is looked for in the memory that a member passes to a collective.  A side, dst or src, has
 * one block or one of each member.  In calls with lists, the side that has blocks has a list of
 * them.
 */
#include "coll/checks.h"

struct side {
	bool of_root;                   /* the root alone uses it */
	bool has_blocks;
};

static const struct {
	struct side dst, src;
} sides[PCOLL_OPERATIONS] = {
	[PCOLL_BROADCAST] = { .src.of_root = true },
	[PCOLL_REDUCE_TO_ONE] = { .dst.of_root = true },
	[PCOLL_SCATTER] = { .src = { .of_root = true, .has_blocks = true } },
	[PCOLL_GATHER] = { .dst = { .of_root = true, .has_blocks = true } },
	[PCOLL_GATHER_ALL] = { .dst.has_blocks = true },
	[PCOLL_EXCHANGE] = { .dst.has_blocks = true, .src.has_blocks = true },
	[PCOLL_REDUCE_SCATTER] = { .src.has_blocks = true },
};

static bool
side_is_used(const struct pcoll_call *call, struct side side)
{
	return !side.of_root || call->tm->rank == call->root;
}

static bool
side_has_list(const struct pcoll_call *call, struct side side)
{
	return side.has_blocks && pcoll_call_has_lists(call);
}

/* -- lists of blocks --------------------------------------------------------------------------- */

struct block {
	size_t at, bytes;
};

/* *end is where the block before ends, and then where this one does. */
static struct block
block_of(const struct pcoll_counts *counts, gex_Rank_t rank, size_t *end)
{
	return (struct block){ .at = pcoll_counts_at(counts, rank, end),
		               .bytes = pcoll_counts_bytes(counts, rank) };
}

/* Checks the lengths and offsets of a list.  Returns where the block ends that ends last. */
static size_t
counts_check(const struct pcoll_counts *counts, gex_Rank_t size, const char *list, const char *name)
{
	size_t end = 0, most = 0;

	psi_check_list(counts->counts, size, sizeof *counts->counts, list, name);
	for (gex_Rank_t rank = 0; rank < size; rank++) {
		const struct block block = block_of(counts, rank, &end);

		psi_check_bytes(counts->counts[rank], counts->unit_bytes, name);
		if (!block.bytes)
			continue;       /* its offset means nothing */
		if (PSI_UNLIKELY(end < block.at))
			psi_check_bytes(SIZE_MAX, 1, name);
		most = end > most ? end : most;
	}
	psi_check_bytes(most, 1, name);
	return most;
}

/* The member's own block has the same length on both sides. */
static void __attribute__((noinline))
own_block_check(const struct pcoll_call *call, struct side dst, struct side src, const char *name)
{
	const gex_Rank_t rank = call->tm->rank;
	const struct pcoll_counts *counts = dst.has_blocks ? &call->dst_counts : &call->src_counts;
	size_t end = 0, listed, own = call->len_bytes;

	if (!side_is_used(call, dst.has_blocks ? dst : src))
		return;
	listed = block_of(counts, rank, &end).bytes;
	if (dst.has_blocks && src.has_blocks)
		own = block_of(&call->src_counts, rank, &end).bytes;
	if (PSI_UNLIKELY(listed != own))
		psi_fatal("%s: the own block has %zu bytes, and the list says %zu; pass the same",
		          name, own, listed);
}

/* -- overlap, with PST_CHECK ------------------------------------------------------------------- */

/* No block of dst overlaps src, which may lie between blocks, but for the own block in place. */
static void
dst_blocks_check(const struct pcoll_call *call, const char *src, size_t src_bytes,
                 bool may_be_in_place, const char *name)
{
	size_t end = 0;

	for (gex_Rank_t rank = 0; rank < call->tm->size; rank++) {
		const struct block block = block_of(&call->dst_counts, rank, &end);
		const bool is_own = may_be_in_place && rank == call->tm->rank;

		if (block.bytes)
			pcoll_check_apart((const char *)call->dst + block.at, block.bytes, src,
			                  src_bytes, is_own ? 0 : PCOLL_NEVER_IN_PLACE, name);
	}
}

/* The same of src's blocks and dst, which may have a list as well. */
static void
src_blocks_check(const struct pcoll_call *call, bool dst_has_list, const char *name)
{
	size_t end = 0;

	for (gex_Rank_t rank = 0; rank < call->tm->size; rank++) {
		const struct block block = block_of(&call->src_counts, rank, &end);
		const bool is_own = rank == call->tm->rank;

		if (block.bytes && dst_has_list)
			dst_blocks_check(call, (const char *)call->src + block.at, block.bytes,
			                 false, name);
		else if (block.bytes)
			pcoll_check_apart(call->dst, call->len_bytes,
			                  (const char *)call->src + block.at, block.bytes,
			                  is_own ? 0 : PCOLL_NEVER_IN_PLACE, name);
	}
}

static void __attribute__((noreturn, cold))
blocks_bad(gex_Rank_t rank, struct block block, gex_Rank_t other_rank, struct block other,
           const char *name)
{
	psi_fatal("%s: in dst, rank %u's block of %zu bytes at %zu and rank %u's of %zu bytes at "
	          "%zu overlap; pass offsets that keep them apart",
	          name, rank, block.bytes, block.at, other_rank, other.bytes, other.at);
}

/* Ends the job if a block of a lower rank overlaps this one. */
static void
lower_blocks_check(const struct pcoll_counts *counts, gex_Rank_t rank, struct block block,
                   const char *name)
{
	size_t end = 0;

	for (gex_Rank_t lower = 0; lower < rank; lower++) {
		const struct block other = block_of(counts, lower, &end);

		if (other.bytes && other.at < block.at + block.bytes &&
		    block.at < other.at + other.bytes)
			blocks_bad(lower, other, rank, block, name);
	}
}

/* The blocks that dst receives do not overlap.  Where they lie in the order of ranks, each is
 * compared with an end alone. */
static void
dst_check_apart(const struct pcoll_call *call, const char *name)
{
	const struct pcoll_counts *counts = &call->dst_counts;
	size_t end = 0, most = 0;

	if (!counts->displs)
		return;                 /* one behind the other */
	for (gex_Rank_t rank = 0; rank < call->tm->size; rank++) {
		const struct block block = block_of(counts, rank, &end);

		if (!block.bytes)
			continue;
		if (block.at < most)
			lower_blocks_check(counts, rank, block, name);
		most = end > most ? end : most;
	}
}

/* How far src is behind dst in a call in place, where the own block of both has one address. */
static ptrdiff_t
place_of_own(const struct pcoll_call *call, struct side dst, struct side src)
{
	const ptrdiff_t own = (ptrdiff_t)(call->tm->rank * call->len_bytes);

	if (call->what.operation == PCOLL_PERMUTE)
		return PCOLL_NEVER_IN_PLACE;
	if (dst.has_blocks == src.has_blocks)
		return 0;
	return dst.has_blocks ? own : -own;
}

static void
overlap_check(const struct pcoll_call *call, struct side dst, size_t dst_bytes, struct side src,
              size_t src_bytes, const char *name)
{
	if (side_has_list(call, dst) && side_is_used(call, dst))
		dst_check_apart(call, name);
	if (!side_is_used(call, dst) || !side_is_used(call, src))
		return;
	if (side_has_list(call, src))
		src_blocks_check(call, side_has_list(call, dst), name);
	else if (side_has_list(call, dst))
		dst_blocks_check(call, call->src, src_bytes, true, name);
	else
		pcoll_check_apart(call->dst, dst_bytes, call->src, src_bytes,
		                  place_of_own(call, dst, src), name);
}

/* -- both sides -------------------------------------------------------------------------------- */

/* Checks one side.  Returns its length. */
static size_t
side_check(const struct pcoll_call *call, struct side side, const void *addr,
           const struct pcoll_counts *counts, const char *addr_name, const char *list,
           const char *name)
{
	const gex_Rank_t size = call->tm->size;
	size_t bytes = 0;

	if (!side_is_used(call, side))
		return 0;
	if (PSI_UNLIKELY(side_has_list(call, side)))
		bytes = counts_check(counts, size, list, name);
	else
		bytes = call->len_bytes * (side.has_blocks ? size : 1);
	if (bytes)
		psi_check_buffer(addr, bytes, addr_name, name);
	return bytes;
}

/* A vector that this member does not use is at the same offset as one that is used with
 * PST_SINGLE. */
static void
alignment_check(const struct pcoll_call *call, struct side dst, const char *name)
{
	const bool has_dst = side_is_used(call, dst) || call->flags & PST_SINGLE;

	pcoll_check_aligned(has_dst ? call->dst : NULL, call->src,
	                    pcoll_type_bytes(pcoll_reduction_type(&call->reduction)), name);
}

void
pcoll_check_all_memory(const struct pcoll_call *call, const char *name)
{
	const struct side dst = sides[call->what.operation].dst;
	const struct side src = sides[call->what.operation].src;
	const bool has_lists = pcoll_call_has_lists(call);
	const bool has_blocks = (dst.has_blocks || src.has_blocks) && !has_lists;
	const bool has_two = dst.has_blocks && src.has_blocks;
	size_t dst_bytes, src_bytes;

	psi_check_bytes(call->len_bytes, has_blocks ? call->tm->size : 1, name);
	dst_bytes = side_check(call, dst, call->dst, &call->dst_counts, "dst",
	                       has_two ? "dst_counts" : "counts", name);
	src_bytes = side_check(call, src, call->src, &call->src_counts, "src",
	                       has_two ? "src_counts" : "counts", name);
	if (PSI_UNLIKELY(has_lists))
		own_block_check(call, dst, src, name);
	if (PSI_LIKELY(!psi.checks))
		return;
	alignment_check(call, dst, name);
	overlap_check(call, dst, dst_bytes, src, src_bytes, name);
}
