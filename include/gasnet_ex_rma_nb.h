/*
 * gasnet_ex_rma_nb.h: non-blocking put and get. To a peer whose segment is
 * mapped here the copy is made on the spot, as by the blocking forms, and all
 * is done when the call returns.
 */
#ifndef GASNET_EX_RMA_NB_H
#define GASNET_EX_RMA_NB_H

#include "gasnet_ex_event.h"
#include "gasnet_ex_rma.h"

/* An event that is neither kept nor synchronised is a leak. */
#define PSI_MUST_SYNC __attribute__((__warn_unused_result__))

PSI_BEGIN_DECLS

/* The cases that the inlines leave to the library; arguments as in the call of the same name. */
PSI_API gex_Event_t psi_rma_put_nb(gex_TM_t tm, gex_Rank_t rank, void *dest, const void *src,
				   size_t nbytes, gex_Event_t *lc_opt, gex_Flags_t flags);
PSI_API int psi_rma_put_nbi(gex_TM_t tm, gex_Rank_t rank, void *dest, const void *src,
			    size_t nbytes, gex_Event_t *lc_opt, gex_Flags_t flags);
PSI_API gex_Event_t psi_rma_get_nb(gex_TM_t tm, void *dest, gex_Rank_t rank, const void *src,
				   size_t nbytes, gex_Flags_t flags);
PSI_API int psi_rma_get_nbi(gex_TM_t tm, void *dest, gex_Rank_t rank, const void *src,
			    size_t nbytes, gex_Flags_t flags);

/* NOW, DEFER, or the address of an event; the library says what else is wrong. */
PSI_INLINE int
psi_lc_is_explicit(gex_Event_t *lc_opt)
{
	return lc_opt != _GEX_NULL(gex_Event_t *) && lc_opt != GEX_EVENT_GROUP;
}

/* NOW, DEFER or GROUP. */
PSI_INLINE int
psi_lc_is_implicit(gex_Event_t *lc_opt)
{
	return lc_opt == GEX_EVENT_NOW || lc_opt == GEX_EVENT_DEFER || lc_opt == GEX_EVENT_GROUP;
}

/* The source has been read. */
PSI_INLINE void
psi_lc_done(gex_Event_t *lc_opt)
{
	if (lc_opt != GEX_EVENT_NOW && lc_opt != GEX_EVENT_DEFER)
		*lc_opt = GEX_EVENT_INVALID;
}

PSI_INLINE PSI_MUST_SYNC gex_Event_t
gex_RMA_PutNB(gex_TM_t tm, gex_Rank_t rank, void *dest, const void *src, size_t nbytes,
	      gex_Event_t *lc_opt, gex_Flags_t flags)
{
	const struct pst_inline *table = pst_inline_v1;
	void *there;

	if (PSI_UNLIKELY(!psi_lc_is_explicit(lc_opt)))
		return psi_rma_put_nb(tm, rank, dest, src, nbytes, lc_opt, flags);
	there = psi_rma_reach(table, PSI_RMA_COUNT_PUTS, tm, rank, dest, nbytes, flags);
	if (PSI_UNLIKELY(there == NULL))
		return psi_rma_put_nb(tm, rank, dest, src, nbytes, lc_opt, flags);
	psi_rma_copy(table, there, src, nbytes);
	psi_lc_done(lc_opt);
	return GEX_EVENT_INVALID;
}

PSI_INLINE int
gex_RMA_PutNBI(gex_TM_t tm, gex_Rank_t rank, void *dest, const void *src, size_t nbytes,
	       gex_Event_t *lc_opt, gex_Flags_t flags)
{
	const struct pst_inline *table = pst_inline_v1;
	void *there;

	if (PSI_UNLIKELY(!psi_lc_is_implicit(lc_opt)))
		return psi_rma_put_nbi(tm, rank, dest, src, nbytes, lc_opt, flags);
	there = psi_rma_reach(table, PSI_RMA_COUNT_PUTS, tm, rank, dest, nbytes, flags);
	if (PSI_UNLIKELY(there == NULL))
		return psi_rma_put_nbi(tm, rank, dest, src, nbytes, lc_opt, flags);
	psi_rma_copy(table, there, src, nbytes);
	return GASNET_OK;
}

PSI_INLINE PSI_MUST_SYNC gex_Event_t
gex_RMA_GetNB(gex_TM_t tm, void *dest, gex_Rank_t rank, const void *src, size_t nbytes,
	      gex_Flags_t flags)
{
	const struct pst_inline *table = pst_inline_v1;
	const void *there = psi_rma_reach(table, PSI_RMA_COUNT_GETS, tm, rank, src, nbytes, flags);

	if (PSI_UNLIKELY(there == NULL))
		return psi_rma_get_nb(tm, dest, rank, src, nbytes, flags);
	psi_rma_copy(table, dest, there, nbytes);
	return GEX_EVENT_INVALID;
}

PSI_INLINE int
gex_RMA_GetNBI(gex_TM_t tm, void *dest, gex_Rank_t rank, const void *src, size_t nbytes,
	       gex_Flags_t flags)
{
	const struct pst_inline *table = pst_inline_v1;
	const void *there = psi_rma_reach(table, PSI_RMA_COUNT_GETS, tm, rank, src, nbytes, flags);

	if (PSI_UNLIKELY(there == NULL))
		return psi_rma_get_nbi(tm, dest, rank, src, nbytes, flags);
	psi_rma_copy(table, dest, there, nbytes);
	return GASNET_OK;
}

PSI_INLINE PSI_MUST_SYNC gex_Event_t
gex_RMA_PutNBVal(gex_TM_t tm, gex_Rank_t rank, void *dest, gex_RMA_Value_t value, size_t nbytes,
		 gex_Flags_t flags)
{
	return gex_RMA_PutNB(tm, rank, dest, psi_rma_value_bytes(&value, nbytes), nbytes,
			     GEX_EVENT_NOW, flags);
}

PSI_INLINE int
gex_RMA_PutNBIVal(gex_TM_t tm, gex_Rank_t rank, void *dest, gex_RMA_Value_t value, size_t nbytes,
		  gex_Flags_t flags)
{
	return gex_RMA_PutNBI(tm, rank, dest, psi_rma_value_bytes(&value, nbytes), nbytes,
			      GEX_EVENT_NOW, flags);
}

PSI_END_DECLS

#endif
