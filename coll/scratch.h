/*
 * Scratch memory of operations.  A record of an operation keeps it from run to run, so a schedule
 * allocates nothing after its first run, unless this process keeps more than 16 MiB.  What
 * is longer than a note is known to the network, so that members of other hosts put there.
 */
#ifndef PCOLL_SCRATCH_H
#define PCOLL_SCRATCH_H

#include "coll/named.h"

struct pcoll_scratch {
	unsigned char *base;                    /* NULL: none yet */
	size_t room_bytes;
	struct pcoll_named named;
};

/* Makes room.  far: members of other hosts may send there.  Ends the job if memory is missing.  The
 * record's owner calls both, any number of records at once. */
void pcoll_scratch_make(struct pcoll_scratch *scratch, size_t len_bytes, bool far);
/* The run is over: gives it back if too much is kept. */
void pcoll_scratch_done(struct pcoll_scratch *scratch);

#endif
