/* gasnet_legacy_core.h: GASNet-1 start-up, queries and locks. */
#ifndef GASNET_LEGACY_CORE_H
#define GASNET_LEGACY_CORE_H

#include "gasnet_legacy_am.h"

typedef struct {
	void *addr;
	size_t len;
} gasnet_memvec_t;

typedef gex_HSL_t gasnet_hsl_t;
#define GASNET_HSL_INITIALIZER GEX_HSL_INITIALIZER

PSI_BEGIN_DECLS

PSI_API int psi_legacy_init(int *argc, char ***argv, const struct psi_client_build *build);

#ifndef PSI_BUILDING_LIBRARY
PSI_INLINE int
gasnet_init(int *argc, char ***argv)
{
	static const struct psi_client_build build = PSI_CLIENT_BUILD;

	return psi_legacy_init(argc, argv, &build);
}
#endif

PSI_API int gasnet_attach(gasnet_handlerentry_t *table, int numentries, uintptr_t segsize,
			  uintptr_t minheapoffset);
PSI_API void gasnet_QueryGexObjects(gex_Client_t *client_p, gex_EP_t *endpoint_p, gex_TM_t *tm_p,
				    gex_Segment_t *segment_p);

PSI_INLINE gasnet_node_t
gasnet_mynode(void)
{
	return gex_System_QueryJobRank();
}

PSI_INLINE gasnet_node_t
gasnet_nodes(void)
{
	return gex_System_QueryJobSize();
}

PSI_INLINE void
gasnet_hsl_init(gasnet_hsl_t *hsl)
{
	gex_HSL_Init(hsl);
}

PSI_INLINE void
gasnet_hsl_destroy(gasnet_hsl_t *hsl)
{
	gex_HSL_Destroy(hsl);
}

PSI_INLINE void
gasnet_hsl_lock(gasnet_hsl_t *hsl)
{
	gex_HSL_Lock(hsl);
}

PSI_INLINE void
gasnet_hsl_unlock(gasnet_hsl_t *hsl)
{
	gex_HSL_Unlock(hsl);
}

PSI_INLINE int
gasnet_hsl_trylock(gasnet_hsl_t *hsl)
{
	return gex_HSL_Trylock(hsl);
}

/* Handlers run only inside calls, so there is nothing to hold off. A debug build looks at the
 * pairs. */
PSI_API void psi_interrupts_hold(void);
PSI_API void psi_interrupts_resume(void);

PSI_INLINE void
gasnet_hold_interrupts(void)
{
#ifdef GASNET_DEBUG
	psi_interrupts_hold();
#endif
}

PSI_INLINE void
gasnet_resume_interrupts(void)
{
#ifdef GASNET_DEBUG
	psi_interrupts_resume();
#endif
}

PSI_END_DECLS

#endif
