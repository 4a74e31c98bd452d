/* Coarrays: at one offset of every image's segment, so that a handle means the same everywhere. */
#include <gasnet_coll.h>
#include <gasnet_vis.h>
#include "inside.h"

#define ALIGNMENT ((size_t)64)
enum { DIMENSIONS_MAX = 15 };

static char **bases; /* by rank in the job */
static size_t used;  /* of this image's segment, which begins with the counts of arrivals */

void
memory_start(gex_TM_t all_images)
{
	gex_Rank_t rank, count = gex_TM_QuerySize(all_images);

	bases = calloc(count, sizeof(*bases));
	if (bases == NULL)
		give_up("no memory");
	for (rank = 0; rank < count; rank++)
		gex_Event_Wait(gex_EP_QueryBoundSegmentNB(all_images, rank, (void **)&bases[rank],
		                                          NULL, NULL, 0));
	memset(memory_take(count * sizeof(int64_t)), 0, count * sizeof(int64_t));
}

void *
memory_take(size_t bytes)
{
	size_t rounded = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT, at = used;

	if (rounded < bytes || rounded > SEGMENT_BYTES - used)
		give_up("the segment is full");
	used += rounded;
	return bases[gex_System_QueryJobRank()] + at;
}

int64_t *
memory_arrivals(gex_Rank_t jobrank)
{
	return (int64_t *)(void *)bases[jobrank];
}

void *
memory_place(int64_t coarray, int64_t offset, gex_Rank_t jobrank)
{
	return bases[jobrank] + coarray + offset;
}

/* Images of a team have used different amounts before: the new coarray lies behind all of that. */
void
caf_allocate_(int64_t *coarray, const int64_t *bytes)
{
	int64_t most = (int64_t)used;

	gex_Event_Wait(gex_Coll_ReduceToAllNB(team_current(), &most, &most, GEX_DT_I64,
	                                      sizeof(most), 1, GEX_OP_MAX, NULL, NULL, 0));
	used = (size_t)most;
	memory_take((size_t)*bytes);
	*coarray = most;
	caf_sync_all_();
}

void
caf_put_(const int64_t *coarray, const int64_t *offset, const int32_t *image, const void *value,
         const int64_t *bytes)
{
	gex_RMA_PutBlocking(team_current(), (gex_Rank_t)*image - 1,
	                    memory_place(*coarray, *offset, team_jobrank(*image)), value,
	                    (size_t)*bytes, 0);
}

void
caf_get_(const int64_t *coarray, const int64_t *offset, const int32_t *image, void *value,
         const int64_t *bytes)
{
	gex_RMA_GetBlocking(team_current(), value, (gex_Rank_t)*image - 1,
	                    memory_place(*coarray, *offset, team_jobrank(*image)), (size_t)*bytes,
	                    0);
}

/* Fortran's descriptor of a section in GASNet's types. */
struct section {
	ptrdiff_t strides[DIMENSIONS_MAX], value_strides[DIMENSIONS_MAX];
	size_t counts[DIMENSIONS_MAX];
};

static void
section_read(struct section *section, const int64_t *strides, const int64_t *value_strides,
             const int64_t *counts, int32_t dimensions)
{
	int32_t i;

	if (dimensions < 0 || dimensions > DIMENSIONS_MAX)
		give_up("too many dimensions");
	for (i = 0; i < dimensions; i++) {
		section->strides[i] = (ptrdiff_t)strides[i];
		section->value_strides[i] = (ptrdiff_t)value_strides[i];
		section->counts[i] = (size_t)counts[i];
	}
}

void
caf_put_section_(const int64_t *coarray, const int64_t *offset, const int32_t *image,
                 const int64_t *strides, const void *value, const int64_t *value_strides,
                 const int64_t *element_bytes, const int64_t *counts, const int32_t *dimensions)
{
	struct section section;

	section_read(&section, strides, value_strides, counts, *dimensions);
	gex_VIS_StridedPutBlocking(team_current(), (gex_Rank_t)*image - 1,
	                           memory_place(*coarray, *offset, team_jobrank(*image)),
	                           section.strides, (void *)(uintptr_t)value, section.value_strides,
	                           (size_t)*element_bytes, section.counts, (size_t)*dimensions, 0);
}

void
caf_get_section_(const int64_t *coarray, const int64_t *offset, const int32_t *image,
                 const int64_t *strides, void *value, const int64_t *value_strides,
                 const int64_t *element_bytes, const int64_t *counts, const int32_t *dimensions)
{
	struct section section;

	section_read(&section, strides, value_strides, counts, *dimensions);
	gex_VIS_StridedGetBlocking(
		team_current(), value, section.value_strides, (gex_Rank_t)*image - 1,
		memory_place(*coarray, *offset, team_jobrank(*image)), section.strides,
		(size_t)*element_bytes, section.counts, (size_t)*dimensions, 0);
}
