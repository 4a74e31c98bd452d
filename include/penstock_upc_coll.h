/*
 * penstock_upc_coll.h: the collectives of UPC over shared arrays, for runtimes of such languages:
 * each upc_all_ function is one call. Every call is C W (penstock_sem.h): all members of the
 * arrays' team make it with the same arguments. flags are one PST_UPC_IN_* and one PST_UPC_OUT_*;
 * one that is left out is ALLSYNC. A wrong argument ends the job with one line (docs/misuse.md).
 *
 * Source: UPC Collective Operations Specifications 1.2.
 */
#ifndef PENSTOCK_UPC_COLL_H
#define PENSTOCK_UPC_COLL_H

#include "penstock.h"

/*
 * A shared array: where each rank's part begins, in any memory, as its owner addresses it, and a
 * rank reads its own entry alone; and its layout, which the reductions alone read. Block k is on
 * rank first + k, modulo the size of the team, behind that rank's earlier blocks.
 */
typedef struct {
	gex_TM_t tm;
	void *const *base;    /* [ranks] */
	size_t blk_elems;     /* elements of a block; 0: one block has all */
	size_t elem_bytes;
	size_t elems;         /* of the whole array */
	gex_Rank_t first;     /* the rank that has element 0 */
} pst_upc_array_t;

#define PST_UPC_IN_NOSYNC   PST_IN_NOSYNC
#define PST_UPC_IN_MYSYNC   PST_IN_MYSYNC
#define PST_UPC_IN_ALLSYNC  PST_IN_ALLSYNC
#define PST_UPC_OUT_NOSYNC  PST_OUT_NOSYNC
#define PST_UPC_OUT_MYSYNC  PST_OUT_MYSYNC
#define PST_UPC_OUT_ALLSYNC PST_OUT_ALLSYNC

PSI_BEGIN_DECLS

/* nbytes is the length of one rank's block. What lies on one rank is at base of its `first'. */

/* From src's first to each rank's dst. */
PSI_API void pst_upc_all_broadcast(const pst_upc_array_t *dst, const pst_upc_array_t *src,
				   size_t nbytes, gex_Flags_t flags);
/* Block r of src's first to rank r's dst. */
PSI_API void pst_upc_all_scatter(const pst_upc_array_t *dst, const pst_upc_array_t *src,
				 size_t nbytes, gex_Flags_t flags);
/* Rank r's src to block r of dst's first; and of each rank's dst. */
PSI_API void pst_upc_all_gather(const pst_upc_array_t *dst, const pst_upc_array_t *src,
				size_t nbytes, gex_Flags_t flags);
PSI_API void pst_upc_all_gather_all(const pst_upc_array_t *dst, const pst_upc_array_t *src,
				    size_t nbytes, gex_Flags_t flags);
/* Block r of rank s's src to block s of rank r's dst. */
PSI_API void pst_upc_all_exchange(const pst_upc_array_t *dst, const pst_upc_array_t *src,
				  size_t nbytes, gex_Flags_t flags);
/* Rank r's src to the dst of rank perm[r], an int in rank r's part of perm. */
PSI_API void pst_upc_all_permute(const pst_upc_array_t *dst, const pst_upc_array_t *src,
				 const pst_upc_array_t *perm, size_t nbytes, gex_Flags_t flags);

/*
 * Over the elements of src, dt_cnt of them, which is its elems; with GEX_OP_USER_NC in their order.
 * reduce: the one element at dst's first. prefix_reduce: element i of dst, which is laid out as
 * src, is the reduction of elements 0 to i; dst may be src.
 */
PSI_API void pst_upc_all_reduce(const pst_upc_array_t *dst, const pst_upc_array_t *src, gex_DT_t dt,
				size_t dt_sz, size_t dt_cnt, gex_OP_t op,
				gex_Coll_ReduceFn_t user_op, void *user_cdata, gex_Flags_t flags);
PSI_API void pst_upc_all_prefix_reduce(const pst_upc_array_t *dst, const pst_upc_array_t *src,
				       gex_DT_t dt, size_t dt_sz, size_t dt_cnt, gex_OP_t op,
				       gex_Coll_ReduceFn_t user_op, void *user_cdata,
				       gex_Flags_t flags);

PSI_END_DECLS

#endif
