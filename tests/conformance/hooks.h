/* Shared by the programs about variables that a client may define. */
#include <gasnet.h>

#include "tests/lib/pt.h"

static void *hook_base;
static uintptr_t hook_bytes;
static int hook_calls;

static inline void
hook(void *base, uintptr_t bytes)
{
	hook_base = base;
	hook_bytes = bytes;
	hook_calls++;
}

static inline void
attach_and_check(int hooked)
{
	pt_attach(NULL, 0, 2 * GASNET_PAGESIZE);
	PT_EQ(hook_calls, hooked ? 1 : 0);
	if (hooked) {
		PT_PTR(hook_base, pt.base);
		PT_EQ(hook_bytes, pt.segment_bytes);
	}
	PT_EQ(gasnet_frozen, 0);
}
