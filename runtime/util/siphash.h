/*
 * SipHash-2-4 with 128 bits of output (Aumasson and Bernstein, 2012): a keyed hash of short
 * messages.  Without the key the hash of a message cannot be computed or guessed, even if hashes of
 * other messages are known.  It reads and writes bytes, so it is the same on every processor.
 */
#ifndef PSI_UTIL_SIPHASH_H
#define PSI_UTIL_SIPHASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PSI_SIPHASH_BYTES = 16 };	/* of a key, and of a hash */

void psi_siphash(const uint8_t key[PSI_SIPHASH_BYTES], const void *message, size_t len_bytes,
    uint8_t hash_out[PSI_SIPHASH_BYTES]);

/* Compares all bytes, so that the time it takes does not tell how many agree. */
bool psi_siphash_same(const uint8_t a[PSI_SIPHASH_BYTES], const uint8_t b[PSI_SIPHASH_BYTES]);

#endif
