/*
 * A call that moves a payload and then signals, as its prologue found it; and what is made of it
 * where not all is reached here (carried.c).
 */
#ifndef PSI_PUT_SIGNAL_H
#define PSI_PUT_SIGNAL_H

#include "runtime/signal/post.h"

struct psi_signal_names {
	const char *by_how[3];          /* PSI_SIGNAL_BLOCKING, _NB, _NBI */
	bool inlined;                   /* and so counted by the header */
};

struct psi_signalled {
	const char *call;
	gex_TM_t tm;
	gex_Rank_t rank;
	struct psi_target target;
	const pst_signal_t *sig;
	gex_Flags_t flags;              /* without PST_FLAG_LOCAL_ONLY */
	unsigned how;
	bool local_only;                /* over when the source is reusable */
	bool is_get;
	bool may_refuse;                /* nothing has moved by the time the signal is sent */
	gex_Event_t *lc_opt;
};

/* The checks that all forms share. */
struct psi_signalled psi_signalled(const struct psi_signal_names *names, unsigned how, gex_TM_t tm,
                                   gex_Rank_t rank, const pst_signal_t *sig, gex_Flags_t flags,
                                   gex_Flags_t allowed);

/*
 * The payload moves or has moved: `moved' is its root event, which this takes over, and `leaf' that
 * of its local completion, where the call has one.  The signal follows.  Returns what the call
 * returns.
 */
gex_Event_t psi_signal_behind(const struct psi_signalled *s, gex_Event_t moved, gex_Event_t leaf);

/* The call is refused: takes back its counts.  Returns GEX_EVENT_NO_OP. */
gex_Event_t psi_signal_refused(const struct psi_signalled *s);
/* The source has been read, and the call has a leaf for that. */
void psi_signal_leaf_done(const struct psi_signalled *s);

/* put_signal_rules.c, with checks: the word is no part of the payload, or of its pieces. */
void psi_signal_check_piece(const struct psi_signalled *s, const void *dst, size_t nbytes);
void psi_signal_check_vector(const struct psi_signalled *s, size_t count, const gex_Memvec_t *list);
void psi_signal_check_indexed(const struct psi_signalled *s, size_t count, void *const *list,
                              size_t len);
void psi_signal_check_strided(const struct psi_signalled *s, const void *dst,
                              const ptrdiff_t *strides, size_t elemsz, const size_t *count,
                              size_t levels);

#endif
