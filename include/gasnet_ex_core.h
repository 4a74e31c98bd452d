/*
 * gasnet_ex_core.h: start and end of a job, clients, endpoints, segments,
 * teams, and what one can ask about them.
 */
#ifndef GASNET_EX_CORE_H
#define GASNET_EX_CORE_H

#include "gasnet_ex_mode.h"
#include "gasnet_ex_types.h"

PSI_BEGIN_DECLS

/* Start and end. */
PSI_API int psi_client_init(gex_Client_t *client_p, gex_EP_t *ep_p, gex_TM_t *tm_p,
			    const char *name, int *argc, char ***argv, gex_Flags_t flags,
			    const struct psi_client_build *build);

#ifndef PSI_BUILDING_LIBRARY
PSI_INLINE int
gex_Client_Init(gex_Client_t *client_p, gex_EP_t *ep_p, gex_TM_t *tm_p, const char *clientName,
		int *argc, char ***argv, gex_Flags_t flags)
{
	static const struct psi_client_build build = PSI_CLIENT_BUILD;

	return psi_client_init(client_p, ep_p, tm_p, clientName, argc, argv, flags, &build);
}
#endif

PSI_API PSI_NORETURN void gasnet_exit(int exitcode);

/* Clients. */
PSI_API gex_Flags_t gex_Client_QueryFlags(gex_Client_t client);
PSI_API const char *gex_Client_QueryName(gex_Client_t client);
PSI_API void gex_Client_SetCData(gex_Client_t client, const void *val);
PSI_API void *gex_Client_QueryCData(gex_Client_t client);

/* The job and its hosts. */
PSI_API gex_Rank_t gex_System_QueryJobRank(void);
PSI_API gex_Rank_t gex_System_QueryJobSize(void);
PSI_API void gex_System_QueryNbrhdInfo(gex_RankInfo_t **info_p, gex_Rank_t *info_count_p,
				       gex_Rank_t *my_info_index_p);
PSI_API void gex_System_QueryHostInfo(gex_RankInfo_t **info_p, gex_Rank_t *info_count_p,
				      gex_Rank_t *my_info_index_p);
PSI_API void gex_System_QueryMyPosition(gex_Rank_t *nbrhd_set_size_p, gex_Rank_t *nbrhd_set_rank_p,
					gex_Rank_t *host_set_size_p, gex_Rank_t *host_set_rank_p);
PSI_API int gasnet_getNodeInfo(gasnet_nodeinfo_t *nodeinfo_table, int numentries);
PSI_API char *gasnet_getenv(const char *name);

/* Threads. */
PSI_API uint64_t gex_System_QueryMaxThreads(void);
PSI_API int gex_System_QueryHiddenAMConcurrencyLevel(void);
PSI_API int gex_System_QueryProgressThreads(gex_Client_t client, unsigned int *count_p,
					    const gex_ProgressThreadInfo_t **info_p,
					    gex_Flags_t flags);

/* Errors. */
PSI_API const char *gasnet_ErrorName(int errval);
PSI_API const char *gasnet_ErrorDesc(int errval);
PSI_API int gex_System_GetVerboseErrors(void);
PSI_API void gex_System_SetVerboseErrors(int enable);

/* Segments. */
PSI_API uintptr_t gasnet_getMaxLocalSegmentSize(void);
PSI_API uintptr_t gasnet_getMaxGlobalSegmentSize(void);
PSI_API int gasnet_getSegmentInfo(gasnet_seginfo_t *seginfo_table, int numentries);
PSI_API int gex_Segment_Attach(gex_Segment_t *segment_p, gex_TM_t tm, uintptr_t size);
PSI_API int gex_Segment_Create(gex_Segment_t *segment_p, gex_Client_t client, gex_Addr_t address,
			       uintptr_t length, gex_MK_t kind, gex_Flags_t flags);
PSI_API void gex_Segment_Destroy(gex_Segment_t segment, gex_Flags_t flags);
PSI_API gex_Client_t gex_Segment_QueryClient(gex_Segment_t seg);
PSI_API gex_Flags_t gex_Segment_QueryFlags(gex_Segment_t seg);
PSI_API void *gex_Segment_QueryAddr(gex_Segment_t seg);
PSI_API uintptr_t gex_Segment_QuerySize(gex_Segment_t seg);
PSI_API void gex_Segment_SetCData(gex_Segment_t seg, const void *val);
PSI_API void *gex_Segment_QueryCData(gex_Segment_t seg);
PSI_API int gex_Segment_QueryBound(gex_TM_t tm, gex_Rank_t rank, void **owneraddr_p,
				   void **localaddr_p, uintptr_t *size_p);

/* Endpoints. */
PSI_API int gex_EP_Create(gex_EP_t *ep_p, gex_Client_t client, gex_EP_Capabilities_t capabilities,
			  gex_Flags_t flags);
PSI_API int gex_EP_BindSegment(gex_EP_t ep, gex_Segment_t segment, gex_Flags_t flags);
PSI_API int gex_EP_PublishBoundSegment(gex_TM_t tm, gex_EP_t *eps, size_t num_eps,
				       gex_Flags_t flags);
PSI_API gex_Event_t gex_EP_QueryBoundSegmentNB(gex_TM_t tm, gex_Rank_t rank, void **owneraddr_p,
					       void **localaddr_p, uintptr_t *size_p,
					       gex_Flags_t flags);
PSI_API gex_Client_t gex_EP_QueryClient(gex_EP_t ep);
PSI_API gex_Flags_t gex_EP_QueryFlags(gex_EP_t ep);
PSI_API gex_Segment_t gex_EP_QuerySegment(gex_EP_t ep);
PSI_API gex_EP_Index_t gex_EP_QueryIndex(gex_EP_t ep);
PSI_API void gex_EP_SetCData(gex_EP_t ep, const void *val);
PSI_API void *gex_EP_QueryCData(gex_EP_t ep);

/* Teams. */
PSI_API gex_Client_t gex_TM_QueryClient(gex_TM_t tm);
PSI_API gex_EP_t gex_TM_QueryEP(gex_TM_t tm);
PSI_API gex_Flags_t gex_TM_QueryFlags(gex_TM_t tm);
PSI_API gex_Rank_t gex_TM_QueryRank(gex_TM_t tm);
PSI_API gex_Rank_t gex_TM_QuerySize(gex_TM_t tm);
PSI_API void gex_TM_SetCData(gex_TM_t tm, const void *val);
PSI_API void *gex_TM_QueryCData(gex_TM_t tm);
PSI_API gex_Rank_t gex_TM_TranslateRankToJobrank(gex_TM_t tm, gex_Rank_t rank);
PSI_API gex_Rank_t gex_TM_TranslateJobrankToRank(gex_TM_t tm, gex_Rank_t jobrank);
PSI_API gex_EP_Location_t gex_TM_TranslateRankToEP(gex_TM_t tm, gex_Rank_t rank,
						   gex_Flags_t flags);
PSI_API size_t gex_TM_Split(gex_TM_t *new_tm_p, gex_TM_t parent_tm, int color, int key,
			    void *scratch_addr, size_t scratch_size, gex_Flags_t flags);
PSI_API size_t gex_TM_Create(gex_TM_t *new_tms, size_t num_new_tms, gex_TM_t parent_tm,
			     gex_EP_Location_t *args, size_t numargs, gex_Addr_t *scratch_addrs,
			     size_t scratch_size, gex_Flags_t flags);
/* Waits for no other member, with the flag or without: one thread may end several, one after the
 * other. A thread that ends a member still receives what others send to its endpoint. */
PSI_API int gex_TM_Destroy(gex_TM_t tm, gex_Memvec_t *scratch_p, gex_Flags_t flags);

PSI_INLINE gex_TM_t
gex_TM_Pair(gex_EP_t local_ep, gex_EP_Index_t remote_ep_index)
{
	uintptr_t remote = remote_ep_index;
	uintptr_t mine = gex_EP_QueryIndex(local_ep);

	return _GEX_TOKEN(gex_TM_t, (remote << 16 | mine) << 1 | 1);
}

/* Variables that a client may define or set before the job starts. */
PSI_API void (*gasnet_client_attach_hook)(void *segbase, uintptr_t segsize);
PSI_API const char *gasnet_max_segsize_str;
PSI_API uint64_t gasnet_max_segsize;
PSI_API volatile int gasnet_frozen;

PSI_END_DECLS

/* A name that some programs use in place of the call. */
#define gasneti_mynode (gex_System_QueryJobRank())

#endif
