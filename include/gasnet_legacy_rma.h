/* gasnet_legacy_rma.h: GASNet-1 put, get and memset, and synchronisation. */
#ifndef GASNET_LEGACY_RMA_H
#define GASNET_LEGACY_RMA_H

#include "gasnetex.h"

typedef gex_Event_t gasnet_handle_t;
typedef gex_RMA_Value_t gasnet_register_value_t;

#define GASNET_INVALID_HANDLE          GEX_EVENT_INVALID
#define SIZEOF_GASNET_REGISTER_VALUE_T SIZEOF_GEX_RMA_VALUE_T

PSI_BEGIN_DECLS

PSI_INLINE void
gasnet_put(gasnet_node_t node, void *dest, const void *src, size_t nbytes)
{
	(void)gex_RMA_PutBlocking(PSI_TM_LEGACY, node, dest, src, nbytes, 0);
}

PSI_INLINE void
gasnet_put_bulk(gasnet_node_t node, void *dest, const void *src, size_t nbytes)
{
	(void)gex_RMA_PutBlocking(PSI_TM_LEGACY, node, dest, src, nbytes, 0);
}

PSI_INLINE void
gasnet_get(void *dest, gasnet_node_t node, const void *src, size_t nbytes)
{
	(void)gex_RMA_GetBlocking(PSI_TM_LEGACY, dest, node, src, nbytes, 0);
}

PSI_INLINE void
gasnet_get_bulk(void *dest, gasnet_node_t node, const void *src, size_t nbytes)
{
	(void)gex_RMA_GetBlocking(PSI_TM_LEGACY, dest, node, src, nbytes, 0);
}

PSI_INLINE void
gasnet_put_val(gasnet_node_t node, void *dest, gasnet_register_value_t value, size_t nbytes)
{
	(void)gex_RMA_PutBlockingVal(PSI_TM_LEGACY, node, dest, value, nbytes, 0);
}

PSI_INLINE gasnet_register_value_t
gasnet_get_val(gasnet_node_t node, const void *src, size_t nbytes)
{
	return gex_RMA_GetBlockingVal(PSI_TM_LEGACY, node, src, nbytes, 0);
}

/* Handles are events. The try forms poll first; those named nopoll do not. */
PSI_INLINE void
gasnet_wait_syncnb(gasnet_handle_t handle)
{
	gex_Event_Wait(handle);
}

PSI_INLINE void
gasnet_wait_syncnb_some(gasnet_handle_t *phandle, size_t numhandles)
{
	gex_Event_WaitSome(phandle, numhandles, 0);
}

PSI_INLINE void
gasnet_wait_syncnb_all(gasnet_handle_t *phandle, size_t numhandles)
{
	gex_Event_WaitAll(phandle, numhandles, 0);
}

PSI_INLINE int
gasnet_try_syncnb_nopoll(gasnet_handle_t handle)
{
	return gex_Event_Test(handle) ? GASNET_ERR_NOT_READY : GASNET_OK;
}

PSI_INLINE int
gasnet_try_syncnb_some_nopoll(gasnet_handle_t *phandle, size_t numhandles)
{
	return gex_Event_TestSome(phandle, numhandles, 0) ? GASNET_ERR_NOT_READY : GASNET_OK;
}

PSI_INLINE int
gasnet_try_syncnb_all_nopoll(gasnet_handle_t *phandle, size_t numhandles)
{
	return gex_Event_TestAll(phandle, numhandles, 0) ? GASNET_ERR_NOT_READY : GASNET_OK;
}

PSI_INLINE int
gasnet_try_syncnb(gasnet_handle_t handle)
{
	(void)gasnet_AMPoll();
	return gasnet_try_syncnb_nopoll(handle);
}

PSI_INLINE int
gasnet_try_syncnb_some(gasnet_handle_t *phandle, size_t numhandles)
{
	(void)gasnet_AMPoll();
	return gasnet_try_syncnb_some_nopoll(phandle, numhandles);
}

PSI_INLINE int
gasnet_try_syncnb_all(gasnet_handle_t *phandle, size_t numhandles)
{
	(void)gasnet_AMPoll();
	return gasnet_try_syncnb_all_nopoll(phandle, numhandles);
}

PSI_INLINE void
gasnet_wait_syncnbi_gets(void)
{
	gex_NBI_Wait(GEX_EC_GET, 0);
}

PSI_INLINE void
gasnet_wait_syncnbi_puts(void)
{
	gex_NBI_Wait(GEX_EC_PUT, 0);
}

PSI_INLINE void
gasnet_wait_syncnbi_all(void)
{
	gex_NBI_Wait(GEX_EC_ALL, 0);
}

PSI_INLINE int
psi_legacy_try_nbi(gex_EC_t mask)
{
	(void)gasnet_AMPoll();
	return gex_NBI_Test(mask, 0) ? GASNET_ERR_NOT_READY : GASNET_OK;
}

PSI_INLINE int
gasnet_try_syncnbi_gets(void)
{
	return psi_legacy_try_nbi(GEX_EC_GET);
}

PSI_INLINE int
gasnet_try_syncnbi_puts(void)
{
	return psi_legacy_try_nbi(GEX_EC_PUT);
}

PSI_INLINE int
gasnet_try_syncnbi_all(void)
{
	return psi_legacy_try_nbi(GEX_EC_ALL);
}

PSI_INLINE void
gasnet_begin_nbi_accessregion(void)
{
	gex_NBI_BeginAccessRegion(0);
}

PSI_INLINE PSI_MUST_SYNC gasnet_handle_t
gasnet_end_nbi_accessregion(void)
{
	return gex_NBI_EndAccessRegion(0);
}

/* Non-blocking put and get; bulk puts leave the source alone until they are synchronised. */
PSI_INLINE PSI_MUST_SYNC gasnet_handle_t
gasnet_put_nb(gasnet_node_t node, void *dest, const void *src, size_t nbytes)
{
	return gex_RMA_PutNB(PSI_TM_LEGACY, node, dest, src, nbytes, GEX_EVENT_NOW, 0);
}

PSI_INLINE PSI_MUST_SYNC gasnet_handle_t
gasnet_put_nb_bulk(gasnet_node_t node, void *dest, const void *src, size_t nbytes)
{
	return gex_RMA_PutNB(PSI_TM_LEGACY, node, dest, src, nbytes, GEX_EVENT_DEFER, 0);
}

PSI_INLINE void
gasnet_put_nbi(gasnet_node_t node, void *dest, const void *src, size_t nbytes)
{
	(void)gex_RMA_PutNBI(PSI_TM_LEGACY, node, dest, src, nbytes, GEX_EVENT_NOW, 0);
}

PSI_INLINE void
gasnet_put_nbi_bulk(gasnet_node_t node, void *dest, const void *src, size_t nbytes)
{
	(void)gex_RMA_PutNBI(PSI_TM_LEGACY, node, dest, src, nbytes, GEX_EVENT_DEFER, 0);
}

PSI_INLINE PSI_MUST_SYNC gasnet_handle_t
gasnet_get_nb(void *dest, gasnet_node_t node, const void *src, size_t nbytes)
{
	return gex_RMA_GetNB(PSI_TM_LEGACY, dest, node, src, nbytes, 0);
}

PSI_INLINE PSI_MUST_SYNC gasnet_handle_t
gasnet_get_nb_bulk(void *dest, gasnet_node_t node, const void *src, size_t nbytes)
{
	return gex_RMA_GetNB(PSI_TM_LEGACY, dest, node, src, nbytes, 0);
}

PSI_INLINE void
gasnet_get_nbi(void *dest, gasnet_node_t node, const void *src, size_t nbytes)
{
	(void)gex_RMA_GetNBI(PSI_TM_LEGACY, dest, node, src, nbytes, 0);
}

PSI_INLINE void
gasnet_get_nbi_bulk(void *dest, gasnet_node_t node, const void *src, size_t nbytes)
{
	(void)gex_RMA_GetNBI(PSI_TM_LEGACY, dest, node, src, nbytes, 0);
}

PSI_INLINE PSI_MUST_SYNC gasnet_handle_t
gasnet_put_nb_val(gasnet_node_t node, void *dest, gasnet_register_value_t value, size_t nbytes)
{
	return gex_RMA_PutNBVal(PSI_TM_LEGACY, node, dest, value, nbytes, 0);
}

PSI_INLINE void
gasnet_put_nbi_val(gasnet_node_t node, void *dest, gasnet_register_value_t value, size_t nbytes)
{
	(void)gex_RMA_PutNBIVal(PSI_TM_LEGACY, node, dest, value, nbytes, 0);
}

/* Fills that the inlines leave to the library; as the calls they are named for. */
PSI_API void psi_rma_fill(gasnet_node_t node, void *dest, int val, size_t nbytes);
PSI_API PSI_MUST_SYNC gasnet_handle_t psi_rma_fill_nb(gasnet_node_t node, void *dest, int val,
						      size_t nbytes);
PSI_API void psi_rma_fill_nbi(gasnet_node_t node, void *dest, int val, size_t nbytes);

/* Whether it was done on the spot. */
PSI_INLINE int
psi_rma_fill_here(gasnet_node_t node, void *dest, int val, size_t nbytes)
{
	void *there = psi_rma_reach(pst_inline_v1, PSI_RMA_COUNT_PUTS, PSI_TM_LEGACY, node, dest,
				    nbytes, 0);

	if (PSI_UNLIKELY(there == NULL))
		return 0;
	PSI_COMPILER_FENCE();
	memset(there, val, nbytes);
	PSI_COMPILER_FENCE();
	return 1;
}

/* Each byte becomes the low-order byte of val. */
PSI_INLINE void
gasnet_memset(gasnet_node_t node, void *dest, int val, size_t nbytes)
{
	if (PSI_UNLIKELY(!psi_rma_fill_here(node, dest, val, nbytes)))
		psi_rma_fill(node, dest, val, nbytes);
}

PSI_INLINE PSI_MUST_SYNC gasnet_handle_t
gasnet_memset_nb(gasnet_node_t node, void *dest, int val, size_t nbytes)
{
	if (PSI_UNLIKELY(!psi_rma_fill_here(node, dest, val, nbytes)))
		return psi_rma_fill_nb(node, dest, val, nbytes);
	return GASNET_INVALID_HANDLE;
}

PSI_INLINE void
gasnet_memset_nbi(gasnet_node_t node, void *dest, int val, size_t nbytes)
{
	if (PSI_UNLIKELY(!psi_rma_fill_here(node, dest, val, nbytes)))
		psi_rma_fill_nbi(node, dest, val, nbytes);
}

/* A value that is here, or on its way; waited for once. */
typedef struct {
	gasnet_register_value_t psi_value;
	void *psi_pending;
} gasnet_valget_handle_t;

PSI_API gasnet_valget_handle_t psi_rma_get_value_nb(gasnet_node_t node, const void *src,
						    size_t nbytes);
PSI_API gasnet_register_value_t psi_rma_value_wait(void *pending);

PSI_INLINE PSI_MUST_SYNC gasnet_valget_handle_t
gasnet_get_nb_val(gasnet_node_t node, const void *src, size_t nbytes)
{
	const struct pst_inline *table = pst_inline_v1;
	const void *there = psi_rma_reach(table, PSI_RMA_COUNT_GETS, PSI_TM_LEGACY, node, src,
					  nbytes, 0);
	gasnet_valget_handle_t handle = { 0, NULL };

	if (PSI_UNLIKELY(there == NULL))
		return psi_rma_get_value_nb(node, src, nbytes);
	psi_rma_copy(table, psi_rma_value_bytes(&handle.psi_value, nbytes), there, nbytes);
	return handle;
}

PSI_INLINE gasnet_register_value_t
gasnet_wait_syncnb_valget(gasnet_valget_handle_t handle)
{
	return handle.psi_pending ? psi_rma_value_wait(handle.psi_pending) : handle.psi_value;
}

PSI_END_DECLS

#endif
