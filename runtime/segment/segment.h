/* Segments of this process. */
#ifndef PSI_SEGMENT_H
#define PSI_SEGMENT_H

#include "gasnetex.h"

/* Makes a segment in memory of this rank's file.  Returns 0 or an errno value. */
int psi_segment_make(gex_Client_t client, uintptr_t size, gex_Segment_t *segment_out);
/* Lets a network know it, so that its owner may publish it; once does. */
void psi_segment_bind(gex_Segment_t segment);
/* Ends the segment.  With checks the object stays, so that a later use is recognised. */
void psi_segment_discard(gex_Segment_t segment);

/* A line about the memory that was not there. */
void psi_segment_print_error(const char *call, uintptr_t size, int error);
/* The refusal of a size above the maximum. */
int psi_segment_refuse_size(const char *call, uintptr_t size);

#endif
