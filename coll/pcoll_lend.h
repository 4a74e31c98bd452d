/* Memory that members lend to the collectives of their teams. */
#ifndef PCOLL_LEND_H
#define PCOLL_LEND_H

#include "runtime/process/shared.h"
#include "runtime/team/team.h"

extern const struct psi_team_lender pcoll_lender;
/* The caller will not look there again.  Each member calls these once. */
void pcoll_barrier_area_leave(struct psi_barrier_area *area);
void pcoll_cells_leave(struct psi_cells *const *cells, uint32_t size);

#endif
