/* What the parts of the reference know of each other. */
#ifndef PREF_H
#define PREF_H

#include "runtime/atomic/atomic.h"
#include "runtime/rma/reference.h"
#include "runtime/signal/put_signal.h"
#include "runtime/vis/vis.h"

extern const struct psi_module pref_module;

/* The operations of pref_table.c. */
bool pref_start(const struct psi_ref *ref, bool immediate);
int pref_send_long(gex_EP_t ep, const struct psi_am *am, gex_Flags_t flags);
gex_Event_t pref_vis_start(const struct psi_vis *vis, bool finish);
gex_Event_t pref_atomic(const struct psi_atomic *op, struct psi_target target);
gex_Event_t pref_signal_behind(const struct psi_signalled *s, gex_Event_t moved, gex_Event_t leaf);
gex_Event_t pref_put_signal(const struct psi_signalled *s, void *dst, const void *src,
                            size_t nbytes);
gex_Event_t pref_get_signal(const struct psi_signalled *s, void *dst, const void *src,
                            size_t nbytes);

/* Their handlers. */
void pref_rma_register(gex_EP_t ep);
void pref_long_register(gex_EP_t ep);
void pref_atomic_register(gex_EP_t ep);
void pref_vis_register(gex_EP_t ep);
void pref_signal_register(gex_EP_t ep);

/* What those do that wait for room; for polls. */
void pref_room_advance(void);
void pref_vis_advance(void);
void pref_signal_advance(void);

/* Sends pieces while there is room; true when none is left.  The last one carries the transfer's
 * own part, which may be done before this returns. */
bool pref_send_pieces(struct psi_ref *ref);

#endif
