/*
 * What programs compiled with older headers call.  Their layouts (PSI_INLINE_ABI) are told at init:
 *
 *   1, 2   struct psi_wait has five words, so their waits cannot be the library's, which keep more
 *   3      puts and gets are counted where other calls are, with the bytes of those of more than 16 bytes
 *          that are not left to the library
 *   4      the present one
 *
 * The table of the inlines is the same for all: newer layouts append to it.
 */
#include "runtime/psi.h"

#include <sched.h>

struct wait_of_five {
	const char *where;
	uint32_t phase, seq;
	uint64_t spins, since;
	void *unused;
};

/* In the library the names mean the present functions, whose symbols have a suffix. */
PSI_API void psi_old_wait_step(struct wait_of_five *wait) __asm__("psi_wait_step");
PSI_API void psi_old_wait_end(struct wait_of_five *wait) __asm__("psi_wait_end");

/* One step: polls, and gives way after a while; such a wait never sleeps. */
void
psi_old_wait_step(struct wait_of_five *wait)
{
	enum { POLLS_PER_YIELD = 64 };

	if (PSI_UNLIKELY(!psi.open))
		psi_need_init("GASNET_BLOCKUNTIL");
	if (psi_poll())
		wait->spins = 0;
	else if (psi_is_crowded() || ++wait->spins % POLLS_PER_YIELD == 0)
		sched_yield();
}

void
psi_old_wait_end(struct wait_of_five *wait)
{
	(void)wait;
}
