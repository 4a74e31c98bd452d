/*
 * Knocks: who gets no answer from a rank through the network tells it so by another way.  A rank
 * has one word in the exchange area of its host.  Ranks of its host write there; for those of other
 * hosts the keepers do (keeper/pboot_peers_knock.c).
 *
 * The word is all that is told, so nothing is ordered by it.
 */
#include "bootstrap/rank/pboot_rank.h"

#include "bootstrap/share/pboot_area.h"

/* NULL in a job of one rank. */
static _Atomic uint32_t *
knock_of(uint32_t rank)
{
	struct pboot_area *area = pboot_exchange_area();

	return area ? pboot_area_knock(area, pboot_self.startup.size, rank) : NULL;
}

void
pboot_knock(uint32_t rank)
{
	_Atomic uint32_t *knock = knock_of(rank);

	if (knock && pboot_self.startup.local_size == pboot_self.startup.size)
		atomic_store_explicit(knock, 1 + pboot_self.startup.rank, memory_order_relaxed);
	else if (knock)
		pboot_note_knock(rank);
}

uint32_t
pboot_knocker(void)
{
	_Atomic uint32_t *mine = knock_of(pboot_self.startup.rank);

	if (!mine || atomic_load_explicit(mine, memory_order_relaxed) == 0)
		return PBOOT_NOBODY;
	return atomic_exchange_explicit(mine, 0, memory_order_relaxed) - 1;
}
