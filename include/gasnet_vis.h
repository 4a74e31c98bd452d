/*
 * gasnet_vis.h: put and get of data that lies in pieces: vectors, indexed
 * and strided.
 *
 * Each call has three forms. NB returns an event, GEX_EVENT_NO_OP if
 * GEX_FLAG_IMMEDIATE was refused; NBI and Blocking return 0, or 1 for a
 * refusal. Lists must stay as they are until the operation is synchronised;
 * the three arrays of a strided call only until it returns. Bytes go in the
 * order of the lists, whose boundaries need not agree, and both sides have
 * as many. No byte of the destination may be another's, nor a source's.
 */
#ifndef GASNET_VIS_H
#define GASNET_VIS_H

#include "gasnetex.h"

/* Largest payload of gex_VIS_SetPeerCompletionHandler. */
#define GEX_VIS_MAX_PEERCOMPLETION 127

/* The inlines pass this to the library: the form of the call, and the interface it belongs to. */
#define PSI_VIS_NB       0u
#define PSI_VIS_NBI      1u
#define PSI_VIS_BLOCKING 2u
#define PSI_VIS_LEGACY   4u

PSI_BEGIN_DECLS

/* The event; of NBI and Blocking GEX_EVENT_INVALID, or GEX_EVENT_NO_OP for a refusal. */
PSI_API gex_Event_t psi_vis_vector_put(unsigned form, gex_TM_t tm, gex_Rank_t dstrank,
                                       size_t dstcount, const gex_Memvec_t *dstlist,
                                       size_t srccount, const gex_Memvec_t *srclist,
                                       gex_Flags_t flags);
PSI_API gex_Event_t psi_vis_vector_get(unsigned form, gex_TM_t tm, size_t dstcount,
                                       const gex_Memvec_t *dstlist, gex_Rank_t srcrank,
                                       size_t srccount, const gex_Memvec_t *srclist,
                                       gex_Flags_t flags);
PSI_API gex_Event_t psi_vis_indexed_put(unsigned form, gex_TM_t tm, gex_Rank_t dstrank,
                                        size_t dstcount, void *const *dstlist, size_t dstlen,
                                        size_t srccount, void *const *srclist, size_t srclen,
                                        gex_Flags_t flags);
PSI_API gex_Event_t psi_vis_indexed_get(unsigned form, gex_TM_t tm, size_t dstcount,
                                        void *const *dstlist, size_t dstlen, gex_Rank_t srcrank,
                                        size_t srccount, void *const *srclist, size_t srclen,
                                        gex_Flags_t flags);
PSI_API gex_Event_t psi_vis_strided_put(unsigned form, gex_TM_t tm, gex_Rank_t dstrank,
                                        void *dstaddr, const ptrdiff_t *dststrides, void *srcaddr,
                                        const ptrdiff_t *srcstrides, size_t elemsz,
                                        const size_t *count, size_t stridelevels,
                                        gex_Flags_t flags);
PSI_API gex_Event_t psi_vis_strided_get(unsigned form, gex_TM_t tm, void *dstaddr,
                                        const ptrdiff_t *dststrides, gex_Rank_t srcrank,
                                        void *srcaddr, const ptrdiff_t *srcstrides, size_t elemsz,
                                        const size_t *count, size_t stridelevels,
                                        gex_Flags_t flags);

/*
 * The calls. Suffix is that of the name, form the number of it, returned the
 * type, and result(event) makes one of the event.
 */
#define PSI_VIS_RESULT_EVENT(event) (event)
#define PSI_VIS_RESULT_INT(event)   ((event) == GEX_EVENT_NO_OP)

#define PSI_VIS_CALLS(suffix, form, returned, result)                                              \
	PSI_INLINE returned gex_VIS_VectorPut##suffix(                                             \
		gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount, const gex_Memvec_t *dstlist,     \
		size_t srccount, const gex_Memvec_t *srclist, gex_Flags_t flags)                   \
	{                                                                                          \
		return result(psi_vis_vector_put(form, tm, dstrank, dstcount, dstlist, srccount,   \
		                                 srclist, flags));                                 \
	}                                                                                          \
	PSI_INLINE returned gex_VIS_VectorGet##suffix(                                             \
		gex_TM_t tm, size_t dstcount, const gex_Memvec_t *dstlist, gex_Rank_t srcrank,     \
		size_t srccount, const gex_Memvec_t *srclist, gex_Flags_t flags)                   \
	{                                                                                          \
		return result(psi_vis_vector_get(form, tm, dstcount, dstlist, srcrank, srccount,   \
		                                 srclist, flags));                                 \
	}                                                                                          \
	PSI_INLINE returned gex_VIS_IndexedPut##suffix(                                            \
		gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount, void *const *dstlist,            \
		size_t dstlen, size_t srccount, void *const *srclist, size_t srclen,               \
		gex_Flags_t flags)                                                                 \
	{                                                                                          \
		return result(psi_vis_indexed_put(form, tm, dstrank, dstcount, dstlist, dstlen,    \
		                                  srccount, srclist, srclen, flags));              \
	}                                                                                          \
	PSI_INLINE returned gex_VIS_IndexedGet##suffix(                                            \
		gex_TM_t tm, size_t dstcount, void *const *dstlist, size_t dstlen,                 \
		gex_Rank_t srcrank, size_t srccount, void *const *srclist, size_t srclen,          \
		gex_Flags_t flags)                                                                 \
	{                                                                                          \
		return result(psi_vis_indexed_get(form, tm, dstcount, dstlist, dstlen, srcrank,    \
		                                  srccount, srclist, srclen, flags));              \
	}                                                                                          \
	PSI_INLINE returned gex_VIS_StridedPut##suffix(                                            \
		gex_TM_t tm, gex_Rank_t dstrank, void *dstaddr, const ptrdiff_t *dststrides,       \
		void *srcaddr, const ptrdiff_t *srcstrides, size_t elemsz, const size_t *count,    \
		size_t stridelevels, gex_Flags_t flags)                                            \
	{                                                                                          \
		return result(psi_vis_strided_put(form, tm, dstrank, dstaddr, dststrides, srcaddr, \
		                                  srcstrides, elemsz, count, stridelevels,         \
		                                  flags));                                         \
	}                                                                                          \
	PSI_INLINE returned gex_VIS_StridedGet##suffix(                                            \
		gex_TM_t tm, void *dstaddr, const ptrdiff_t *dststrides, gex_Rank_t srcrank,       \
		void *srcaddr, const ptrdiff_t *srcstrides, size_t elemsz, const size_t *count,    \
		size_t stridelevels, gex_Flags_t flags)                                            \
	{                                                                                          \
		return result(psi_vis_strided_get(form, tm, dstaddr, dststrides, srcrank, srcaddr, \
		                                  srcstrides, elemsz, count, stridelevels,         \
		                                  flags));                                         \
	}

PSI_VIS_CALLS(NB, PSI_VIS_NB, __attribute__((__warn_unused_result__)) gex_Event_t,
              PSI_VIS_RESULT_EVENT)
PSI_VIS_CALLS(NBI, PSI_VIS_NBI, int, PSI_VIS_RESULT_INT)
PSI_VIS_CALLS(Blocking, PSI_VIS_BLOCKING, int, PSI_VIS_RESULT_INT)

/*
 * Deprecated. When the data of the calling thread's next put is in place, the
 * handler of that index runs at its target, as a Medium reply without
 * arguments whose payload is a copy of these bytes; 0 takes that back. That
 * put may not be GEX_FLAG_IMMEDIATE, and no get. The bytes must stay as they
 * are until the put is complete.
 */
PSI_API void gex_VIS_SetPeerCompletionHandler(gex_AM_Index_t handler, const void *source_addr,
                                              size_t nbytes, gex_Flags_t flags);

PSI_END_DECLS

#endif
