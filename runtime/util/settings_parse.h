/*
 * Reading values that people typed.  Each function accepts the whole text or nothing: no leading or
 * trailing blanks, no rest.  Returns true and writes *out, or false and leaves *out alone.
 * Pure: no environment, no locale, any thread.
 */
#ifndef PSI_SETTINGS_PARSE_H
#define PSI_SETTINGS_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* 1 y yes, 0 n no, in any case. */
bool psi_parse_bool(const char *text, bool *out);

/* A decimal or 0x number, perhaps with a sign. */
bool psi_parse_int(const char *text, int64_t *out);

/*
 * Bytes: a number, perhaps with a fraction, then B KB MB GB TB (powers of 1024, any case, the B may
 * be missing, one blank may stand before it).  Without a suffix the number counts unit_bytes.
 */
bool psi_parse_size(const char *text, uint64_t unit_bytes, uint64_t *out);

/* What psi_parse_int reads, and is not negative; else bytes. */
bool psi_parse_count(const char *text, uint64_t *out);

/* A time: a number, perhaps with a fraction, of units of unit_ns. */
bool psi_parse_time(const char *text, uint64_t unit_ns, uint64_t *out_ns);

/* A number with a fraction, "0.85" or "3/8"; not negative, finite. */
bool psi_parse_fraction(const char *text, double *out);

/* A number with a fraction, a sign or an exponent, or two of them divided; finite. */
bool psi_parse_double(const char *text, double *out);

/* The place of text (len bytes, any case) in a NULL-terminated list. */
bool psi_parse_word(const char *text, size_t len, const char *const *words, unsigned *out);

/* Comma-separated words as bits, bit i for words[i]; an empty text is no bits. */
bool psi_parse_set(const char *text, const char *const *words, uint64_t *out);

#endif
