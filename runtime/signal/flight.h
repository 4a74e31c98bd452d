/* With checks: signals under way to words, from the call to the change, so that SET mixed with ADD
 * is found. */
#ifndef PSI_FLIGHT_H
#define PSI_FLIGHT_H

#include "gasnetex.h"

#include "penstock_signal.h"

/*
 * A signal to a word of the endpoint at that place begins: ends the job if one of the other
 * operator is under way there.  It has been applied, or was refused.  Nothing for semaphores, or
 * without checks.
 */
void psi_flight_begin(uint32_t place, const pst_signal_t *sig, const char *call);
void psi_flight_end(uint32_t place, const pst_signal_t *sig);

#endif
