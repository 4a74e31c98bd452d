/* Reports, as start-up and exit ask for them. */
#ifndef PSI_REPORTS_H
#define PSI_REPORTS_H

#include "runtime/process/process.h"

/* The hooks of report.c, for the keeper that this process may become. */
void psi_reports_open(void);
/* The same report, printed by the rank of a job that has no keeper. */
void psi_report_alone(uint64_t waited_ns, bool quiet);
/* Prints the counters at the end of such a job, if the settings ask for them. */
void psi_report_alone_ended(void);

#endif
