/*
 * Writing without waiting for a reader, who may be slow, stuck, or not there.  Descriptors such as
 * standard error are shared with other programs, so they are never made non-blocking.
 */
#ifndef PSI_UTIL_NOWAIT_H
#define PSI_UTIL_NOWAIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Writes what fits at once: how many bytes, or the negative of an errno value; -EAGAIN if the
 * reader has to take something first.  Waits for a disk and for nothing else.  Up to PIPE_BUF
 * bytes go into a pipe whole or not at all.  Safe in signal handlers.
 */
ssize_t psi_write_nowait(int fd, const char *text, size_t len_bytes);

/* What a rank that fails waits for the reader of its last line. */
#define PSI_LAST_WORD_NS ((uint64_t)500 * 1000000)

/* All of it; false if it failed, or if the reader left no room for that long.  The same. */
bool psi_write_within(int fd, const char *text, size_t len_bytes, uint64_t limit_ns);

#endif
