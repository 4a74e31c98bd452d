/* gex_Segment_Attach: a segment of each rank is made, bound to its first endpoint, and
 * published. */
#include "runtime/job/segment_table.h"
#include "runtime/job/barrier_all.h"

#include "runtime/process/rules.h"
#include "runtime/segment/segment.h"

static bool attached_once;

int
gex_Segment_Attach(gex_Segment_t *segment_p, gex_TM_t tm, uintptr_t size)
{
	const char *call = "gex_Segment_Attach";
	gex_Segment_t segment = GEX_SEGMENT_INVALID;
	uint32_t failed;
	int error;

	psi_need_init(call);
	psi_rule_context(call);
	if (!segment_p || tm != psi.tm)
		return psi_refuse(GASNET_ERR_BAD_ARG, call, "the team must be the primordial one");
	if (size == 0 || size % GASNET_PAGESIZE)
		return psi_refuse(GASNET_ERR_BAD_ARG, call,
		              "the size must be a non-zero multiple of GASNET_PAGESIZE");
	if (size > psi.max_segment)
		return psi_segment_refuse_size(call, size);
	psi.attach_first = false;
	if (attached_once || psi.ep->segment)
		return psi_refuse(GASNET_ERR_RESOURCE, call, "the endpoint has a segment already");
	error = psi_segment_make(psi.client, size, &segment);
	psi.ep->segment = segment;
	failed = psi_segment_table_exchange(segment, error, call);
	if (failed < psi.boot.size) {
		/* Here or elsewhere there is no memory: all return the same, and one says it. */
		if (failed == psi.boot.rank)
			psi_segment_print_error(call, size, error);
		psi.ep->segment = GEX_SEGMENT_INVALID;
		if (segment)
			psi_segment_discard(segment);
		psi_barrier_all();
		return GASNET_ERR_RESOURCE;
	}
	attached_once = segment->attached = true;
	if (gasnet_client_attach_hook)
		gasnet_client_attach_hook(segment->base, segment->size);
	psi_barrier_all();
	*segment_p = segment;
	return GASNET_OK;
}
