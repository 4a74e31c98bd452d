/* The collectives of penstock.h that move data: what goes where, with equal blocks and with lists,
 * in place and apart, in all nine ways to synchronise, over the job and over teams. */
#include <penstock.h>

#include "tests/lib/pt.h"

enum { GAP = 5, MOST = 40000 };

static const gex_Flags_t in_modes[] = { PST_IN_NOSYNC, PST_IN_MYSYNC, PST_IN_ALLSYNC };
static const gex_Flags_t out_modes[] = { PST_OUT_NOSYNC, PST_OUT_MYSYNC, PST_OUT_ALLSYNC };

/* One call: over which team, of how many bytes, and how. */
struct trial {
	gex_TM_t tm;
	gex_Rank_t rank, size, root;
	size_t nbytes;
	gex_Flags_t flags;
	int nb, in_place;
};

static PT_OWN unsigned char *src, *dst;
static PT_OWN size_t *counts, *displs, *other_counts, *other_displs;

/* Pattern of the block that goes from one rank to another. */
static uint64_t
key_of(gex_Rank_t from, gex_Rank_t to)
{
	return 1 + from * 300u + to;
}

static void
blocks_fill(unsigned char *at, const struct trial *trial, gex_Rank_t blocks)
{
	for (gex_Rank_t to = 0; to < blocks; to++)
		pt_fill(at + to * trial->nbytes, trial->nbytes, key_of(trial->rank, to));
}

/* Waits for the event of an _nb call, or has waited already. */
#define CALL(trial, name, ...)                                                             \
	do {                                                                               \
		if ((trial)->nb)                                                           \
			gex_Event_Wait(                                                    \
				pst_##name##_nb((trial)->tm, __VA_ARGS__, (trial)->flags)); \
		else                                                                       \
			pst_##name((trial)->tm, __VA_ARGS__, (trial)->flags);              \
	} while (0)

/* -- equal blocks ------------------------------------------------------------------------------ */

static void
try_bcast(const struct trial *trial)
{
	const int is_root = trial->rank == trial->root;
	unsigned char *to = is_root && trial->in_place ? src : dst;

	blocks_fill(src, trial, 1);
	CALL(trial, bcast, trial->root, to, is_root ? src : NULL, trial->nbytes);
	PT_MEM(to, trial->nbytes, key_of(trial->root, 0));
	PT_MEM(src, trial->nbytes, key_of(trial->rank, 0));
}

static void
try_scatter(const struct trial *trial)
{
	const int is_root = trial->rank == trial->root;
	unsigned char *own = src + trial->rank * trial->nbytes;
	unsigned char *to = is_root && trial->in_place ? own : dst;

	blocks_fill(src, trial, trial->size);
	CALL(trial, scatter, trial->root, to, is_root ? src : NULL, trial->nbytes);
	PT_MEM(to, trial->nbytes, key_of(trial->root, trial->rank));
}

static void
try_gather(const struct trial *trial)
{
	const int is_root = trial->rank == trial->root;
	unsigned char *own = dst + trial->rank * trial->nbytes;
	unsigned char *from = is_root && trial->in_place ? own : src;

	pt_fill(from, trial->nbytes, key_of(trial->rank, 0));
	CALL(trial, gather, trial->root, is_root ? dst : NULL, from, trial->nbytes);
	for (gex_Rank_t rank = 0; is_root && rank < trial->size; rank++)
		PT_MEM(dst + rank * trial->nbytes, trial->nbytes, key_of(rank, 0));
}

static void
try_gather_all(const struct trial *trial)
{
	unsigned char *from = trial->in_place ? dst + trial->rank * trial->nbytes : src;

	pt_fill(from, trial->nbytes, key_of(trial->rank, 0));
	CALL(trial, gather_all, dst, from, trial->nbytes);
	for (gex_Rank_t rank = 0; rank < trial->size; rank++)
		PT_MEM(dst + rank * trial->nbytes, trial->nbytes, key_of(rank, 0));
}

static void
try_exchange(const struct trial *trial)
{
	unsigned char *from = trial->in_place ? dst : src;

	blocks_fill(from, trial, trial->size);
	CALL(trial, exchange, dst, from, trial->nbytes);
	for (gex_Rank_t rank = 0; rank < trial->size; rank++)
		PT_MEM(dst + rank * trial->nbytes, trial->nbytes, key_of(rank, trial->rank));
}

/* Shifted by the root, or turned around as well. */
static gex_Rank_t
target_of(const struct trial *trial, gex_Rank_t rank)
{
	return ((trial->in_place ? trial->size - 1 - rank : rank) + trial->root) % trial->size;
}

static void
try_permute(const struct trial *trial)
{
	gex_Rank_t source = 0;

	while (target_of(trial, source) != trial->rank)
		source++;
	blocks_fill(src, trial, 1);
	CALL(trial, permute, target_of(trial, trial->rank), dst, src, trial->nbytes);
	PT_MEM(dst, trial->nbytes, key_of(source, 0));
}

/* -- lists ------------------------------------------------------------------------------------- */

/* The length of a block: some of none, and others around nbytes. */
static size_t
uneven(const struct trial *trial, gex_Rank_t key)
{
	return key % 3 == 1 ? 0 : trial->nbytes + key % 3;
}

/* Lists of blocks with gaps between them, the last rank's first.  With blocks to `to', or from. */
static void
lists_make(const struct trial *trial, gex_Rank_t factor, gex_Rank_t offset, size_t *bytes,
           size_t *at)
{
	size_t end = 0;

	for (gex_Rank_t rank = trial->size; rank-- > 0; ) {
		bytes[rank] = uneven(trial, rank * factor + offset);
		at[rank] = end;
		end += bytes[rank] + GAP;
	}
}

/* Without displs blocks follow each other. */
static const size_t *
displs_of(const struct trial *trial, const size_t *bytes, size_t *at)
{
	size_t end = 0;

	if (trial->nb)
		return at;
	for (gex_Rank_t rank = 0; rank < trial->size; rank++) {
		at[rank] = end;
		end += bytes[rank];
	}
	return NULL;
}

static void
try_scatterv(const struct trial *trial)
{
	const int is_root = trial->rank == trial->root;
	const size_t own = uneven(trial, trial->rank);
	const size_t *displs_or_null;
	unsigned char *to = dst;

	lists_make(trial, 1, 0, counts, displs);
	displs_or_null = displs_of(trial, counts, displs);
	for (gex_Rank_t rank = 0; rank < trial->size; rank++)
		pt_fill(src + displs[rank], counts[rank], key_of(trial->rank, rank));
	if (is_root && trial->in_place)
		to = src + displs[trial->rank];
	CALL(trial, scatterv, trial->root, to, own, is_root ? src : NULL,
	     is_root ? counts : NULL, displs_or_null);
	PT_MEM(to, own, key_of(trial->root, trial->rank));
}

static void
try_gatherv(const struct trial *trial)
{
	const int is_root = trial->rank == trial->root;
	const size_t own = uneven(trial, trial->rank);
	const size_t *displs_or_null;
	unsigned char *from = src;

	lists_make(trial, 1, 0, counts, displs);
	displs_or_null = displs_of(trial, counts, displs);
	if (is_root && trial->in_place)
		from = dst + displs[trial->rank];
	pt_fill(from, own, key_of(trial->rank, 0));
	CALL(trial, gatherv, trial->root, is_root ? dst : NULL, is_root ? counts : NULL,
	     displs_or_null, from, own);
	for (gex_Rank_t rank = 0; is_root && rank < trial->size; rank++)
		PT_MEM(dst + displs[rank], counts[rank], key_of(rank, 0));
}

static void
try_gather_allv(const struct trial *trial)
{
	const size_t own = uneven(trial, trial->rank);
	const size_t *displs_or_null;
	unsigned char *from;

	lists_make(trial, 1, 0, counts, displs);
	displs_or_null = displs_of(trial, counts, displs);
	from = trial->in_place ? dst + displs[trial->rank] : src;
	pt_fill(from, own, key_of(trial->rank, 0));
	CALL(trial, gather_allv, dst, counts, displs_or_null, from, own);
	for (gex_Rank_t rank = 0; rank < trial->size; rank++)
		PT_MEM(dst + displs[rank], counts[rank], key_of(rank, 0));
}

/* From r to s go uneven(3 r + s) bytes. */
static void
try_exchangev(const struct trial *trial)
{
	const size_t *displs_or_null, *other_or_null;

	lists_make(trial, 1, 3 * trial->rank, counts, displs);
	displs_or_null = displs_of(trial, counts, displs);
	lists_make(trial, 3, trial->rank, other_counts, other_displs);
	other_or_null = displs_of(trial, other_counts, other_displs);
	for (gex_Rank_t rank = 0; rank < trial->size; rank++)
		pt_fill(src + displs[rank], counts[rank], key_of(trial->rank, rank));
	CALL(trial, exchangev, dst, other_counts, other_or_null, src, counts, displs_or_null);
	for (gex_Rank_t rank = 0; rank < trial->size; rank++)
		PT_MEM(dst + other_displs[rank], other_counts[rank], key_of(rank, trial->rank));
}

/* -- all of them ------------------------------------------------------------------------------- */

static void (*const tries[])(const struct trial *trial) = {
	try_bcast, try_scatter, try_gather, try_gather_all, try_exchange, try_permute,
	try_scatterv, try_gatherv, try_gather_allv, try_exchangev,
};

/* The buffers are used again at once, so after the modes that do not allow that comes a barrier. */
static void
all_modes(struct trial trial)
{
	unsigned turn = 0;

	for (size_t i = 0; i < PT_COUNT(tries); i++)
		for (size_t mode = 0; mode < 9; mode++, turn++) {
			trial.flags = in_modes[mode / 3] | out_modes[mode % 3];
			trial.flags |= turn % 5 == 0 ? PST_REPRODUCIBLE : 0;
			trial.flags |= turn % 3 == 0 ? PST_LOCAL : 0;
			trial.root = turn % trial.size;
			trial.nb = (int)(turn % 2);
			trial.in_place = (int)(turn / 2 % 2);
			tries[i](&trial);
			if (!(trial.flags & PST_OUT_ALLSYNC))
				pst_barrier(trial.tm, 0);
		}
}

static void
over_team(gex_TM_t tm)
{
	static const size_t lengths[] = { 1, 8, 47, 2000, 4097, MOST };
	struct trial trial = { .tm = tm, .rank = gex_TM_QueryRank(tm),
		               .size = gex_TM_QuerySize(tm) };

	for (size_t i = 0; i < PT_COUNT(lengths); i++) {
		trial.nbytes = lengths[i];
		all_modes(trial);
	}
	trial.nbytes = 0;
	all_modes(trial);
}

/* Many at once, synced in the opposite order: nobody waits for another's sync. */
static void
many_in_flight(void)
{
	enum { OPEN = 40 };
	gex_Event_t events[OPEN];
	uint64_t values[OPEN] = { 0 }, own[OPEN];

	for (unsigned i = 0; i < OPEN; i++) {
		own[i] = i * 100 + pt.rank;
		events[i] = i % 4 == 3 ? pst_barrier_nb(pt.tm, 0)
		                       : pst_bcast_nb(pt.tm, i % pt.size, &values[i], &own[i],
		                                      sizeof own[i], PST_IN_MYSYNC);
	}
	for (unsigned i = OPEN; i-- > 0; )
		gex_Event_Wait(events[i]);
	for (unsigned i = 0; i < OPEN; i++)
		PT_EQ(values[i], i % 4 == 3 ? 0 : i * 100 + i % pt.size);
}

int
main(int argc, char **argv)
{
	unsigned char *memory;
	size_t room_bytes;
	gex_TM_t part;

	pt_init(&argc, &argv, 0);
	room_bytes = pt.size * (MOST + 2 + GAP);
	pt_attach(NULL, 0, 2 * room_bytes);
	src = memory = malloc(2 * room_bytes);
	dst = src + room_bytes;
	counts = calloc(4 * (size_t)pt.size, sizeof *counts);
	PT_EQ(memory && counts, 1);
	displs = counts + pt.size;
	other_counts = displs + pt.size;
	other_displs = other_counts + pt.size;

	pt_phase("the job");
	over_team(pt.tm);
	pt_phase("teams, ranks turned around, memory in segments");
	src = (unsigned char *)pt.base;
	dst = src + room_bytes;
	gex_TM_Split(&part, pt.tm, (int)(pt.rank % 2), (int)(pt.size - pt.rank), NULL, 0,
	             GEX_FLAG_TM_NO_SCRATCH);
	over_team(part);
	gex_TM_Destroy(part, NULL, 0);
	pt_phase("many at once");
	many_in_flight();
	free(memory);
	free(counts);
	pt_finish();
}
