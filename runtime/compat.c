/*
 * What programs compiled with older headers call.  Their layouts (PSI_INLINE_ABI) are told at init:
 *
 *   1, 2   struct psi_wait has five words, so their waits cannot be the library's, which keep more
 *   3      puts and gets are counted where other calls are, with the bytes of those of more than 16 bytes
 *          that are not left to the library
 *   4      GEX_OP_ codes have other numbers; a domain's inlines compare codes of the program's own
 *   5      the present one
 *
 * The table of the inlines is the same for all: newer layouts append to it.
 */
#include "runtime/compat.h"

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

/* -- codes of operations --------------------------------------------------------------------- */

gex_OP_t
psi_ops_of_old(gex_OP_t old)
{
	/* By the old bit; a fetching code was its partner shifted up by 16. */
	static const gex_OP_t by_bit[16] = {
		GEX_OP_ADD, GEX_OP_SUB, GEX_OP_MULT, GEX_OP_INC, GEX_OP_DEC, GEX_OP_MIN, GEX_OP_MAX,
		GEX_OP_AND, GEX_OP_OR, GEX_OP_XOR, GEX_OP_SET, GEX_OP_CAS, GEX_OP_GET, GEX_OP_USER,
		GEX_OP_USER_NC,
	};
	gex_OP_t ops = 0;

	for (unsigned bit = 0; bit < 16; bit++) {
		if (old >> bit & 1)
			ops |= by_bit[bit];
		if (old >> bit >> 16 & 1)
			ops |= GEX_OP_TO_FETCHING(by_bit[bit]);
	}
	return ops;
}

/* -- arguments ------------------------------------------------------------------------------- */

void
psi_need_layout(uint32_t layout, const char *call)
{
	if (psi_is_older_than(layout))
		psi_fatal("%s: the program was compiled with headers that give it other arguments; compile "
		          "it again", call);
}
