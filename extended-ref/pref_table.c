/* The reference: one table of transfers, and one record of what it needs at start. */
#include "extended-ref/pref.h"

#include "extended-ref/pref_signal.h"
#include "extended-ref/pref_vis.h"

static const struct psi_transfer_ops transfers = {
	.start = pref_start,
	.send_long = pref_send_long,
	.vis = pref_vis_start,
	.atomic = pref_atomic,
	.signal_behind = pref_signal_behind,
	.put_signal = pref_put_signal,
	.get_signal = pref_get_signal,
};

static void
table_open(void)
{
	psi.transfers = &transfers;
	pref_vis_messages_open();
	psi_progress_add(pref_room_advance);
	psi_progress_add(pref_vis_advance);
	psi_progress_add(pref_signal_advance);
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
	.name = "reference", .open = table_open, .register_handlers = table_register,
};
