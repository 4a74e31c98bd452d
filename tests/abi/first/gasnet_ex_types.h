/*
 * gasnet_ex_types.h: handles, records and error codes that several of the
 * other headers need.
 */
#ifndef GASNET_EX_TYPES_H
#define GASNET_EX_TYPES_H

#include "gasnet_ex_port.h"
#include "gasnet_fwd.h"

#include "portable_inttypes.h"

/* Results. */
#define GASNET_OK                   0
#define GASNET_ERR_NOT_INIT         10001
#define GASNET_ERR_RESOURCE         10002
#define GASNET_ERR_BAD_ARG          10003
#define GASNET_ERR_NOT_READY        10004
#define GASNET_ERR_BARRIER_MISMATCH 10005

/* Handles: opaque, and zero names no object. */
typedef struct gex_Client_s *gex_Client_t;
typedef struct gex_EP_s *gex_EP_t;
typedef struct gex_Segment_s *gex_Segment_t;
typedef struct gex_TM_s *gex_TM_t;
typedef struct gex_MK_s *gex_MK_t;

#define GEX_CLIENT_INVALID  _GEX_NULL(gex_Client_t)
#define GEX_EP_INVALID      _GEX_NULL(gex_EP_t)
#define GEX_SEGMENT_INVALID _GEX_NULL(gex_Segment_t)
#define GEX_TM_INVALID      _GEX_NULL(gex_TM_t)
#define GEX_MK_INVALID      _GEX_NULL(gex_MK_t)
#define GEX_MK_HOST         _GEX_TOKEN(gex_MK_t, 1)

/*
 * A value of gex_TM_t with its lowest bit set is a pair of endpoints rather
 * than a team: ((remote index << 16 | local index) << 1) | 1. The legacy calls
 * name the primordial pair, whose ranks are job ranks.
 */
#define PSI_TM_LEGACY _GEX_TOKEN(gex_TM_t, 1)

typedef struct {
	void *gex_addr;
	size_t gex_len;
} gex_Memvec_t;

typedef const struct {
	gex_Rank_t gex_jobrank;
} gex_RankInfo_t;

#define GEX_THREAD_ROLE_RCV (1u << 0)
#define GEX_THREAD_ROLE_SND (1u << 1)

typedef struct {
	const char *gex_device_list;
	unsigned int gex_thread_roles;
	void *(*gex_progress_fn)(void *);
	void *gex_progress_arg;
} gex_ProgressThreadInfo_t;

typedef gex_Rank_t gasnet_node_t;

typedef struct {
	void *addr;
	uintptr_t size;
} gasnet_seginfo_t;

typedef struct {
	gasnet_node_t host;
	gasnet_node_t supernode;
	uintptr_t offset; /* added, modulo the pointer width, to an address of the owner */
} gasnet_nodeinfo_t;

#endif
