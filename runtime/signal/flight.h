/*
 * Signals under way to a word, counted from the call until the word is changed.  Only PST_CHECK
 * counts them, to find a SET that meets an ADD.  Semaphores are not counted.
 */
#ifndef PSI_FLIGHT_H
#define PSI_FLIGHT_H

#include "gasnetex.h"

#include "penstock_signal.h"

/* Counts a signal that starts towards a word of the endpoint at `place'.  Ends the job if a signal
 * with the other operator is under way to that word. */
void psi_flight_begin(uint32_t place, const pst_signal_t *sig, const char *call);
/* The signal was applied, or refused. */
void psi_flight_end(uint32_t place, const pst_signal_t *sig);

#endif
