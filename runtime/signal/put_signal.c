/*
 * Put with signal, get with credit, posts: what the inlines leave to the library.  Payload first,
 * then the signal: at once where both are reached here, else by operations of the contract
 * (carried.c).
 */
#include "runtime/signal/behind.h"

#include "runtime/segment/reach.h"
#include "runtime/signal/flight.h"
#include "runtime/team/team_rules.h"
#include "runtime/wait/waiting.h"

#include "runtime/util/copy.h"

enum { PEER_FLAGS = GEX_FLAG_PEER_NEVER_SELF | GEX_FLAG_PEER_NEVER_NBRHD };

/* -- prologue -------------------------------------------------------------------------------- */

static void __attribute__((noreturn, cold))
bad_lc(const struct psi_signalled *s)
{
	if (!s->lc_opt)
		psi_fatal("%s: lc_opt is NULL; pass GEX_EVENT_NOW or GEX_EVENT_DEFER", s->call);
	psi_fatal("%s: lc_opt is %s, which this call does not allow; pass GEX_EVENT_NOW or "
	          "GEX_EVENT_DEFER", s->call,
	          s->lc_opt == GEX_EVENT_GROUP ? "GEX_EVENT_GROUP" : "the address of an event");
}

static bool
put_signal_is_leaf(const gex_Event_t *lc_opt)
{
	return lc_opt != GEX_EVENT_NOW && lc_opt != GEX_EVENT_DEFER && lc_opt != GEX_EVENT_GROUP;
}

static void
put_signal_check_lc(const struct psi_signalled *s)
{
	if (PSI_UNLIKELY(!s->lc_opt) ||
	    PSI_UNLIKELY(s->local_only && s->lc_opt != GEX_EVENT_NOW &&
	                 s->lc_opt != GEX_EVENT_DEFER) ||
	    PSI_UNLIKELY(s->how == PSI_SIGNAL_NB && s->lc_opt == GEX_EVENT_GROUP) ||
	    PSI_UNLIKELY(s->how == PSI_SIGNAL_NBI && put_signal_is_leaf(s->lc_opt)))
		bad_lc(s);
}

/* The inlines have counted the call, but a thread's first in PAR; of calls that are not inlined,
 * none. */
static void
put_signal_count_call(bool inlined)
{
	const bool counted = inlined && (psi.block || psi_counts_self);
	uint64_t *counts = psi_block()->count;

	if (!counted)
		psi_count(counts, PSI_COUNT_SIGNALS);
	psi_count(counts, PSI_COUNT_SIGNALS_CALLED);
}

gex_Event_t
psi_signal_refused(const struct psi_signalled *s)
{
	uint64_t *counts = psi_block()->count;

	psi_flight_end(s->target.place, s->sig);
	psi_count_back(counts, PSI_COUNT_SIGNALS, 1);
	psi_count_back(counts, PSI_COUNT_SIGNALS_CALLED, 1);
	return GEX_EVENT_NO_OP;
}

struct psi_signalled
psi_signalled(const struct psi_signal_names *names, unsigned how, gex_TM_t tm, gex_Rank_t rank,
              const pst_signal_t *sig, gex_Flags_t flags, gex_Flags_t allowed)
{
	const char *call = names->by_how[how];
	struct psi_signalled s = {
		.call = call, .tm = tm, .rank = rank, .sig = sig, .how = how,
		.local_only = flags & PST_FLAG_LOCAL_ONLY, .flags = flags & ~PST_FLAG_LOCAL_ONLY,
		.lc_opt = GEX_EVENT_DEFER,
	};

	psi_need_init(call);
	s.target = psi_rule_target(tm, rank, call);
	allowed |= PEER_FLAGS | (how == PSI_SIGNAL_BLOCKING ? 0 : GEX_FLAG_IMMEDIATE);
	psi_check_flags(flags, allowed, call);
	psi_signal_check(s.target, sig, call);
	psi_flight_begin(s.target.place, sig, call);
	put_signal_count_call(names->inlined);
	return s;
}

/* -- epilogue -------------------------------------------------------------------------------- */

void
psi_signal_leaf_done(const struct psi_signalled *s)
{
	if (put_signal_is_leaf(s->lc_opt))
		*s->lc_opt = GEX_EVENT_INVALID;
}

/* All is done but the signal, which is applied here. */
static gex_Event_t
signal_here(const struct psi_signalled *s)
{
	psi_signal_apply(s->target, s->sig, s->call);
	psi_signal_leaf_done(s);
	if (!(s->flags & GEX_FLAG_IMMEDIATE))
		psi_poll();
	return GEX_EVENT_INVALID;
}

gex_Event_t
psi_signal_behind(const struct psi_signalled *s, gex_Event_t moved, gex_Event_t leaf)
{
	if (moved == GEX_EVENT_INVALID && psi_signal_reaches(s->target.place, s->sig, s->call))
		return signal_here(s);
	return psi_signal_carried(s, moved, leaf);
}

/* -- contiguous ------------------------------------------------------------------------------ */

static gex_Event_t
put_signal_put_here(struct psi_signalled *s, void *dst, const void *src, size_t nbytes)
{
	void *there = NULL;

	put_signal_check_lc(s);
	if (nbytes) {
		there = psi_reach(PSI_WAY_PUT, s->target.place, dst, nbytes, s->call);
		psi_rule_transfer(src, there, nbytes, s->flags, s->call);
		psi_signal_check_piece(s, dst, nbytes);
	}
	s->may_refuse = !nbytes;
	if (nbytes && !there)
		return psi_put_carried(s, dst, src, nbytes);
	if (nbytes)
		psi_copy(there, src, nbytes);
	return psi_signal_behind(s, GEX_EVENT_INVALID, GEX_EVENT_INVALID);
}

gex_Event_t
psi_memput_signal(gex_TM_t tm, gex_Rank_t rank, void *dst, const void *src, size_t nbytes,
                  pst_sem_ref_t ref, unsigned n, gex_Flags_t flags, unsigned how)
{
	static const struct psi_signal_names names = {
		{ "pst_memput_signal", "pst_memput_signal_nb", "pst_memput_signal_nbi" },
		.inlined = true,
	};
	const pst_signal_t sig = pst_signal_sem(ref, n);
	struct psi_signalled s = psi_signalled(&names, how, tm, rank, &sig, flags, 0);

	s.local_only = true;
	return put_signal_put_here(&s, dst, src, nbytes);
}

gex_Event_t
psi_put_signal(gex_TM_t tm, gex_Rank_t rank, void *dst, const void *src, size_t nbytes,
               const pst_signal_t *sig, gex_Event_t *lc_opt, gex_Flags_t flags, unsigned how)
{
	static const struct psi_signal_names names = {
		{ "pst_put_signal", "pst_put_signal_nb", "pst_put_signal_nbi" },
		.inlined = true,
	};
	struct psi_signalled s =
		psi_signalled(&names, how, tm, rank, sig, flags, PST_FLAG_LOCAL_ONLY);

	s.lc_opt = lc_opt;
	return put_signal_put_here(&s, dst, src, nbytes);
}

gex_Event_t
psi_putval_signal(gex_TM_t tm, gex_Rank_t rank, void *dst, gex_RMA_Value_t value, size_t nbytes,
                  const pst_signal_t *sig, gex_Flags_t flags, unsigned how)
{
	static const struct psi_signal_names names = {
		{ "pst_putval_signal", "pst_putval_signal_nb", "pst_putval_signal_nbi" },
		.inlined = true,
	};
	struct psi_signalled s =
		psi_signalled(&names, how, tm, rank, sig, flags, PST_FLAG_LOCAL_ONLY);

	if (PSI_UNLIKELY(nbytes - 1 >= SIZEOF_GEX_RMA_VALUE_T))
		psi_fatal("%s: a value of %zu bytes; it has 1 to %d", s.call, nbytes,
		          SIZEOF_GEX_RMA_VALUE_T);
	s.lc_opt = GEX_EVENT_NOW;
	return put_signal_put_here(&s, dst, psi_rma_value_bytes(&value, nbytes), nbytes);
}

/* -- posts ----------------------------------------------------------------------------------- */

int
psi_sem_post(gex_TM_t tm, gex_Rank_t rank, pst_sem_ref_t ref, unsigned n, gex_Flags_t flags)
{
	static const struct psi_signal_names names = {
		{ "pst_sem_post", "pst_sem_post", "pst_sem_post" },
		.inlined = true,
	};
	const pst_signal_t sig = pst_signal_sem(ref, n);
	struct psi_signalled s = psi_signalled(&names, PSI_SIGNAL_NB, tm, rank, &sig, flags, 0);

	s.local_only = s.may_refuse = true;
	return psi_signal_code(psi_signal_behind(&s, GEX_EVENT_INVALID, GEX_EVENT_INVALID));
}

/* -- get with credit ------------------------------------------------------------------------- */

static gex_Event_t
put_signal_get_here(gex_TM_t tm, void *dst, gex_Rank_t rank, const void *src, size_t nbytes,
                    const pst_signal_t *sig, gex_Flags_t flags, unsigned how)
{
	static const struct psi_signal_names names = {
		{ "pst_get_signal", "pst_get_signal_nb", "pst_get_signal_nbi" }, false,
	};
	struct psi_signalled s = psi_signalled(&names, how, tm, rank, sig, flags, 0);
	const void *there = NULL;

	s.is_get = true;
	s.may_refuse = !nbytes;
	if (nbytes) {
		there = psi_reach(PSI_WAY_GET, s.target.place, src, nbytes, s.call);
		psi_rule_transfer(dst, there, nbytes, s.flags, s.call);
	}
	if (nbytes && !there)
		return psi_get_carried(&s, dst, src, nbytes);
	if (nbytes)
		psi_copy(dst, there, nbytes);
	return psi_signal_behind(&s, GEX_EVENT_INVALID, GEX_EVENT_INVALID);
}

int
pst_get_signal(gex_TM_t tm, void *dst, gex_Rank_t rank, const void *src, size_t nbytes,
               const pst_signal_t *sig, gex_Flags_t flags)
{
	return psi_signal_code(
		put_signal_get_here(tm, dst, rank, src, nbytes, sig, flags, PSI_SIGNAL_BLOCKING));
}

gex_Event_t
pst_get_signal_nb(gex_TM_t tm, void *dst, gex_Rank_t rank, const void *src, size_t nbytes,
                  const pst_signal_t *sig, gex_Flags_t flags)
{
	return put_signal_get_here(tm, dst, rank, src, nbytes, sig, flags, PSI_SIGNAL_NB);
}

int
pst_get_signal_nbi(gex_TM_t tm, void *dst, gex_Rank_t rank, const void *src, size_t nbytes,
                   const pst_signal_t *sig, gex_Flags_t flags)
{
	return psi_signal_code(
		put_signal_get_here(tm, dst, rank, src, nbytes, sig, flags, PSI_SIGNAL_NBI));
}
