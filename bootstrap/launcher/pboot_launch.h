/* The launcher: starts a job, passes signals on, waits for the end, returns the status. */
#ifndef PBOOT_LAUNCH_H
#define PBOOT_LAUNCH_H

#include "bootstrap/share/pboot_job.h"

/*
 * Starts the job.  In the launcher it returns the job's status when the job has ended.  In the
 * launcher of a direct start it does not return: the process ends with that status and runs no
 * atexit handler.  In the ranks of a direct start it returns -1 and fills *startup_out.  One thread
 * calls it.
 */
int pboot_launch(const struct pboot_plan *plan, struct pboot_startup *startup_out);

#endif
