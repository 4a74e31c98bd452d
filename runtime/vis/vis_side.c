/* Sides of a transfer: how far they reach in memory, and cursors that read them as runs of
 * pieces. */
#include "runtime/vis/vis.h"

/* -- where a side lies ------------------------------------------------------------------------- */

static void
extent_widen(struct psi_extent *extent, uintptr_t addr, size_t len)
{
	const uintptr_t end = addr + len;

	if (!len)
		return;
	if (end < addr || extent->lo > extent->hi ||
	    __builtin_add_overflow(extent->bytes, len, &extent->bytes)) {
		*extent = (struct psi_extent){ .bytes = SIZE_MAX, .lo = UINTPTR_MAX };
		return;
	}
	if (extent->bytes == len || addr < extent->lo)
		extent->lo = addr;
	if (end > extent->hi)
		extent->hi = end;
}

/* A nest reaches from its base down by its negative strides, and up by the others. */
static struct psi_extent
extent_of_nest(const struct psi_nest *nest, size_t pieces)
{
	struct psi_extent extent = { .bytes = pieces * nest->elem };
	size_t down = 0, up = nest->elem;
	bool far = false;

	for (unsigned d = 0; d < nest->dims; d++) {
		const struct psi_dimension *dim = &nest->dim[d];
		const bool back = dim->stride < 0;
		const size_t step = back ? 0 - (size_t)dim->stride : (size_t)dim->stride;
		size_t *reach = back ? &down : &up, way;

		far |= __builtin_mul_overflow(step, dim->count - 1, &way);
		far |= __builtin_add_overflow(*reach, way, reach);
	}
	far |= __builtin_sub_overflow(nest->base, down, &extent.lo);
	far |= __builtin_add_overflow(nest->base, up, &extent.hi);
	if (far) {
		extent.lo = UINTPTR_MAX;
		extent.hi = 0;
	}
	return extent;
}

static struct psi_extent
extent_of_index(void *const *addr, size_t count, size_t len)
{
	struct psi_extent extent = { 0, UINTPTR_MAX, 0 };

	if (!count)
		return (struct psi_extent){ 0, 0, 0 };
	for (size_t i = 0; i < count; i++) {
		const uintptr_t at = (uintptr_t)addr[i];

		extent.lo = at < extent.lo ? at : extent.lo;
		extent.hi = at > extent.hi ? at : extent.hi;
	}
	if (__builtin_mul_overflow(count, len, &extent.bytes))
		extent.bytes = SIZE_MAX;
	if (__builtin_add_overflow(extent.hi, len, &extent.hi))
		extent = (struct psi_extent){ extent.bytes, UINTPTR_MAX, 0 };
	return extent;
}

struct psi_extent
psi_side_extent(const struct psi_side *side)
{
	struct psi_extent extent = { 0, 0, 0 };

	switch (side->kind) {
	case PSI_SIDE_LIST:
		for (size_t i = 0; i < side->entries; i++)
			extent_widen(&extent, (uintptr_t)side->of.list[i].addr,
			             side->of.list[i].len);
		break;
	case PSI_SIDE_INDEX:
		extent = extent_of_index(side->of.index.addr, side->entries, side->of.index.len);
		break;
	case PSI_SIDE_RUNS:     /* its pieces were checked before they became runs */
		break;
	case PSI_SIDE_NEST:
		extent = extent_of_nest(side->of.nest, side->entries);
		break;
	}
	return extent;
}

/* -- runs of a side --------------------------------------------------------------------------- */

/* Adds a piece to a run.  Returns false if the piece does not continue the run. */
static bool
run_join(struct psi_run *run, uintptr_t addr, size_t len)
{
	const uintptr_t end = run->addr + run->count * (size_t)run->stride;

	if (run->count == 1 && addr == run->addr + run->len) {
		run->len += len;
	} else if (len == run->len && (run->count == 1 || addr == end)) {
		run->stride = run->count == 1 ? (ptrdiff_t)(addr - run->addr) : run->stride;
		run->count++;
	} else {
		return false;
	}
	return true;
}

static void
cursor_read_list(struct psi_cursor *c)
{
	const struct psi_side *side = c->side;
	size_t i = c->next;

	while (i < side->entries && !side->of.list[i].len)
		i++;
	c->at.entry = i;
	if (i < side->entries)
		c->run = (struct psi_run){ (uintptr_t)side->of.list[i].addr, side->of.list[i].len,
			                   1, 0 };
	for (i++; i < side->entries; i++) {
		const struct psi_memvec *piece = &side->of.list[i];

		if (piece->len && !run_join(&c->run, (uintptr_t)piece->addr, piece->len))
			break;
	}
	c->next = i;
}

static void
cursor_read_index(struct psi_cursor *c)
{
	const struct psi_side *side = c->side;
	void *const *addr = side->of.index.addr;
	size_t i = c->next;

	if (i < side->entries)
		c->run = (struct psi_run){ (uintptr_t)addr[i], side->of.index.len, 1, 0 };
	for (i++; i < side->entries && run_join(&c->run, (uintptr_t)addr[i], side->of.index.len);)
		i++;
	c->next = i;
}

/* Reads the rest of a row of the nest, from piece number `next' on. */
static void
cursor_read_nest(struct psi_cursor *c)
{
	const struct psi_nest *nest = c->side->of.nest;
	size_t rest = c->next, first = 0;

	if (c->next >= c->side->entries)
		return;
	c->run = (struct psi_run){ nest->base, nest->elem, 1, 0 };
	for (unsigned d = 0; d < nest->dims; d++) {
		const size_t i = rest % nest->dim[d].count;

		c->run.addr += i * (size_t)nest->dim[d].stride;
		rest /= nest->dim[d].count;
		if (d == 0)
			first = i;
	}
	if (nest->dims) {
		c->run.count = nest->dim[0].count - first;
		c->run.stride = nest->dim[0].stride;
	}
	c->next += c->run.count;
}

static void
cursor_read(struct psi_cursor *c)
{
	c->at = (struct psi_position){ c->next, 0 };
	c->off = 0;
	switch (c->side->kind) {
	case PSI_SIDE_LIST:
		cursor_read_list(c);
		break;
	case PSI_SIDE_INDEX:
		cursor_read_index(c);
		break;
	case PSI_SIDE_RUNS:
		if (c->next < c->side->entries)
			c->run = c->side->of.runs[c->next++];
		break;
	case PSI_SIDE_NEST:
		cursor_read_nest(c);
		break;
	}
	c->run.addr += c->side->offset;
}

void
psi_cursor_open(struct psi_cursor *cursor, const struct psi_side *side, struct psi_position at)
{
	*cursor = (struct psi_cursor){ .side = side, .next = at.entry };
	cursor_read(cursor);
	if (at.past) {
		const size_t pieces = at.past / cursor->run.len;

		cursor->run.addr += pieces * (size_t)cursor->run.stride;
		cursor->run.count -= pieces;
		cursor->off = at.past - pieces * cursor->run.len;
		cursor->at.past = at.past;
	}
}

bool
psi_cursor_look(struct psi_cursor *cursor, struct psi_run *run_out)
{
	if (!cursor->run.count) {
		cursor_read(cursor);
		if (!cursor->run.count)
			return false;
	}
	*run_out = cursor->run;
	if (cursor->off) {
		run_out->addr += cursor->off;
		run_out->len -= cursor->off;
		run_out->count = 1;
	}
	return true;
}

void
psi_cursor_take(struct psi_cursor *cursor, size_t len, size_t count)
{
	struct psi_run *run = &cursor->run;
	size_t pieces = count;

	cursor->at.past += len * count;
	if (cursor->off || len != run->len) {
		cursor->off += len * count;
		if (cursor->off < run->len)
			return;
		cursor->off = 0;
		pieces = 1;
	}
	run->addr += pieces * (size_t)run->stride;
	run->count -= pieces;
}

void
psi_cursor_skip(struct psi_cursor *cursor, size_t bytes)
{
	struct psi_run run;

	while (bytes && psi_cursor_look(cursor, &run)) {
		if (run.len > bytes) {
			run.len = bytes;
			run.count = 1;
		} else if (run.count > bytes / run.len) {
			run.count = bytes / run.len;
		}
		psi_cursor_take(cursor, run.len, run.count);
		bytes -= run.len * run.count;
	}
}
