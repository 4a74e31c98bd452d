/* What the parts of this SHMEM share. It knows GASNet by this one header. */
#ifndef INSIDE_H
#define INSIDE_H

#include <gasnet.h>
#include "shmem.h"

#define GASNET_TRY(call)                                                                           \
	do {                                                                                       \
		int result_ = (call);                                                              \
		if_pf(result_ != GASNET_OK)                                                        \
			gasnett_fatalerror("%s: %s", #call, gasnet_ErrorDesc(result_));            \
	} while (0)

/* The address on PE `pe' of what lies at `local' of this PE's heap. */
void *heap_translate(const void *local, int pe);

/* Handlers of the atomics, and where gasnet_attach put them. */
enum { ATOMIC_HANDLERS = 2 };
extern gasnet_handlerentry_t atomic_handlers[ATOMIC_HANDLERS];

#endif
