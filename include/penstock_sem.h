/*
 * penstock_sem.h: semaphores, which count posts. A semaphore belongs to one
 * endpoint; any rank posts, only threads of the owner's process wait.
 *
 * Marks: L local, no communication, polling or blocking: also in handlers and
 * under a lock. M local, but may allocate or lock. I injects: may poll and
 * wait for send resources, never for an action of the peer's client. W waits:
 * polls, runs handlers, sleeps when idle. C collective over its team.
 *
 * Threads: in PAR any thread may make any call; SEQ and PARSYNC by the mode's
 * promise. What a client may not do ends the job with one line; docs/misuse.md.
 *
 * Source: the semaphores of Berkeley UPC, whose calls map one to one.
 */
#ifndef PENSTOCK_SEM_H
#define PENSTOCK_SEM_H

#include "gasnet_ex_event.h"
#include "gasnet_ex_rma.h"
#include "gasnet_ex_wait.h"

typedef struct pst_sem_s *pst_sem_t; /* handle in the owner's process, never sent */
typedef struct pst_sem_set_s *pst_sem_set_t;

/* Job-wide name of a semaphore, for any message; all zero names nothing. */
typedef struct {
	uint64_t pst_w[2];
} pst_sem_ref_t;

#define PST_SEM_INVALID _GEX_NULL(pst_sem_t)

/* Kind: at most one of each pair; missing means INTEGER, MPRODUCER, MCONSUMER. */
#define PST_SEM_BOOLEAN   1u  /* a post sets 1, a take sets 0 */
#define PST_SEM_INTEGER   2u  /* a post adds n, a take subtracts n at once */
#define PST_SEM_SPRODUCER 4u  /* all posts come from one endpoint, one after the other */
#define PST_SEM_MPRODUCER 8u
#define PST_SEM_SCONSUMER 16u /* one thread at a time waits */
#define PST_SEM_MCONSUMER 32u
#define PST_SEM_MAXVALUE  65535u /* posts started and not taken */

#define PST_NONE    _GEX_INT(size_t, -1) /* no index */
#define PST_FOREVER UINT64_MAX           /* no time-out */

PSI_BEGIN_DECLS

/* W, one bounded round: gasnet_AMPoll for one endpoint. GASNET_OK. */
PSI_API int pst_poll(gex_EP_t ep);

/* M. Makes count semaphores of ep, all or none. GASNET_OK, GASNET_ERR_BAD_ARG or
 * GASNET_ERR_RESOURCE. */
PSI_API int pst_sem_alloc(gex_EP_t ep, unsigned kind, size_t count, pst_sem_t *sems_out);
/* L. When nobody waits and every post started has been seen in the count. */
PSI_API void pst_sem_free(const pst_sem_t *sems, size_t count);

/* L. A semaphore's name; its 8-byte form, which is not zero and below 2^48; and back. */
PSI_API pst_sem_ref_t pst_sem_ref(pst_sem_t sem);
PSI_API uint64_t pst_sem_ref_key(pst_sem_ref_t ref);
PSI_API pst_sem_ref_t pst_sem_ref_make(gex_TM_t tm, gex_Rank_t rank, uint64_t key);
/* L. The owner: its process and the index of its endpoint there. */
PSI_API gex_EP_Location_t pst_sem_ref_owner(pst_sem_ref_t ref);

/*
 * C W. count (the same on all members) semaphores on every member, which every
 * member names without communication; memory per rank does not grow with the
 * team. All return the same code: GASNET_OK, GASNET_ERR_BAD_ARG or
 * GASNET_ERR_RESOURCE. Destroy synchronises, then frees, and comes before the
 * team's. flags 0.
 */
PSI_API int pst_sem_set_create(gex_TM_t tm, size_t count, unsigned kind, pst_sem_set_t *set_out,
			       gex_Flags_t flags);
PSI_API void pst_sem_set_destroy(pst_sem_set_t set, gex_Flags_t flags);
/* L. The caller's own semaphore; the name of a member's. */
PSI_API pst_sem_t pst_sem_set_mine(pst_sem_set_t set, size_t index);
PSI_API pst_sem_ref_t pst_sem_set_ref(pst_sem_set_t set, gex_Rank_t rank, size_t index);

/*
 * L. Posts n to a semaphore of the caller's process: 1 to 65535, and 1 for
 * BOOLEAN. Counts as a post by the owner's endpoint.
 */
PSI_API void pst_sem_post_local(pst_sem_t sem, unsigned n);

/*
 * W. Take n. A take that consumes a post sees the poster's earlier accesses,
 * its operations that were synchronised before the post and, of a put with
 * signal, that payload. try polls at most once, timedwait with 0 once; both
 * answer 1 for taken and 0.
 */
PSI_API void pst_sem_wait(pst_sem_t sem, unsigned n);
PSI_API int pst_sem_try(pst_sem_t sem, unsigned n);
PSI_API int pst_sem_timedwait(pst_sem_t sem, unsigned n, uint64_t timeout_ns);
/* L. A snapshot, which orders nothing. */
PSI_API unsigned pst_sem_value(pst_sem_t sem);

/*
 * W. Several semaphores of one endpoint; n NULL is 1 each. Entries with
 * done[i] != 0 are skipped, and what is taken gets done[i] = 1. any takes one
 * and gives its index; some takes all it can, at least one, and gives their
 * number; all gives 1 when every entry is taken, and what it took before a
 * time-out stays taken: there done may be NULL with PST_FOREVER alone. After
 * a time-out (0: one poll) PST_NONE, 0, 0; where nothing is left to wait for
 * PST_NONE, 0, 1 at once.
 */
PSI_API size_t pst_sem_wait_any(const pst_sem_t *sems, const unsigned *n, size_t count, int *done,
				uint64_t timeout_ns);
PSI_API size_t pst_sem_wait_some(const pst_sem_t *sems, const unsigned *n, size_t count, int *done,
				 uint64_t timeout_ns, size_t *indices_out);
PSI_API int pst_sem_wait_all(const pst_sem_t *sems, const unsigned *n, size_t count, int *done,
			     uint64_t timeout_ns);

PSI_API int psi_sem_post(gex_TM_t tm, gex_Rank_t rank, pst_sem_ref_t ref, unsigned n,
			 gex_Flags_t flags);
/* Wakes the rank, which sleeps. */
PSI_API void psi_sem_wake_rank(gex_Rank_t rank);

/*
 * A key: slot | kind << 17 | generation << 19. The second word of a reference
 * is the owner: job rank | index of its endpoint << 32.
 */
#define PSI_SEM_SLOT_BITS 17
#define PSI_SEM_KEY_BITS  48
#define PSI_SEM_KEY_ALONE (_GEX_INT(uint64_t, 1) << PSI_SEM_SLOT_BITS)
#define PSI_SEM_KEY_BOOLEAN (_GEX_INT(uint64_t, 2) << PSI_SEM_SLOT_BITS)

PSI_INLINE uint32_t
psi_sem_slot(uint64_t key)
{
	return _GEX_INT(uint32_t, key & ((_GEX_INT(uint64_t, 1) << PSI_SEM_SLOT_BITS) - 1));
}

PSI_INLINE uint32_t
psi_sem_live(uint64_t key)
{
	return _GEX_INT(uint32_t, key >> PSI_SEM_SLOT_BITS);
}

/* Is n a number of posts that the semaphore takes? */
PSI_INLINE int
psi_sem_takes(uint64_t key, unsigned n)
{
	return n - 1u < (key & PSI_SEM_KEY_BOOLEAN ? 1u : PST_SEM_MAXVALUE);
}

/*
 * A semaphore's line has the count of posts and behind it the threshold, the
 * count at which a waiting thread has enough. The owner writes the threshold
 * before it sleeps. With 0 any post wakes it, and with UINT64_MAX none does.
 */
#define PSI_SEM_THRESHOLD 1

/* The count of posts, where the caller may add to it; NULL where the library decides. */
PSI_INLINE uint64_t *
psi_sem_reach(const struct pst_inline *table, gex_Rank_t rank, pst_sem_ref_t ref, unsigned n)
{
	const struct pst_sem_peer *peer = &table->sems[rank];
	const uint64_t key = ref.pst_w[0];
	uint64_t (*lines)[8] = __atomic_load_n(
		&peer->lines, __ATOMIC_ACQUIRE); /* Z4: acquire, from Z3 in table_reach */

	if (PSI_UNLIKELY(lines == NULL || ref.pst_w[1] != rank || !psi_sem_takes(key, n)) ||
	    PSI_UNLIKELY(__atomic_load_n(&peer->live[psi_sem_slot(key)], __ATOMIC_RELAXED) !=
			 psi_sem_live(key)))
		return NULL;
	return &lines[psi_sem_slot(key)][0];
}

/*
 * The word's line is on its way here, to be written, while the payload is
 * copied. A single producer reads the word before it writes it, which would
 * fetch the line twice otherwise: to read, then to own.
 */
PSI_INLINE void
psi_sem_fetch(const uint64_t *word)
{
#if defined(__x86_64__)
	__asm__("prefetchw %0" : : "m"(*word));
#else
	__builtin_prefetch(word, 1);
#endif
}

/*
 * Counts n posts; what the caller wrote before comes before them. A single
 * producer is the only one who writes the word.
 */
PSI_INLINE void
psi_sem_count(uint64_t *posted, uint64_t key, unsigned n)
{
	if (key & PSI_SEM_KEY_ALONE)
		__atomic_store_n(posted, __atomic_load_n(posted, __ATOMIC_RELAXED) + n,
				 __ATOMIC_RELEASE); /* Z1: release, to Z2 in sem_posts_of */
	else
		__atomic_fetch_add(posted, n,
				   __ATOMIC_RELEASE); /* Z1: release, to Z2 in sem_posts_of */
}

#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 11
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtsan"
#endif
/*
 * After a signal: does a thread of the rank sleep? The signal comes before the
 * look at wake: by a fence here, or because a sleeper makes all processes fence
 * between saying that it sleeps and its last look, and then only the compiler
 * has to keep the two in order.
 */
PSI_INLINE int
psi_sem_asleep(const struct pst_inline *table, gex_Rank_t rank)
{
	if (table->posts_fence)
		__atomic_thread_fence(__ATOMIC_SEQ_CST); /* D5_POST: pairs with ARM_FENCE */
	else
		__atomic_signal_fence(__ATOMIC_SEQ_CST); /* D5_ORDER: pairs with D5_ALL */
	return (__atomic_load_n(table->sems[rank].wake, __ATOMIC_RELAXED) & 1) != 0;
}
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 11
#pragma GCC diagnostic pop
#endif

/* After the same fence: whether the count, with this post, has reached what the sleeper waits
 * for. */
PSI_INLINE int
psi_sem_threshold_met(const uint64_t *posted)
{
	return __atomic_load_n(posted, __ATOMIC_RELAXED) >=
	       /* D5_SUFFICES: relaxed, behind D5_POST or D5_ORDER in psi_sem_asleep */
	       __atomic_load_n(posted + PSI_SEM_THRESHOLD, __ATOMIC_RELAXED);
}

/* After a post: wakes the rank if it sleeps and the count has reached its threshold. */
PSI_INLINE void
psi_sem_wake(const struct pst_inline *table, gex_Rank_t rank, const uint64_t *posted)
{
	if (PSI_UNLIKELY(psi_sem_asleep(table, rank)) && psi_sem_threshold_met(posted))
		psi_sem_wake_rank(rank);
}

/* May the caller reach the rank's semaphores itself? Counts the call. */
PSI_INLINE int
psi_sem_here(const struct pst_inline *table, gex_TM_t tm, gex_Rank_t rank, gex_Flags_t flags)
{
	return PSI_LIKELY(psi_rma_count(PSI_RMA_COUNTS(table), PSI_RMA_COUNT_SIGNALS)) &&
	       PSI_LIKELY(!(flags & ~PSI_RMA_PLAIN_FLAGS)) &&
	       PSI_LIKELY(tm == table->job_tm || tm == PSI_TM_LEGACY) &&
	       PSI_LIKELY(rank < table->job_size);
}

/*
 * I. Posts n to the semaphore of the endpoint (tm, rank): 1 to 65535, and 1
 * for BOOLEAN. A post to the caller's own process is applied before the
 * return. GASNET_OK, or GASNET_ERR_NOT_READY where IMMEDIATE was refused.
 * flags: GEX_FLAG_IMMEDIATE, GEX_FLAG_PEER_NEVER_*.
 */
PSI_INLINE int
pst_sem_post(gex_TM_t tm, gex_Rank_t rank, pst_sem_ref_t ref, unsigned n, gex_Flags_t flags)
{
	const struct pst_inline *table = pst_inline_v1;
	uint64_t *posted = psi_sem_here(table, tm, rank, flags)
				   ? psi_sem_reach(table, rank, ref, n) : NULL;

	if (PSI_UNLIKELY(posted == NULL))
		return psi_sem_post(tm, rank, ref, n, flags);
	psi_sem_fetch(posted);
	PSI_COMPILER_FENCE();
	psi_sem_count(posted, ref.pst_w[0], n);
	psi_sem_wake(table, rank, posted);
	return GASNET_OK;
}

PSI_END_DECLS

#endif
