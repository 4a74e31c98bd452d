/*
 * Signals: posts to semaphores and changes of words, checked and applied.  A signal is applied by
 * the caller where it reaches the memory, else by the owner when a message brings it
 * (carried.c).
 */
#ifndef PSI_POST_H
#define PSI_POST_H

#include "runtime/team/team.h"

#include "penstock_signal.h"

/* Ends the job unless the signal fits the endpoint that it goes to; nothing has moved by then. */
void psi_signal_check(struct psi_target target, const pst_signal_t *sig, const char *call);
/* Does the caller reach the word or count that the signal changes?  The signal has been checked. */
bool psi_signal_reaches(uint32_t place, const pst_signal_t *sig, const char *call);
/* Applies it in memory mapped here, and wakes the owner. */
void psi_signal_apply(struct psi_target target, const pst_signal_t *sig, const char *call);
/* Applies it in this process's memory, for a message from place `source'; the runtime wakes threads
 * after the handler. */
void psi_signal_apply_own(gex_EP_t ep, const pst_signal_t *sig, uint32_t source, const char *call);

/* A signal to that place as one number, for networks that carry one with a put; 0: it does not
 * fit. */
uint64_t psi_signal_packed(uint32_t place, const pst_signal_t *sig);
/* The service of the contract, at the signal's owner. */
bool psi_signal_arrived(uint64_t packed);

#endif
