/*
 * gasnet_fwd.h: constants and plain types of the EX interface, for headers
 * that name them without calling anything.
 *
 * Needs no thread-mode macro and brings no name outside GEX_, gex_ and _GEX_
 * besides those of <stdint.h> and <stddef.h>.
 */
#ifndef _GEX_FWD_H
#define _GEX_FWD_H

#include <stddef.h>
#include <stdint.h>

/* Casts that also satisfy a C++ client which forbids the C form. */
#ifdef __cplusplus
#define _GEX_NULL(type)        (static_cast<type>(0))
#define _GEX_TOKEN(type, n)    (reinterpret_cast<type>(static_cast<uintptr_t>(n)))
#define _GEX_INT(type, n)      (static_cast<type>(n))
#else
#define _GEX_NULL(type)        ((type)0)
#define _GEX_TOKEN(type, n)    ((type)(uintptr_t)(n))
#define _GEX_INT(type, n)      ((type)(n))
#endif

typedef uint32_t gex_Rank_t;
typedef uint16_t gex_EP_Index_t;
typedef void *gex_Addr_t;
typedef struct gex_Event_s *gex_Event_t;
typedef uint32_t gex_Flags_t;
typedef uint32_t gex_DT_t;
typedef uint32_t gex_OP_t;
typedef uint32_t gex_EP_Capabilities_t;

typedef struct {
	gex_Rank_t gex_rank;
	gex_EP_Index_t gex_ep_index;
} gex_EP_Location_t;

#define GEX_RANK_INVALID 0xffffffffu

/* Events. The three pointers are never addresses of anything. */
#define GEX_EVENT_INVALID _GEX_NULL(gex_Event_t)
#define GEX_EVENT_NO_OP   _GEX_TOKEN(gex_Event_t, 1)
#define GEX_EVENT_NOW     _GEX_TOKEN(gex_Event_t *, 1)
#define GEX_EVENT_DEFER   _GEX_TOKEN(gex_Event_t *, 2)
#define GEX_EVENT_GROUP   _GEX_TOKEN(gex_Event_t *, 3)

/*
 * Flags. Those that can meet in one call have bits of their own; others
 * share. The top four bits belong to the PST_FLAG_ extensions.
 */

/* Communication: RMA, active messages, strided, atomics. */
#define GEX_FLAG_IMMEDIATE               (1u << 0)
#define GEX_FLAG_PEER_NEVER_SELF         (1u << 1)
#define GEX_FLAG_PEER_NEVER_NBRHD        (1u << 2)
#define GEX_FLAG_SELF_SEG_UNKNOWN        (1u << 3)
#define GEX_FLAG_SELF_SEG_SOME           (1u << 4)
#define GEX_FLAG_SELF_SEG_BOUND          (1u << 5)
#define GEX_FLAG_SELF_SEG_OFFSET         (1u << 6)
#define GEX_FLAG_PEER_SEG_UNKNOWN        (1u << 7)
#define GEX_FLAG_PEER_SEG_SOME           (1u << 8)
#define GEX_FLAG_PEER_SEG_BOUND          (1u << 9)
#define GEX_FLAG_PEER_SEG_OFFSET         (1u << 10)
#define GEX_FLAG_AM_PREPARE_LEAST_CLIENT (1u << 11)
#define GEX_FLAG_AM_PREPARE_LEAST_ALLOC  (1u << 12)
#define GEX_FLAG_ENABLE_LEAF_LC          (1u << 13)
#define GEX_FLAG_AD_MY_RANK              (1u << 14)
#define GEX_FLAG_AD_MY_NBRHD             (1u << 15)
#define GEX_FLAG_AD_REL                  (1u << 16)
#define GEX_FLAG_AD_ACQ                  (1u << 17)
#define GEX_FLAG_RANK_IS_JOBRANK         (1u << 18)

/* Creation of atomic domains. */
#define GEX_FLAG_AD_FAVOR_MY_RANK        (1u << 19)
#define GEX_FLAG_AD_FAVOR_MY_NBRHD       (1u << 20)
#define GEX_FLAG_AD_FAVOR_REMOTE         (1u << 21)

/* Teams. RANK_IS_JOBRANK applies here too. */
#define GEX_FLAG_TM_SCRATCH_SIZE_MIN         (1u << 0)
#define GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED (1u << 1)
#define GEX_FLAG_TM_GLOBAL_SCRATCH           (1u << 2)
#define GEX_FLAG_TM_LOCAL_SCRATCH            (1u << 3)
#define GEX_FLAG_TM_SYMMETRIC_SCRATCH        (1u << 4)
#define GEX_FLAG_TM_NO_SCRATCH               (1u << 5)
#define GEX_FLAG_SCRATCH_SEG_OFFSET          (1u << 6)
#define GEX_FLAG_GLOBALLY_QUIESCED           (1u << 7)

/* Handler registration: the gex_flags field of an entry. */
#define GEX_FLAG_AM_SHORT   (1u << 19)
#define GEX_FLAG_AM_MEDIUM  (1u << 20)
#define GEX_FLAG_AM_LONG    (1u << 21)
#define GEX_FLAG_AM_MEDLONG (GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_LONG)
#define GEX_FLAG_AM_REQUEST (1u << 22)
#define GEX_FLAG_AM_REPLY   (1u << 23)
#define GEX_FLAG_AM_REQREP  (GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_REPLY)

/* Start-up and endpoints. */
#define GEX_FLAG_USES_GASNET1    (1u << 24)
#define GEX_FLAG_DEFER_THREADS   (1u << 25)
#define GEX_FLAG_HINT_ACCEL_AD   (1u << 26)
#define GEX_FLAG_HINT_ACCEL_COLL (1u << 27)
#define GEX_FLAG_HINT_ACCEL_ALL  (GEX_FLAG_HINT_ACCEL_AD | GEX_FLAG_HINT_ACCEL_COLL)

#define GEX_EP_CAPABILITY_RMA  (1u << 0)
#define GEX_EP_CAPABILITY_AM   (1u << 1)
#define GEX_EP_CAPABILITY_VIS  (1u << 2)
#define GEX_EP_CAPABILITY_COLL (1u << 3)
#define GEX_EP_CAPABILITY_AD   (1u << 4)
#define GEX_EP_CAPABILITY_ALL                                                   \
	(GEX_EP_CAPABILITY_RMA | GEX_EP_CAPABILITY_AM | GEX_EP_CAPABILITY_VIS | \
	 GEX_EP_CAPABILITY_COLL | GEX_EP_CAPABILITY_AD)

/* Data types. */
#define GEX_DT_I32  (1u << 0)
#define GEX_DT_U32  (1u << 1)
#define GEX_DT_I64  (1u << 2)
#define GEX_DT_U64  (1u << 3)
#define GEX_DT_FLT  (1u << 4)
#define GEX_DT_DBL  (1u << 5)
#define GEX_DT_USER (1u << 6)

/*
 * Operation codes. Clients pass these numbers from tables of their own, so they
 * never change. A fetching code is its partner shifted up by 15; the two
 * conversions name their argument once, and leave a code alone that is already
 * of the kind.
 */
#define GEX_OP_AND     (1u << 0)
#define GEX_OP_OR      (1u << 1)
#define GEX_OP_XOR     (1u << 2)
#define GEX_OP_ADD     (1u << 3)
#define GEX_OP_SUB     (1u << 4)
#define GEX_OP_MULT    (1u << 5)
#define GEX_OP_MIN     (1u << 6)
#define GEX_OP_MAX     (1u << 7)
#define GEX_OP_INC     (1u << 8)
#define GEX_OP_DEC     (1u << 9)
#define GEX_OP_SET     (1u << 10)
#define GEX_OP_CAS     (1u << 11)
#define GEX_OP_FAND    (1u << 15)
#define GEX_OP_FOR     (1u << 16)
#define GEX_OP_FXOR    (1u << 17)
#define GEX_OP_FADD    (1u << 18)
#define GEX_OP_FSUB    (1u << 19)
#define GEX_OP_FMULT   (1u << 20)
#define GEX_OP_FMIN    (1u << 21)
#define GEX_OP_FMAX    (1u << 22)
#define GEX_OP_FINC    (1u << 23)
#define GEX_OP_FDEC    (1u << 24)
#define GEX_OP_SWAP    (1u << 25)
#define GEX_OP_FCAS    (1u << 26)
#define GEX_OP_GET     (1u << 27)
#define GEX_OP_USER    (1u << 30)
#define GEX_OP_USER_NC (1u << 31)
#define GEX_OP_CSWAP   GEX_OP_FCAS

#define GEX_OP_TO_FETCHING(op)    (((op) * 0x8001u) & 0x0fff8000u)
#define GEX_OP_TO_NONFETCHING(op) ((((op) * 0x8001ull) >> 15) & 0xfffu)

#endif
