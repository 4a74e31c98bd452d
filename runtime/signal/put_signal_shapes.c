/* Put with signal of many pieces: the transfer of that shape, and the signal behind it. */
#include "runtime/signal/put_signal.h"

#include "runtime/op/op.h"

#include "gasnet_vis.h"

enum { SHAPE_FLAGS = GEX_FLAG_ENABLE_LEAF_LC };

static struct psi_signalled
shapes_begin(const struct psi_signal_names *names, unsigned how, gex_TM_t tm, gex_Rank_t rank,
      const pst_signal_t *sig, gex_Flags_t flags)
{
	return psi_signalled(names, how, tm, rank, sig, flags,
	                     PST_FLAG_LOCAL_ONLY | (how == PSI_SIGNAL_BLOCKING ? 0 : SHAPE_FLAGS));
}

/* The flags of the transfer. */
static gex_Flags_t
shapes_transfer_flags(const struct psi_signalled *s)
{
	return s->flags | (s->local_only ? GEX_FLAG_ENABLE_LEAF_LC : 0);
}

static gex_Event_t
shapes_signal_behind(const struct psi_signalled *s, gex_Event_t moved)
{
	gex_Event_t leaf = GEX_EVENT_INVALID;

	if (moved == GEX_EVENT_NO_OP)
		return psi_signal_refused(s);
	if (shapes_transfer_flags(s) & GEX_FLAG_ENABLE_LEAF_LC)
		leaf = gex_Event_QueryLeaf(moved, GEX_EC_LC);
	return psi_signal_behind(s, moved, leaf);
}

/* -- vector ---------------------------------------------------------------------------------- */

static gex_Event_t
shapes_vector(unsigned how, gex_TM_t tm, gex_Rank_t rank, size_t dstcount,
              const gex_Memvec_t *dstlist, size_t srccount, const gex_Memvec_t *srclist,
              const pst_signal_t *sig, gex_Flags_t flags)
{
	static const struct psi_signal_names names = {
		{ "pst_putv_signal", "pst_putv_signal_nb", "pst_putv_signal_nbi" }, false,
	};
	const struct psi_signalled s = shapes_begin(&names, how, tm, rank, sig, flags);

	psi_signal_check_vector(&s, dstcount, dstlist);
	return shapes_signal_behind(&s, gex_VIS_VectorPutNB(tm, rank, dstcount, dstlist, srccount,
	                                                    srclist, shapes_transfer_flags(&s)));
}

int
pst_putv_signal(gex_TM_t tm, gex_Rank_t rank, size_t dstcount, const gex_Memvec_t *dstlist,
                size_t srccount, const gex_Memvec_t *srclist, const pst_signal_t *sig,
                gex_Flags_t flags)
{
	return psi_signal_code(shapes_vector(PSI_SIGNAL_BLOCKING, tm, rank, dstcount, dstlist,
	                                     srccount, srclist, sig, flags));
}

gex_Event_t
pst_putv_signal_nb(gex_TM_t tm, gex_Rank_t rank, size_t dstcount, const gex_Memvec_t *dstlist,
                   size_t srccount, const gex_Memvec_t *srclist, const pst_signal_t *sig,
                   gex_Flags_t flags)
{
	return shapes_vector(PSI_SIGNAL_NB, tm, rank, dstcount, dstlist, srccount, srclist, sig,
	                     flags);
}

int
pst_putv_signal_nbi(gex_TM_t tm, gex_Rank_t rank, size_t dstcount, const gex_Memvec_t *dstlist,
                    size_t srccount, const gex_Memvec_t *srclist, const pst_signal_t *sig,
                    gex_Flags_t flags)
{
	return psi_signal_code(shapes_vector(PSI_SIGNAL_NBI, tm, rank, dstcount, dstlist, srccount,
	                                     srclist, sig, flags));
}

/* -- indexed --------------------------------------------------------------------------------- */

static gex_Event_t
shapes_indexed(unsigned how, gex_TM_t tm, gex_Rank_t rank, size_t dstcount, void *const *dstlist,
        size_t dstlen, size_t srccount, void *const *srclist, size_t srclen,
        const pst_signal_t *sig, gex_Flags_t flags)
{
	static const struct psi_signal_names names = {
		{ "pst_puti_signal", "pst_puti_signal_nb", "pst_puti_signal_nbi" }, false,
	};
	const struct psi_signalled s = shapes_begin(&names, how, tm, rank, sig, flags);

	psi_signal_check_indexed(&s, dstcount, dstlist, dstlen);
	return shapes_signal_behind(
		&s, gex_VIS_IndexedPutNB(tm, rank, dstcount, dstlist, dstlen, srccount, srclist,
	                                 srclen, shapes_transfer_flags(&s)));
}

int
pst_puti_signal(gex_TM_t tm, gex_Rank_t rank, size_t dstcount, void *const *dstlist, size_t dstlen,
                size_t srccount, void *const *srclist, size_t srclen, const pst_signal_t *sig,
                gex_Flags_t flags)
{
	return psi_signal_code(shapes_indexed(PSI_SIGNAL_BLOCKING, tm, rank, dstcount, dstlist,
	                                      dstlen, srccount, srclist, srclen, sig, flags));
}

gex_Event_t
pst_puti_signal_nb(gex_TM_t tm, gex_Rank_t rank, size_t dstcount, void *const *dstlist,
                   size_t dstlen, size_t srccount, void *const *srclist, size_t srclen,
                   const pst_signal_t *sig, gex_Flags_t flags)
{
	return shapes_indexed(PSI_SIGNAL_NB, tm, rank, dstcount, dstlist, dstlen, srccount, srclist,
	               srclen, sig, flags);
}

int
pst_puti_signal_nbi(gex_TM_t tm, gex_Rank_t rank, size_t dstcount, void *const *dstlist,
                    size_t dstlen, size_t srccount, void *const *srclist, size_t srclen,
                    const pst_signal_t *sig, gex_Flags_t flags)
{
	return psi_signal_code(shapes_indexed(PSI_SIGNAL_NBI, tm, rank, dstcount, dstlist, dstlen,
	                               srccount, srclist, srclen, sig, flags));
}

/* -- strided --------------------------------------------------------------------------------- */

static gex_Event_t
shapes_strided(unsigned how, gex_TM_t tm, gex_Rank_t rank, void *dst, const ptrdiff_t *dststrides,
        const void *src, const ptrdiff_t *srcstrides, size_t elemsz, const size_t *count,
        size_t stridelevels, const pst_signal_t *sig, gex_Flags_t flags)
{
	static const struct psi_signal_names names = {
		{ "pst_puts_signal", "pst_puts_signal_nb", "pst_puts_signal_nbi" }, false,
	};
	const struct psi_signalled s = shapes_begin(&names, how, tm, rank, sig, flags);

	psi_signal_check_strided(&s, dst, dststrides, elemsz, count, stridelevels);
	return shapes_signal_behind(
		&s,
		gex_VIS_StridedPutNB(tm, rank, dst, dststrides, (void *)(uintptr_t)src, srcstrides,
	                             elemsz, count, stridelevels, shapes_transfer_flags(&s)));
}

int
pst_puts_signal(gex_TM_t tm, gex_Rank_t rank, void *dst, const ptrdiff_t *dststrides,
                const void *src, const ptrdiff_t *srcstrides, size_t elemsz, const size_t *count,
                size_t stridelevels, const pst_signal_t *sig, gex_Flags_t flags)
{
	return psi_signal_code(shapes_strided(PSI_SIGNAL_BLOCKING, tm, rank, dst, dststrides, src,
	                               srcstrides, elemsz, count, stridelevels, sig, flags));
}

gex_Event_t
pst_puts_signal_nb(gex_TM_t tm, gex_Rank_t rank, void *dst, const ptrdiff_t *dststrides,
                   const void *src, const ptrdiff_t *srcstrides, size_t elemsz,
                   const size_t *count, size_t stridelevels, const pst_signal_t *sig,
                   gex_Flags_t flags)
{
	return shapes_strided(PSI_SIGNAL_NB, tm, rank, dst, dststrides, src, srcstrides, elemsz,
	                      count, stridelevels, sig, flags);
}

int
pst_puts_signal_nbi(gex_TM_t tm, gex_Rank_t rank, void *dst, const ptrdiff_t *dststrides,
                    const void *src, const ptrdiff_t *srcstrides, size_t elemsz,
                    const size_t *count, size_t stridelevels, const pst_signal_t *sig,
                    gex_Flags_t flags)
{
	return psi_signal_code(shapes_strided(PSI_SIGNAL_NBI, tm, rank, dst, dststrides, src,
	                                      srcstrides, elemsz, count, stridelevels, sig, flags));
}
