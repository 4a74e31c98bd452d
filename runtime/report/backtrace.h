/*
 * Stack traces of the calling thread, by glibc or by a way that the client defines.
 */
#ifndef PSI_BACKTRACE_H
#define PSI_BACKTRACE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Reads the settings and does what cannot be done in a signal handler.  At init, one thread; later
 * calls change the rank.  May be left out: traces are then off, unless asked for by a call.
 */
void psi_backtrace_open(uint32_t rank);

/* True if fatal errors of this rank are to print a trace. */
bool psi_backtrace_wanted(void);

/* Writes a trace; 0, or -1 if no way worked.  Safe in signal handlers after psi_backtrace_open. */
int psi_backtrace_print(int fd);

/* The settings' checks. */
bool psi_ranks_accepted(const char *text);
#define PSI_RANKS_SYNTAX "ranks such as 0,2-4, of a range the lower one first, or *"
bool psi_backtrace_types_accepted(const char *text);

/* True if rank stands in a list such as "0,2-4" or "*". */
bool psi_ranks_include(const char *list, uint32_t rank);

#endif
