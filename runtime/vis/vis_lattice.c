/* Strided transfers: finds the dimensions that both sides share, and merges those that it can. */
#include "runtime/vis/vis.h"

/* Adds a dimension.  If the destination's stride is negative, the dimension begins at its other
 * end, with strides of the opposite sign. */
static void
dimension_add(struct psi_lattice *l, size_t count, ptrdiff_t dst, ptrdiff_t src)
{
	ptrdiff_t stride[PSI_SIDES] = { [PSI_DST] = dst, [PSI_SRC] = src };
	const unsigned d = l->dims++;

	for (unsigned side = 0; side < PSI_SIDES && stride[PSI_DST] < 0; side++)
		l->base[side] += (count - 1) * (size_t)stride[side];
	for (unsigned side = 0; side < PSI_SIDES; side++)
		l->stride[side][d] = dst < 0 ? (ptrdiff_t)(0 - (size_t)stride[side]) : stride[side];
	l->count[d] = count;
}

static void
dimension_move(struct psi_lattice *l, unsigned to, unsigned from)
{
	l->count[to] = l->count[from];
	for (unsigned side = 0; side < PSI_SIDES; side++)
		l->stride[side][to] = l->stride[side][from];
}

static void
dimensions_swap(struct psi_lattice *l, unsigned a, unsigned b)
{
	const size_t count = l->count[a];
	const ptrdiff_t dst = l->stride[PSI_DST][a], src = l->stride[PSI_SRC][a];

	dimension_move(l, a, b);
	l->count[b] = count;
	l->stride[PSI_DST][b] = dst;
	l->stride[PSI_SRC][b] = src;
}

/* Sorts by the strides of the destination, the smallest first, so that stores walk through
 * memory. */
static void
dimensions_sort(struct psi_lattice *l)
{
	for (unsigned d = 1; d < l->dims; d++)
		for (unsigned k = d; k && l->stride[PSI_DST][k] < l->stride[PSI_DST][k - 1]; k--)
			dimensions_swap(l, k, k - 1);
}

static void
dimension_drop(struct psi_lattice *l, unsigned d)
{
	l->dims--;
	for (; d < l->dims; d++)
		dimension_move(l, d, d + 1);
}

/* Does dimension d begin on both sides where the bytes before it end?  reach is their length on
 * each side. */
static bool
dimension_follows(const struct psi_lattice *l, unsigned d, const size_t reach[PSI_SIDES])
{
	return (size_t)l->stride[PSI_DST][d] == reach[PSI_DST] &&
	       (size_t)l->stride[PSI_SRC][d] == reach[PSI_SRC];
}

static void
dimensions_merge(struct psi_lattice *l)
{
	for (unsigned d = 0; d < l->dims;) {
		const size_t elem[PSI_SIDES] = { l->elem, l->elem };

		if (d == 0 && dimension_follows(l, 0, elem)) {
			l->elem *= l->count[0];
			dimension_drop(l, 0);
		} else if (d + 1 < l->dims) {
			const size_t reach[PSI_SIDES] = {
				l->count[d] * (size_t)l->stride[PSI_DST][d],
				l->count[d] * (size_t)l->stride[PSI_SRC][d],
			};

			if (dimension_follows(l, d + 1, reach)) {
				l->count[d] *= l->count[d + 1];
				dimension_drop(l, d + 1);
			} else {
				d++;
			}
		} else {
			d++;
		}
	}
}

bool
psi_lattice_make(struct psi_lattice *out, struct psi_strides dst, struct psi_strides src,
                 size_t elem, const size_t *count, size_t levels)
{
	size_t bytes = elem;

	out->elem = elem;
	out->dims = 0;
	out->base[PSI_DST] = (uintptr_t)dst.addr;
	out->base[PSI_SRC] = (uintptr_t)src.addr;
	for (size_t k = 0; k < levels; k++) {
		if (count[k] == 1)
			continue;
		/* Counts are at least 2, so there are fewer dimensions than bits of a size. */
		if (__builtin_mul_overflow(bytes, count[k], &bytes))
			return false;
		dimension_add(out, count[k], dst.stride[k], src.stride[k]);
	}
	dimensions_sort(out);
	dimensions_merge(out);
	return true;
}

size_t
psi_lattice_bytes(const struct psi_lattice *lattice)
{
	size_t bytes = lattice->elem;

	for (unsigned d = 0; d < lattice->dims; d++)
		bytes *= lattice->count[d];
	return bytes;
}

struct psi_side
psi_lattice_side(const struct psi_lattice *lattice, enum psi_which which, struct psi_nest *nest)
{
	size_t pieces = 1;

	nest->base = lattice->base[which];
	nest->elem = lattice->elem;
	nest->dims = 0;
	for (unsigned d = 0; d < lattice->dims; d++) {
		const size_t count = lattice->count[d];
		const ptrdiff_t stride = lattice->stride[which][d];
		struct psi_dimension *last = &nest->dim[nest->dims];

		if (!nest->dims && (size_t)stride == nest->elem)
			nest->elem *= count;
		else if (nest->dims && (size_t)stride == last[-1].count * (size_t)last[-1].stride)
			last[-1].count *= count;
		else
			nest->dim[nest->dims++] = (struct psi_dimension){ count, stride };
	}
	for (unsigned d = 0; d < nest->dims; d++)
		pieces *= nest->dim[d].count;
	return (struct psi_side){ .kind = PSI_SIDE_NEST, .entries = pieces, .of.nest = nest };
}
