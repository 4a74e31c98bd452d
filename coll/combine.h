/*
 * Combining the operands of a reduction, by a kernel (kernels.h) or by another function.
 */
#ifndef PCOLL_COMBINE_H
#define PCOLL_COMBINE_H

#include "coll/coll.h"

#include "runtime/util/copy.h"

/* out = left op right, of whole elements.  `out' is `right', or apart from both; with a kernel it
 * may also be `left', which the copy below would overwrite. */
static inline void
pcoll_combine(const struct pcoll_reduction *reduction, const void *left, const void *right,
              void *out, size_t len_bytes)
{
	const size_t elem_bytes = reduction->elem_bytes;
	/* most vectors are one element: the comparison saves them a division */
	const size_t count = PSI_LIKELY(len_bytes == elem_bytes) ? 1 : len_bytes / elem_bytes;

	if (PSI_LIKELY(reduction->kernel != NULL)) {
		reduction->kernel(left, right, out, count);
		return;
	}
	if (out != right)
		psi_copy(out, right, len_bytes);
	reduction->combine(left, out, count, reduction->cdata);
}

#endif
