/* The reference: its table of operations, and its module record for start-up. */
#include "extended-ref/pref.h"

#include "extended-ref/pref_rest.h"
#include "extended-ref/pref_vis.h"

static const struct psi_conduit_ops operations = {
	.put = pref_put,
	.get = pref_get,
	.fill = pref_fill,
	.vis = pref_vis,
	.atomic = pref_atomic,
	.signal = pref_signal,
	.put_signal = pref_put_signal,
	.am_long = pref_long,
};

int
pref_no_memory(const char *what)
{
	psi_log("no memory for %s", what);
	return PSI_FAILED;
}

static void
table_open(void)
{
	pref_vis_messages_open();
	psi_progress_add(pref_room_advance);
	psi_progress_add(pref_rest_advance);
}

static void
table_register(gex_EP_t ep)
{
	pref_rma_register(ep);
	pref_long_register(ep);
	pref_atomic_register(ep);
	pref_vis_register(ep);
	pref_signal_register(ep);
}

const struct psi_module pref_module = {
	.name = "reference", .operations = &operations, .open = table_open,
	.register_handlers = table_register,
};
