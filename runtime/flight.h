/*
 * With checks: signals that are under way to words, from the call to the change, so that SET and ADD of one
 * word are found together.
 */
#ifndef PSI_FLIGHT_H
#define PSI_FLIGHT_H

#include "runtime/psi.h"

#include "penstock_signal.h"

/* A signal to a word of an endpoint starts; it has been applied, or was refused.  Of others: nothing. */
void psi_flight_begin(uint32_t place, const pst_signal_t *sig, const char *call);
void psi_flight_end(uint32_t place, const pst_signal_t *sig);

#endif
