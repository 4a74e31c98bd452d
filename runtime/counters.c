#define PSI_BUILDING_LIBRARY 1

#include "runtime/counters.h"

#include "gasnetex.h"

_Static_assert((int)PSI_COUNT_PUTS == PSI_RMA_COUNT_PUTS && (int)PSI_COUNT_GETS == PSI_RMA_COUNT_GETS,
	       "the inline transfers count where the list says");

const struct psi_counter_row psi_counter_rows[] = {
#define ROW(id, name, unit, group, sum, help) { name, unit, group, help, sum },
	PSI_COUNTER_LIST(ROW)
#undef ROW
};
