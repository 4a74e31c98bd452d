/*
 * gasnet_ratomic.h: atomic domains, and their operations on words of other
 * ranks.
 *
 * Where the target's segment is mapped here an operation whose code is known
 * to the compiler is made on the spot, and is complete at return. Everything
 * else, errors included, is the library's business.
 */
#ifndef GASNET_RATOMIC_H
#define GASNET_RATOMIC_H

#include "gasnetex.h"

#include "gasnet_ex_atomic.h"

/*
 * What the inlines know of a domain; its object begins so. Fields are only
 * appended. Constant after creation, but for what peers points to.
 */
struct gex_AD_s {
	gex_OP_t inlined[6]; /* by type: what may be made on the spot; 0 for all but the domain's */
	gex_Rank_t size;
	uint32_t pad;
	const struct pst_peer *peers; /* by rank of the domain's team */
	uint64_t *counts;             /* of this process, in SEQ and PARSYNC */
};

typedef struct gex_AD_s *gex_AD_t;

#define GEX_AD_INVALID _GEX_NULL(gex_AD_t)

PSI_BEGIN_DECLS

/*
 * Collective over the team, with the same arguments. GEX_FLAG_AD_FAVOR_* are
 * kept and change nothing: every target is reached by the shortest way, as with
 * each of them.
 */
PSI_API void gex_AD_Create(gex_AD_t *ad_p, gex_TM_t tm, gex_DT_t dt, gex_OP_t ops,
			   gex_Flags_t flags);
/* Collective over the team, when all operations have completed everywhere. */
PSI_API void gex_AD_Destroy(gex_AD_t ad);

/* As given at creation. */
PSI_API gex_Flags_t gex_AD_QueryFlags(gex_AD_t ad);
PSI_API gex_TM_t gex_AD_QueryTM(gex_AD_t ad);
PSI_API gex_DT_t gex_AD_QueryDT(gex_AD_t ad);
PSI_API gex_OP_t gex_AD_QueryOps(gex_AD_t ad);
PSI_API void gex_AD_SetCData(gex_AD_t ad, const void *val);
PSI_API void *gex_AD_QueryCData(gex_AD_t ad);

/* Flags that leave an operation on the spot as it is, or that it looks at. */
#define PSI_ATOMIC_PLAIN_FLAGS                                                           \
	(GEX_FLAG_IMMEDIATE | GEX_FLAG_AD_MY_RANK | GEX_FLAG_AD_MY_NBRHD |               \
	 GEX_FLAG_AD_REL | GEX_FLAG_AD_ACQ)

/* Counts a call; false, and not counted, where the library has to make it, which polls. */
PSI_ATOMIC_INLINE int
psi_atomic_count(uint64_t *counts)
{
#if defined(PSI_MODE) && PSI_MODE == PSI_MODE_PAR
	if (PSI_UNLIKELY(counts == NULL))
		return 0;
#endif
	if (PSI_UNLIKELY((counts[PSI_RMA_COUNT_ATOMICS] + 1) % PSI_RMA_CALLS_PER_POLL == 0))
		return 0;
	psi_count_up(&counts[PSI_RMA_COUNT_ATOMICS]);
	return 1;
}

/*
 * Finds the local address of the target, and counts the call; false, and not
 * counted, where the library has to decide.
 *
 * What is mapped begins and ends at pages, so a word that begins there and is
 * aligned lies there whole.
 *
 * What a call costs is the fetching of its code, by lines of 64 bytes; its loads
 * are made ahead. Hence few and short instructions rather than few loads.
 */
PSI_ATOMIC_INLINE int
psi_atomic_reach(gex_AD_t ad, unsigned type, gex_Rank_t rank, const void *addr, size_t nbytes,
		 gex_OP_t opcode, gex_Flags_t flags, void **there_out)
{
	const struct pst_peer *peer;
	uintptr_t bits = PSI_PTR_BITS(addr);

	if (PSI_UNLIKELY(ad == GEX_AD_INVALID) ||
	    PSI_UNLIKELY(!(ad->inlined[type] & opcode)) ||
	    PSI_UNLIKELY(flags & ~PSI_ATOMIC_PLAIN_FLAGS) || PSI_UNLIKELY(rank >= ad->size))
		return 0;
	peer = &ad->peers[rank];
	if (PSI_UNLIKELY(bits - peer->base >= peer->size_bytes) ||
	    PSI_UNLIKELY(bits & (nbytes - 1)))
		return 0;
	if (PSI_UNLIKELY(!psi_atomic_count(PSI_RMA_COUNTS(ad))))
		return 0;
	*there_out = _GEX_TOKEN(void *, bits + peer->offset);
	return 1;
}

/* Is it a single code that the compiler knows? */
#define PSI_ATOMIC_KNOWN(opcode) \
	(__builtin_constant_p(opcode) && ((opcode) & ((opcode) - 1)) == 0)

/* A call of one of the two kinds; done: what it returns when the operation is complete. */
#define PSI_ATOMIC_CALL(kind, result, done, DT, type)                                     \
	PSI_API result psi_AD_##kind##DT(gex_AD_t ad, type *result_p, gex_Rank_t tgt_rank, \
					    void *tgt_addr, gex_OP_t opcode, type operand1,  \
					    type operand2, gex_Flags_t flags);               \
	PSI_ATOMIC_INLINE result gex_AD_##kind##DT(                                    \
		gex_AD_t ad, type *result_p, gex_Rank_t tgt_rank, void *tgt_addr,         \
		gex_OP_t opcode, type operand1, type operand2, gex_Flags_t flags)         \
	{                                                                                 \
		void *there;                                                              \
		type before;                                                              \
                                                                                          \
		if (!PSI_ATOMIC_KNOWN(opcode))                                            \
			return psi_AD_##kind##DT(ad, result_p, tgt_rank, tgt_addr, opcode, \
						    operand1, operand2, flags);           \
		if (PSI_UNLIKELY(!psi_atomic_reach(ad, PSI_ATOMIC_INDEX(DT), tgt_rank, tgt_addr, \
						   sizeof(type), opcode, flags, &there))) \
			return psi_AD_##kind##DT(ad, result_p, tgt_rank, tgt_addr, opcode, \
						    operand1, operand2, flags);           \
		before = psi_atomic_apply##DT(there, opcode, operand1, operand2, flags); \
		if (opcode & PSI_ATOMIC_OPS_REPLY)                                        \
			*result_p = before;                                               \
		return done;                                                              \
	}
#define PSI_ATOMIC_CALLS(DT, type, width)                                                 \
	PSI_ATOMIC_CALL(OpNB, gex_Event_t, GEX_EVENT_INVALID, DT, type)                   \
	PSI_ATOMIC_CALL(OpNBI, int, 0, DT, type)
PSI_ATOMIC_TYPES(PSI_ATOMIC_CALLS)
#undef PSI_ATOMIC_CALLS
#undef PSI_ATOMIC_CALL

PSI_END_DECLS

#endif
