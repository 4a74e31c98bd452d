/* gasnet_get_nb_val: a value on its way stands in memory of its own until it is waited for. */
#include "runtime/process/process.h"

#include <stdlib.h>

struct pending {
	gex_RMA_Value_t value;
	gex_Event_t event;
};

gasnet_valget_handle_t
psi_rma_get_value_nb(gasnet_node_t node, const void *src, size_t nbytes)
{
	gasnet_valget_handle_t handle = { 0, NULL };
	struct pending *pending = calloc(1, sizeof *pending);

	if (!pending)
		psi_fatal("gasnet_get_nb_val: no memory for the value");
	pending->event = psi_rma_get_nb(PSI_TM_LEGACY, psi_rma_value_bytes(&pending->value, nbytes),
	                                node, src, nbytes, 0);
	handle.psi_pending = pending;
	return handle;
}

gasnet_register_value_t
psi_rma_value_wait(void *value)
{
	struct pending *pending = value;
	gex_RMA_Value_t result;

	gex_Event_Wait(pending->event);
	result = pending->value;
	free(pending);
	return result;
}
