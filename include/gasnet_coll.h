/*
 * gasnet_coll.h: collectives over a team. Each call is made by all members, in the same order on
 * each, and returns an event that is done when the caller may use its own dst and src again.
 */
#ifndef GASNET_COLL_H
#define GASNET_COLL_H

#include "gasnetex.h"

/*
 * out[i] = arg1[i] op out[i] for all i below count, which is any number above 0. The two do not
 * overlap. It may be run by any thread, at any time until the reduction ends, with the user_cdata
 * of the process that it runs in; it may make such calls as a handler may, but reply.
 */
typedef void (*gex_Coll_ReduceFn_t)(const void *arg1, void *arg2_and_out, size_t count,
				    const void *cdata);

PSI_BEGIN_DECLS

/* nbytes of the root's src to everybody's dst. Others' src is ignored; the root's may equal dst. */
PSI_API gex_Event_t gex_Coll_BroadcastNB(gex_TM_t tm, gex_Rank_t root, void *dst, const void *src,
					 size_t nbytes, gex_Flags_t flags);

/*
 * Element i of the root's dst, or of everybody's, becomes the reduction of element i of all
 * members' src, dt_cnt elements of dt_sz bytes each. op is ADD, MULT, MIN or MAX, and AND, OR or
 * XOR of integers; or USER or USER_NC, which is user_op, the one commutative, the other combined in
 * the order of the ranks. GEX_DT_USER is for these two. dst may equal src, at all members or at
 * none.
 */
PSI_API gex_Event_t gex_Coll_ReduceToOneNB(gex_TM_t tm, gex_Rank_t root, void *dst, const void *src,
					   gex_DT_t dt, size_t dt_sz, size_t dt_cnt, gex_OP_t op,
					   gex_Coll_ReduceFn_t user_op, void *user_cdata,
					   gex_Flags_t flags);
PSI_API gex_Event_t gex_Coll_ReduceToAllNB(gex_TM_t tm, void *dst, const void *src, gex_DT_t dt,
					   size_t dt_sz, size_t dt_cnt, gex_OP_t op,
					   gex_Coll_ReduceFn_t user_op, void *user_cdata,
					   gex_Flags_t flags);

PSI_END_DECLS

#include "gasnet_legacy_coll.h"

#endif
