/*
 * gasnet_legacy_vis.h: GASNet-1 transfers of data that lies in pieces.
 *
 * Strides are unsigned here; count[0] is the length of a chunk in bytes, and
 * the counts of the dimensions follow. Dimensions go from the inner to the
 * outer: strides[0] >= count[0] and strides[k] >= count[k] * strides[k - 1].
 */
#ifndef GASNET_LEGACY_VIS_H
#define GASNET_LEGACY_VIS_H

#include "gasnet_legacy_core.h"
#include "gasnet_legacy_rma.h"
#include "gasnet_vis.h"

PSI_BEGIN_DECLS

/* The same two members as gex_Memvec_t. */
PSI_INLINE const gex_Memvec_t *
psi_vis_list(gasnet_memvec_t const *vectors)
{
	return PSI_STATIC_CAST(const gex_Memvec_t *, PSI_STATIC_CAST(const void *, vectors));
}

PSI_INLINE const ptrdiff_t *
psi_vis_strides(const size_t *strides)
{
	return PSI_STATIC_CAST(const ptrdiff_t *, PSI_STATIC_CAST(const void *, strides));
}

/* Length and counts of the dimensions; of NULL the library says what is wrong. */
PSI_INLINE size_t
psi_vis_length(const size_t *count)
{
	return count == _GEX_NULL(const size_t *) ? 1 : count[0];
}

PSI_INLINE const size_t *
psi_vis_counts(const size_t *count)
{
	return count == _GEX_NULL(const size_t *) ? count : count + 1;
}

/* As PSI_VIS_CALLS; statement makes one of a call. */
#define PSI_VIS_RETURN(call) return call
#define PSI_VIS_DROP(call)   (void)(call)

#define PSI_VIS_LEGACY_CALLS(suffix, form, returned, statement)                                    \
	PSI_INLINE returned gasnet_putv_##suffix(gasnet_node_t dstnode, size_t dstcount,           \
	                                         const gasnet_memvec_t *dstlist, size_t srccount,  \
	                                         const gasnet_memvec_t *srclist)                   \
	{                                                                                          \
		statement(psi_vis_vector_put((form) | PSI_VIS_LEGACY, PSI_TM_LEGACY, dstnode,      \
		                             dstcount, psi_vis_list(dstlist), srccount,            \
		                             psi_vis_list(srclist), 0));                           \
	}                                                                                          \
	PSI_INLINE returned gasnet_getv_##suffix(size_t dstcount, const gasnet_memvec_t *dstlist,  \
	                                         gasnet_node_t srcnode, size_t srccount,           \
	                                         const gasnet_memvec_t *srclist)                   \
	{                                                                                          \
		statement(psi_vis_vector_get((form) | PSI_VIS_LEGACY, PSI_TM_LEGACY, dstcount,     \
		                             psi_vis_list(dstlist), srcnode, srccount,             \
		                             psi_vis_list(srclist), 0));                           \
	}                                                                                          \
	PSI_INLINE returned gasnet_puti_##suffix(                                                  \
		gasnet_node_t dstnode, size_t dstcount, void *const *dstlist, size_t dstlen,       \
		size_t srccount, void *const *srclist, size_t srclen)                              \
	{                                                                                          \
		statement(psi_vis_indexed_put((form) | PSI_VIS_LEGACY, PSI_TM_LEGACY, dstnode,     \
		                              dstcount, dstlist, dstlen, srccount, srclist,        \
		                              srclen, 0));                                         \
	}                                                                                          \
	PSI_INLINE returned gasnet_geti_##suffix(                                                  \
		size_t dstcount, void *const *dstlist, size_t dstlen, gasnet_node_t srcnode,       \
		size_t srccount, void *const *srclist, size_t srclen)                              \
	{                                                                                          \
		statement(psi_vis_indexed_get((form) | PSI_VIS_LEGACY, PSI_TM_LEGACY, dstcount,    \
		                              dstlist, dstlen, srcnode, srccount, srclist, srclen, \
		                              0));                                                 \
	}                                                                                          \
	PSI_INLINE returned gasnet_puts_##suffix(                                                  \
		gasnet_node_t dstnode, void *dstaddr, const size_t *dststrides, void *srcaddr,     \
		const size_t *srcstrides, const size_t *count, size_t stridelevels)                \
	{                                                                                          \
		statement(psi_vis_strided_put((form) | PSI_VIS_LEGACY, PSI_TM_LEGACY, dstnode,     \
		                              dstaddr, psi_vis_strides(dststrides), srcaddr,       \
		                              psi_vis_strides(srcstrides), psi_vis_length(count),  \
		                              psi_vis_counts(count), stridelevels, 0));            \
	}                                                                                          \
	PSI_INLINE returned gasnet_gets_##suffix(                                                  \
		void *dstaddr, const size_t *dststrides, gasnet_node_t srcnode, void *srcaddr,     \
		const size_t *srcstrides, const size_t *count, size_t stridelevels)                \
	{                                                                                          \
		statement(psi_vis_strided_get((form) | PSI_VIS_LEGACY, PSI_TM_LEGACY, dstaddr,     \
		                              psi_vis_strides(dststrides), srcnode, srcaddr,       \
		                              psi_vis_strides(srcstrides), psi_vis_length(count),  \
		                              psi_vis_counts(count), stridelevels, 0));            \
	}

PSI_VIS_LEGACY_CALLS(bulk, PSI_VIS_BLOCKING, void, PSI_VIS_DROP)
PSI_VIS_LEGACY_CALLS(nb_bulk, PSI_VIS_NB, gasnet_handle_t, PSI_VIS_RETURN)
PSI_VIS_LEGACY_CALLS(nbi_bulk, PSI_VIS_NBI, void, PSI_VIS_DROP)

PSI_END_DECLS

#endif
