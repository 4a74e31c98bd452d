/* The collectives of GASNet 1: what goes where, in all modes of synchronisation, and their
 * handles. */
#include <gasnet_coll.h>

#include "tests/lib/pt.h"

enum { LOCAL = GASNET_COLL_LOCAL, OPEN = 12 };

static const int in_modes[] = { GASNET_COLL_IN_NOSYNC, GASNET_COLL_IN_MYSYNC,
	                        GASNET_COLL_IN_ALLSYNC };
static const int out_modes[] = { GASNET_COLL_OUT_NOSYNC, GASNET_COLL_OUT_MYSYNC,
	                         GASNET_COLL_OUT_ALLSYNC };

/* Pattern of the block that goes from one rank to another. */
static uint64_t
key_of(gex_Rank_t from, gex_Rank_t to)
{
	return 1 + from * 300u + to;
}

static unsigned char *src, *dst;

static void
fill(size_t nbytes, gex_Rank_t blocks)
{
	for (gex_Rank_t to = 0; to < blocks; to++)
		pt_fill(src + to * nbytes, nbytes, key_of(pt.rank, to));
	pt_fill(dst, pt.size * nbytes, 0);
}

/* Each by the form with a handle or the other. */
static void
broadcast(size_t nbytes, gex_Rank_t root, int flags, int nb)
{
	fill(nbytes, 1);
	if (nb)
		gasnet_coll_wait_sync(
			gasnet_coll_broadcast_nb(GASNET_TEAM_ALL, dst, root, src, nbytes, flags));
	else
		gasnet_coll_broadcast(GASNET_TEAM_ALL, dst, root, src, nbytes, flags);
	PT_MEM(dst, nbytes, key_of(root, 0));
}

static void
scatter(size_t nbytes, gex_Rank_t root, int flags, int nb)
{
	fill(nbytes, pt.size);
	if (nb)
		gasnet_coll_wait_sync(
			gasnet_coll_scatter_nb(GASNET_TEAM_ALL, dst, root, src, nbytes, flags));
	else
		gasnet_coll_scatter(GASNET_TEAM_ALL, dst, root, src, nbytes, flags);
	PT_MEM(dst, nbytes, key_of(root, pt.rank));
}

static void
gather(size_t nbytes, gex_Rank_t root, int flags, int nb)
{
	fill(nbytes, 1);
	if (nb)
		gasnet_coll_wait_sync(
			gasnet_coll_gather_nb(GASNET_TEAM_ALL, root, dst, src, nbytes, flags));
	else
		gasnet_coll_gather(GASNET_TEAM_ALL, root, dst, src, nbytes, flags);
	for (gex_Rank_t from = 0; from < pt.size; from++)
		PT_MEM(dst + from * nbytes, pt.rank == root ? nbytes : 0, key_of(from, 0));
}

static void
gather_all(size_t nbytes, gex_Rank_t root, int flags, int nb)
{
	(void)root;
	fill(nbytes, 1);
	if (nb)
		gasnet_coll_wait_sync(
			gasnet_coll_gather_all_nb(GASNET_TEAM_ALL, dst, src, nbytes, flags));
	else
		gasnet_coll_gather_all(GASNET_TEAM_ALL, dst, src, nbytes, flags);
	for (gex_Rank_t from = 0; from < pt.size; from++)
		PT_MEM(dst + from * nbytes, nbytes, key_of(from, 0));
}

static void
exchange(size_t nbytes, gex_Rank_t root, int flags, int nb)
{
	(void)root;
	fill(nbytes, pt.size);
	if (nb)
		gasnet_coll_wait_sync(
			gasnet_coll_exchange_nb(GASNET_TEAM_ALL, dst, src, nbytes, flags));
	else
		gasnet_coll_exchange(GASNET_TEAM_ALL, dst, src, nbytes, flags);
	for (gex_Rank_t from = 0; from < pt.size; from++)
		PT_MEM(dst + from * nbytes, nbytes, key_of(from, pt.rank));
}

static void (*const operations[])(size_t nbytes, gex_Rank_t root, int flags, int nb) = {
	broadcast, scatter, gather, gather_all, exchange,
};

/* The buffers are used again at once, so after the modes that do not allow that comes a barrier. */
static void
all_modes(size_t nbytes)
{
	unsigned turn = 0;

	for (size_t op = 0; op < PT_COUNT(operations); op++) {
		for (size_t mode = 0; mode < 9; mode++, turn++) {
			const int flags = in_modes[mode / 3] | out_modes[mode % 3] | LOCAL;

			operations[op](nbytes, (gex_Rank_t)(turn % pt.size), flags,
			               (int)(turn % 2));
			if (!(flags & GASNET_COLL_OUT_ALLSYNC))
				gasnet_coll_barrier(GASNET_TEAM_ALL, 0,
				                    GASNET_BARRIERFLAG_ANONYMOUS);
		}
	}
}

static void
hints(void)
{
	exchange(24, 0, GASNET_COLL_IN_ALLSYNC | GASNET_COLL_OUT_ALLSYNC | LOCAL |
	                GASNET_COLL_DST_IN_SEGMENT | GASNET_COLL_SRC_IN_SEGMENT |
	                GASNET_COLL_NO_IMAGES | GASNET_COLL_DISABLE_AUTOTUNE |
	                GASNET_COLL_FIXED_THREADS_PER_NODE, 0);
}

/* -- what the modes promise -------------------------------------------------------------------- */

/* IN_ALLSYNC: a member that is late may still write to the others' destinations by its own
 * means. */
static void
nothing_before_all(void)
{
	char *mine = pt.base, *word = pt.peers[(pt.rank + 1) % pt.size].owner;
	uint64_t value = 99;

	memset(mine, 0, 8);
	pt_barrier();
	if (pt.rank == pt.size - 1)
		pt_sleep_ms(2);
	PT_OK(gex_RMA_PutBlockingVal(pt.tm, (pt.rank + 1) % pt.size, word, 7, 8, 0));
	gasnet_coll_broadcast(GASNET_TEAM_ALL, mine, 0, &value, 8,
	                      GASNET_COLL_IN_ALLSYNC | GASNET_COLL_OUT_ALLSYNC | LOCAL);
	memcpy(&value, mine, 8);
	PT_EQ(value, 99);
}

/* OUT_ALLSYNC: all areas everywhere hold what they should, once any is done. */
static void
all_moved(void)
{
	uint64_t value = 55;

	memset(pt.base, 0, 8);
	gasnet_coll_broadcast(GASNET_TEAM_ALL, pt.base, 0, &value, 8,
	                      GASNET_COLL_IN_ALLSYNC | GASNET_COLL_OUT_ALLSYNC | LOCAL);
	for (gex_Rank_t rank = 0; rank < pt.size; rank++)
		PT_EQ(gex_RMA_GetBlockingVal(pt.tm, rank, pt.peers[rank].owner, 8, 0), 55);
	pt_barrier();
}

/* -- handles ----------------------------------------------------------------------------------- */

static int
live(const gasnet_coll_handle_t *handle, int count)
{
	int pending = 0;

	for (int i = 0; i < count; i++)
		pending += handle[i] != GASNET_COLL_INVALID_HANDLE;
	return pending;
}

static void
handles(void)
{
	int pending;
	gasnet_coll_handle_t handle[OPEN], none = GASNET_COLL_INVALID_HANDLE;
	uint32_t in[OPEN], out[OPEN];

	for (uint32_t i = 0; i < OPEN; i++) {
		in[i] = 100 * pt.rank + i;
		out[i] = 0;
		handle[i] = gasnet_coll_broadcast_nb(
			GASNET_TEAM_ALL, &out[i], i % pt.size, &in[i], 4,
			GASNET_COLL_IN_MYSYNC | GASNET_COLL_OUT_MYSYNC | LOCAL);
	}
	pending = live(handle, 4);
	gasnet_coll_wait_sync_some(handle, 4);
	PT_CHECK(pending == 0 || live(handle, 4) < pending);
	while (gasnet_coll_try_sync_some(handle, 4) != GASNET_OK)
		gasnet_AMPoll();
	gasnet_coll_wait_sync_all(handle, 4);
	for (int i = 0; i < 4; i++)
		PT_CHECK(handle[i] == GASNET_COLL_INVALID_HANDLE);
	while (gasnet_coll_try_sync(handle[4]) != GASNET_OK)
		gasnet_AMPoll();
	gasnet_coll_wait_sync(handle[5]);
	while (gasnet_coll_try_sync_all(handle + 6, OPEN - 6) != GASNET_OK)
		gasnet_AMPoll();
	for (uint32_t i = 0; i < OPEN; i++)
		PT_EQ(out[i], 100 * (i % pt.size) + i);
	PT_OK(gasnet_coll_try_sync(none));
	gasnet_coll_wait_sync(none);
}

/* What waits for a member that has not called is not done, and says so. */
static void
not_ready(void)
{
	const int flags = GASNET_COLL_IN_ALLSYNC | GASNET_COLL_OUT_ALLSYNC | LOCAL;
	gasnet_coll_handle_t handle[3];
	uint32_t in[3] = { pt.rank, pt.rank + 1, pt.rank + 2 }, out[3] = { 0 };

	__atomic_store_n((uint64_t *)(void *)pt.base, 0, __ATOMIC_RELAXED);
	pt_barrier();
	while (pt.rank && !__atomic_load_n((uint64_t *)(void *)pt.base, __ATOMIC_ACQUIRE))
		gasnet_AMPoll();
	for (int i = 0; i < 3; i++)
		handle[i] = gasnet_coll_broadcast_nb(GASNET_TEAM_ALL, &out[i], pt.size - 1, &in[i],
		                                     4, flags);
	for (int i = 0; pt.size > 1 && !pt.rank && i < 50; i++) {
		PT_EQ(gasnet_coll_try_sync(handle[0]), GASNET_ERR_NOT_READY);
		PT_EQ(gasnet_coll_try_sync_some(handle + 1, 2), GASNET_ERR_NOT_READY);
		PT_EQ(gasnet_coll_try_sync_all(handle + 1, 2), GASNET_ERR_NOT_READY);
		gasnet_AMPoll();
	}
	for (gex_Rank_t rank = 1; !pt.rank && rank < pt.size; rank++)
		PT_OK(gex_RMA_PutBlockingVal(pt.tm, rank, pt.peers[rank].owner, 1, 8, 0));
	gasnet_coll_wait_sync_all(handle, 3);
	for (uint32_t i = 0; i < 3; i++)
		PT_EQ(out[i], pt.size - 1 + i);
}

/* -- barriers, and the calls of the tuner ------------------------------------------------------ */

static void
barriers(void)
{
	int id = 0;

	gasnet_coll_barrier_notify(GASNET_TEAM_ALL, 12, 0);
	PT_OK(gasnet_coll_barrier_wait(GASNET_TEAM_ALL, 12, 0));
	PT_EQ(gasnet_coll_barrier_result(GASNET_TEAM_ALL, &id), 0);
	PT_EQ(id, 12);
	gasnet_coll_barrier_notify(GASNET_TEAM_ALL, (int)pt.rank, 0);
	while ((id = gasnet_coll_barrier_try(GASNET_TEAM_ALL, (int)pt.rank, 0)) ==
	       GASNET_ERR_NOT_READY)
		;
	PT_EQ(id, pt.size == 1 ? GASNET_OK : GASNET_ERR_BARRIER_MISMATCH);
	PT_OK(gasnet_coll_barrier(GASNET_TEAM_ALL, 0, GASNET_BARRIERFLAG_UNNAMED));
	PT_CHECK(gasnet_coll_barrier_result(GASNET_TEAM_ALL, &id) != 0);
}

static void
tuner(void)
{
	char name[] = "unused";

	gasnet_coll_loadTuningState(name, GASNET_TEAM_ALL);
	gasnet_coll_dumpTuningState(name, GASNET_TEAM_ALL);
	gasnet_coll_dumpProfile(name, GASNET_TEAM_ALL);
	gasnet_coll_set_tree_kind(GASNET_TEAM_ALL, 0, 2, GASNET_COLL_BROADCAST_OP);
	gasnet_coll_set_dissem_limit(GASNET_TEAM_ALL, 1024, GASNET_COLL_EXCHANGE_OP);
	PT_EQ(gasnet_coll_get_num_tree_classes(GASNET_TEAM_ALL, GASNET_COLL_GATHER_OP), 1);
}

int
main(int argc, char **argv)
{
	const size_t most = pt_scale(100000, 300000);

	pt_start(&argc, &argv, NULL, 0, 4096);
	src = (unsigned char *)malloc(pt.size * most);
	dst = (unsigned char *)malloc(pt.size * most);
	PT_CHECK(src && dst);
	all_modes(1);
	all_modes(40);
	hints();
	exchange(most, 0, GASNET_COLL_IN_MYSYNC | GASNET_COLL_OUT_MYSYNC | LOCAL, 1);
	gather_all(most, 0, GASNET_COLL_IN_MYSYNC | GASNET_COLL_OUT_MYSYNC | LOCAL, 0);
	scatter(most, pt.size - 1, GASNET_COLL_IN_NOSYNC | GASNET_COLL_OUT_ALLSYNC | LOCAL, 0);
	for (unsigned round = 0; round < pt_scale(3, 10); round++) {
		nothing_before_all();
		all_moved();
		handles();
		not_ready();
		barriers();
	}
	tuner();
	pt_finish();
}
