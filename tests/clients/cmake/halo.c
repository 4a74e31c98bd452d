/* Outermost cells go to the neighbours as puts, between two barriers. */
#include <gasnetex.h>
#include <gasnet_coll.h>
#include "halo.h"

struct halo {
	double *cells;
	size_t own_cells;
	/* The neighbours' cells, in their memory; NULL at the ends of the rod. */
	double *before, *after;
};

enum { SEGMENT_BYTES = 1 << 20 };

static gex_TM_t team;
static double *segment_cells;

/* Blocking GASNet calls of this library end the job when they fail. */
static void
halo_expect(int result, const char *call)
{
	if (result == GASNET_OK)
		return;
	fprintf(stderr, "%s: %s\n", call, gasnet_ErrorDesc(result));
	gasnet_exit(2);
}

void
halo_start(int *argc, char ***argv, int *rank_out, int *count_out)
{
	gex_Client_t client;
	gex_EP_t endpoint;
	gex_Segment_t segment;

	halo_expect(gex_Client_Init(&client, &endpoint, &team, "HALO", argc, argv, 0), "init");
	halo_expect(gex_Segment_Attach(&segment, team, SEGMENT_BYTES), "attach");
	segment_cells = gex_Segment_QueryAddr(segment);
	*rank_out = (int)gex_TM_QueryRank(team);
	*count_out = (int)gex_TM_QuerySize(team);
}

void
halo_end(int status)
{
	gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
	gasnet_exit(status);
}

static double *
rank_cells(gex_Rank_t rank)
{
	void *cells;

	gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team, rank, &cells, NULL, NULL, 0));
	return cells;
}

/* All ranks have as many cells, so the place in a neighbour's memory is known. */
struct halo *
halo_open(size_t own_cells)
{
	gex_Rank_t me = gex_TM_QueryRank(team), last = gex_TM_QuerySize(team) - 1;
	struct halo *halo = calloc(1, sizeof(*halo));

	if (halo == NULL || own_cells + 2 > SEGMENT_BYTES / sizeof(double))
		halo_expect(GASNET_ERR_RESOURCE, "halo_open");
	halo->own_cells = own_cells;
	halo->cells = segment_cells;
	if (me > 0)
		halo->before = rank_cells(me - 1) + own_cells + 1;
	if (me < last)
		halo->after = rank_cells(me + 1);
	return halo;
}

double *
halo_cells(struct halo *halo)
{
	return halo->cells;
}

void
halo_exchange(struct halo *halo)
{
	gex_Rank_t me = gex_TM_QueryRank(team);

	gex_Event_Wait(gex_Coll_BarrierNB(team, 0)); /* nobody still reads what is replaced now */
	if (halo->before != NULL)
		gex_RMA_PutNBI(team, me - 1, halo->before, &halo->cells[1], sizeof(double),
		               GEX_EVENT_DEFER, 0);
	if (halo->after != NULL)
		gex_RMA_PutNBI(team, me + 1, halo->after, &halo->cells[halo->own_cells],
		               sizeof(double), GEX_EVENT_DEFER, 0);
	gex_NBI_Wait(GEX_EC_PUT, 0);
	gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
}

void
halo_close(struct halo *halo)
{
	gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
	free(halo);
}

double
halo_sum(double part)
{
	double sum;

	gex_Event_Wait(gex_Coll_ReduceToAllNB(team, &sum, &part, GEX_DT_DBL, sizeof(sum), 1,
	                                      GEX_OP_ADD, NULL, NULL, 0));
	return sum;
}
