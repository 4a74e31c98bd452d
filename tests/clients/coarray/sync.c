/* Atomics, events and synchronisation; collectives of a team. */
#include <gasnet_coll.h>
#include <gasnet_ratomic.h>
#include "inside.h"

static gex_AD_t domain;
static int64_t *syncs_done; /* with each image of the job */

void
atomics_start(gex_TM_t all_images)
{
	gex_AD_Create(&domain, all_images, GEX_DT_I64,
	              GEX_OP_SET | GEX_OP_GET | GEX_OP_FADD | GEX_OP_FCAS | GEX_OP_INC, 0);
	syncs_done = calloc(gex_TM_QuerySize(all_images), sizeof(*syncs_done));
	if (syncs_done == NULL)
		give_up("no memory");
}

int64_t
atomics_apply(void *place, gex_Rank_t jobrank, gex_OP_t op, int64_t value, int64_t other)
{
	int64_t old = 0;
	gex_Flags_t flags = GEX_FLAG_AD_REL | GEX_FLAG_AD_ACQ | GEX_FLAG_RANK_IS_JOBRANK;

	gex_Event_Wait(gex_AD_OpNB_I64(domain, &old, jobrank, place, op, value, other, flags));
	return old;
}

void
atomics_await(void *place, int64_t least)
{
	while (atomics_apply(place, gex_System_QueryJobRank(), GEX_OP_GET, 0, 0) < least)
		gasnet_AMPoll();
}

void
caf_atomic_define_(const int64_t *coarray, const int64_t *offset, const int32_t *image,
                   const int64_t *value)
{
	gex_Rank_t jobrank = team_jobrank(*image);

	atomics_apply(memory_place(*coarray, *offset, jobrank), jobrank, GEX_OP_SET, *value, 0);
}

void
caf_atomic_ref_(const int64_t *coarray, const int64_t *offset, const int32_t *image, int64_t *value)
{
	gex_Rank_t jobrank = team_jobrank(*image);

	*value = atomics_apply(memory_place(*coarray, *offset, jobrank), jobrank, GEX_OP_GET, 0, 0);
}

void
caf_atomic_fetch_add_(const int64_t *coarray, const int64_t *offset, const int32_t *image,
                      const int64_t *value, int64_t *old)
{
	gex_Rank_t jobrank = team_jobrank(*image);

	*old = atomics_apply(memory_place(*coarray, *offset, jobrank), jobrank, GEX_OP_FADD, *value,
	                     0);
}

void
caf_atomic_cas_(const int64_t *coarray, const int64_t *offset, const int32_t *image, int64_t *old,
                const int64_t *compare, const int64_t *value)
{
	gex_Rank_t jobrank = team_jobrank(*image);

	*old = atomics_apply(memory_place(*coarray, *offset, jobrank), jobrank, GEX_OP_FCAS,
	                     *compare, *value);
}

void
caf_event_post_(const int64_t *coarray, const int64_t *offset, const int32_t *image)
{
	gex_Rank_t jobrank = team_jobrank(*image);

	atomics_apply(memory_place(*coarray, *offset, jobrank), jobrank, GEX_OP_INC, 0, 0);
}

void
caf_event_wait_(const int64_t *coarray, const int64_t *offset, const int64_t *until_count)
{
	gex_Rank_t me = gex_System_QueryJobRank();
	void *event = memory_place(*coarray, *offset, me);

	atomics_await(event, *until_count);
	atomics_apply(event, me, GEX_OP_FADD, -*until_count, 0);
}

void
caf_event_query_(const int64_t *coarray, const int64_t *offset, int64_t *count)
{
	gex_Rank_t me = gex_System_QueryJobRank();

	*count = atomics_apply(memory_place(*coarray, *offset, me), me, GEX_OP_GET, 0, 0);
}

void
caf_sync_all_(void)
{
	gex_Event_Wait(gex_Coll_BarrierNB(team_current(), 0));
}

/* First all are told, then all are waited for: each counts the meetings with each. */
void
caf_sync_images_(const int32_t *count, const int32_t *images)
{
	int32_t number = *count < 0 ? caf_num_images_() : *count, i;
	gex_Rank_t me = gex_System_QueryJobRank(), jobrank;

	for (i = 0; i < number; i++) {
		jobrank = team_jobrank(*count < 0 ? i + 1 : images[i]);
		atomics_apply(&memory_arrivals(jobrank)[me], jobrank, GEX_OP_INC, 0, 0);
		syncs_done[jobrank]++;
	}
	for (i = 0; i < number; i++) {
		jobrank = team_jobrank(*count < 0 ? i + 1 : images[i]);
		atomics_await(&memory_arrivals(me)[jobrank], syncs_done[jobrank]);
	}
}

void
caf_co_sum_(int64_t *values, const int64_t *count)
{
	gex_Event_Wait(gex_Coll_ReduceToAllNB(team_current(), values, values, GEX_DT_I64,
	                                      sizeof(*values), (size_t)*count, GEX_OP_ADD, NULL,
	                                      NULL, 0));
}

void
caf_co_max_(double *values, const int64_t *count)
{
	gex_Event_Wait(gex_Coll_ReduceToAllNB(team_current(), values, values, GEX_DT_DBL,
	                                      sizeof(*values), (size_t)*count, GEX_OP_MAX, NULL,
	                                      NULL, 0));
}

void
caf_co_broadcast_(void *values, const int64_t *bytes, const int32_t *source_image)
{
	gex_Event_Wait(gex_Coll_BroadcastNB(team_current(), (gex_Rank_t)*source_image - 1, values,
	                                    values, (size_t)*bytes, 0));
}

struct reduction {
	int64_t (*operation)(const int64_t *left, const int64_t *right);
};

/* GASNet reduces whole vectors, Fortran pairs of elements. */
static void
reduce_pairs(const void *left, void *right_and_out, size_t count, const void *cdata)
{
	const struct reduction *reduction = cdata;
	const int64_t *a = left;
	int64_t *b = right_and_out;
	size_t i;

	for (i = 0; i < count; i++)
		b[i] = reduction->operation(&a[i], &b[i]);
}

void
caf_co_reduce_(int64_t *values, const int64_t *count,
               int64_t (*operation)(const int64_t *left, const int64_t *right))
{
	struct reduction reduction = { operation };

	gex_Event_Wait(gex_Coll_ReduceToAllNB(team_current(), values, values, GEX_DT_I64,
	                                      sizeof(*values), (size_t)*count, GEX_OP_USER,
	                                      reduce_pairs, &reduction, 0));
}
