/*
 * Each rank gets its rows from rank 0, which has read the file.
 *
 * Messages may arrive in any order, so each says where its bytes belong.  First
 * a Short per rank tells how much will come; all make room and meet in a barrier;
 * then the arrays come in slices, one Medium each.
 */
#include "cg.h"

#include <stdlib.h>
#include <string.h>

enum part { PART_LEN, PART_COL, PART_VAL };

static volatile uint64_t entries_to_come;
static volatile unsigned counts_came;
static volatile uint64_t bytes_came;
static uint32_t rows_to_come;
static char *target[3]; /* by part, while rows_open runs */

static void
on_count(gex_Token_t token, gex_AM_Arg_t all, gex_AM_Arg_t high, gex_AM_Arg_t low)
{
	(void)token;
	rows_to_come = (uint32_t)all;
	entries_to_come = (uint64_t)(uint32_t)high << 32 | (uint32_t)low;
	counts_came++;
}

static void
on_slice(gex_Token_t token, void *buf, size_t len_bytes, gex_AM_Arg_t part, gex_AM_Arg_t high,
         gex_AM_Arg_t low)
{
	uint64_t offset = (uint64_t)(uint32_t)high << 32 | (uint32_t)low;

	(void)token;
	memcpy(target[part] + offset, buf, len_bytes);
	bytes_came += len_bytes;
}

uint32_t
rows_first(uint32_t all, gex_Rank_t rank)
{
	return (uint32_t)((uint64_t)all * rank / comm_ranks);
}

gex_Rank_t
rows_owner(uint32_t all, uint32_t row)
{
	gex_Rank_t rank = (gex_Rank_t)((uint64_t)row * comm_ranks / all);

	while (rows_first(all, rank + 1) <= row)
		rank++;
	return rank;
}

/* ------------------------------------------------------------- rank 0 --- */

static void
send_part(gex_Rank_t rank, enum part part, const void *data, uint64_t len_bytes)
{
	const char *from = data;
	uint64_t most = gex_AM_MaxRequestMedium(comm_tm, rank, GEX_EVENT_NOW, 0, 3);
	uint64_t at, piece;

	for (at = 0; at < len_bytes; at += piece) {
		piece = len_bytes - at < most ? len_bytes - at : most;
		gex_AM_RequestMedium3(comm_tm, rank, ON_ROWS_SLICE, from + at, (size_t)piece,
		                      GEX_EVENT_NOW, 0, (gex_AM_Arg_t)part,
		                      (gex_AM_Arg_t)(at >> 32), (gex_AM_Arg_t)at);
	}
}

static void
send_count(const struct mtx *mtx, gex_Rank_t rank)
{
	uint64_t entries = mtx->start[rows_first(mtx->rows, rank + 1)] -
	                   mtx->start[rows_first(mtx->rows, rank)];

	gex_AM_RequestShort3(comm_tm, rank, ON_ROWS_COUNT, 0, (gex_AM_Arg_t)mtx->rows,
	                     (gex_AM_Arg_t)(entries >> 32), (gex_AM_Arg_t)entries);
}

static void
send_rows(const struct mtx *mtx, gex_Rank_t rank)
{
	uint32_t first = rows_first(mtx->rows, rank), end = rows_first(mtx->rows, rank + 1), i;
	uint64_t from = mtx->start[first], entries = mtx->start[end] - from;
	uint32_t *len = malloc(((size_t)(end - first) + 1) * sizeof *len);

	if (len == NULL)
		comm_fail(1, "no memory for %u rows", (unsigned)(end - first));
	for (i = first; i < end; i++)
		len[i - first] = (uint32_t)(mtx->start[i + 1] - mtx->start[i]);
	send_part(rank, PART_LEN, len, (end - first) * (uint64_t)sizeof *len);
	send_part(rank, PART_COL, mtx->col + from, entries * sizeof *mtx->col);
	send_part(rank, PART_VAL, mtx->val + from, entries * sizeof *mtx->val);
	free(len);
}

/* ---------------------------------------------------------- every rank --- */

static void *
room_for(uint64_t count, size_t bytes)
{
	void *room = calloc((size_t)count + 1, bytes); /* never of nothing */

	if (room == NULL)
		comm_fail(1, "rank %u: no memory for %llu numbers", (unsigned)comm_rank,
		          (unsigned long long)count);
	return room;
}

static uint64_t
make_room(struct rows *rows)
{
	rows->all = rows_to_come;
	rows->entries = entries_to_come;
	rows->first = rows_first(rows->all, comm_rank);
	rows->count = rows_first(rows->all, comm_rank + 1) - rows->first;
	rows->len = room_for(rows->count, sizeof *rows->len);
	rows->col = room_for(rows->entries, sizeof *rows->col);
	rows->val = room_for(rows->entries, sizeof *rows->val);
	target[PART_LEN] = (char *)rows->len;
	target[PART_COL] = (char *)rows->col;
	target[PART_VAL] = (char *)rows->val;
	return rows->count * (uint64_t)sizeof *rows->len +
	       rows->entries * (sizeof *rows->col + sizeof *rows->val);
}

void
rows_open(struct rows *rows_out, const struct mtx *mtx)
{
	static unsigned opened;
	uint64_t bytes;
	gex_Rank_t rank;

	for (rank = 0; comm_rank == 0 && rank < comm_ranks; rank++)
		send_count(mtx, rank);
	opened++;
	GASNET_BLOCKUNTIL(counts_came == opened);
	bytes = make_room(rows_out);
	bytes_came = 0;
	comm_barrier();
	for (rank = 0; comm_rank == 0 && rank < comm_ranks; rank++)
		send_rows(mtx, rank);
	GASNET_BLOCKUNTIL(bytes_came == bytes);
}

void
rows_close(struct rows *rows)
{
	free(rows->len);
	free(rows->col);
	free(rows->val);
}

void
rows_register(gex_EP_t ep)
{
	gex_AM_Entry_t table[] = {
		{ ON_ROWS_COUNT, (gex_AM_Fn_t)on_count, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 3,
		  NULL, "rows_count" },
		{ ON_ROWS_SLICE, (gex_AM_Fn_t)on_slice, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 3,
		  NULL, "rows_slice" },
	};

	gex_EP_RegisterHandlers(ep, table, sizeof table / sizeof *table);
}
