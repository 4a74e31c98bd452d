/* The providers that the library has in itself. */
#include "offload/cau/cau.h"
#include "offload/provider.h"

const pst_off_provider_t *const poff_built_in[] = { &poff_cau, NULL };
