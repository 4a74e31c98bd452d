/* The launcher's part: to start a job, to wait, to pass signals on, to return the status. */
#ifndef PBOOT_LAUNCH_H
#define PBOOT_LAUNCH_H

#include "bootstrap/share/pboot_job.h"

/*
 * Starts the job.  In the launcher it returns the job's status when the job has ended (direct
 * start: it does not return, the process ends with that status and runs no atexit handler).  In the
 * ranks of a direct start it returns -1 and fills *seat_out.  No other thread may be inside this
 * file.
 */
int pboot_launch(const struct pboot_plan *plan, struct pboot_seat *seat_out);

#endif
