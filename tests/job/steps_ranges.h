/* The step memory of the program steps. */
#ifndef PT_STEPS_RANGES_H
#define PT_STEPS_RANGES_H

#include "bootstrap/bootstrap.h"

/* Tries what the bootstrap lets ranks of one host share; all ranks call it.  Returns what is wrong,
 * or NULL. */
const char *steps_ranges_check(const struct pboot_job *job);

#endif
