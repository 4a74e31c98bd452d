#include "tests/unit/ibv_rma_rig.h"

#include <check.h>
#include <string.h>

unsigned char rma_there[RMA_BYTES], rma_here[RMA_BYTES];
struct psi_segment_name rma_name;

uint64_t
rma_registrations(void)
{
	return rma_device(0, 0)->counts.registrations + rma_device(0, 1)->counts.registrations;
}

void
rma_start(void)
{
	rig_start(2);
	rma_name = rig_bind(1, rma_there, sizeof rma_there);
	rig_meet(0, 1);
}

void
rma_there_and_back(uint64_t offset, size_t len_bytes, uint32_t seed)
{
	static unsigned char back[RMA_BYTES];
	struct rig_rank *rank = &rig_ranks[0];

	rank->done_count = 0;
	rig_fill(rma_here, len_bytes, seed);
	memset(rma_there, 0, sizeof rma_there);
	memset(back, 0, sizeof back);
	ck_assert_int_eq(rig_put(0, rig_transfer(1, rma_name, offset, rma_here, len_bytes, 5)),
	                 PSI_OK);
	rig_settle();
	ck_assert_uint_eq(rank->done_count, 1);
	ck_assert_uint_eq(rank->done[0], 5);
	ck_assert(rig_is_filled(rma_there + offset, len_bytes, seed));
	ck_assert(offset == 0 || rma_there[offset - 1] == 0);
	ck_assert(offset + len_bytes == RMA_BYTES || rma_there[offset + len_bytes] == 0);
	ck_assert_int_eq(rig_get(0, rig_transfer(1, rma_name, offset, back, len_bytes, 6)),
	                 PSI_OK);
	rig_settle();
	ck_assert_uint_eq(rank->done_count, 2);
	ck_assert_uint_eq(rank->done[1], 6);
	ck_assert(rig_is_filled(back, len_bytes, seed));
}
