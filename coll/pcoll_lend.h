/* Memory that members lend to the collectives of their teams. */
#ifndef PCOLL_LEND_H
#define PCOLL_LEND_H

#include "runtime/process/shared.h"
#include "runtime/team/team.h"

extern const struct psi_team_lender pcoll_lender;

/* What the endpoint at a place lends, mapped here (cells_memory.c).  One of this process that has
 * lent nothing yet gets memory for it.  NULL: there is none. */
struct psi_lent *pcoll_lent_at(uint32_t place);
/* Ends the job: there is no memory for what that endpoint lends; errno says why. */
void pcoll_lender_lacks(uint32_t place) __attribute__((noreturn, cold));

/* The caller will not look there again.  Each member calls these once. */
void pcoll_barrier_area_leave(struct psi_barrier_area *area);
void pcoll_cells_leave(struct psi_cells *const *cells, uint32_t size);

#endif
