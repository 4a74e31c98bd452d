/*
 * Sleeping on a 32-bit word in memory that several processes share.
 */
#ifndef PSI_UTIL_FUTEX_H
#define PSI_UTIL_FUTEX_H

#include <errno.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Sleeps while *word == seen, at most timeout_ns (0: no bound).  May return early for any
 * reason. */
static inline void
psi_futex_wait(_Atomic uint32_t *word, uint32_t seen, uint64_t timeout_ns)
{
	struct timespec bound = {
		.tv_sec = (time_t)(timeout_ns / 1000000000u),
		.tv_nsec = (long)(timeout_ns % 1000000000u),
	};

	syscall(SYS_futex, word, FUTEX_WAIT, seen, timeout_ns ? &bound : NULL, NULL, 0);
}

static inline void
psi_futex_wake(_Atomic uint32_t *word, int count)
{
	syscall(SYS_futex, word, FUTEX_WAKE, count, NULL, NULL, 0);
}

#endif
