/*
 * Each rank gets the entries of p that its rows need and that others own.
 *
 * Once per matrix a rank tells the owners which of their entries it wants and
 * where in its p they belong (Medium).  Then, per product, an owner collects the
 * wanted entries and writes them there: with one put that posts to a semaphore
 * of the target when its data is there; or with one AM Long, whose handler counts
 * the piece as come; or with a put and, since a put tells the target nothing, a
 * Short after it.
 */
#include "cg.h"

#include <stdlib.h>
#include <string.h>

/* A piece of ours that another rank wants, and where it belongs in its p. */
struct halo_sink {
	struct halo_sink *next;
	gex_Rank_t rank;
	uint32_t place, count;
	uint32_t *index; /* in our part of p */
	double *value;   /* collected for sending */
};

static struct halo_sink *asked; /* since the last halo_open */
static volatile unsigned kept, came;
static pst_sem_set_t arrivals; /* one semaphore on each rank, posted by all */

/* ------------------------------------------------------------- handlers --- */

/* May come before we have called halo_open ourselves. */
static void
on_want(gex_Token_t token, void *buf, size_t len_bytes, gex_AM_Arg_t place)
{
	struct halo_sink *sink = malloc(sizeof *sink);
	gex_Token_Info_t info;

	gex_Token_Info(token, &info, GEX_TI_SRCRANK);
	if (sink != NULL) {
		sink->rank = info.gex_srcrank;
		sink->place = (uint32_t)place;
		sink->count = (uint32_t)(len_bytes / sizeof *sink->index);
		sink->index = malloc(len_bytes);
		sink->value = malloc(sink->count * sizeof *sink->value);
	}
	if (sink == NULL || sink->index == NULL || sink->value == NULL)
		comm_fail(1, "rank %u: no memory for the halo", (unsigned)comm_rank);
	memcpy(sink->index, buf, len_bytes);
	sink->next = asked;
	asked = sink;
	gex_AM_ReplyShort0(token, ON_HALO_KEPT, 0);
}

static void
on_kept(gex_Token_t token)
{
	(void)token;
	kept++;
}

static void
on_data(gex_Token_t token, void *buf, size_t len_bytes)
{
	(void)token;
	(void)buf;
	(void)len_bytes;
	came++;
}

static void
on_ready(gex_Token_t token)
{
	(void)token;
	came++;
}

void
halo_register(gex_EP_t ep)
{
	enum { ASK = GEX_FLAG_AM_REQUEST };
	gex_AM_Entry_t table[] = {
		{ ON_HALO_WANT, (gex_AM_Fn_t)on_want, GEX_FLAG_AM_MEDIUM | ASK, 1, NULL,
		  "halo_want" },
		{ ON_HALO_KEPT, (gex_AM_Fn_t)on_kept, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 0,
		  NULL, "halo_kept" },
		{ ON_HALO_DATA, (gex_AM_Fn_t)on_data, GEX_FLAG_AM_LONG | ASK, 0, NULL,
		  "halo_data" },
		{ ON_HALO_READY, (gex_AM_Fn_t)on_ready, GEX_FLAG_AM_SHORT | ASK, 0, NULL,
		  "halo_ready" },
	};

	gex_EP_RegisterHandlers(ep, table, sizeof table / sizeof *table);
}

void
halo_attach(void)
{
	if (pst_sem_set_create(comm_tm, 1, PST_SEM_INTEGER | PST_SEM_SCONSUMER, &arrivals, 0) !=
	    GASNET_OK)
		comm_end(1, "no semaphores");
}

void
halo_detach(void)
{
	pst_sem_set_destroy(arrivals, 0);
}

/* -------------------------------------------------------- who needs what --- */

static int
ascending(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static int
is_foreign(const struct rows *rows, uint32_t col)
{
	return col < rows->first || col - rows->first >= rows->count;
}

/* The foreign columns, ascending, each once; hence grouped by owner. */
static uint32_t *
list_foreign(const struct rows *rows, uint32_t *count_out)
{
	uint32_t *list = malloc(((size_t)rows->entries + 1) * sizeof *list);
	uint64_t i, all = 0;
	uint32_t count = 0;

	if (list == NULL)
		comm_fail(1, "rank %u: no memory for the halo", (unsigned)comm_rank);
	for (i = 0; i < rows->entries; i++)
		if (is_foreign(rows, rows->col[i]))
			list[all++] = rows->col[i];
	qsort(list, (size_t)all, sizeof *list, ascending);
	for (i = 0; i < all; i++)
		if (count == 0 || list[count - 1] != list[i])
			list[count++] = list[i];
	*count_out = count;
	return list;
}

/* From numbers of the whole matrix to indices into p. */
static void
renumber(struct rows *rows, const uint32_t *foreign, uint32_t count)
{
	uint64_t i;

	for (i = 0; i < rows->entries; i++) {
		uint32_t col = rows->col[i];
		const uint32_t *at;

		if (!is_foreign(rows, col)) {
			rows->col[i] = col - rows->first;
			continue;
		}
		at = bsearch(&col, foreign, count, sizeof col, ascending);
		rows->col[i] = rows->count + (uint32_t)(at - foreign);
	}
}

/* Entries that one message can ask for, and one message can bring. */
static uint32_t
most_per_piece(gex_Rank_t owner)
{
	size_t asked_for = gex_AM_MaxRequestMedium(comm_tm, owner, GEX_EVENT_NOW, 0, 1);
	size_t brought = gex_AM_MaxRequestLong(comm_tm, owner, GEX_EVENT_NOW, 0, 0);

	asked_for /= sizeof(uint32_t);
	brought /= sizeof(double);
	return (uint32_t)(asked_for < brought ? asked_for : brought);
}

/* Asks the owner of list[0] for as much as one message can; returns how many. */
static uint32_t
ask_owner(const struct rows *rows, uint32_t *list, uint32_t count, uint32_t place)
{
	gex_Rank_t owner = rows_owner(rows->all, list[0]);
	uint32_t first = rows_first(rows->all, owner), end = rows_first(rows->all, owner + 1);
	uint32_t n, most = most_per_piece(owner);

	for (n = 0; n < count && n < most && list[n] < end; n++)
		list[n] -= first;
	gex_AM_RequestMedium1(comm_tm, owner, ON_HALO_WANT, list, n * sizeof *list, GEX_EVENT_NOW,
	                      0, (gex_AM_Arg_t)place);
	return n;
}

void
halo_open(struct halo *halo_out, struct rows *rows, enum halo_way way)
{
	struct halo halo = { .p = comm_room(comm_rank), .own = rows->count, .way = way };
	uint32_t *list = list_foreign(rows, &halo.foreign), at;
	unsigned before = kept;

	renumber(rows, list, halo.foreign);
	for (at = 0; at < halo.foreign; halo.pieces++)
		at += ask_owner(rows, list + at, halo.foreign - at, halo.own + at);
	GASNET_BLOCKUNTIL(kept - before == halo.pieces);
	comm_barrier(); /* now all requests of all ranks have been kept */
	halo.sinks = asked;
	asked = NULL;
	free(list);
	*halo_out = halo;
}

void
halo_close(struct halo *halo)
{
	struct halo_sink *sink, *next;

	for (sink = halo->sinks; sink != NULL; sink = next) {
		next = sink->next;
		free(sink->index);
		free(sink->value);
		free(sink);
	}
}

/* -------------------------------------------------------------- exchange --- */

static void
send_piece(const struct halo *halo, struct halo_sink *sink)
{
	double *there = comm_room(sink->rank) + sink->place;
	size_t len_bytes = sink->count * sizeof *sink->value;
	uint32_t i;

	for (i = 0; i < sink->count; i++)
		sink->value[i] = halo->p[sink->index[i]];
	if (halo->way == HALO_SIGNAL) {
		pst_memput_signal(comm_tm, sink->rank, there, sink->value, len_bytes,
		                  pst_sem_set_ref(arrivals, sink->rank, 0), 1);
	} else if (halo->way == HALO_LONG) {
		gex_AM_RequestLong0(comm_tm, sink->rank, ON_HALO_DATA, sink->value, len_bytes,
		                    there, GEX_EVENT_NOW, 0);
	} else {
		gex_RMA_PutBlocking(comm_tm, sink->rank, there, sink->value, len_bytes, 0);
		gex_AM_RequestShort0(comm_tm, sink->rank, ON_HALO_READY, 0);
	}
}

void
halo_exchange(struct halo *halo)
{
	const double begin = now_us();
	static unsigned awaited;
	struct halo_sink *sink;

	for (sink = halo->sinks; sink != NULL; sink = sink->next)
		send_piece(halo, sink);
	if (halo->way != HALO_SIGNAL) {
		awaited += halo->pieces;
		GASNET_BLOCKUNTIL(came == awaited);
	} else if (halo->pieces > 0) {
		pst_sem_wait(pst_sem_set_mine(arrivals, 0), halo->pieces);
	}
	comm_spent_us += now_us() - begin;
}
