/*
 * Sixteen threads in each process make any call at any time: messages, transfers, atomics,
 * semaphores, collectives of a team for each, and ends of what another thread began.  Whatever was
 * sent, added, posted or put is there once.
 */
#include <gasnet_coll.h>
#include <gasnet_ratomic.h>
#include <penstock.h>

#include "tests/lib/pt.h"

#include <pthread.h>

#ifndef GASNET_PAR
#error this program is for PAR
#endif

enum { REQ_SHORT = 128, REQ_PAYLOAD, REP_SHORT, REP_PAYLOAD };
enum { THREADS = 16, BYTES = 6000, SLICES = 3, BOARD = 40, MOST_RANKS = 4 };
enum { FOR_PUTS, FOR_LONGS, FOR_SIGNALS };

/* Of one thread; answers are counted by whoever polls. */
struct self {
	unsigned index;
	struct pt_rng rng;
	gex_TM_t team; /* with the threads of this index */
	pt_count answers;
	int asked;
	unsigned char *model, *buf; /* of the slice for puts at each rank; room for one message */
	uint64_t added;
	unsigned posted[MOST_RANKS], taken;
	unsigned rounds;
};
static struct self selves[THREADS];

static gex_AD_t domain;
static pst_sem_t sem;
static pst_sem_ref_t refs[MOST_RANKS];
static gex_HSL_t lock = GEX_HSL_INITIALIZER;
static unsigned long locked; /* under lock */

/* What any thread may end. */
struct begun {
	gex_Event_t event;
	unsigned char *buf;
	size_t nbytes;
	uint64_t key; /* what a get brings; 0: a put */
};
static struct begun board[BOARD];
static size_t on_board;
static pthread_mutex_t board_lock = PTHREAD_MUTEX_INITIALIZER;

/* -- handlers --------------------------------------------------------------------------------- */

static void
req_short(gex_Token_t token, gex_AM_Arg_t who)
{
	gex_HSL_Lock(&lock);
	locked++;
	gex_HSL_Unlock(&lock);
	PT_OK(gex_AM_ReplyShort1(token, REP_SHORT, 0, who));
}

static void
req_payload(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t who, gex_AM_Arg_t key)
{
	char copy[BYTES];

	PT_MEM(buf, nbytes, key);
	memcpy(copy, buf, nbytes);
	PT_GIVEN_BACK(buf);
	PT_OK(gex_AM_ReplyMedium2(token, REP_PAYLOAD, copy, nbytes, GEX_EVENT_NOW, 0, who, key));
}

static void
rep_short(gex_Token_t token, gex_AM_Arg_t who)
{
	(void)token;
	PT_INC(selves[who].answers);
}

static void
rep_payload(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t who, gex_AM_Arg_t key)
{
	(void)token;
	PT_MEM(buf, nbytes, key);
	PT_INC(selves[who].answers);
}

/* -- what a thread does ----------------------------------------------------------------------- */

/* Of this thread of this rank, at that one. */
static char *
slice(const struct self *self, gex_Rank_t rank, unsigned what)
{
	return pt.peers[rank].owner + 64 +
	       ((size_t)(pt.rank * THREADS + self->index) * SLICES + what) * BYTES;
}

static gex_Rank_t
some_rank(struct self *self)
{
	return (gex_Rank_t)pt_rand_below(&self->rng, pt.size);
}

static uint64_t
some_key(struct self *self)
{
	return 1 + pt_rand_below(&self->rng, 1u << 30);
}

static void
hear_answers(struct self *self)
{
	GASNET_BLOCKUNTIL(PT_GET(self->answers) == self->asked);
}

static void
send_short(struct self *self)
{
	const gex_Flags_t flags = pt_rand_below(&self->rng, 4) ? 0 : GEX_FLAG_IMMEDIATE;

	if (gex_AM_RequestShort1(pt.tm, some_rank(self), REQ_SHORT, flags,
	                         (gex_AM_Arg_t)self->index) == GASNET_OK)
		self->asked++;
}

static void
send_medium(struct self *self)
{
	const size_t nbytes = pt_rand_below(&self->rng, BYTES);
	const uint64_t key = some_key(self);

	pt_fill(self->buf, nbytes, key);
	PT_OK(gex_AM_RequestMedium2(pt.tm, some_rank(self), REQ_PAYLOAD, self->buf, nbytes,
	                            GEX_EVENT_NOW, 0, (gex_AM_Arg_t)self->index,
	                            (gex_AM_Arg_t)key));
	self->asked++;
}

static void
send_prepared(struct self *self)
{
	const size_t nbytes = 1 + pt_rand_below(&self->rng, 3000);
	const uint64_t key = some_key(self);
	gex_AM_SrcDesc_t sd = gex_AM_PrepareRequestMedium(pt.tm, some_rank(self), NULL, nbytes,
	                                                  BYTES, NULL, 0, 2);

	pt_fill(gex_AM_SrcDescAddr(sd), nbytes, key);
	gex_AM_CommitRequestMedium2(sd, REQ_PAYLOAD, nbytes, (gex_AM_Arg_t)self->index,
	                            (gex_AM_Arg_t)key);
	self->asked++;
}

/* The place is free again when all has been answered. */
static void
send_long(struct self *self)
{
	const size_t nbytes = pt_rand_below(&self->rng, BYTES);
	const gex_Rank_t rank = some_rank(self);
	const uint64_t key = some_key(self);

	hear_answers(self);
	pt_fill(self->buf, nbytes, key);
	PT_OK(gex_AM_RequestLong2(pt.tm, rank, REQ_PAYLOAD, self->buf, nbytes,
	                          slice(self, rank, FOR_LONGS), GEX_EVENT_NOW, 0,
	                          (gex_AM_Arg_t)self->index, (gex_AM_Arg_t)key));
	self->asked++;
	hear_answers(self);
}

static void
put_and_get(struct self *self)
{
	const gex_Rank_t rank = some_rank(self);
	unsigned char *model = self->model + (size_t)rank * BYTES;
	const size_t at = pt_rand_below(&self->rng, BYTES),
		     nbytes = pt_rand_below(&self->rng, BYTES - at);

	pt_fill(model + at, nbytes, some_key(self));
	if (pt_rand_below(&self->rng, 2)) {
		PT_OK(gex_RMA_PutBlocking(pt.tm, rank, slice(self, rank, FOR_PUTS) + at, model + at,
		                          nbytes, 0));
	} else {
		PT_OK(gex_RMA_PutNBI(pt.tm, rank, slice(self, rank, FOR_PUTS) + at, model + at,
		                     nbytes, GEX_EVENT_DEFER, 0));
		gex_NBI_Wait(GEX_EC_PUT, 0);
	}
	PT_OK(gex_RMA_GetNBI(pt.tm, self->buf, rank, slice(self, rank, FOR_PUTS), BYTES, 0));
	gex_NBI_Wait(GEX_EC_GET, 0);
	PT_EQ(memcmp(self->buf, model, BYTES), 0);
}

static void
end(const struct begun *begun)
{
	gex_Event_Wait(begun->event);
	if (begun->key)
		PT_MEM(begun->buf, begun->nbytes, begun->key);
	free(begun->buf);
}

/* Takes one that somebody began, in exchange. */
static void
exchange(const struct begun *mine)
{
	struct begun other = { 0 };

	pthread_mutex_lock(&board_lock);
	if (on_board == BOARD)
		other = board[0];
	else
		on_board++;
	if (other.buf)
		board[0] = *mine;
	else
		board[on_board - 1] = *mine;
	pthread_mutex_unlock(&board_lock);
	if (other.buf)
		end(&other);
}

/* Gets what it put before; nobody changes that until all have ended. */
static void
begin_for_others(struct self *self)
{
	const gex_Rank_t rank = some_rank(self);
	struct begun begun = { .nbytes = 2000, .buf = malloc(2000) };

	PT_CHECK(begun.buf != NULL);
	begun.key = self->index + 1;
	begun.event = gex_RMA_GetNB(pt.tm, begun.buf, rank, slice(self, rank, FOR_SIGNALS),
	                            begun.nbytes, 0);
	exchange(&begun);
}

static void
add(struct self *self)
{
	const uint64_t by = pt_rand_below(&self->rng, 1000);
	const gex_Rank_t rank = some_rank(self);
	uint64_t before = ~(uint64_t)0;

	if (pt_rand_below(&self->rng, 2)) {
		gex_Event_Wait(gex_AD_OpNB_U64(domain, &before, rank, pt.peers[rank].owner,
		                               GEX_OP_FADD, by, 0, 0));
		PT_CHECK(before != ~(uint64_t)0);
	} else {
		PT_OK(gex_AD_OpNBI_U64(domain, NULL, rank, pt.peers[rank].owner, GEX_OP_ADD, by, 0,
		                       0));
		gex_NBI_Wait(GEX_EC_RMW, 0);
	}
	self->added += by;
}

static void
post_and_take(struct self *self)
{
	const gex_Rank_t rank = some_rank(self);

	PT_OK(pst_sem_post(pt.tm, rank, refs[rank], 1, 0));
	self->posted[rank]++;
	self->taken += (unsigned)pst_sem_try(sem, 1);
}

/* All threads of an index come here at the same steps. */
static void
together(struct self *self)
{
	uint32_t mine = pt.rank + self->index + self->rounds++, all = 0, want;

	want = pt.size * (self->index + mine - pt.rank - self->index) +
	       pt.size * (pt.size - 1) / 2;
	gex_Event_Wait(gex_Coll_ReduceToAllNB(self->team, &all, &mine, GEX_DT_U32, 4, 1, GEX_OP_ADD,
	                                      NULL, NULL, 0));
	PT_EQ(all, want);
	gex_Event_Wait(gex_Coll_BarrierNB(self->team, 0));
}

static void
anything(unsigned index, void *arg)
{
	static void (*const acts[])(struct self *) = {
		send_short, send_short, send_medium, send_prepared, send_long, put_and_get,
		begin_for_others, add, add, post_and_take,
	};
	struct self *self = &selves[index];
	const unsigned long steps = *(unsigned long *)arg;

	for (unsigned long i = 0; i < steps; i++) {
		if (i % 16 == 15)
			together(self);
		else
			acts[pt_rand_below(&self->rng, PT_COUNT(acts))](self);
	}
	hear_answers(self);
}

/* -- before and after ------------------------------------------------------------------------- */

static void
prepare(struct self *self, unsigned index)
{
	self->index = index;
	self->rng = pt_rng_make(pt.rank * 100 + index);
	self->model = calloc(pt.size, BYTES);
	self->buf = malloc(BYTES);
	PT_CHECK(self->model && self->buf);
	(void)gex_TM_Split(&self->team, pt.tm, 0, 0, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
	for (gex_Rank_t rank = 0; rank < pt.size; rank++) {
		PT_OK(gex_RMA_PutBlocking(pt.tm, rank, slice(self, rank, FOR_PUTS), self->model,
		                          BYTES, 0));
		pt_fill(self->buf, BYTES, index + 1);
		PT_OK(gex_RMA_PutBlocking(pt.tm, rank, slice(self, rank, FOR_SIGNALS), self->buf,
		                          BYTES, 0));
	}
}

static uint64_t
sum_of_all(uint64_t mine)
{
	uint64_t all = 0;

	gex_Event_Wait(gex_Coll_ReduceToAllNB(pt.tm, &all, &mine, GEX_DT_U64, 8, 1, GEX_OP_ADD,
	                                      NULL, NULL, 0));
	return all;
}

/* Everything is there, once. */
static void
balance(void)
{
	uint64_t added = 0, word = 0, asked = 0;
	unsigned taken = 0;

	for (unsigned i = 0; i < THREADS; i++) {
		added += selves[i].added;
		asked += (uint64_t)selves[i].asked;
		taken += selves[i].taken;
	}
	gex_Event_Wait(gex_AD_OpNB_U64(domain, &word, pt.rank, pt.base, GEX_OP_GET, 0, 0, 0));
	PT_EQ(sum_of_all(added), sum_of_all(word));
	for (gex_Rank_t rank = 0; rank < pt.size; rank++) {
		uint64_t posts = 0;

		for (unsigned i = 0; i < THREADS; i++)
			posts += selves[i].posted[rank];
		posts = sum_of_all(posts);
		if (rank == pt.rank)
			PT_EQ(pst_sem_value(sem), posts - taken);
	}
	PT_LE(sum_of_all(locked), sum_of_all(asked));
}

int
main(int argc, char **argv)
{
	gex_AM_Entry_t table[] = {
		PT_HANDLER(REQ_SHORT, req_short, PT_REQ_SHORT, 1),
		PT_HANDLER(REQ_PAYLOAD, req_payload, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_MEDLONG, 2),
		PT_HANDLER(REP_SHORT, rep_short, PT_REP_SHORT, 1),
		PT_HANDLER(REP_PAYLOAD, rep_payload, PT_REP_MEDIUM, 2),
	};
	unsigned long steps = pt_scale(1500, 6000);
	pst_sem_set_t set;

	pt_init(&argc, &argv, 0);
	pt_attach(table, PT_COUNT(table), 64 + (size_t)pt.size * THREADS * SLICES * BYTES);
	PT_LE(pt.size, MOST_RANKS);
	gex_AD_Create(&domain, pt.tm, GEX_DT_U64, GEX_OP_FADD | GEX_OP_ADD | GEX_OP_GET, 0);
	PT_OK(pst_sem_set_create(pt.tm, 1, PST_SEM_INTEGER, &set, 0));
	sem = pst_sem_set_mine(set, 0);
	for (gex_Rank_t rank = 0; rank < pt.size; rank++)
		refs[rank] = pst_sem_set_ref(set, rank, 0);
	for (unsigned i = 0; i < THREADS; i++)
		prepare(&selves[i], i);
	pt_barrier();
	pt_phase("threads");
	pt_threads(THREADS, anything, &steps);
	for (size_t i = 0; i < on_board; i++)
		end(&board[i]);
	pt_barrier();
	pt_phase("balance");
	balance();
	for (unsigned i = 0; i < THREADS; i++) {
		PT_EQ(gex_TM_Destroy(selves[i].team, NULL, 0), 0);
		free(selves[i].model);
		free(selves[i].buf);
	}
	pst_sem_set_destroy(set, 0);
	gex_AD_Destroy(domain);
	pt_finish();
}
