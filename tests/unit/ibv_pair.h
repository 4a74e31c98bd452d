/* Two ranks of the rig that are connected, of which the second has a segment: for the tests of send
 * queues. */
#ifndef IBV_PAIR_H
#define IBV_PAIR_H

#include "tests/unit/ibv_rig.h"

enum { PAIR_BYTES = 1 << 16, PAIR_MANY = 1000 };

static unsigned char there[PAIR_BYTES], here[PAIR_BYTES];
static struct psi_segment_name name_there;

static inline void
pair_start(void)
{
	rig_start(2);
	name_there = rig_bind(1, there, sizeof there);
	rig_meet(0, 1);
}

static inline struct mock_counts
counts_of(uint32_t host)
{
	return mock_device_of(host)->counts;
}

static inline struct psi_transfer
put_of(uint64_t offset, size_t len_bytes, uint64_t cookie)
{
	return rig_transfer(1, name_there, offset, here + offset, len_bytes, cookie);
}

#endif
