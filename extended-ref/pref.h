/* Declarations that the files of the reference share. */
#ifndef PREF_H
#define PREF_H

#include "runtime/atomic/atomic.h"
#include "runtime/op/begin.h"
#include "runtime/signal/put_signal.h"
#include "runtime/vis/vis.h"

extern const struct psi_module pref_module;

/* A put, get or fill, or the unsent part of one. */
enum pref_kind { PREF_PUT, PREF_GET, PREF_FILL };

struct pref_move {
	enum pref_kind kind;
	struct psi_transfer transfer;
	void *own;                      /* copy of the source, freed when read; or NULL */
	struct pref_move *next;         /* in the queue of its place (pref_room.c) */
};

/* The operations of pref_table.c. */
int pref_put(struct psi_port *port, const struct psi_transfer *transfer);
int pref_get(struct psi_port *port, const struct psi_transfer *transfer);
int pref_fill(struct psi_port *port, const struct psi_transfer *transfer);
int pref_vis(struct psi_port *port, const struct psi_vis_operation *vis);
int pref_atomic(struct psi_port *port, const struct psi_word_operation *operation);
int pref_long(struct psi_port *port, struct psi_long *message);
int pref_signal(struct psi_port *port, const struct psi_signal_operation *signal);
int pref_put_signal(struct psi_port *port, const struct psi_transfer *transfer,
                    const struct psi_signal_operation *signal);

/* Their handlers. */
void pref_rma_register(gex_EP_t ep);
void pref_long_register(gex_EP_t ep);
void pref_atomic_register(gex_EP_t ep);
void pref_vis_register(gex_EP_t ep);
void pref_signal_register(gex_EP_t ep);

/* Retries the operations that wait for room; polls call it. */
void pref_room_advance(void);

/* Sends pieces while there is room; true when none is left.  The last piece carries the transfer's
 * cookie, which may complete before this returns. */
bool pref_send_pieces(struct pref_move *move);

/* Prints one line that says what lacks memory; returns PSI_FAILED. */
int pref_no_memory(const char *what);

#endif
