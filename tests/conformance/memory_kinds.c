/* Memory kinds: the host's works, those of devices are refused and leave everything as it was. */
#include <gasnet_mk.h>

#include "tests/lib/pt.h"

static gex_MK_Create_args_t
args_of(gex_MK_Class_t class)
{
	gex_MK_Create_args_t args;

	memset(&args, 0, sizeof(args));
	args.gex_class = class;
	return args;
}

static void
devices(void)
{
	gex_MK_Create_args_t args[] = { args_of(GEX_MK_CLASS_CUDA_UVA), args_of(GEX_MK_CLASS_HIP),
		                        args_of(GEX_MK_CLASS_ZE), args_of((gex_MK_Class_t)99) };
	gex_MK_t kind = GEX_MK_INVALID;

	args[0].gex_args.gex_class_cuda_uva.gex_CUdevice = 0;
	args[1].gex_args.gex_class_hip.gex_hipDevice = 0;
	args[2].gex_args.gex_class_ze.gex_zeDevice = NULL;
	args[2].gex_args.gex_class_ze.gex_zeContext = NULL;
	args[2].gex_args.gex_class_ze.gex_zeMemoryOrdinal = 0;
	for (size_t i = 0; i < PT_COUNT(args); i++) {
		PT_EQ(gex_MK_Create(&kind, pt.client, &args[i], 0), GASNET_ERR_BAD_ARG);
		PT_CHECK(kind == GEX_MK_INVALID);
	}
#if defined(GASNET_HAVE_MK_CLASS_CUDA_UVA) || defined(GASNET_HAVE_MK_CLASS_HIP) || \
	defined(GASNET_HAVE_MK_CLASS_ZE) || defined(GASNET_HAVE_MK_CLASS_MULTIPLE)
	PT_FAIL("a macro says that kinds of devices are there");
#endif
}

static void
refused(void)
{
	gex_MK_Create_args_t args = args_of(GEX_MK_CLASS_HOST);
	gex_MK_t kind = GEX_MK_INVALID;

	PT_EQ(gex_MK_Create(NULL, pt.client, &args, 0), GASNET_ERR_BAD_ARG);
	PT_EQ(gex_MK_Create(&kind, GEX_CLIENT_INVALID, &args, 0), GASNET_ERR_BAD_ARG);
	PT_EQ(gex_MK_Create(&kind, pt.client, NULL, 0), GASNET_ERR_BAD_ARG);
	PT_EQ(gex_MK_Create(&kind, pt.client, &args, 1), GASNET_ERR_BAD_ARG);
	args.gex_flags = 1;
	PT_EQ(gex_MK_Create(&kind, pt.client, &args, 0), GASNET_ERR_BAD_ARG);
	PT_CHECK(kind == GEX_MK_INVALID);
}

static void
host(void)
{
	gex_MK_Create_args_t args = args_of(GEX_MK_CLASS_HOST);
	gex_MK_t kind = GEX_MK_INVALID;
	gex_Segment_t segment;
	int here = 0;

	PT_EQ(GASNET_HAVE_MK_CLASS_HOST, 1);
	PT_OK(gex_MK_Create(&kind, pt.client, &args, 0));
	PT_CHECK(kind == GEX_MK_HOST);
	PT_EQ(gex_MK_QueryClass(kind), GEX_MK_CLASS_HOST);
	PT_EQ(gex_MK_QueryFlags(kind), 0);
	PT_CHECK(gex_MK_QueryClient(kind) == pt.client);
	PT_PTR(gex_MK_QueryCData(kind), NULL);
	gex_MK_SetCData(kind, &here);
	PT_PTR(gex_MK_QueryCData(GEX_MK_HOST), &here);
	gex_MK_SetCData(kind, NULL);
	PT_OK(gex_Segment_Create(&segment, pt.client, NULL, GASNET_PAGESIZE, kind, 0));
	memset(gex_Segment_QueryAddr(segment), 1, gex_Segment_QuerySize(segment));
	gex_Segment_Destroy(segment, 0);
	gex_MK_Destroy(kind, 0);
}

int
main(int argc, char **argv)
{
	pt_init(&argc, &argv, 0);
	gex_System_SetVerboseErrors(0);
	devices();
	refused();
	host();
	pt_finish();
}
