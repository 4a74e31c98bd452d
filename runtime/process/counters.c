#include "runtime/process/process.h"

#include "penstock.h"

_Static_assert((int)PSI_COUNT_PUTS == PSI_RMA_COUNT_PUTS &&
	       (int)PSI_COUNT_GETS == PSI_RMA_COUNT_GETS &&
	       (int)PSI_COUNT_ATOMICS == PSI_RMA_COUNT_ATOMICS &&
	       (int)PSI_COUNT_SIGNALS == PSI_RMA_COUNT_SIGNALS &&
	       (int)PSI_COUNT_GET_BYTES - (int)PSI_COUNT_PUT_BYTES == PSI_RMA_COUNT_GETS,
	       "the inlines count where the list says");

static const struct pst_counter rows[] = {
#define ROW(id, name, unit, group, sum, help) { name, unit, group, help, (sum) == PSI_MOST },
	PSI_COUNTER_LIST(ROW)
#undef ROW
};

const struct pst_counter *
pst_counter_at(unsigned i)
{
	return i < PSI_COUNTERS ? &rows[i] : NULL;
}

uint64_t
psi_counter_join(enum psi_counter which, uint64_t a, uint64_t b)
{
	if (!rows[which].is_most)
		return a + b;
	return a > b ? a : b;
}

uint64_t
psi_block_count(const struct psi_block *block, enum psi_counter which)
{
	const uint64_t count = __atomic_load_n(&block->count[which], __ATOMIC_RELAXED);

	switch (which) {
	case PSI_COUNT_PUTS:
	case PSI_COUNT_GETS:
		return count + psi_moved_read(&block->moved, which).calls;
	case PSI_COUNT_PUT_BYTES:
	case PSI_COUNT_GET_BYTES:
		return count + psi_moved_read(&block->moved, which - PSI_COUNT_PUT_BYTES).bytes;
	default:
		return count;
	}
}

static unsigned
counters_add_rank(uint32_t rank, uint64_t *values, unsigned room)
{
	const struct psi_rank_shared *shared = psi_shared_of(rank);
	uint64_t unseen[PSI_COUNTERS] = { 0 };

	for (unsigned b = 0; b < psi_blocks_in_use(shared); b++)
		for (unsigned i = 0; i < room && i < PSI_COUNTERS; i++)
			values[i] = psi_counter_join((enum psi_counter)i, values[i],
			                             psi_block_count(&shared->block[b],
			                                             (enum psi_counter)i));
	if (rank == psi.boot.rank)
		psi_blocks_join_private(unseen);
	for (unsigned i = 0; i < room && i < PSI_COUNTERS; i++)
		values[i] = psi_counter_join((enum psi_counter)i, values[i], unseen[i]);
	return room < PSI_COUNTERS ? room : PSI_COUNTERS;
}

static bool
counters_clear_if_open(uint64_t *values, unsigned room)
{
	for (unsigned i = 0; values && i < room; i++)
		values[i] = 0;
	return psi.open && values;
}

unsigned
pst_counters_read(uint32_t rank, uint64_t *values, unsigned room)
{
	if (rank == PST_COUNTERS_OWN)
		rank = psi.boot.rank;
	if (!counters_clear_if_open(values, room) || rank >= psi.boot.size ||
	    !psi_on_this_host(rank))
		return 0;
	return counters_add_rank(rank, values, room);
}

unsigned
pst_counters_sum(uint64_t *values, unsigned room)
{
	unsigned written = 0;

	if (!counters_clear_if_open(values, room))
		return 0;
	for (uint32_t i = 0; i < psi.host_places; i++)
		written = counters_add_rank(psi.host_ranks[i], values, room);
	return written;
}
