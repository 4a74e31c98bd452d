/*
 * Where the cells of teams are.  Their lines are in the control arena, which all processes of the
 * host have mapped; their rooms are ranges of their owners' files, made and mapped when first
 * needed, and kept for the team that has the cells next.
 */
#include "coll/cells.h"
#include "coll/pcoll_barrier_shared.h"

#include "runtime/segment/reach.h"

#include <errno.h>
#include <stdlib.h>

static struct psi_spinlock lock;
static unsigned char *(*mapped)[PSI_CELL_TEAMS];        /* [boot.size]; made when first needed */

bool
pcoll_cells_are_lent(gex_TM_t tm)
{
	if (psi.checks || tm->size < 2)
		return false;
	return tm == psi.tm ? pcoll_shm_barrier_is_available() : tm->group->cells != NULL;
}

struct psi_cells *
pcoll_cells_of_member(gex_TM_t tm, gex_Rank_t rank)
{
	return tm == psi.tm ? &psi_shared_of(rank)->cells[0] : tm->group->cells[rank];
}

static unsigned char **
room_entry(const struct psi_cells *cells, gex_Rank_t owner)
{
	const size_t number = (size_t)(cells - psi_shared_of(owner)->cells);

	if (!mapped)
		mapped = calloc(psi.boot.size, sizeof *mapped);
	if (!mapped)
		psi_fatal("no memory for collectives of %u ranks", psi.boot.size);
	return &mapped[owner][number];
}

static void __attribute__((noreturn, cold))
room_lacks(gex_Rank_t owner)
{
	char lack[PBOOT_ERROR_TEXT_BYTES];

	psi_fatal("no memory for collectives, of rank %u: %s", owner,
	          pboot_range_error_text(errno, lack));
}

unsigned char *
pcoll_cells_make_room(struct psi_cells *own)
{
	unsigned char **entry;
	uint64_t key;

	psi_spinlock_lock(&lock);
	entry = room_entry(own, psi.boot.rank);
	if (!*entry) {
		*entry = pboot_range_make_sparse(psi_file_of(psi.boot.rank),
		                                 PSI_CELL_ROOMS_BYTES, &key);
		if (!*entry)
			room_lacks(psi.boot.rank);
		/* A cell that is filled later tells of it (V1). */
		atomic_store_explicit(&own->room_key, key + 1, memory_order_relaxed);
	}
	psi_spinlock_unlock(&lock);
	return *entry;
}

unsigned char *
pcoll_cells_map_room(const struct psi_cells *cells, gex_Rank_t owner)
{
	const uint64_t key = atomic_load_explicit(&cells->room_key, memory_order_relaxed);
	unsigned char **entry;

	psi_spinlock_lock(&lock);
	entry = room_entry(cells, owner);
	if (!*entry)
		*entry = pboot_range_map(psi_file_of(owner), key - 1, PSI_CELL_ROOMS_BYTES);
	if (!*entry)
		room_lacks(owner);
	psi_spinlock_unlock(&lock);
	return *entry;
}
