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

/* Returns a descriptor (signalfd) for the signals that a launcher passes on, and for SIGCHLD; a
 * negative number, with errno set, if that fails.  A signal that was ignored when this process
 * started (nohup, a shell's background job) stays ignored. */
int pboot_launch_open_signals(void);

/* Stops this process by the default action of SIGTSTP, and returns when it is continued.  The
 * kernel does not stop a process that no shell could continue, so the call then returns at once. */
void pboot_launch_stop_self(void);

#endif
