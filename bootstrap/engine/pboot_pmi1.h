/* What other files know of the PMI-1 client. */
#ifndef PBOOT_PMI1_H
#define PBOOT_PMI1_H

#include <stdbool.h>

/* Is PMI_FD a socket that this process has inherited? */
bool pboot_pmi1_is_inherited(void);

/* How long the client waits for one answer; unit tests make it shorter. */
extern int pboot_pmi1_answer_ms;

#endif
