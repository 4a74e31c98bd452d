/* Memory that processes share, and which process has which part mapped. */
#ifndef PSI_SHMEM_H
#define PSI_SHMEM_H

#include "runtime/process/process.h"

/* Memory that all processes of the host share; the same calls in the same order on all.  Ends the
 * job where there is none. */
void *psi_host_memory(size_t most_bytes, size_t least_bytes, size_t *len_out);
/* The ranges so made, in order: where it is mapped, or NULL past the last. */
void *psi_host_memory_made(unsigned number, uint64_t *key_out, size_t *len_out);

/* An endpoint that is about to end: its segment is no longer known nor mapped here. */
void psi_segment_forget(uint32_t place);

/* Is the address in a segment of this process or in a mapping of a peer's?  Signal safe. */
bool psi_segment_covers(const void *addr);

/* Does the work of the service of that name in conduit.h. */
void *psi_endpoint_memory(uint32_t place, size_t len_bytes);

#endif
