/* The uses of a rank's memory.  Private is all memory that its process does not share. */
#ifndef PSI_MEMORY_KINDS_H
#define PSI_MEMORY_KINDS_H

enum psi_memory_kind {
	PSI_MEMORY_CONTROL, PSI_MEMORY_QUEUES, PSI_MEMORY_BUFFERS, PSI_MEMORY_SEGMENTS,
	PSI_MEMORY_PRIVATE, PSI_MEMORY_KINDS,
};

#endif
