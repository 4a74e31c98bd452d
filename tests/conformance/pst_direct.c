/*
 * Large payloads, which members of a host read where they are: on the heap and in segments, in
 * place and apart, used again at once, and late to be read.
 *
 *     refused     with members whom the kernel does not let read
 */
#include <penstock.h>

#include <gasnet_tools.h>

#include "tests/lib/pt.h"
#include "tests/lib/pt_step.h"

#include <string.h>

enum { REQ_TELL = 128 };
enum { MOST = 20000 };          /* elements of a block, of 16 bytes each */

/* The number of the call.  Each call moves other values, so a block that an earlier call left is
 * found to be wrong. */
static PT_OWN size_t turn;

static struct pt_step
step_of(gex_Rank_t from, gex_Rank_t to, size_t i)
{
	const struct pt_step step = {
		2 * (from * 1000 + to * 50 + i + turn) + 3, from * 77 + to + (i + turn) * 5,
	};

	return step;
}

/* One call: of how many elements, from and to where, and who is the root. */
struct trial {
	size_t count;
	gex_Rank_t root;
	struct pt_step *src, *dst;
	int in_place;
	gex_Flags_t flags;
};

#define STEPS(trial) GEX_DT_USER, sizeof(struct pt_step), (trial)->count, GEX_OP_USER_NC,     \
	             pt_steps_combine, NULL
#define BYTES(trial) ((trial)->count * sizeof(struct pt_step))

/* Blocks for `tos' members, of which the second function checks one. */
static void
blocks_fill(struct pt_step *at, size_t count, gex_Rank_t tos)
{
	for (gex_Rank_t to = 0; to < tos; to++)
		for (size_t i = 0; i < count; i++)
			at[to * count + i] = step_of(pt.rank, to, i);
}

static void
block_check(const struct pt_step *at, size_t count, gex_Rank_t from, gex_Rank_t to)
{
	for (size_t i = 0; i < count; i++) {
		const struct pt_step want = step_of(from, to, i);

		PT_EQ(at[i].a, want.a);
		PT_EQ(at[i].b, want.b);
	}
}

/* The block's operands of ranks first to last are combined there. */
static void
sum_check(const struct pt_step *at, size_t count, gex_Rank_t first, gex_Rank_t last, gex_Rank_t to)
{
	for (size_t i = 0; i < count; i++) {
		struct pt_step want = step_of(last, to, i);

		for (gex_Rank_t rank = last; rank-- > first; )
			want = pt_step_join(step_of(rank, to, i), want);
		PT_EQ(at[i].a, want.a);
		PT_EQ(at[i].b, want.b);
	}
}

/* What was given is the caller's again. */
static void
spoil(struct pt_step *at, size_t count)
{
	memset(at, 0x5a, count * sizeof *at);
}

/* -- the operations ---------------------------------------------------------------------------- */

static void
try_bcast(const struct trial *trial)
{
	const int is_root = pt.rank == trial->root;
	struct pt_step *to = is_root && trial->in_place ? trial->src : trial->dst;

	blocks_fill(trial->src, trial->count, 1);
	pst_bcast(pt.tm, trial->root, to, trial->src, BYTES(trial), trial->flags);
	if (to != trial->src)
		spoil(trial->src, trial->count);
	block_check(to, trial->count, trial->root, 0);
}

static void
try_scatter(const struct trial *trial)
{
	const int in_place = pt.rank == trial->root && trial->in_place;
	struct pt_step *to = in_place ? trial->src + pt.rank * trial->count : trial->dst;

	blocks_fill(trial->src, trial->count, pt.size);
	pst_scatter(pt.tm, trial->root, to, trial->src, BYTES(trial), trial->flags);
	if (!in_place)
		spoil(trial->src, pt.size * trial->count);
	block_check(to, trial->count, trial->root, pt.rank);
}

static void
try_gather(const struct trial *trial)
{
	blocks_fill(trial->src, trial->count, 1);
	pst_gather(pt.tm, trial->root, trial->dst, trial->src, BYTES(trial), trial->flags);
	spoil(trial->src, trial->count);
	for (gex_Rank_t from = 0; pt.rank == trial->root && from < pt.size; from++)
		block_check(trial->dst + from * trial->count, trial->count, from, 0);
}

static void
try_gather_all(const struct trial *trial)
{
	struct pt_step *own = trial->dst + pt.rank * trial->count;
	struct pt_step *from = trial->in_place ? own : trial->src;

	blocks_fill(from, trial->count, 1);
	pst_gather_all(pt.tm, trial->dst, from, BYTES(trial), 0);
	if (from != own)
		spoil(from, trial->count);
	for (gex_Rank_t rank = 0; rank < pt.size; rank++)
		block_check(trial->dst + rank * trial->count, trial->count, rank, 0);
}

static void
try_exchange(const struct trial *trial)
{
	struct pt_step *from = trial->in_place ? trial->dst : trial->src;

	blocks_fill(from, trial->count, pt.size);
	pst_exchange(pt.tm, trial->dst, from, BYTES(trial), 0);
	if (from != trial->dst)
		spoil(from, pt.size * trial->count);
	for (gex_Rank_t rank = 0; rank < pt.size; rank++)
		block_check(trial->dst + rank * trial->count, trial->count, rank, pt.rank);
}

/* To the rank as far above as the root is above 0. */
static void
try_permute(const struct trial *trial)
{
	const gex_Rank_t target = (pt.rank + trial->root) % pt.size;

	blocks_fill(trial->src, trial->count, 1);
	pst_permute(pt.tm, target, trial->dst, trial->src, BYTES(trial), 0);
	spoil(trial->src, trial->count);
	block_check(trial->dst, trial->count, (pt.rank + pt.size - trial->root) % pt.size, 0);
}

static void
try_reduce(const struct trial *trial)
{
	struct pt_step *from = pt.rank == trial->root && trial->in_place ? trial->dst : trial->src;

	blocks_fill(from, trial->count, 1);
	pst_reduce(pt.tm, trial->root, trial->dst, from, STEPS(trial), 0);
	if (from != trial->dst)
		spoil(from, trial->count);
	if (pt.rank == trial->root)
		sum_check(trial->dst, trial->count, 0, pt.size - 1, 0);
}

static void
try_allreduce(const struct trial *trial)
{
	struct pt_step *from = trial->in_place ? trial->dst : trial->src;

	blocks_fill(from, trial->count, 1);
	pst_allreduce(pt.tm, trial->dst, from, STEPS(trial), 0);
	if (from != trial->dst)
		spoil(from, trial->count);
	sum_check(trial->dst, trial->count, 0, pt.size - 1, 0);
}

static void
try_reduce_scatter(const struct trial *trial)
{
	blocks_fill(trial->src, trial->count, pt.size);
	pst_reduce_scatter(pt.tm, trial->dst, trial->src, STEPS(trial), 0);
	spoil(trial->src, pt.size * trial->count);
	sum_check(trial->dst, trial->count, 0, pt.size - 1, pt.rank);
}

static void
try_scan(const struct trial *trial)
{
	struct pt_step *from = trial->in_place ? trial->dst : trial->src;

	blocks_fill(from, trial->count, 1);
	pst_scan(pt.tm, trial->dst, from, STEPS(trial), 0);
	if (from != trial->dst)
		spoil(from, trial->count);
	sum_check(trial->dst, trial->count, 0, pt.rank, 0);
}

/* Several at once, of which those behind wait for the first to be read. */
static void
try_many(const struct trial *trial)
{
	struct pt_step *each[3];
	gex_Event_t events[4];

	for (size_t i = 0; i < 3; i++)
		each[i] = trial->dst + i * trial->count;
	blocks_fill(trial->src, trial->count, 1);
	for (gex_Rank_t i = 0; i < 3; i++)
		events[i] = pst_bcast_nb(pt.tm, (trial->root + i) % pt.size, each[i], trial->src,
		                         BYTES(trial), 0);
	events[3] = pst_barrier_nb(pt.tm, 0);
	for (int i = 4; i-- > 0; )
		gex_Event_Wait(events[i]);
	spoil(trial->src, trial->count);
	for (gex_Rank_t i = 0; i < 3; i++)
		block_check(each[i], trial->count, (trial->root + i) % pt.size, 0);
}

static void (*const tries[])(const struct trial *) = {
	try_bcast, try_scatter, try_gather, try_gather_all, try_exchange, try_permute, try_reduce,
	try_allreduce, try_reduce_scatter, try_scan, try_many,
};

/* ---------------------------------------------------------------------------------------------- */

/* Each rank draws for itself where its buffers are, and whether it comes late; so some fill rooms
 * where others have direct cells. */
static void
trials(struct pt_step *heap, struct pt_step *segment, unsigned long rounds)
{
	static const size_t counts[] = { 1500, 2048, 5003, MOST };
	const size_t half = (size_t)MOST * (pt.size > 3 ? pt.size : 3);
	struct pt_rng own = pt_rng_make(pt.rank + 1), all = pt_rng_make(0);

	for (unsigned long round = 0; round < rounds; round++)
		for (size_t i = 0; i < PT_COUNT(tries); i++) {
			struct pt_step *src = pt_rand_below(&own, 2) ? heap : segment;
			struct pt_step *dst = pt_rand_below(&own, 2) ? heap : segment;
			const struct trial trial = {
				.count = counts[pt_rand_below(&all, PT_COUNT(counts))],
				.root = (gex_Rank_t)pt_rand_below(&all, pt.size),
				.src = src, .dst = dst + half,
				.in_place = (int)pt_rand_below(&all, 2),
			};

			if (pt_rand_below(&own, 4) == 0)
				pt_sleep_ms(1);
			turn++;
			tries[i](&trial);
		}
}

/* Blocks in segments, so long that the others read them there.  A gather of several ranks and a
 * broadcast of two do so only with such blocks. */
static void
trials_long(struct pt_step *segment, unsigned long rounds)
{
	enum { LONG = 50000 };

	for (unsigned long round = 0; round < rounds; round++) {
		struct trial trial = {
			.count = LONG, .root = (gex_Rank_t)(round % pt.size), .src = segment,
			.dst = segment + 3 * LONG, .in_place = round / 3 % 2,
			.flags = (round % 2 ? PST_IN_ALLSYNC : 0) |
			         (round / 2 % 2 ? PST_OUT_ALLSYNC : 0),
		};

		turn++;
		try_gather(&trial);
		try_scatter(&trial);
		trial.count = 2 * LONG;
		try_bcast(&trial);
	}
}

/* -- two members ------------------------------------------------------------------------------- */

static void (*const block_tries[])(const struct trial *) = {
	try_gather_all, try_exchange, try_gather, try_scatter,
};

/* What its owner has just written is copied by the kernel at first, then from rooms, and by the
 * kernel now and then; lengths of several kinds take turns. */
static void
trials_written(struct pt_step *heap, unsigned long rounds)
{
	static const size_t counts[] = { 4096, 5003, 4097, 16384, MOST };
	const size_t half = (size_t)MOST * pt.size;

	for (turn = 0; turn < rounds; turn++) {
		const struct trial trial = {
			.count = counts[turn / 7 % PT_COUNT(counts)],
			.root = (gex_Rank_t)(turn / 3 % 2), .src = heap, .dst = heap + half,
		};

		spoil(trial.dst, pt.size * trial.count);
		block_tries[turn % PT_COUNT(block_tries)](&trial);
	}
}

/* Nobody writes src, so that the kernel copies all the time.  Now and then a member is late, by
 * about the time of a copy, or sleeps: who gives has a part of it then, or nothing. */
static void
come_late(struct pt_rng *rng)
{
	const gasnett_tick_t start = gasnett_ticks_now();
	const uint64_t late_ns = pt_rand_below(rng, 4) ? pt_rand_below(rng, 6000) : 0;

	if (pt_rand_below(rng, 40) == 0)
		pt_sleep_ms(1);
	while (gasnett_ticks_to_ns(gasnett_ticks_now() - start) < late_ns)
		;
}

/* On a team of its own, which has not asked for rooms yet. */
static void
trials_untouched(struct pt_step *heap, size_t count, unsigned long rounds)
{
	gex_TM_t tm = pt_split(pt.tm, 0, (int)pt.rank);
	struct pt_rng rng = pt_rng_make(pt.rank + 7);
	struct pt_step *dst = heap + (size_t)MOST * pt.size;
	const size_t bytes = count * sizeof *heap;

	turn++;
	blocks_fill(heap, count, pt.size);
	for (unsigned long round = 0; round < rounds; round++) {
		const gex_Rank_t root = (gex_Rank_t)(round / 5 % 2);
		const int gathers = round / 8 % 2 == 0;

		spoil(dst, pt.size * count);
		come_late(&rng);
		if (gathers)
			pst_gather(tm, root, dst, heap, bytes, 0);
		else
			pst_scatter(tm, root, dst, heap, bytes, 0);
		if (!gathers)
			block_check(dst, count, root, pt.rank);
		for (gex_Rank_t from = 0; gathers && pt.rank == root && from < pt.size; from++)
			block_check(dst + from * count, count, from, 0);
	}
	gex_TM_Destroy(tm, NULL, 0);
}

/* Several at once: each has its own dst. */
static void
trials_at_once(struct pt_step *heap, unsigned long rounds)
{
	enum { COUNT = 4096, AT_ONCE = 4 };
	struct pt_step *dst = heap + (size_t)MOST * pt.size;
	gex_Event_t events[AT_ONCE];

	for (unsigned long round = 0; round < rounds; round++) {
		const gex_Rank_t root = (gex_Rank_t)(round % 2);

		turn++;
		blocks_fill(heap, COUNT, pt.size);
		for (size_t i = 0; i < AT_ONCE; i++)
			events[i] = pst_gather_nb(pt.tm, root, dst + i * pt.size * COUNT, heap,
			                          COUNT * sizeof *heap, 0);
		for (size_t i = AT_ONCE; i-- > 0; )
			gex_Event_Wait(events[i]);
		spoil(heap, COUNT);
		for (size_t i = 0; pt.rank == root && i < AT_ONCE; i++)
			for (gex_Rank_t from = 0; from < pt.size; from++)
				block_check(dst + (i * pt.size + from) * COUNT, COUNT, from, 0);
	}
}

/* From 512 KiB on each combines a half, and both gather the halves; an odd element is combined by
 * both. */
static void
trials_divided(struct pt_step *heap, unsigned long rounds)
{
	static const size_t counts[] = { 32768, 32767, 32771, 2 * (size_t)MOST };

	for (turn = 0; turn < rounds; turn++) {
		const struct trial trial = {
			.count = counts[turn % PT_COUNT(counts)],
			.src = heap, .dst = heap + 2 * (size_t)MOST,
			.in_place = turn / 3 % 2,
		};

		try_allreduce(&trial);
	}
}

static pt_count told;

static void
req_tell(gex_Token_t token)
{
	(void)token;
	PT_INC(told);
}

/* Rank 0 gives, begins something short, and then only polls; rank 1, which is late and may have
 * to refuse what rank 0 gives, tells it when it has all.  No member of that team has refused
 * anything yet. */
static void
given_before_a_wait(struct pt_step *heap)
{
	enum { COUNT = 4096 };
	struct pt_step *dst = heap + 2 * COUNT;
	gex_TM_t tm = pt_split(pt.tm, 0, (int)pt.rank);
	uint64_t word = 7, got = 0;
	gex_Event_t events[2];

	turn++;
	blocks_fill(heap, COUNT, 1);
	if (pt.rank == 1)
		pt_sleep_ms(5);
	events[0] = pst_gather_nb(tm, 1, dst, heap, COUNT * sizeof *heap, 0);
	events[1] = pst_bcast_nb(tm, 0, &got, &word, sizeof word, 0);
	if (pt.rank == 0)
		GASNET_BLOCKUNTIL(PT_GET(told) > 0);
	for (size_t i = 0; i < 2; i++)
		gex_Event_Wait(events[i]);
	PT_EQ(got, 7);
	if (pt.rank == 1) {
		block_check(dst, COUNT, 0, 0);
		PT_OK(gex_AM_RequestShort0(pt.tm, 0, REQ_TELL, 0));
	}
	gex_TM_Destroy(tm, NULL, 0);
}

static void
trials_of_two(struct pt_step *heap)
{
	given_before_a_wait(heap);
	trials_divided(heap, pt_scale(24, 240));
	trials_written(heap, pt_scale(280, 1400));
	trials_untouched(heap, 4096, pt_scale(200, 2000));
	trials_untouched(heap, 5003, pt_scale(100, 1000));
	trials_untouched(heap, 16384, pt_scale(40, 200));
	trials_untouched(heap, 16385, pt_scale(20, 100));
	trials_at_once(heap, pt_scale(40, 400));
}

int
main(int argc, char **argv)
{
	gex_AM_Entry_t table[] = { PT_HANDLER(REQ_TELL, req_tell, PT_REQ_SHORT, 0) };
	const size_t elements = 2 * (size_t)MOST * 8;
	struct pt_step *heap;

	pt_start(&argc, &argv, table, PT_COUNT(table), elements * sizeof *heap);
	PT_LE(pt.size, 8);
	if (argc > 1 && strcmp(argv[1], "refused") == 0 && pt.rank % 2)
		setenv("PST_TEST_DENY", "vm_readv", 1);
	heap = malloc(elements * sizeof *heap);
	PT_EQ(heap != NULL, 1);
	trials(heap, (struct pt_step *)(void *)pt.base, pt_scale(2, 6));
	if (pt.size <= 3)
		trials_long((struct pt_step *)(void *)pt.base, pt_scale(6, 24));
	if (pt.size == 2)
		trials_of_two(heap);
	free(heap);
	pt_finish();
}
