/*
 * A barrier inside an operation, by dissemination.  In round r a member sends a note to the member
 * 2^r above it, and receives one from the member 2^r below, modulo the size.  A note carries the
 * names that its sender has gathered.  After ceil(log2 n) rounds a member has the names of all.
 *
 * Source: D. Hensgen, R. Finkel, U. Manber, "Two algorithms for barrier synchronization", 1988.
 */
#include "coll/parts.h"

#include "runtime/team/team.h"

bool
pcoll_sync_step(struct pcoll_op *op, struct pcoll_sync *sync, enum pcoll_channel channel)
{
	const gex_Rank_t size = op->call.tm->size, rank = op->call.tm->rank;
	uint64_t words[2];

	for (uint64_t step; (step = (uint64_t)1 << sync->round) < size; sync->round++) {
		const uint32_t index = (uint32_t)channel | sync->round;

		if (!sync->sent &&
		    !pcoll_note_send(op, (gex_Rank_t)((rank + step) % size), index,
		                     pcoll_names_word(sync->names), 0))
			return false;
		sync->sent = true;
		if (!pcoll_note_take(op, (gex_Rank_t)((rank + size - step) % size), index, words))
			return false;
		sync->names = pcoll_names_combine(sync->names, pcoll_names_of(words[0]));
		sync->sent = false;
	}
	return true;
}
