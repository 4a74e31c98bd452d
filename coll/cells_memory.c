/*
 * Where the memory is that endpoints lend to collectives.  What a process's first endpoint lends is
 * in the control arena, which all processes of the host have mapped.  That of another endpoint is a
 * range of its process's file, made when it first lends and mapped when a team uses it first.  The
 * rooms of cells are such ranges too, made and mapped when first needed, and kept for the team that
 * has the cells next.
 */
#include "coll/cells.h"
#include "coll/pcoll_barrier_shared.h"

#include "runtime/process/endpoint.h"
#include "runtime/segment/reach.h"

#include <errno.h>
#include <stdlib.h>

/* What an endpoint lends, as this process has it mapped.  Members in one process share it. */
struct lender {
	struct psi_lent *lent;          /* NULL: not mapped yet */
	unsigned char *rooms[PSI_CELL_TEAMS];   /* by number; NULL: not mapped yet */
};

static struct psi_spinlock lock;
static struct lender **lenders; /* [places]; what they point to is made when first needed */

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
	return tm == psi.tm ? &psi_shared_of(rank)->lent.cells[0] : tm->group->cells[rank];
}

void
pcoll_lender_lacks(uint32_t place)
{
	char whose[PSI_PLACE_TEXT], lack[PBOOT_ERROR_TEXT_BYTES];

	psi_place_text(place, whose);
	psi_fatal("no memory for collectives, of %s: %s", whose,
	          pboot_range_error_text(errno, lack));
}

/* The caller of this and of the next two functions holds the lock. */
static struct psi_lent *
lent_make(struct psi_further *further)
{
	struct psi_lent *lent;
	uint64_t key;

	lent = pboot_range_make_sparse(psi_file_of(psi.boot.rank), sizeof *lent, &key);
	if (lent)
		atomic_store_explicit(&further->lent_key, key + 1, memory_order_relaxed);
	return lent;
}

static struct psi_lent *
lent_find(uint32_t place)
{
	const gex_Rank_t rank = psi_jobrank_of(place);
	struct psi_further *further;
	uint64_t key;

	if (psi_index_of(place) == 0)
		return &psi_shared_of(rank)->lent;
	further = psi_further_at(place);
	if (rank == psi.boot.rank)
		return lent_make(further);
	key = atomic_load_explicit(&further->lent_key, memory_order_relaxed);
	return pboot_range_map(psi_file_of(rank), key - 1, sizeof(struct psi_lent));
}

/* Its `lent' is NULL if there is no memory. */
static struct lender *
lender_at(uint32_t place)
{
	if (!lenders)
		lenders = calloc((size_t)psi.boot.size * GASNET_MAXEPS, sizeof *lenders);
	if (lenders && !lenders[place])
		lenders[place] = calloc(1, sizeof **lenders);
	if (!lenders || !lenders[place])
		psi_fatal("no memory for collectives of %u ranks", psi.boot.size);
	if (!lenders[place]->lent)
		lenders[place]->lent = lent_find(place);
	return lenders[place];
}

struct psi_lent *
pcoll_lent_at(uint32_t place)
{
	struct psi_lent *lent;

	psi_spinlock_lock(&lock);
	lent = lender_at(place)->lent;
	psi_spinlock_unlock(&lock);
	return lent;
}

/* -- rooms ------------------------------------------------------------------------------------- */

/* The caller holds the lock. */
static unsigned char **
room_entry(const struct psi_cells *cells, uint32_t place)
{
	struct lender *lender = lender_at(place);

	return &lender->rooms[cells - lender->lent->cells];
}

unsigned char *
pcoll_cells_make_room(struct psi_cells *own, uint32_t place)
{
	unsigned char **entry;
	uint64_t key;

	psi_spinlock_lock(&lock);
	entry = room_entry(own, place);
	if (!*entry) {
		*entry = pboot_range_make_sparse(psi_file_of(psi.boot.rank),
		                                 PSI_CELL_ROOMS_BYTES, &key);
		if (!*entry)
			pcoll_lender_lacks(place);
		/* A cell that is filled later tells of it (V1). */
		atomic_store_explicit(&own->room_key, key + 1, memory_order_relaxed);
	}
	psi_spinlock_unlock(&lock);
	return *entry;
}

/* A cell has told of the rooms (V1), and that its call is the reader's, which uses rooms in the
 * same phases. */
unsigned char *
pcoll_cells_map_room(const struct psi_cells *cells, uint32_t place)
{
	const uint64_t key = atomic_load_explicit(&cells->room_key, memory_order_relaxed);
	unsigned char **entry;

	psi_spinlock_lock(&lock);
	entry = room_entry(cells, place);
	if (!*entry)
		*entry = pboot_range_map(psi_file_of(psi_jobrank_of(place)), key - 1,
		                         PSI_CELL_ROOMS_BYTES);
	if (!*entry)
		pcoll_lender_lacks(place);
	psi_spinlock_unlock(&lock);
	return *entry;
}
