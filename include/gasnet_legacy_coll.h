/*
 * gasnet_legacy_coll.h: the collectives of GASNet 1, deprecated: over all processes, each caller
 * passing its own addresses. Block k of a buffer is its bytes from k * nbytes on.
 */
#ifndef GASNET_LEGACY_COLL_H
#define GASNET_LEGACY_COLL_H

#include "gasnetex.h"

typedef gex_Event_t gasnet_coll_handle_t;
typedef uint32_t gasnet_image_t; /* one for each process, so its rank */
typedef gex_TM_t gasnet_team_handle_t;

#define GASNET_COLL_INVALID_HANDLE GEX_EVENT_INVALID
#define GASNET_TEAM_ALL            PSI_TM_LEGACY

/*
 * Exactly one of the first three, and of the next three. IN_ALLSYNC: nothing moves before all have
 * called, else a member's data moves once it has. OUT_ALLSYNC: done when all is moved everywhere,
 * else when the caller's own areas are.
 */
#define GASNET_COLL_IN_NOSYNC      (1 << 0)
#define GASNET_COLL_IN_MYSYNC      (1 << 1)
#define GASNET_COLL_IN_ALLSYNC     (1 << 2)
#define GASNET_COLL_OUT_NOSYNC     (1 << 3)
#define GASNET_COLL_OUT_MYSYNC     (1 << 4)
#define GASNET_COLL_OUT_ALLSYNC    (1 << 5)
#define GASNET_COLL_SYNC_FLAG_MASK 0x3f

/* Bit 6 said that all callers pass the same addresses, which is no more. */
#define GASNET_COLL_SINGLE [GASNET_COLL_SINGLE is gone, pass GASNET_COLL_LOCAL]
#define GASNET_COLL_LOCAL  (1 << 7)

/* Assertions and hints, without effect. */
#define GASNET_COLL_DST_IN_SEGMENT         (1 << 8)
#define GASNET_COLL_SRC_IN_SEGMENT         (1 << 9)
#define GASNET_COLL_NO_IMAGES              (1 << 10)
#define GASNET_COLL_DISABLE_AUTOTUNE       (1 << 11)
#define GASNET_COLL_FIXED_THREADS_PER_NODE (1 << 12)

/* Flags of reduction functions; no call here takes such a function. */
#define GASNET_COLL_AMSAFE  (1 << 0)
#define GASNET_COLL_NONCOMM (1 << 1)

typedef enum {
	GASNET_COLL_BROADCAST_OP = 0,
	GASNET_COLL_SCATTER_OP,
	GASNET_COLL_GATHER_OP,
	GASNET_COLL_GATHER_ALL_OP,
	GASNET_COLL_EXCHANGE_OP,
	GASNET_COLL_NUM_COLL_OPTYPES
} gasnet_coll_optype_t;

typedef enum {
	GASNET_COLL_PIPE_SEG_SIZE = 0,
	GASNET_COLL_DISSEM_RADIX,
	GASNET_COLL_TREE_TYPE,
	GASNET_COLL_NUM_PARAM_TYPES
} gasnet_coll_tuning_param_type_t;

typedef void (*gasnet_coll_overlap_sample_work_t)(void *arg);

PSI_BEGIN_DECLS

/* root is 0 where the operation has none. */
PSI_API gex_Event_t psi_coll_legacy_start(gasnet_coll_optype_t operation, gasnet_team_handle_t team,
					  gasnet_image_t root, void *dst, const void *src,
					  size_t nbytes, int flags);
/* Ends the job unless the team is GASNET_TEAM_ALL. */
PSI_API void psi_coll_legacy_team(gasnet_team_handle_t team, const char *call);

/* The three shapes of arguments, each with and without a handle. */
#define PSI_COLL_FROM_ROOT(name, operation)                                                \
	PSI_INLINE gasnet_coll_handle_t                                                    \
	gasnet_coll_##name##_nb(gasnet_team_handle_t team, void *dst,                      \
				gasnet_image_t srcimage, void *src, size_t nbytes, int flags) \
	{                                                                                  \
		return psi_coll_legacy_start(operation, team, srcimage, dst, src, nbytes,  \
					     flags);                                       \
	}                                                                                  \
	PSI_INLINE void                                                                    \
	gasnet_coll_##name(gasnet_team_handle_t team, void *dst, gasnet_image_t srcimage,  \
			   void *src, size_t nbytes, int flags)                            \
	{                                                                                  \
		gex_Event_Wait(gasnet_coll_##name##_nb(team, dst, srcimage, src, nbytes, flags)); \
	}

#define PSI_COLL_TO_ROOT(name, operation)                                                  \
	PSI_INLINE gasnet_coll_handle_t                                                    \
	gasnet_coll_##name##_nb(gasnet_team_handle_t team, gasnet_image_t dstimage,        \
				void *dst, void *src, size_t nbytes, int flags)            \
	{                                                                                  \
		return psi_coll_legacy_start(operation, team, dstimage, dst, src, nbytes,  \
					     flags);                                       \
	}                                                                                  \
	PSI_INLINE void                                                                    \
	gasnet_coll_##name(gasnet_team_handle_t team, gasnet_image_t dstimage, void *dst,  \
			   void *src, size_t nbytes, int flags)                            \
	{                                                                                  \
		gex_Event_Wait(gasnet_coll_##name##_nb(team, dstimage, dst, src, nbytes, flags)); \
	}

#define PSI_COLL_TO_ALL(name, operation)                                                   \
	PSI_INLINE gasnet_coll_handle_t                                                    \
	gasnet_coll_##name##_nb(gasnet_team_handle_t team, void *dst, void *src,           \
				size_t nbytes, int flags)                                  \
	{                                                                                  \
		return psi_coll_legacy_start(operation, team, 0, dst, src, nbytes, flags); \
	}                                                                                  \
	PSI_INLINE void                                                                    \
	gasnet_coll_##name(gasnet_team_handle_t team, void *dst, void *src, size_t nbytes, \
			   int flags)                                                      \
	{                                                                                  \
		gex_Event_Wait(gasnet_coll_##name##_nb(team, dst, src, nbytes, flags));    \
	}

PSI_COLL_FROM_ROOT(broadcast, GASNET_COLL_BROADCAST_OP)
PSI_COLL_FROM_ROOT(scatter, GASNET_COLL_SCATTER_OP)
PSI_COLL_TO_ROOT(gather, GASNET_COLL_GATHER_OP)
PSI_COLL_TO_ALL(gather_all, GASNET_COLL_GATHER_ALL_OP)
PSI_COLL_TO_ALL(exchange, GASNET_COLL_EXCHANGE_OP)

#undef PSI_COLL_FROM_ROOT
#undef PSI_COLL_TO_ROOT
#undef PSI_COLL_TO_ALL

/* As the calls of gex_Event_t; the try forms do not poll. */
PSI_INLINE void
gasnet_coll_wait_sync(gasnet_coll_handle_t handle)
{
	gex_Event_Wait(handle);
}

PSI_INLINE int
gasnet_coll_try_sync(gasnet_coll_handle_t handle)
{
	return gex_Event_Test(handle);
}

PSI_INLINE void
gasnet_coll_wait_sync_some(gasnet_coll_handle_t *phandle, size_t n)
{
	gex_Event_WaitSome(phandle, n, 0);
}

PSI_INLINE int
gasnet_coll_try_sync_some(gasnet_coll_handle_t *phandle, size_t n)
{
	return gex_Event_TestSome(phandle, n, 0);
}

PSI_INLINE void
gasnet_coll_wait_sync_all(gasnet_coll_handle_t *phandle, size_t n)
{
	gex_Event_WaitAll(phandle, n, 0);
}

PSI_INLINE int
gasnet_coll_try_sync_all(gasnet_coll_handle_t *phandle, size_t n)
{
	return gex_Event_TestAll(phandle, n, 0);
}

/* The barrier of gasnet_barrier_notify and so on, since there is but one team. */
PSI_INLINE void
gasnet_coll_barrier_notify(gasnet_team_handle_t team, int id, int flags)
{
	psi_coll_legacy_team(team, "gasnet_coll_barrier_notify");
	gasnet_barrier_notify(id, flags);
}

PSI_INLINE int
gasnet_coll_barrier_wait(gasnet_team_handle_t team, int id, int flags)
{
	psi_coll_legacy_team(team, "gasnet_coll_barrier_wait");
	return gasnet_barrier_wait(id, flags);
}

PSI_INLINE int
gasnet_coll_barrier_try(gasnet_team_handle_t team, int id, int flags)
{
	psi_coll_legacy_team(team, "gasnet_coll_barrier_try");
	return gasnet_barrier_try(id, flags);
}

PSI_INLINE int
gasnet_coll_barrier(gasnet_team_handle_t team, int id, int flags)
{
	psi_coll_legacy_team(team, "gasnet_coll_barrier");
	return gasnet_barrier(id, flags);
}

PSI_INLINE int
gasnet_coll_barrier_result(gasnet_team_handle_t team, int *id)
{
	psi_coll_legacy_team(team, "gasnet_coll_barrier_result");
	return gasnet_barrier_result(id);
}

/* The tuner of 1.x: each operation has one algorithm, so there is nothing to choose or to keep. */
PSI_API void gasnet_coll_loadTuningState(char *filename, gasnet_team_handle_t team);
PSI_API void gasnet_coll_dumpTuningState(char *filename, gasnet_team_handle_t team);
PSI_API void gasnet_coll_dumpProfile(char *filename, gasnet_team_handle_t team);
PSI_API int gasnet_coll_get_num_tree_classes(gasnet_team_handle_t team,
					     gasnet_coll_optype_t optype);
PSI_API void gasnet_coll_set_tree_kind(gasnet_team_handle_t team, int tree_type, int fanout,
				       gasnet_coll_optype_t optype);
PSI_API void gasnet_coll_set_dissem_limit(gasnet_team_handle_t team, size_t limit,
					  gasnet_coll_optype_t optype);

PSI_END_DECLS

#endif
