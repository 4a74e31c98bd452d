/* gasnet_ex_event.h: events and the calling thread's implicit operations. */
#ifndef GASNET_EX_EVENT_H
#define GASNET_EX_EVENT_H

#include "gasnet_ex_types.h"

typedef uint32_t gex_EC_t;

#define GEX_EC_GET (1u << 0)
#define GEX_EC_PUT (1u << 1)
#define GEX_EC_AM  (1u << 2)
#define GEX_EC_LC  (1u << 3)
#define GEX_EC_RMW (1u << 4)
#define GEX_EC_ALL (GEX_EC_GET | GEX_EC_PUT | GEX_EC_AM | GEX_EC_LC | GEX_EC_RMW)

PSI_BEGIN_DECLS

/* Neither takes GEX_EVENT_INVALID. */
PSI_API void psi_event_wait(gex_Event_t event);
PSI_API int psi_event_test(gex_Event_t event);

PSI_INLINE void
gex_Event_Wait(gex_Event_t event)
{
	if (event != GEX_EVENT_INVALID)
		psi_event_wait(event);
}

PSI_INLINE int
gex_Event_Test(gex_Event_t event)
{
	return event == GEX_EVENT_INVALID ? GASNET_OK : psi_event_test(event);
}

PSI_API int gex_Event_TestSome(gex_Event_t *pevent, size_t numevents, gex_Flags_t flags);
PSI_API void gex_Event_WaitSome(gex_Event_t *pevent, size_t numevents, gex_Flags_t flags);
PSI_API int gex_Event_TestAll(gex_Event_t *pevent, size_t numevents, gex_Flags_t flags);
PSI_API void gex_Event_WaitAll(gex_Event_t *pevent, size_t numevents, gex_Flags_t flags);
PSI_API gex_Event_t gex_Event_QueryLeaf(gex_Event_t root, gex_EC_t event_category);

PSI_API int gex_NBI_Test(gex_EC_t event_mask, gex_Flags_t flags);
PSI_API void gex_NBI_Wait(gex_EC_t event_mask, gex_Flags_t flags);

PSI_END_DECLS

#endif
