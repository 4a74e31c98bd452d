/*
 * Vector, indexed and strided transfers.  All calls end in vis_transfer().  If the peer's segment
 * is mapped here, it copies; else it lets the kernel copy, if that is quicker.  In both cases the
 * transfer is done when the call returns.  Otherwise it starts operation `vis' of the contract.
 */
#include "runtime/vis/vis.h"

#include "runtime/op/begin.h"
#include "runtime/team/team_rules.h"
#include "runtime/wait/waiting.h"

/* -- names ------------------------------------------------------------------------------------ */

#define NAMES(kind, letter)                                                                        \
	{ { "gex_VIS_" kind "PutNB", "gex_VIS_" kind "PutNBI",                                \
	    "gex_VIS_" kind "PutBlocking", NULL,                                                   \
	    "gasnet_put" letter "_nb_bulk", "gasnet_put" letter "_nbi_bulk",                       \
	    "gasnet_put" letter "_bulk" },                                                         \
	  { "gex_VIS_" kind "GetNB", "gex_VIS_" kind "GetNBI",                                \
	    "gex_VIS_" kind "GetBlocking", NULL,                                                   \
	    "gasnet_get" letter "_nb_bulk", "gasnet_get" letter "_nbi_bulk",                       \
	    "gasnet_get" letter "_bulk" } }

enum kind { VECTOR, INDEXED, STRIDED };

/* Names of the calls, by kind, remote side and form. */
static const char *const names[][PSI_SIDES][PSI_VIS_BLOCKING + PSI_VIS_LEGACY + 1] = {
	[VECTOR] = NAMES("Vector", "v"),
	[INDEXED] = NAMES("Indexed", "i"),
	[STRIDED] = NAMES("Strided", "s"),
};

static struct psi_vis
vis_begin(enum kind kind, enum psi_which remote, unsigned form, gex_Flags_t flags)
{
	const char *call = names[kind][remote][form];
	gex_Flags_t allowed = PSI_TRANSFER_FLAGS;

	if (remote == PSI_DST && (form & ~PSI_VIS_LEGACY) != PSI_VIS_BLOCKING)
		allowed |= GEX_FLAG_ENABLE_LEAF_LC;
	psi_need_init(call);
	psi_rule_call(call);
	psi_check_flags(flags, allowed, call);
	psi_rule_transfer(NULL, NULL, 0, flags, call);
	return (struct psi_vis){ .call = call, .remote = remote, .form = form, .flags = flags };
}

/* -- native ----------------------------------------------------------------------------------- */

/* Sets the offset from the peer's addresses to those here.  Returns false if the remote side is not
 * mapped. */
static bool
vis_reach(struct psi_vis *vis)
{
	struct psi_side *side = &vis->side[vis->remote];
	const struct psi_extent extent = psi_side_extent(side);
	const uint32_t place = vis->target.place;
	const struct pst_peer *peer = &psi.peers[place];
	const size_t span = extent.hi - extent.lo;
	const enum psi_way way = vis->remote == PSI_DST ? PSI_WAY_PUT : PSI_WAY_GET;
	void *here;

	/* A nest lies between its corners, so psi_reach checks all of it. */
	if (side->kind != PSI_SIDE_NEST &&
	    PSI_UNLIKELY(extent.lo > extent.hi || span > peer->size_bytes ||
	                 extent.lo - peer->base > peer->size_bytes - span))
		psi_vis_check_pieces(vis, way);
	here = psi_reach(way, place, (void *)extent.lo, span, vis->call);
	side->offset = here ? (uintptr_t)here - extent.lo : 0;
	return here != NULL;
}

static void
vis_copy(struct psi_vis *vis)
{
	struct psi_cursor dst, src;

	psi_cursor_open(&dst, &vis->side[PSI_DST], (struct psi_position){ 0, 0 });
	psi_cursor_open(&src, &vis->side[PSI_SRC], (struct psi_position){ 0, 0 });
	psi_vis_copy(&dst, &src, vis->bytes);
}

/* -- by the conduit or by messages ------------------------------------------------------------ */

/* Describes the transfer for the conduit: addresses of the remote side become offsets in the peer's
 * segment. */
static struct psi_vis_operation
vis_operation(struct psi_vis *vis, struct psi_op *op)
{
	const bool put = vis->remote == PSI_DST, leaf = vis->flags & GEX_FLAG_ENABLE_LEAF_LC;
	struct psi_remote remote = psi_reach_remote(vis->target.place, NULL);

	vis->side[vis->remote].offset = (uintptr_t)remote.offset;
	remote.offset = 0;
	return (struct psi_vis_operation){
		.remote = remote, .owner = vis->target.ep, .there = &vis->side[vis->remote],
		.here = &vis->side[!vis->remote], .len_bytes = vis->bytes,
		.cookie = psi_op_part(op, put ? PSI_PART_PUT : PSI_PART_GET),
		.read_cookie = put && leaf ? psi_op_part(op, PSI_PART_LC) : 0,
		.is_put = put, .immediate = vis->flags & GEX_FLAG_IMMEDIATE,
	};
}

/* Starts the operation and returns what the call returns.  With `finish' it waits until the
 * transfer is done, whatever the form. */
static gex_Event_t
vis_start(struct psi_vis *vis, bool finish)
{
	const unsigned form = vis->form & ~PSI_VIS_LEGACY;
	struct psi_op *op = psi_op_begin(form == PSI_VIS_NBI && !finish);
	const gex_EP_t ep = vis->target.ep;
	const struct psi_vis_operation operation = vis_operation(vis, op);
	struct psi_begin begin = PSI_BEGIN(vis->call, "vis", vis->target.place,
	                                   operation.immediate);

	psi_op_at(op, ep);
	while (!psi_begin_over(&begin, ep->ops->vis(ep->port, &operation)))
		;
	if (!begin.begun) {
		if (operation.read_cookie)
			psi_part_done(operation.read_cookie);
		psi_part_done(operation.cookie);
		psi_op_refused(op);
		return GEX_EVENT_NO_OP;
	}
	if (!finish && form != PSI_VIS_BLOCKING)
		return psi_op_started(op, NULL);
	psi_op_finish(op, vis->call);
	return GEX_EVENT_INVALID;
}

/* -- every call -------------------------------------------------------------------------------- */

static gex_Event_t
vis_transfer(struct psi_vis *vis, gex_TM_t tm, gex_Rank_t rank)
{
	const bool put = vis->remote == PSI_DST, armed = psi_vis_armed();
	gex_Event_t event = GEX_EVENT_INVALID;
	bool mapped;

	if (armed)
		psi_vis_check_armed(vis);
	if (!vis->bytes && !armed)
		return GEX_EVENT_INVALID;
	vis->target = psi_rule_target(tm, rank, vis->call);
	if (!put && !(vis->flags & GEX_FLAG_IMMEDIATE))
		psi_poll();
	if (vis->bytes) {
		mapped = vis_reach(vis);
		if (PSI_UNLIKELY(psi.checks))
			psi_vis_rules(vis, mapped);
		if (PSI_LIKELY(mapped))
			vis_copy(vis);
		else if (!psi_vis_single_copy(vis))
			event = vis_start(vis, armed);
	}
	if (armed)
		psi_vis_tell_peer(vis->target);
	if (put && !(vis->flags & GEX_FLAG_IMMEDIATE))
		psi_poll();
	return event;
}

/* -- the three descriptions ------------------------------------------------------------------- */

struct list {
	size_t count;
	const gex_Memvec_t *list;
};

static gex_Event_t
vis_vector(struct psi_vis *vis, gex_TM_t tm, gex_Rank_t rank, struct list dst, struct list src)
{
	psi_check_list(dst.list, dst.count, sizeof *dst.list, "dstlist", vis->call);
	psi_check_list(src.list, src.count, sizeof *src.list, "srclist", vis->call);
	vis->side[PSI_DST] = psi_side_list(dst.list, dst.count);
	vis->side[PSI_SRC] = psi_side_list(src.list, src.count);
	vis->bytes = psi_side_extent(&vis->side[PSI_DST]).bytes;
	psi_vis_check_sizes(vis->bytes, psi_side_extent(&vis->side[PSI_SRC]).bytes, vis->call);
	return vis_transfer(vis, tm, rank);
}

gex_Event_t
psi_vis_vector_put(unsigned form, gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount,
                   gex_Memvec_t const dstlist[], size_t srccount, gex_Memvec_t const srclist[],
                   gex_Flags_t flags)
{
	struct psi_vis vis = vis_begin(VECTOR, PSI_DST, form, flags);

	return vis_vector(&vis, tm, dstrank, (struct list){ dstcount, dstlist },
	              (struct list){ srccount, srclist });
}

gex_Event_t
psi_vis_vector_get(unsigned form, gex_TM_t tm, size_t dstcount, gex_Memvec_t const dstlist[],
                   gex_Rank_t srcrank, size_t srccount, gex_Memvec_t const srclist[],
                   gex_Flags_t flags)
{
	struct psi_vis vis = vis_begin(VECTOR, PSI_SRC, form, flags);

	return vis_vector(&vis, tm, srcrank, (struct list){ dstcount, dstlist },
	              (struct list){ srccount, srclist });
}

struct index {
	size_t count;
	void *const *addr;
	size_t len;
};

static size_t
index_bytes(struct index side)
{
	size_t bytes;

	return __builtin_mul_overflow(side.count, side.len, &bytes) ? SIZE_MAX : bytes;
}

static gex_Event_t
vis_indexed(struct psi_vis *vis, gex_TM_t tm, gex_Rank_t rank, struct index dst, struct index src)
{
	vis->bytes = index_bytes(dst);
	psi_vis_check_sizes(vis->bytes, index_bytes(src), vis->call);
	if (vis->bytes) {
		psi_check_list(dst.addr, dst.count, sizeof *dst.addr, "dstlist", vis->call);
		psi_check_list(src.addr, src.count, sizeof *src.addr, "srclist", vis->call);
	}
	vis->side[PSI_DST] = psi_side_index(dst.addr, dst.count, dst.len);
	vis->side[PSI_SRC] = psi_side_index(src.addr, src.count, src.len);
	return vis_transfer(vis, tm, rank);
}

gex_Event_t
psi_vis_indexed_put(unsigned form, gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount,
                    void *const dstlist[], size_t dstlen, size_t srccount, void *const srclist[],
                    size_t srclen, gex_Flags_t flags)
{
	struct psi_vis vis = vis_begin(INDEXED, PSI_DST, form, flags);

	return vis_indexed(&vis, tm, dstrank, (struct index){ dstcount, dstlist, dstlen },
	               (struct index){ srccount, srclist, srclen });
}

gex_Event_t
psi_vis_indexed_get(unsigned form, gex_TM_t tm, size_t dstcount, void *const dstlist[],
                    size_t dstlen, gex_Rank_t srcrank, size_t srccount, void *const srclist[],
                    size_t srclen, gex_Flags_t flags)
{
	struct psi_vis vis = vis_begin(INDEXED, PSI_SRC, form, flags);

	return vis_indexed(&vis, tm, srcrank, (struct index){ dstcount, dstlist, dstlen },
	               (struct index){ srccount, srclist, srclen });
}

static bool
counts_have_zero(const size_t *count, size_t levels)
{
	for (size_t k = 0; k < levels; k++)
		if (!count[k])
			return true;
	return false;
}

static gex_Event_t
vis_strided(struct psi_vis *vis, gex_TM_t tm, gex_Rank_t rank,
            const struct psi_strides side[PSI_SIDES], size_t elem, const size_t *count,
            size_t levels)
{
	struct psi_lattice lattice;
	struct psi_nest nest[PSI_SIDES];

	if (vis->form & PSI_VIS_LEGACY && !count)
		psi_list_bad(NULL, levels + 1, "count", vis->call);
	if (!elem)
		return vis_transfer(vis, tm, rank);
	psi_vis_need_strides(side, count, levels, vis->call);
	if (counts_have_zero(count, levels))
		return vis_transfer(vis, tm, rank);
	if (!psi_lattice_make(&lattice, side[PSI_DST], side[PSI_SRC], elem, count, levels) ||
	    !psi_fits_memory(psi_lattice_bytes(&lattice), 1))
		psi_fatal("%s: elemsz and the counts make more bytes than a process can address; "
		          "count pieces, not bytes", vis->call);
	if (levels && PSI_UNLIKELY(psi.checks))
		psi_vis_rules_strides(side, elem, count, levels, vis->form & PSI_VIS_LEGACY,
		                      vis->call);
	for (unsigned which = 0; which < PSI_SIDES; which++)
		vis->side[which] = psi_lattice_side(&lattice, which, &nest[which]);
	vis->bytes = psi_lattice_bytes(&lattice);
	return vis_transfer(vis, tm, rank);
}

gex_Event_t
psi_vis_strided_put(unsigned form, gex_TM_t tm, gex_Rank_t dstrank, void *dstaddr,
                    const ptrdiff_t dststrides[], void *srcaddr, const ptrdiff_t srcstrides[],
                    size_t elemsz, const size_t count[], size_t stridelevels, gex_Flags_t flags)
{
	struct psi_vis vis = vis_begin(STRIDED, PSI_DST, form, flags);
	const struct psi_strides side[] = { { dstaddr, dststrides }, { srcaddr, srcstrides } };

	return vis_strided(&vis, tm, dstrank, side, elemsz, count, stridelevels);
}

gex_Event_t
psi_vis_strided_get(unsigned form, gex_TM_t tm, void *dstaddr, const ptrdiff_t dststrides[],
                    gex_Rank_t srcrank, void *srcaddr, const ptrdiff_t srcstrides[], size_t elemsz,
                    const size_t count[], size_t stridelevels, gex_Flags_t flags)
{
	struct psi_vis vis = vis_begin(STRIDED, PSI_SRC, form, flags);
	const struct psi_strides side[] = { { dstaddr, dststrides }, { srcaddr, srcstrides } };

	return vis_strided(&vis, tm, srcrank, side, elemsz, count, stridelevels);
}
