/*
 * gasnet_mk.h: kinds of memory that segments may lie in. All names are there
 * in every installation; GASNET_HAVE_MK_CLASS_* say which kinds work in this
 * one, and gex_MK_Create says why another does not.
 */
#ifndef GASNET_MK_H
#define GASNET_MK_H

#include "gasnetex.h"

typedef enum {
	GEX_MK_CLASS_HOST,
	GEX_MK_CLASS_CUDA_UVA,
	GEX_MK_CLASS_HIP,
	GEX_MK_CLASS_ZE
} gex_MK_Class_t;

typedef struct {
	uint64_t gex_flags; /* 0 */
	gex_MK_Class_t gex_class;
	union {
		struct {
			int gex_CUdevice;
		} gex_class_cuda_uva;
		struct {
			int gex_hipDevice;
		} gex_class_hip;
		struct {
			void *gex_zeDevice;
			void *gex_zeContext;
			uint32_t gex_zeMemoryOrdinal;
		} gex_class_ze;
	} gex_args;
} gex_MK_Create_args_t;

PSI_BEGIN_DECLS

/*
 * Not collective; flags 0. Of GEX_MK_CLASS_HOST there is one kind, GEX_MK_HOST.
 * GASNET_ERR_BAD_ARG: no such class, or not in this installation.
 */
PSI_API int gex_MK_Create(gex_MK_t *memkind_p, gex_Client_t client,
			  const gex_MK_Create_args_t *args, gex_Flags_t flags);
/* The kind is one in which no segment was created; GEX_MK_HOST stays. */
PSI_API void gex_MK_Destroy(gex_MK_t kind, gex_Flags_t flags);

PSI_API gex_Client_t gex_MK_QueryClient(gex_MK_t kind);
PSI_API gex_Flags_t gex_MK_QueryFlags(gex_MK_t kind);
PSI_API gex_MK_Class_t gex_MK_QueryClass(gex_MK_t kind);
PSI_API void gex_MK_SetCData(gex_MK_t kind, const void *val);
PSI_API void *gex_MK_QueryCData(gex_MK_t kind);

PSI_END_DECLS

#endif
