/*
 * Bound segments, as other processes know them.
 *
 * What others need to know stands in the segment table, which is in memory of the host.  A rank
 * writes its own entry, then all pass a barrier, then all read; another barrier keeps the next
 * writer off until all have.  In a job of several hosts an exchange of entries by messages takes
 * the place of the first barrier; from it come the entries of ranks of other hosts.  A rank that
 * has no memory for a segment to attach says so in its entry, and all ranks return the error.
 * Otherwise the others would wait for a rank that has returned.
 */
#ifndef PSI_SEGMENT_TABLE_H
#define PSI_SEGMENT_TABLE_H

#include "gasnetex.h"

/*
 * The first half of an exchange among all ranks; the caller's barrier ends it.  error is an errno
 * value, where this rank has no memory for its segment.  Returns the first rank that has none, and
 * then nothing has changed for anybody; else the number of ranks.
 */
uint32_t psi_segment_table_exchange(gex_Segment_t mine, int error, const char *call);

#endif
