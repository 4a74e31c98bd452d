/*
 * Copies between the memory of two processes by process_vm_readv and process_vm_writev, for peers
 * of the host whose memory is not mapped here.  A process is probed once, when a segment of it
 * becomes known or a collective could read there.  The probe fails if the kernel lacks the calls,
 * if a filter denies them, or if the two processes may not access each other.
 */
#ifndef PSI_VM_H
#define PSI_VM_H

#include "runtime/process/shared.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

/* During init. */
void psi_vm_open(void);

/* Makes the card of this process, the same each time, and lets peers reach its memory from now on.
 * Any thread. */
struct psi_vm_card psi_vm_card_make(void);

/* May the memory of that process be copied?  The kernel is asked once.  Any thread. */
bool psi_vm_probe(uint32_t rank, const struct psi_vm_card *card);

/* False: not all was copied, and messages have to do it. */
bool psi_vm_write(uint32_t rank, void *dest, const void *src, size_t len_bytes);
bool psi_vm_read(uint32_t rank, void *dest, const void *src, size_t len_bytes);

enum psi_vm_direction { PSI_VM_READ, PSI_VM_WRITE };

/* The pieces that one system call moves: the bytes of `ours' from or to those of the peer, in
 * order. */
struct psi_vm_pieces {
	const struct iovec *ours, *theirs;
	size_t ours_count, theirs_count;        /* at most PSI_VM_PIECES each */
};

enum { PSI_VM_PIECES = 256 };

/* Bytes that were moved, which end with the shorter side at the latest; 0: as false above. */
size_t psi_vm_move(uint32_t rank, enum psi_vm_direction direction,
                   const struct psi_vm_pieces *pieces);

#endif
