/* gasnet_ex_hsl.h: locks that handlers may take. */
#ifndef GASNET_EX_HSL_H
#define GASNET_EX_HSL_H

#include "gasnet_ex_mode.h"
#include "gasnet_ex_types.h"

#include <pthread.h>

/*
 * One layout for all thread modes, since one library serves them all. The
 * words behind the mutex belong to the library's checks.
 */
typedef struct {
	pthread_mutex_t psi_mutex;
	uint64_t psi_owner;
	uint64_t psi_reserved;
} gex_HSL_t;

#define GEX_HSL_INITIALIZER                  \
	{                                    \
		PTHREAD_MUTEX_INITIALIZER, 0, 0 \
	}

PSI_BEGIN_DECLS

PSI_API void gex_HSL_Init(gex_HSL_t *hsl);
PSI_API void gex_HSL_Destroy(gex_HSL_t *hsl);

#ifdef GASNET_SEQ

/* One thread calls, and no handler runs on a thread of the library's. */
PSI_INLINE void
gex_HSL_Lock(gex_HSL_t *hsl)
{
	(void)hsl;
}

PSI_INLINE void
gex_HSL_Unlock(gex_HSL_t *hsl)
{
	(void)hsl;
}

PSI_INLINE int
gex_HSL_Trylock(gex_HSL_t *hsl)
{
	(void)hsl;
	return GASNET_OK;
}

#else

PSI_API void gex_HSL_Lock(gex_HSL_t *hsl);
PSI_API void gex_HSL_Unlock(gex_HSL_t *hsl);
PSI_API int gex_HSL_Trylock(gex_HSL_t *hsl);

#endif

PSI_END_DECLS

#endif
