/* gasnet_ex_barrier.h: barriers of the job, and of a team. */
#ifndef GASNET_EX_BARRIER_H
#define GASNET_EX_BARRIER_H

#include "gasnet_ex_event.h"
#include "gasnet_ex_types.h"

/* UNNAMED contains the ANONYMOUS bit. */
#define GASNET_BARRIERFLAG_ANONYMOUS 1
#define GASNET_BARRIERFLAG_MISMATCH  2
#define GASNET_BARRIERFLAG_UNNAMED   5

PSI_BEGIN_DECLS

PSI_API void gasnet_barrier_notify(int id, int flags);
PSI_API int gasnet_barrier_wait(int id, int flags);
PSI_API int gasnet_barrier_try(int id, int flags);
PSI_API int gasnet_barrier(int id, int flags);
PSI_API int gasnet_barrier_result(int *id);

PSI_API gex_Event_t gex_Coll_BarrierNB(gex_TM_t tm, gex_Flags_t flags);

PSI_INLINE void
gex_Coll_BarrierBlocking(gex_TM_t tm, gex_Flags_t flags)
{
	gex_Event_Wait(gex_Coll_BarrierNB(tm, flags));
}

PSI_END_DECLS

#endif
