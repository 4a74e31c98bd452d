/* gasnet_legacy_rma.h: GASNet-1 blocking put and get, and synchronisation. */
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

PSI_END_DECLS

#endif
