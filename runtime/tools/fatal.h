/* How a fatal error ends the process. */
#ifndef PSI_TOOLS_FATAL_H
#define PSI_TOOLS_FATAL_H

/*
 * The function that ends a rank of a job.  Init sets it, before other threads call.  Until then,
 * and in programs without a conduit, the line is printed here and the process aborts.
 */
extern void (*psi_fatal_end)(const char *text);

#endif
