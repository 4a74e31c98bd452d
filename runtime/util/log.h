/*
 * Messages for people: whole lines on stderr, each with one write, so that lines of several ranks
 * never mix.  Safe in signal handlers, since nothing is allocated and stdio is not used for output.
 */
#ifndef PSI_UTIL_LOG_H
#define PSI_UTIL_LOG_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PSI_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))

/* Who speaks; before this is called, lines begin with "penstock: " alone.  Called once, at init. */
void psi_log_set_speaker(uint32_t rank, const char *host);

/* One line; the text needs no newline.  Longer than 1000 bytes is cut.  Where the reader takes
 * nothing for 2 s it is lost. */
enum { PSI_LOG_BYTES = 1024 };
void psi_log(const char *format, ...) PSI_PRINTF(1, 2);

/*
 * The same with a text that is ready, before the process ends: false if it could not be written,
 * or the reader took nothing for half a second.
 */
bool psi_log_last(const char *text);

/* The line alone, with its newline and without a zero: its length.  Leaves errno alone. */
size_t psi_log_format(char line[PSI_LOG_BYTES], const char *format, va_list args) PSI_PRINTF(2, 0);

/* psi_log, then exit(2): for settings and command lines that make no sense. */
void psi_log_refuse(const char *format, ...) PSI_PRINTF(1, 2) __attribute__((noreturn));

#endif
