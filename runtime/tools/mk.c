/* Memory kinds: the host's, which has no object, and messages about the others. */
#include "runtime/tools/mk.h"

#include "runtime/process/rules.h"

#include "gasnet_mk.h"

#include <stdio.h>

#define NO_DEVICES "no conduit of this library reaches the memory of devices; use GEX_MK_HOST"

const struct psi_mk_class psi_mk_classes[] = {
	[GEX_MK_CLASS_HOST] = { "HOST", "memory of the host", NULL },
	[GEX_MK_CLASS_CUDA_UVA] = { "CUDA_UVA", "memory of CUDA devices", NO_DEVICES },
	[GEX_MK_CLASS_HIP] = { "HIP", "memory of HIP devices", NO_DEVICES },
	[GEX_MK_CLASS_ZE] = { "ZE", "memory of Level Zero devices", NO_DEVICES },
	{ NULL, NULL, NULL },
};

enum { CLASSES = sizeof psi_mk_classes / sizeof *psi_mk_classes - 1 };

static void *host_cdata;        /* the client's */

int
gex_MK_Create(gex_MK_t *memkind_p, gex_Client_t client, const gex_MK_Create_args_t *args,
              gex_Flags_t flags)
{
	const char *call = "gex_MK_Create";
	const struct psi_mk_class *class;
	char why[160];

	psi_need_init(call);
	psi_rule_context(call);
	if (!memkind_p || !args || client != psi.client)
		return psi_refuse(GASNET_ERR_BAD_ARG, call, "the client must be that of "
		                  "gex_Client_Init, memkind_p and args not NULL");
	if (flags || args->gex_flags)
		return psi_refuse(GASNET_ERR_BAD_ARG, call, "flags and args->gex_flags must be 0");
	if ((unsigned)args->gex_class >= CLASSES)
		return psi_refuse(GASNET_ERR_BAD_ARG, call, "the class must be one of "
		                                            "GEX_MK_CLASS_*");
	class = &psi_mk_classes[args->gex_class];
	if (class->lack) {
		snprintf(why, sizeof why, "GEX_MK_CLASS_%s is not available: %s", class->name,
		         class->lack);
		return psi_refuse(GASNET_ERR_BAD_ARG, call, why);
	}
	*memkind_p = GEX_MK_HOST;
	return GASNET_OK;
}

/* Ends the job unless it is the one kind there is. */
static void
mk_check_kind(gex_MK_t kind, const char *call)
{
	if (PSI_UNLIKELY(!kind))
		psi_invalid(call, "GEX_MK_INVALID");
	if (PSI_UNLIKELY(kind != GEX_MK_HOST))
		psi_fatal("%s: %p is no memory kind; pass GEX_MK_HOST, or what gex_MK_Create "
		          "wrote", call,
		          (void *)kind);
}

void
gex_MK_Destroy(gex_MK_t kind, gex_Flags_t flags)
{
	psi_rule_context("gex_MK_Destroy");
	psi_check_flags(flags, 0, "gex_MK_Destroy");
	mk_check_kind(kind, "gex_MK_Destroy");
}

gex_Client_t
gex_MK_QueryClient(gex_MK_t kind)
{
	mk_check_kind(kind, "gex_MK_QueryClient");
	return psi.client;
}

gex_Flags_t
gex_MK_QueryFlags(gex_MK_t kind)
{
	mk_check_kind(kind, "gex_MK_QueryFlags");
	return 0;
}

gex_MK_Class_t
gex_MK_QueryClass(gex_MK_t kind)
{
	mk_check_kind(kind, "gex_MK_QueryClass");
	return GEX_MK_CLASS_HOST;
}

void
gex_MK_SetCData(gex_MK_t kind, const void *val)
{
	mk_check_kind(kind, "gex_MK_SetCData");
	host_cdata = (void *)(uintptr_t)val;
}

void *
gex_MK_QueryCData(gex_MK_t kind)
{
	mk_check_kind(kind, "gex_MK_QueryCData");
	return host_cdata;
}
