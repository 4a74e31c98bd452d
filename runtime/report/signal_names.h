/* Signals by name, and lists of them as settings have it. */
#ifndef PSI_SIGNAL_NAMES_H
#define PSI_SIGNAL_NAMES_H

#include <stdbool.h>
#include <stdint.h>

/* "SIGSEGV"; "signal" for one without a name.  Safe in signal handlers. */
const char *psi_signal_name(int number);

/*
 * A list of names ("SIGSEGV", "SEGV", any case) or numbers, separated by commas or blanks; or "*",
 * which is all.  Sets bit n for signal n; false, *out untouched, if a word is no signal.
 */
bool psi_signals_parse(const char *text, uint64_t *out);

/* Checks of settings.  The first accepts what psi_signals_parse reads; the second refuses "*" and
 * signals that cannot be caught. */
bool psi_signals_or_all_accepted(const char *text);
bool psi_signals_accepted(const char *text);

#define PSI_SIGNALS_SYNTAX "signals by name or number (1 to 63), separated by commas"
#define PSI_SIGNALS_CAUGHT PSI_SIGNALS_SYNTAX ", that can be caught (not KILL, STOP, 32 or 33)"

#endif
