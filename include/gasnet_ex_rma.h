/*
 * gasnet_ex_rma.h: blocking put and get, and their forms for small values.
 *
 * A peer whose segment is mapped here is served by a copy made on the spot;
 * everything else, errors included, is the library's business. Such a copy
 * needs no fence of its own. A put becomes usable at its target only through
 * a message, a barrier or another synchronised operation that starts after
 * the put returned, and each of these publishes with a release store, before
 * which the plain stores of the copy stand; the library's copy routine ends
 * with a store fence where it used stores that a release does not order. In
 * the same way a get reads what was announced to this thread by something
 * that ended in an acquire. What the compiler must not do is merge or move
 * whole transfers, hence the compiler fences.
 */
#ifndef GASNET_EX_RMA_H
#define GASNET_EX_RMA_H

#include "gasnet_ex_mode.h"
#include "gasnet_ex_types.h"

#include <string.h>

typedef uint64_t gex_RMA_Value_t;
#define SIZEOF_GEX_RMA_VALUE_T 8

/* Where a rank's segment can be reached from this process. */
struct pst_peer {
	uintptr_t base;       /* in the owner's address space */
	uintptr_t size_bytes; /* 0: not reachable from here */
	uintptr_t offset;     /* added, modulo the pointer width, to an owner's address */
	uintptr_t reserved;
};

/* Where the semaphores of a rank can be reached from this process: penstock_sem.h. */
struct pst_sem_peer {
	uint64_t (*lines)[8]; /* by slot: a line, its first word counts posts; NULL: not from
	                       * here */
	const uint32_t *live; /* by slot: what the keys of its semaphore begin with; 0: free */
	const uint32_t *wake; /* bit 0: a thread of the rank sleeps, or is about to */
};

/* Fields are only appended; the inlines read none that they do not know. */
struct pst_inline {
	uint32_t abi;
	uint32_t size_bytes;
	gex_TM_t job_tm; /* the primordial team */
	gex_Rank_t job_size;
	uint32_t places; /* peers there are, of whom the first job_size are the job's ranks */
	const struct pst_peer *peers; /* by place */
	void (*copy)(void *dst, const void *src, size_t nbytes);
	uint64_t *counts; /* of this process, in SEQ and PARSYNC */
	uint64_t *moved; /* as counts, of puts and gets */
	const struct pst_sem_peer *sems; /* by job rank */
	uint32_t posts_fence; /* between a signal and the look at wake */
};

/* How a team that is no pair begins; fields are only appended. */
struct pst_team {
	gex_Rank_t size;
	gex_Rank_t rank;
	const uint32_t *places; /* by rank: whose entry among the peers; NULL: the rank's */
};

/* Flags that leave a transfer as it is; a copy on the spot never refuses. */
#define PSI_RMA_PLAIN_FLAGS                                                                \
	(GEX_FLAG_IMMEDIATE | GEX_FLAG_PEER_NEVER_SELF | GEX_FLAG_PEER_NEVER_NBRHD |       \
	 GEX_FLAG_SELF_SEG_UNKNOWN | GEX_FLAG_SELF_SEG_SOME | GEX_FLAG_SELF_SEG_BOUND |    \
	 GEX_FLAG_PEER_SEG_UNKNOWN | GEX_FLAG_PEER_SEG_SOME | GEX_FLAG_PEER_SEG_BOUND)

/* Largest copy of a size known only at run time that is worth doing here. */
#define PSI_RMA_SMALL_BYTES 16
/* Largest copy of a constant size that the compiler is left to expand. */
#define PSI_RMA_CONSTANT_BYTES 64

PSI_BEGIN_DECLS

/* Never NULL; a table of no ranks until the job's segments are known. */
PSI_API const struct pst_inline *pst_inline_v1;

PSI_API int psi_rma_put(gex_TM_t tm, gex_Rank_t rank, void *dest, const void *src, size_t nbytes,
			gex_Flags_t flags);
PSI_API int psi_rma_get(gex_TM_t tm, void *dest, gex_Rank_t rank, const void *src, size_t nbytes,
			gex_Flags_t flags);

/* Ends the job with one line. */
PSI_API PSI_NORETURN void psi_rma_value_bad(size_t nbytes);

/*
 * Where the caller counts. In PAR each thread has counts of its own, through a
 * pointer that is NULL until the library gave it some; of the initial-exec
 * model, since the library itself is there from the start, so that position
 * independent callers need no call to find it.
 */
#if defined(PSI_MODE) && PSI_MODE == PSI_MODE_PAR
PSI_API __thread uint64_t *psi_counts_self __attribute__((__tls_model__("initial-exec")));
PSI_API __thread uint64_t *psi_moved_self __attribute__((__tls_model__("initial-exec")));
#define PSI_RMA_COUNTS(table) ((void)(table), psi_counts_self)
#define PSI_RMA_MOVED(table)  ((void)(table), psi_moved_self)
#elif defined(PSI_BUILDING_LIBRARY)
/* Code of all modes: the pointer is NULL but in PAR. */
PSI_API __thread uint64_t *psi_moved_self __attribute__((__tls_model__("initial-exec")));
#define PSI_RMA_COUNTS(table) ((table)->counts)
#define PSI_RMA_MOVED(table)  (psi_moved_self ? psi_moved_self : (table)->moved)
#else
#define PSI_RMA_COUNTS(table) ((table)->counts)
#define PSI_RMA_MOVED(table)  ((table)->moved)
#endif
/* Indexes of the counters.  The inlines count puts and gets in `moved' instead. */
#define PSI_RMA_COUNT_PUTS    0
#define PSI_RMA_COUNT_GETS    1
#define PSI_RMA_COUNT_ATOMICS 2
#define PSI_RMA_COUNT_SIGNALS 3
#define PSI_RMA_COUNTS_INLINE 4

/*
 * Puts and gets have one word each, by PSI_RMA_COUNT_: the calls plus 65536
 * times the bytes, modulo 2^64, so that both take one addition. The library
 * tells them apart (runtime/process/moved.h).
 */
#define PSI_RMA_MOVED_SHIFT 16
#define PSI_RMA_MOVED_KINDS 2

/*
 * A process that only puts and gets must serve messages too, so now and then a
 * call goes to the library, which polls.
 */
#define PSI_RMA_CALLS_PER_POLL 256

/* Adds what stands for a call. False where it is one for the library. */
PSI_INLINE int
psi_rma_count_more(uint64_t *counts, unsigned which, uint64_t more)
{
	uint64_t calls;

#if defined(PSI_MODE) && PSI_MODE == PSI_MODE_PAR
	if (PSI_UNLIKELY(counts == NULL))
		return 0;
#endif
	/* One writer; the relaxed accesses are for those who read meanwhile. */
	calls = __atomic_load_n(&counts[which], __ATOMIC_RELAXED) + more;
	__atomic_store_n(&counts[which], calls, __ATOMIC_RELAXED);
	return calls % PSI_RMA_CALLS_PER_POLL != 0;
}

PSI_INLINE int
psi_rma_count(uint64_t *counts, unsigned which)
{
	return psi_rma_count_more(counts, which, 1);
}

/* ... with the bytes, of puts and gets. */
PSI_INLINE int
psi_rma_count_transfer(const struct pst_inline *table, unsigned which, size_t nbytes)
{
	uint64_t bytes = nbytes;

	if (which >= PSI_RMA_MOVED_KINDS)
		return psi_rma_count(PSI_RMA_COUNTS(table), which);
	return psi_rma_count_more(PSI_RMA_MOVED(table), which, (bytes << PSI_RMA_MOVED_SHIFT) + 1);
}

/* The index in `peers' of (tm, rank), for pairs and for teams that the client made. */
PSI_INLINE uintptr_t
psi_rma_place(const struct pst_inline *table, gex_TM_t tm, gex_Rank_t rank)
{
	uintptr_t bits = PSI_PTR_BITS(tm), none = ~_GEX_INT(uintptr_t, 0);
	const struct pst_team *team;

	if (bits & 1)
		return rank < table->job_size ? (bits >> 17) * table->job_size + rank : none;
	team = _GEX_TOKEN(const struct pst_team *, bits);
	if (bits == 0 || rank >= team->size)
		return none;
	return team->places ? team->places[rank] : rank;
}

/* Local address of a peer's memory, or NULL where the library has to decide. */
PSI_INLINE void *
psi_rma_reach(const struct pst_inline *table, unsigned which, gex_TM_t tm, gex_Rank_t rank,
	      const void *addr, size_t nbytes, gex_Flags_t flags)
{
	const struct pst_peer *peer;
	uintptr_t bits = PSI_PTR_BITS(addr);

	if (PSI_UNLIKELY(!psi_rma_count_transfer(table, which, nbytes)) ||
	    PSI_UNLIKELY(flags & ~PSI_RMA_PLAIN_FLAGS))
		return NULL;
	if (PSI_LIKELY(tm == table->job_tm) || tm == PSI_TM_LEGACY) {
		if (PSI_UNLIKELY(rank >= table->job_size))
			return NULL;
		peer = &table->peers[rank];
	} else {
		uintptr_t place = psi_rma_place(table, tm, rank);

		if (PSI_UNLIKELY(place >= table->places))
			return NULL;
		peer = &table->peers[place];
	}
	if (PSI_UNLIKELY(nbytes > peer->size_bytes) ||
	    PSI_UNLIKELY(bits - peer->base > peer->size_bytes - nbytes))
		return NULL;
	return _GEX_TOKEN(void *, bits + peer->offset);
}

/* 0 to 16 bytes as two moves that may overlap. */
PSI_INLINE void
psi_rma_copy_small(void *dst, const void *src, size_t nbytes)
{
	char *to = _GEX_INT(char *, dst);
	const char *from = _GEX_INT(const char *, src);

	/* Hide the objects' sizes: the moves not taken look too large for some. */
	__asm__("" : "+r"(to), "+r"(from));
	if (nbytes >= 8) {
		uint64_t head, tail;

		memcpy(&head, from, 8);
		memcpy(&tail, from + nbytes - 8, 8);
		memcpy(to, &head, 8);
		memcpy(to + nbytes - 8, &tail, 8);
	} else if (nbytes >= 4) {
		uint32_t head, tail;

		memcpy(&head, from, 4);
		memcpy(&tail, from + nbytes - 4, 4);
		memcpy(to, &head, 4);
		memcpy(to + nbytes - 4, &tail, 4);
	} else if (nbytes >= 2) {
		uint16_t head, tail;

		memcpy(&head, from, 2);
		memcpy(&tail, from + nbytes - 2, 2);
		memcpy(to, &head, 2);
		memcpy(to + nbytes - 2, &tail, 2);
	} else if (nbytes == 1) {
		*to = *from;
	}
}

/* The size that matters most, without a branch. */
PSI_INLINE void
psi_rma_copy_word(void *dst, const void *src)
{
	uint64_t word;

	__asm__("" : "+r"(dst), "+r"(src));
	memcpy(&word, src, sizeof(word));
	memcpy(dst, &word, sizeof(word));
}

PSI_INLINE void
psi_rma_copy(const struct pst_inline *table, void *dst, const void *src, size_t nbytes)
{
	PSI_COMPILER_FENCE();
	if (__builtin_constant_p(nbytes) && nbytes <= PSI_RMA_CONSTANT_BYTES)
		memcpy(dst, src, nbytes);
	else if (PSI_LIKELY(nbytes == 8))
		psi_rma_copy_word(dst, src);
	else if (nbytes <= PSI_RMA_SMALL_BYTES)
		psi_rma_copy_small(dst, src, nbytes);
	else
		(table->copy)(dst, src, nbytes); /* not a macro of the program's */
	PSI_COMPILER_FENCE();
}

PSI_INLINE int
gex_RMA_PutBlocking(gex_TM_t tm, gex_Rank_t rank, void *dest, const void *src, size_t nbytes,
		    gex_Flags_t flags)
{
	const struct pst_inline *table = pst_inline_v1;
	void *there = psi_rma_reach(table, PSI_RMA_COUNT_PUTS, tm, rank, dest, nbytes,
				    flags);

	if (PSI_UNLIKELY(there == NULL))
		return psi_rma_put(tm, rank, dest, src, nbytes, flags);
	psi_rma_copy(table, there, src, nbytes);
	return GASNET_OK;
}

PSI_INLINE int
gex_RMA_GetBlocking(gex_TM_t tm, void *dest, gex_Rank_t rank, const void *src, size_t nbytes,
		    gex_Flags_t flags)
{
	const struct pst_inline *table = pst_inline_v1;
	const void *there = psi_rma_reach(table, PSI_RMA_COUNT_GETS, tm, rank, src, nbytes,
					  flags);

	if (PSI_UNLIKELY(there == NULL))
		return psi_rma_get(tm, dest, rank, src, nbytes, flags);
	psi_rma_copy(table, dest, there, nbytes);
	return GASNET_OK;
}

/* First of the nbytes low-order bytes of a value. */
PSI_INLINE char *
psi_rma_value_bytes(gex_RMA_Value_t *value, size_t nbytes)
{
	char *bytes = _GEX_INT(char *, _GEX_INT(void *, value));

	if (PSI_UNLIKELY(nbytes == 0 || nbytes > SIZEOF_GEX_RMA_VALUE_T))
		psi_rma_value_bad(nbytes);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	bytes += SIZEOF_GEX_RMA_VALUE_T - nbytes;
#else
	(void)nbytes;
#endif
	return bytes;
}

PSI_INLINE int
gex_RMA_PutBlockingVal(gex_TM_t tm, gex_Rank_t rank, void *dest, gex_RMA_Value_t value,
		       size_t nbytes, gex_Flags_t flags)
{
	return gex_RMA_PutBlocking(tm, rank, dest, psi_rma_value_bytes(&value, nbytes), nbytes,
				   flags);
}

PSI_INLINE gex_RMA_Value_t
gex_RMA_GetBlockingVal(gex_TM_t tm, gex_Rank_t rank, const void *src, size_t nbytes,
		       gex_Flags_t flags)
{
	gex_RMA_Value_t value = 0;

	(void)gex_RMA_GetBlocking(tm, psi_rma_value_bytes(&value, nbytes), rank, src, nbytes,
				  flags & ~GEX_FLAG_IMMEDIATE);
	return value;
}

PSI_END_DECLS

#endif
