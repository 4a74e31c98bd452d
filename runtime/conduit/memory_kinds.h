/* What the memory of a rank is for; private is all that its process has for itself. */
#ifndef PSI_MEMORY_KINDS_H
#define PSI_MEMORY_KINDS_H

enum psi_memory_kind {
	PSI_MEMORY_CONTROL, PSI_MEMORY_QUEUES, PSI_MEMORY_BUFFERS, PSI_MEMORY_SEGMENTS,
	PSI_MEMORY_PRIVATE, PSI_MEMORY_KINDS,
};

#endif
