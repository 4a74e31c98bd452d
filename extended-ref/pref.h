/* What the parts of the reference know of each other. */
#ifndef PREF_H
#define PREF_H

/* Registers what a part needs, in this order; called by psi_reference_open. */
void pref_gates_open(void);
void pref_atomic_open(void);

#endif
