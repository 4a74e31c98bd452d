/* Segments: made, bound to an endpoint, given back. */
#include "runtime/segment/segment.h"

#include "runtime/process/rules.h"
#include "runtime/team/team.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* -- make and bind --------------------------------------------------------------------------- */

/* A network that has no names reaches it by messages.  One that has, and finds no room for this
 * one, has said why.  A job that is slower on one host alone is harder to find than one that
 * ends. */
void
psi_segment_bind(gex_Segment_t segment)
{
	if (segment->is_bound)
		return;
	segment->is_bound = true;
	if (psi.ops->segment_bind(psi.conduit, segment->base, segment->size, &segment->name,
	                          &segment->registration) == PSI_FAILED)
		psi_fatal("peers cannot reach a segment of %zu bytes over the network",
		          (size_t)segment->size);
}

void
psi_segment_discard(gex_Segment_t segment)
{
	static _Atomic(gex_Segment_t) last_destroyed;   /* holds the objects for leak checkers */

	if (segment->registration)
		psi.ops->segment_release(psi.conduit, segment->registration);
	if (segment->library_memory)
		pboot_range_unmap(segment->base, segment->key, segment->size);
	segment->destroyed = true;
	if (psi.checks)
		segment->destroyed_before = atomic_exchange_explicit(&last_destroyed, segment,
		                                                      memory_order_relaxed);
	else
		free(segment);
}

static gex_Segment_t
segment_live(gex_Segment_t segment, const char *call)
{
	if (PSI_UNLIKELY(!segment))
		psi_fatal("%s: called with GEX_SEGMENT_INVALID; an endpoint has a segment after "
		          "gex_Segment_Attach or gex_EP_BindSegment", call);
	if (PSI_UNLIKELY(psi.checks) && segment->destroyed)
		psi_fatal("%s: the segment was destroyed before; destroy it when nothing uses it "
		          "any more",
		          call);
	return segment;
}

static gex_Segment_t
segment_new(gex_Client_t client, void *base, uintptr_t size)
{
	gex_Segment_t segment = calloc(1, sizeof *segment);

	if (!segment)
		return NULL;
	segment->client = client;
	segment->base = base;
	segment->size = size;
	segment->name.key = PSI_NO_KEY;
	return segment;
}

int
psi_segment_make(gex_Client_t client, uintptr_t size, gex_Segment_t *segment_out)
{
	gex_Segment_t segment = segment_new(client, NULL, size);
	int error;

	if (!segment)
		return ENOMEM;
	segment->base = pboot_range_make(psi_file_of(psi.boot.rank), size, &segment->key);
	if (!segment->base) {
		error = errno;
		free(segment);
		return error;
	}
	segment->library_memory = true;
	*segment_out = segment;
	return 0;
}

void
psi_segment_print_error(const char *call, uintptr_t size, int error)
{
	char lack[PBOOT_ERROR_TEXT_BYTES];

	if (gex_System_GetVerboseErrors())
		psi_log("%s: no segment of %zu bytes: %s", call, (size_t)size,
		        pboot_range_error_text(error, lack));
}

int
psi_segment_refuse_size(const char *call, uintptr_t size)
{
	char why[160];

	snprintf(why, sizeof why, "%zu bytes are above gasnet_getMaxLocalSegmentSize(), %zu, which "
	         "is bounded by %s", (size_t)size, (size_t)psi.max_segment, psi.max_segment_bound);
	return psi_refuse(GASNET_ERR_BAD_ARG, call, why);
}

/* MS_ASYNC does nothing but look. */
static bool
segment_is_mapped(gex_Addr_t address, uintptr_t length)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE),
			first = (uintptr_t)address & ~(page - 1);

	return msync((void *)first, (uintptr_t)address + length - first, MS_ASYNC) == 0 ||
	       errno != ENOMEM;
}

int
gex_Segment_Create(gex_Segment_t *segment_p, gex_Client_t client, gex_Addr_t address,
                   uintptr_t length, gex_MK_t kind, gex_Flags_t flags)
{
	const char *call = "gex_Segment_Create";
	const uintptr_t rounded =
		(length + GASNET_PAGESIZE - 1) & ~(uintptr_t)(GASNET_PAGESIZE - 1);
	gex_Segment_t segment;
	int error;

	psi_need_init(call);
	psi_rule_context(call);
	if (!segment_p || client != psi.client)
		return psi_refuse(GASNET_ERR_BAD_ARG, call, "the client must be that of "
		                                            "gex_Client_Init, and segment_p not "
		                                            "NULL");
	if (kind != GEX_MK_HOST)
		return psi_refuse(GASNET_ERR_BAD_ARG, call, "the memory kind must be GEX_MK_HOST");
	if (flags)
		return psi_refuse(GASNET_ERR_BAD_ARG, call, "flags must be 0");
	if (!length)
		return psi_refuse(GASNET_ERR_BAD_ARG, call, "the length must not be 0");
	if (!address) {
		if (length > psi.max_segment)
			return psi_segment_refuse_size(call, length);
		error = psi_segment_make(client, rounded, segment_p);
		if (error)
			psi_segment_print_error(call, rounded, error);
		return error ? GASNET_ERR_RESOURCE : GASNET_OK;
	}
	if (length - 1 > UINTPTR_MAX - (uintptr_t)address)
		return psi_refuse(GASNET_ERR_BAD_ARG, call, "the range wraps around the address "
		                                            "space");
	if (!segment_is_mapped(address, length))
		return psi_refuse(GASNET_ERR_BAD_ARG, call, "the client's memory is not mapped in "
		                  "this process; map it first");
	segment = segment_new(client, address, length);
	if (!segment)
		return GASNET_ERR_RESOURCE;
	*segment_p = segment;
	return GASNET_OK;
}

void
gex_Segment_Destroy(gex_Segment_t segment, gex_Flags_t flags)
{
	const char *call = "gex_Segment_Destroy";

	psi_rule_context(call);
	psi_check_flags(flags, 0, call);
	if (segment_live(segment, call)->attached)
		psi_fatal("%s: a segment from gex_Segment_Attach lives as long as the job; leave "
		          "it", call);
	if (PSI_UNLIKELY(psi.checks && psi_team_borrowing(segment->base, segment->size)))
		psi_fatal("%s: a part of the segment is scratch memory of a team; destroy the team "
		          "first",
		          call);
	psi_segment_discard(segment);
}

int
gex_EP_BindSegment(gex_EP_t ep, gex_Segment_t segment, gex_Flags_t flags)
{
	const char *call = "gex_EP_BindSegment";

	psi_rule_context(call);
	if (!ep || !segment || flags)
		return psi_refuse(GASNET_ERR_BAD_ARG, call, "endpoint and segment must be valid, "
		                                            "flags 0");
	(void)segment_live(segment, call);
	if (ep->segment)
		return psi_refuse(GASNET_ERR_BAD_ARG, call, "the endpoint has a segment already");
	ep->segment = segment;
	return GASNET_OK;
}

/* -- queries --------------------------------------------------------------------------------- */

gex_Client_t
gex_Segment_QueryClient(gex_Segment_t seg)
{
	return segment_live(seg, "gex_Segment_QueryClient")->client;
}

gex_Flags_t
gex_Segment_QueryFlags(gex_Segment_t seg)
{
	return segment_live(seg, "gex_Segment_QueryFlags")->flags;
}

void *
gex_Segment_QueryAddr(gex_Segment_t seg)
{
	return segment_live(seg, "gex_Segment_QueryAddr")->base;
}

uintptr_t
gex_Segment_QuerySize(gex_Segment_t seg)
{
	return segment_live(seg, "gex_Segment_QuerySize")->size;
}

void *
gex_Segment_QueryCData(gex_Segment_t seg)
{
	return segment_live(seg, "gex_Segment_QueryCData")->cdata;
}

void
gex_Segment_SetCData(gex_Segment_t seg, const void *val)
{
	segment_live(seg, "gex_Segment_SetCData")->cdata = (void *)(uintptr_t)val;
}

uintptr_t
gasnet_getMaxLocalSegmentSize(void)
{
	psi_need_init("gasnet_getMaxLocalSegmentSize");
	return psi.max_segment;
}

uintptr_t
gasnet_getMaxGlobalSegmentSize(void)
{
	psi_need_init("gasnet_getMaxGlobalSegmentSize");
	return psi.max_segment_global;
}
