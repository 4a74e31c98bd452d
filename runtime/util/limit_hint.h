/* What a failed call for memory, descriptors or processes lacked, and what to do about it. */
#ifndef PSI_UTIL_LIMIT_HINT_H
#define PSI_UTIL_LIMIT_HINT_H

#include <stddef.h>
#include <stdint.h>

/*
 * "; raise ..." for an errno value that a limit explains, "" for others; to be put behind its
 * strerror.  The text lasts.
 */
const char *psi_limit_hint(int err);

/*
 * Makes a file at least `offset + len_bytes' long: 0, or an errno value where its owner's limit
 * (RLIMIT_FSIZE, of which the kernel would tell by a signal) or its file system has no room for
 * that.  Memory is not taken before it is touched; blocks of a disk are, since to lack them later
 * is a signal as well.
 */
int psi_file_grow(int fd, uint64_t offset, size_t len_bytes);

/* Bytes that the file system of an open file can hold, all files together; UINT64_MAX for a memfd,
 * which has no such bound. */
uint64_t psi_file_store_bytes(int fd);

#endif
