/* Vector, indexed and strided transfers that are used as they may not be. */
#include <gasnet.h>
#include <gasnet_vis.h>

#include "tests/lib/pt_misuse.h"

enum { TELL = 200 };

static char memory[8192];

static void
on_tell(gex_Token_t token, void *buf, size_t nbytes)
{
	(void)token;
	(void)buf;
	(void)nbytes;
}

static gex_AM_Entry_t handlers[] = { PT_HANDLER(TELL, on_tell, PT_REP_MEDIUM, 0) };

static char *peer(size_t at) { return pt.peers[pt.size - 1].owner + at; }
static gex_Rank_t peer_rank(void) { return pt.size - 1; }

/* -- lists ------------------------------------------------------------------------------------ */

static void
put_lists(gex_Memvec_t dst, gex_Memvec_t src)
{
	PT_OK(gex_VIS_VectorPutBlocking(pt.tm, peer_rank(), 1, &dst, 1, &src, 0));
}

static void
sizes(void)
{
	const gex_Memvec_t dst = { peer(0), 8 }, src = { memory, 12 };

	put_lists(dst, src);
}

static void
past_memory(void)
{
	const gex_Memvec_t dst = { peer(0), 8 }, src = { memory, SIZE_MAX };

	put_lists(dst, src);
}

static void no_list(void) { PT_OK(gex_VIS_VectorGetBlocking(pt.tm, 1, NULL, 0, 0, NULL, 0)); }

static void
null_piece(void)
{
	const gex_Memvec_t dst = { peer(0), 8 }, src = { NULL, 8 };

	put_lists(dst, src);
}

static void
piece_outside(void)
{
	void *const dst[] = { peer(0), peer(pt.peers[1].size_bytes - 4), peer(64) };
	void *const src[] = { memory };

	PT_OK(gex_VIS_IndexedPutBlocking(pt.tm, 1, 3, dst, 8, 1, src, 24, 0));
}

static void
pieces_overlap(void)
{
	void *const dst[] = { memory, memory + 100, memory + 7 };
	void *const src[] = { peer(0) };

	PT_OK(gex_VIS_IndexedGetBlocking(pt.tm, 3, dst, 8, peer_rank(), 1, src, 24, 0));
}

static void
sides_overlap(void)
{
	const gex_Memvec_t dst = { peer(0), 8 }, src = { peer(4), 8 };

	put_lists(dst, src);
}

/* -- counts ----------------------------------------------------------------------------------- */

static size_t
share_of_all(size_t parts)
{
	volatile size_t kept = SIZE_MAX;

	return kept / parts;
}

static void
long_list(void)
{
	const gex_Memvec_t dst = { peer(0), 8 }, src = { memory, 8 };

	PT_OK(gex_VIS_VectorPutBlocking(pt.tm, peer_rank(), share_of_all(8), &dst, share_of_all(8),
	                                &src, 0));
}

/* The list is short, and what is behind it is read no further than needed to see that. */
static void
short_list(void)
{
	const gex_Memvec_t dst = { peer(0), 8 }, src = { memory, 8 };
	const size_t entries = share_of_all((size_t)1 << 28) + 1;

	PT_OK(gex_VIS_VectorPutBlocking(pt.tm, peer_rank(), entries, &dst, entries, &src, 0));
}

static void
endless_strides(void)
{
	const size_t counts[] = { (size_t)1 << 30, (size_t)1 << 30 };
	const ptrdiff_t still[] = { 0, 0 };

	PT_OK(gex_VIS_StridedGetBlocking(pt.tm, memory, still, peer_rank(), peer(0), still, 1,
	                                 counts, 2, 0));
}

static void
long_index(void)
{
	void *const dst[] = { memory };
	void *const src[] = { peer(0) };

	PT_OK(gex_VIS_IndexedGetBlocking(pt.tm, share_of_all(4) + 1, dst, 1, peer_rank(),
	                                 share_of_all(4) + 1, src, 1, 0));
}

/* -- strided ---------------------------------------------------------------------------------- */

static const size_t count[] = { 4, 4 };
static const ptrdiff_t wide[] = { 16, 64 };

static void
put_strided(const ptrdiff_t *dst, const size_t *counts, char *to)
{
	PT_OK(gex_VIS_StridedPutBlocking(pt.tm, peer_rank(), to, dst, memory, wide, 8, counts, 2,
	                                 0));
}

static void
strides_overlap(void)
{
	const ptrdiff_t strides[] = { 64, 4 };

	put_strided(strides, count, peer(0));
}

static void
stride_zero(void)
{
	const ptrdiff_t strides[] = { 0, 64 };

	put_strided(strides, count, peer(0));
}

static void
strides_meet(void)
{
	const ptrdiff_t strides[] = { 16, 32 };

	put_strided(strides, count, peer(0));
}

static void
strides_outside(void)
{
	const ptrdiff_t strides[] = { 16, -64 };

	put_strided(strides, count, peer(0));
}

static void
counts_large(void)
{
	const size_t counts[] = { (size_t)1 << 40, (size_t)1 << 40 };

	put_strided(wide, counts, peer(0));
}

static void no_counts(void) { put_strided(wide, NULL, peer(0)); }
static void no_strides(void) { put_strided(NULL, count, peer(0)); }

static void
legacy_no_counts(void)
{
	const size_t *volatile none = NULL;

	gasnet_puts_bulk(0, peer(0), NULL, memory, NULL, none, 0);
}

static void
legacy_transposes(void)
{
	const size_t counts[] = { 8, 4, 4 }, dst[] = { 16, 64 }, src[] = { 64, 16 };

	gasnet_puts_bulk(peer_rank(), peer(0), dst, memory, src, counts, 2);
}

/* -- targets, flags --------------------------------------------------------------------------- */

static void
rank_outside(void)
{
	gex_Memvec_t list = { memory, 8 };

	PT_OK(gex_VIS_VectorPutBlocking(pt.tm, 9, 1, &list, 1, &list, 0));
}

static void
get_leaf(void)
{
	PT_OK(gex_VIS_VectorGetNBI(pt.tm, 0, NULL, 0, 0, NULL, GEX_FLAG_ENABLE_LEAF_LC));
}

/* -- peer completion -------------------------------------------------------------------------- */

static void arm(void) { gex_VIS_SetPeerCompletionHandler(TELL, NULL, 0, 0); }
static void arm_large(void) { gex_VIS_SetPeerCompletionHandler(TELL, memory, 128, 0); }
static void arm_internal(void) { gex_VIS_SetPeerCompletionHandler(1, memory, 8, 0); }
static void arm_flag(void) { gex_VIS_SetPeerCompletionHandler(TELL, memory, 8, 1); }

static void
armed_get(void)
{
	arm();
	PT_OK(gex_VIS_VectorGetBlocking(pt.tm, 0, NULL, 0, 0, NULL, 0));
}

static void
armed_immediate(void)
{
	arm();
	PT_OK(gex_VIS_VectorPutBlocking(pt.tm, 0, 0, NULL, 0, NULL, GEX_FLAG_IMMEDIATE));
}

#define VECTOR_PUT  "gex_VIS_VectorPutBlocking: "
#define STRIDED_PUT "gex_VIS_StridedPutBlocking: "
#define ARMING      "gex_VIS_SetPeerCompletionHandler: "

static const struct pt_misuse cases[] = {
	{ "sizes", PT_ALWAYS, 1, sizes, "lists of different size",
	  VECTOR_PUT "the destination has 8 bytes and the source 12; both sides need the same "
	             "number",
	  0 },
	{ "past_memory", PT_ALWAYS, 1, past_memory, "a piece past the end of memory",
	  VECTOR_PUT "the lists make more bytes than a process can address, or one of their pieces "
	             "passes the end of memory; look at lengths and addresses",
	  0 },
	{ "no_list", PT_ALWAYS, 1, no_list, "a list that is not there",
	  "gex_VIS_VectorGetBlocking: dstlist is NULL, but should have 1 entries; pass the list",
	  0 },
	{ "long_list", PT_ALWAYS, 1, long_list, "a list of more pieces than memory holds",
	  VECTOR_PUT "dstlist would have 2305843009213693951 entries, more than memory holds; "
	  "check whether the count was negative",
	  0 },
	{ "short_list", PT_ALWAYS, 1, short_list, "a list that ends before its count does",
	  VECTOR_PUT "dstlist would have 68719476736 entries, more than memory holds; check "
	  "whether the count was negative",
	  0 },
	{ "endless_strides", PT_ALWAYS, 1, endless_strides,
	  "counts beyond all memory, with "
	  "strides of 0",
	  "gex_VIS_StridedGetBlocking: elemsz and the counts make more bytes than a process can "
	  "address; count pieces, not bytes",
	  0 },
	{ "legacy_no_counts", PT_ALWAYS, 1, legacy_no_counts,
	  "a strided call of GASNet 1 without "
	  "its counts",
	  "gasnet_puts_bulk: count is NULL, but should have 1 entries; pass the list", 0 },
	{ "long_index", PT_ALWAYS, 1, long_index, "addresses of more bytes than memory holds",
	  "gex_VIS_IndexedGetBlocking: the lists make more bytes than a process can address, or "
	  "one of their pieces passes the end of memory; look at lengths and addresses",
	  0 },
	{ "null_piece", PT_CHECKED, 1, null_piece, "a piece at NULL",
	  VECTOR_PUT "a piece of the source lies at NULL or past the end of memory; give each "
	  "piece that is not empty an address",
	  0 },
	{ "piece_outside", PT_ALWAYS, 2, piece_outside, "a piece outside the segment",
	  "gex_VIS_IndexedPutBlocking: 8 bytes at 0x* do not lie in the segment of rank 1, which "
	  "is * bytes at 0x*; gex_EP_QueryBoundSegmentNB tells its bounds",
	  0 },
	{ "pieces_overlap", PT_CHECKED, 1, pieces_overlap, "pieces of the destination that overlap",
	  "gex_VIS_IndexedGetBlocking: pieces of the destination overlap, one of them at 0x*; each "
	  "byte may be written once",
	  0 },
	{ "sides_overlap", PT_CHECKED, 1, sides_overlap, "source and destination that overlap",
	  VECTOR_PUT "source and destination overlap, at 0x*; copy the data elsewhere first", 0 },
	{ "strides_overlap", PT_CHECKED, 1, strides_overlap,
	  "a stride shorter than what it steps "
	  "over",
	  STRIDED_PUT "stride 1 of the destination is 4, so pieces of 8 bytes overlap; each byte "
	              "may be written once",
	  0 },
	{ "stride_zero", PT_CHECKED, 1, stride_zero, "a stride of 0 at the destination",
	  STRIDED_PUT "stride 0 of the destination is 0, so pieces of 8 bytes overlap; each byte "
	              "may be written once",
	  0 },
	{ "strides_meet", PT_CHECKED, 1, strides_meet, "strides that lead to one point twice",
	  STRIDED_PUT "pieces of the destination overlap, one of them at 0x*; each byte may be "
	              "written once",
	  0 },
	{ "strides_outside", PT_ALWAYS, 2, strides_outside, "strides that lead out of the segment",
	  STRIDED_PUT "248 bytes at 0x* do not lie in the segment of rank 1, which is * bytes at "
	              "0x*; gex_EP_QueryBoundSegmentNB tells its bounds",
	  0 },
	{ "counts_large", PT_ALWAYS, 1, counts_large, "counts that no memory holds",
	  STRIDED_PUT "elemsz and the counts make more bytes than a process can address; count "
	              "pieces, not bytes",
	  0 },
	{ "no_counts", PT_ALWAYS, 1, no_counts, "counts that are not there",
	  STRIDED_PUT "stridelevels is 2, and one of the three arrays is NULL; pass them all", 0 },
	{ "no_strides", PT_ALWAYS, 1, no_strides, "strides that are not there",
	  STRIDED_PUT "stridelevels is 2, and one of the three arrays is NULL; pass them all", 0 },
	{ "legacy_transposes", PT_CHECKED, 1, legacy_transposes, "a legacy call that transposes",
	  "gasnet_puts_bulk: stride 1 of the source is 16, and it steps over 256 bytes; dimensions "
	  "go from the inner to the outer, gex_VIS_Strided calls take them in any order",
	  0 },
	{ "rank_outside", PT_ALWAYS, 1, rank_outside, "a rank that is not there",
	  VECTOR_PUT "rank 9 does not exist, the team has 1; count from 0", 0 },
	{ "get_leaf", PT_ALWAYS, 1, get_leaf, "local completion of a get",
	  "gex_VIS_VectorGetNBI: flags 0x2000 have no meaning in this call, which takes those of "
	  "0x*; leave them out",
	  0 },
	{ "arm_large", PT_ALWAYS, 1, arm_large, "128 bytes for a completion handler",
	  ARMING "128 bytes are more than it takes, which is 127; send the rest with the put", 0 },
	{ "arm_internal", PT_ALWAYS, 1, arm_internal,
	  "the library's own handler as one of "
	  "completion",
	  ARMING "handler 1 is the library's own; name one that was registered, from 128 to 255",
	  0 },
	{ "arm_flag", PT_ALWAYS, 1, arm_flag, "flags where there are none",
	  ARMING "flags are 0x1, and this call has none; pass 0", 0 },
	{ "armed_get", PT_ALWAYS, 1, armed_get, "a get with a completion handler",
	  "gex_VIS_VectorGetBlocking: a completion handler is armed, which gets do not have; arm "
	  "it before a put, or disarm it with handler 0",
	  0 },
	{ "armed_immediate", PT_ALWAYS, 1, armed_immediate,
	  "an immediate put with a completion "
	  "handler",
	  VECTOR_PUT "a completion handler is armed, so the put may have to wait; leave "
	             "GEX_FLAG_IMMEDIATE out",
	  0 },
};

const struct pt_misuse_set pt_misuse_acts = {
	.cases = cases,
	.count = PT_COUNT(cases),
	.handlers = handlers,
	.handler_count = PT_COUNT(handlers),
};
