/*
 * penstock_signal.h: put with signal, one operation that carries payload and
 * signal, which is applied when the whole payload is visible; and words that
 * signals change. Payload and signal belong to the endpoint (tm, rank).
 *
 * Marks as in penstock_sem.h: I injects, W waits, L is local. _nb gives an
 * event, _nbi a member of the caller's implicit set. An empty transfer is a
 * plain signal, and is sent. No form has an order with another operation.
 *
 * form                    what the event or the return means         category
 *   memput_signal         the source is reusable; nothing of the target   PUT and LC
 *   put*_signal           payload visible and signal applied         PUT; LC by lc_opt
 *   with PST_FLAG_LOCAL_ONLY                                         as memput
 *   get_signal            the data is in dst; the endpoint that was
 *                         read from gets the signal then: a credit   GET
 *
 * Results: GASNET_OK, or GASNET_ERR_NOT_READY and GEX_EVENT_NO_OP where
 * GEX_FLAG_IMMEDIATE was refused. flags: PST_FLAG_LOCAL_ONLY (not of gets),
 * GEX_FLAG_PEER_NEVER_*, and of _nb and _nbi GEX_FLAG_IMMEDIATE.
 */
#ifndef PENSTOCK_SIGNAL_H
#define PENSTOCK_SIGNAL_H

#include "penstock_sem.h"

/* Puts: the event means no more than that the source is reusable. */
#define PST_FLAG_LOCAL_ONLY _GEX_INT(gex_Flags_t, 0x80000000u)

enum { PST_SIGNAL_SEM = 1, PST_SIGNAL_SET = 2, PST_SIGNAL_ADD = 3 };

typedef struct {
	uint32_t pst_what, pst_n; /* PST_SIGNAL_*; of SEM, how many posts */
	pst_sem_ref_t pst_ref;    /* SEM */
	uint64_t *pst_word;       /* SET, ADD: at the owner, 8-byte aligned, in its bound segment */
	uint64_t pst_value;       /* SET, ADD (wraps) */
} pst_signal_t;

static inline pst_signal_t
pst_signal_sem(pst_sem_ref_t ref, unsigned n)
{
	pst_signal_t sig = {PST_SIGNAL_SEM, n, ref, 0, 0};

	return sig;
}

static inline pst_signal_t
pst_signal_word(uint32_t what, uint64_t *word, uint64_t value)
{
	pst_signal_t sig = {what, 0, {{0, 0}}, word, value};

	return sig;
}

PSI_BEGIN_DECLS

/* The general calls in the library. Which of blocking, _nb and _nbi an inlined call was. */
#define PSI_SIGNAL_BLOCKING 0u
#define PSI_SIGNAL_NB       1u
#define PSI_SIGNAL_NBI      2u

/* Behind psi_sem_asleep: wakes the rank if the word, at `there' in this process, has what it waits
 * for. */
PSI_API void psi_word_wake(gex_Rank_t rank, const uint64_t *word, const uint64_t *there);

PSI_API gex_Event_t psi_memput_signal(gex_TM_t tm, gex_Rank_t rank, void *dst, const void *src,
				      size_t nbytes, pst_sem_ref_t ref, unsigned n,
				      gex_Flags_t flags, unsigned how);
PSI_API gex_Event_t psi_put_signal(gex_TM_t tm, gex_Rank_t rank, void *dst, const void *src,
				   size_t nbytes, const pst_signal_t *sig, gex_Event_t *lc_opt,
				   gex_Flags_t flags, unsigned how);
PSI_API gex_Event_t psi_putval_signal(gex_TM_t tm, gex_Rank_t rank, void *dst,
				      gex_RMA_Value_t value, size_t nbytes,
				      const pst_signal_t *sig, gex_Flags_t flags, unsigned how);

/* What the _nbi and blocking forms return. */
PSI_INLINE int
psi_signal_code(gex_Event_t event)
{
	return event == GEX_EVENT_NO_OP ? GASNET_ERR_NOT_READY : GASNET_OK;
}

/*
 * Does all of a put with one post to a semaphore, if all of it can be done
 * from here.
 */
PSI_INLINE int
psi_memput_here(gex_TM_t tm, gex_Rank_t rank, void *dst, const void *src, size_t nbytes,
		pst_sem_ref_t ref, unsigned n, gex_Flags_t flags)
{
	const struct pst_inline *table = pst_inline_v1;
	void *there = psi_rma_reach(table, PSI_RMA_COUNT_SIGNALS, tm, rank, dst, nbytes, flags);
	uint64_t *posted;

	if (PSI_UNLIKELY(there == NULL))
		return 0;
	posted = psi_sem_reach(table, rank, ref, n);
	if (PSI_UNLIKELY(posted == NULL))
		return 0;
	psi_sem_fetch(posted);
	psi_rma_copy(table, there, src, nbytes);
	psi_sem_count(posted, ref.pst_w[0], n);
	psi_sem_wake(table, rank, posted);
	return 1;
}

/* W: may poll and wait for send resources. */
PSI_INLINE void
pst_memput_signal(gex_TM_t tm, gex_Rank_t rank, void *dst, const void *src, size_t nbytes,
		  pst_sem_ref_t ref, unsigned n)
{
	if (PSI_UNLIKELY(!psi_memput_here(tm, rank, dst, src, nbytes, ref, n, 0)))
		(void)psi_memput_signal(tm, rank, dst, src, nbytes, ref, n, 0,
					PSI_SIGNAL_BLOCKING);
}

/* I. */
PSI_INLINE gex_Event_t
pst_memput_signal_nb(gex_TM_t tm, gex_Rank_t rank, void *dst, const void *src, size_t nbytes,
		     pst_sem_ref_t ref, unsigned n, gex_Flags_t flags)
{
	if (PSI_LIKELY(psi_memput_here(tm, rank, dst, src, nbytes, ref, n, flags)))
		return GEX_EVENT_INVALID;
	return psi_memput_signal(tm, rank, dst, src, nbytes, ref, n, flags, PSI_SIGNAL_NB);
}

/* I. */
PSI_INLINE int
pst_memput_signal_nbi(gex_TM_t tm, gex_Rank_t rank, void *dst, const void *src, size_t nbytes,
		      pst_sem_ref_t ref, unsigned n, gex_Flags_t flags)
{
	if (PSI_LIKELY(psi_memput_here(tm, rank, dst, src, nbytes, ref, n, flags)))
		return GASNET_OK;
	return psi_signal_code(psi_memput_signal(tm, rank, dst, src, nbytes, ref, n, flags,
						 PSI_SIGNAL_NBI));
}

/* Changes a word as the signal says, SET or ADD; what the caller wrote before comes before it. */
PSI_INLINE void
psi_signal_change(uint64_t *word, const pst_signal_t *sig)
{
	if (sig->pst_what == PST_SIGNAL_SET)
		__atomic_store_n(word, sig->pst_value,
				 __ATOMIC_RELEASE); /* Z5: release, to Z6 in pst_signal_fetch */
	else
		__atomic_fetch_add(word, sig->pst_value,
				   __ATOMIC_RELEASE); /* Z5: release, to Z6 in pst_signal_fetch */
}

/* The word that the signal changes, if the caller may change it; NULL if the library must. */
PSI_INLINE uint64_t *
psi_signal_reach(const struct pst_inline *table, gex_Rank_t rank, const pst_signal_t *sig)
{
	const struct pst_peer *peer = &table->peers[rank];
	const uintptr_t bits = PSI_PTR_BITS(sig->pst_word);

	if (sig->pst_what == PST_SIGNAL_SEM)
		return psi_sem_reach(table, rank, sig->pst_ref, sig->pst_n);
	if (PSI_UNLIKELY((sig->pst_what != PST_SIGNAL_SET && sig->pst_what != PST_SIGNAL_ADD) ||
			 table->sems[rank].wake == NULL || bits % 8 != 0) ||
	    PSI_UNLIKELY(peer->size_bytes < 8 ||
			 bits - peer->base > peer->size_bytes - 8))
		return NULL;
	return _GEX_TOKEN(uint64_t *, bits + peer->offset);
}

PSI_INLINE int
psi_put_here(gex_TM_t tm, gex_Rank_t rank, void *dst, const void *src, size_t nbytes,
	     const pst_signal_t *sig, gex_Flags_t flags)
{
	const struct pst_inline *table = pst_inline_v1;
	void *there = psi_rma_reach(table, PSI_RMA_COUNT_SIGNALS, tm, rank, dst, nbytes,
				    flags & ~PST_FLAG_LOCAL_ONLY);
	uint64_t *word;

	if (PSI_UNLIKELY(there == NULL))
		return 0;
	word = psi_signal_reach(table, rank, sig);
	if (PSI_UNLIKELY(word == NULL))
		return 0;
	psi_sem_fetch(word);
	psi_rma_copy(table, there, src, nbytes);
	if (sig->pst_what == PST_SIGNAL_SEM)
		psi_sem_count(word, sig->pst_ref.pst_w[0], sig->pst_n);
	else
		psi_signal_change(word, sig);
	if (PSI_UNLIKELY(psi_sem_asleep(table, rank))) {
		if (sig->pst_what != PST_SIGNAL_SEM)
			psi_word_wake(rank, sig->pst_word, word);
		else if (psi_sem_threshold_met(word))
			psi_sem_wake_rank(rank);
	}
	return 1;
}

/* W. */
PSI_INLINE int
pst_put_signal(gex_TM_t tm, gex_Rank_t rank, void *dst, const void *src, size_t nbytes,
	       const pst_signal_t *sig, gex_Flags_t flags)
{
	if (PSI_LIKELY(!(flags & GEX_FLAG_IMMEDIATE)) &&
	    PSI_LIKELY(psi_put_here(tm, rank, dst, src, nbytes, sig, flags)))
		return GASNET_OK;
	return psi_signal_code(psi_put_signal(tm, rank, dst, src, nbytes, sig, GEX_EVENT_NOW,
					      flags, PSI_SIGNAL_BLOCKING));
}

/*
 * I. lc_opt: GEX_EVENT_NOW, GEX_EVENT_DEFER, or the address of an event for
 * local completion; _nbi: NOW, DEFER or GEX_EVENT_GROUP. With
 * PST_FLAG_LOCAL_ONLY, NOW or DEFER.
 */
PSI_INLINE gex_Event_t
pst_put_signal_nb(gex_TM_t tm, gex_Rank_t rank, void *dst, const void *src, size_t nbytes,
		  const pst_signal_t *sig, gex_Event_t *lc_opt, gex_Flags_t flags)
{
	if (PSI_UNLIKELY(lc_opt != GEX_EVENT_NOW && lc_opt != GEX_EVENT_DEFER) ||
	    PSI_UNLIKELY(!psi_put_here(tm, rank, dst, src, nbytes, sig, flags)))
		return psi_put_signal(tm, rank, dst, src, nbytes, sig, lc_opt, flags,
				      PSI_SIGNAL_NB);
	return GEX_EVENT_INVALID;
}

PSI_INLINE int
pst_put_signal_nbi(gex_TM_t tm, gex_Rank_t rank, void *dst, const void *src, size_t nbytes,
		   const pst_signal_t *sig, gex_Event_t *lc_opt, gex_Flags_t flags)
{
	if (PSI_UNLIKELY(lc_opt != GEX_EVENT_NOW && lc_opt != GEX_EVENT_DEFER) ||
	    PSI_UNLIKELY(!psi_put_here(tm, rank, dst, src, nbytes, sig, flags)))
		return psi_signal_code(psi_put_signal(tm, rank, dst, src, nbytes, sig, lc_opt,
						      flags, PSI_SIGNAL_NBI));
	return GASNET_OK;
}

PSI_INLINE int
psi_putval_here(gex_TM_t tm, gex_Rank_t rank, void *dst, gex_RMA_Value_t value, size_t nbytes,
		const pst_signal_t *sig, gex_Flags_t flags)
{
	return nbytes - 1 < SIZEOF_GEX_RMA_VALUE_T &&
	       psi_put_here(tm, rank, dst, psi_rma_value_bytes(&value, nbytes), nbytes, sig,
			    flags);
}

/* The nbytes (1 to 8) low-order bytes of value. W, I, I. */
PSI_INLINE int
pst_putval_signal(gex_TM_t tm, gex_Rank_t rank, void *dst, gex_RMA_Value_t value, size_t nbytes,
		  const pst_signal_t *sig, gex_Flags_t flags)
{
	if (PSI_LIKELY(!(flags & GEX_FLAG_IMMEDIATE)) &&
	    PSI_LIKELY(psi_putval_here(tm, rank, dst, value, nbytes, sig, flags)))
		return GASNET_OK;
	return psi_signal_code(psi_putval_signal(tm, rank, dst, value, nbytes, sig, flags,
						 PSI_SIGNAL_BLOCKING));
}

PSI_INLINE gex_Event_t
pst_putval_signal_nb(gex_TM_t tm, gex_Rank_t rank, void *dst, gex_RMA_Value_t value,
		     size_t nbytes, const pst_signal_t *sig, gex_Flags_t flags)
{
	if (PSI_LIKELY(psi_putval_here(tm, rank, dst, value, nbytes, sig, flags)))
		return GEX_EVENT_INVALID;
	return psi_putval_signal(tm, rank, dst, value, nbytes, sig, flags, PSI_SIGNAL_NB);
}

PSI_INLINE int
pst_putval_signal_nbi(gex_TM_t tm, gex_Rank_t rank, void *dst, gex_RMA_Value_t value,
		      size_t nbytes, const pst_signal_t *sig, gex_Flags_t flags)
{
	if (PSI_LIKELY(psi_putval_here(tm, rank, dst, value, nbytes, sig, flags)))
		return GASNET_OK;
	return psi_signal_code(psi_putval_signal(tm, rank, dst, value, nbytes, sig, flags,
						 PSI_SIGNAL_NBI));
}

/*
 * Vector, indexed, strided: layout, life of the lists, overlap and empty cases
 * as of the calls of gasnet_vis.h. GEX_FLAG_ENABLE_LEAF_LC in place of lc_opt.
 * Blocking W, _nb and _nbi I.
 */
PSI_API int pst_putv_signal(gex_TM_t tm, gex_Rank_t rank, size_t dstcount,
			    const gex_Memvec_t *dstlist, size_t srccount,
			    const gex_Memvec_t *srclist, const pst_signal_t *sig,
			    gex_Flags_t flags);
PSI_API gex_Event_t pst_putv_signal_nb(gex_TM_t tm, gex_Rank_t rank, size_t dstcount,
				       const gex_Memvec_t *dstlist, size_t srccount,
				       const gex_Memvec_t *srclist, const pst_signal_t *sig,
				       gex_Flags_t flags);
PSI_API int pst_putv_signal_nbi(gex_TM_t tm, gex_Rank_t rank, size_t dstcount,
				const gex_Memvec_t *dstlist, size_t srccount,
				const gex_Memvec_t *srclist, const pst_signal_t *sig,
				gex_Flags_t flags);

PSI_API int pst_puti_signal(gex_TM_t tm, gex_Rank_t rank, size_t dstcount, void *const *dstlist,
			    size_t dstlen, size_t srccount, void *const *srclist, size_t srclen,
			    const pst_signal_t *sig, gex_Flags_t flags);
PSI_API gex_Event_t pst_puti_signal_nb(gex_TM_t tm, gex_Rank_t rank, size_t dstcount,
				       void *const *dstlist, size_t dstlen, size_t srccount,
				       void *const *srclist, size_t srclen,
				       const pst_signal_t *sig, gex_Flags_t flags);
PSI_API int pst_puti_signal_nbi(gex_TM_t tm, gex_Rank_t rank, size_t dstcount,
				void *const *dstlist, size_t dstlen, size_t srccount,
				void *const *srclist, size_t srclen, const pst_signal_t *sig,
				gex_Flags_t flags);

PSI_API int pst_puts_signal(gex_TM_t tm, gex_Rank_t rank, void *dst, const ptrdiff_t *dststrides,
			    const void *src, const ptrdiff_t *srcstrides, size_t elemsz,
			    const size_t *count, size_t stridelevels, const pst_signal_t *sig,
			    gex_Flags_t flags);
PSI_API gex_Event_t pst_puts_signal_nb(gex_TM_t tm, gex_Rank_t rank, void *dst,
				       const ptrdiff_t *dststrides, const void *src,
				       const ptrdiff_t *srcstrides, size_t elemsz,
				       const size_t *count, size_t stridelevels,
				       const pst_signal_t *sig, gex_Flags_t flags);
PSI_API int pst_puts_signal_nbi(gex_TM_t tm, gex_Rank_t rank, void *dst,
				const ptrdiff_t *dststrides, const void *src,
				const ptrdiff_t *srcstrides, size_t elemsz, const size_t *count,
				size_t stridelevels, const pst_signal_t *sig, gex_Flags_t flags);

PSI_API int pst_get_signal(gex_TM_t tm, void *dst, gex_Rank_t rank, const void *src,
			   size_t nbytes, const pst_signal_t *sig, gex_Flags_t flags);
PSI_API gex_Event_t pst_get_signal_nb(gex_TM_t tm, void *dst, gex_Rank_t rank, const void *src,
				      size_t nbytes, const pst_signal_t *sig, gex_Flags_t flags);
PSI_API int pst_get_signal_nbi(gex_TM_t tm, void *dst, gex_Rank_t rank, const void *src,
			       size_t nbytes, const pst_signal_t *sig, gex_Flags_t flags);

/*
 * Words. Signals of one operator on one word are atomic with each other and
 * with these calls; SET, ADD, gex_AD_ operations and plain stores do not mix
 * on a word while signals to it are in flight. Comparison is unsigned.
 */
enum { PST_CMP_EQ = 1, PST_CMP_NE, PST_CMP_GT, PST_CMP_GE, PST_CMP_LT, PST_CMP_LE };

/* L, an acquire. */
PSI_INLINE uint64_t
pst_signal_fetch(const uint64_t *word)
{
	return __atomic_load_n(word,
			       __ATOMIC_ACQUIRE); /* Z6: acquire, from Z5 in psi_signal_change */
}

/* L, by the owner while no signal is in flight. */
PSI_INLINE void
pst_signal_store(uint64_t *word, uint64_t value)
{
	__atomic_store_n(word, value,
			 __ATOMIC_RELEASE); /* Z5: release, to Z6 in pst_signal_fetch */
}

/*
 * W. Polls ep, whose segment holds the word, until it compares; gives the
 * value seen. test polls once, answers 1 or 0, and writes *seen_out where it
 * is not NULL and the answer 1. A word that changes without a signal is seen
 * within a millisecond.
 */
PSI_API uint64_t pst_signal_wait(gex_EP_t ep, const uint64_t *word, int cmp, uint64_t value);
PSI_API int pst_signal_test(gex_EP_t ep, const uint64_t *word, int cmp, uint64_t value,
			    uint64_t *seen_out);

/* W. Word i compares with values[i]; the rest as of pst_sem_wait_any, _some and _all. */
PSI_API size_t pst_signal_wait_any(gex_EP_t ep, uint64_t *const *words, const uint64_t *values,
				   size_t count, int cmp, int *done, uint64_t timeout_ns);
PSI_API size_t pst_signal_wait_some(gex_EP_t ep, uint64_t *const *words, const uint64_t *values,
				    size_t count, int cmp, int *done, uint64_t timeout_ns,
				    size_t *indices_out);
PSI_API int pst_signal_wait_all(gex_EP_t ep, uint64_t *const *words, const uint64_t *values,
				size_t count, int cmp, int *done, uint64_t timeout_ns);

PSI_END_DECLS

#endif
