/*
 * The other inline functions and macros of the headers: what they decide
 * themselves, and what goes to the library, which is this file. Transfers are
 * served on the spot exactly where the table allows it.
 */
#include "families.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Waiting: the condition is looked at once when true, and steps are ended. */
static int steps, ends;

void
psi_wait_step(struct psi_wait *wait)
{
	CHECK(wait->where != NULL && strstr(wait->where, "inlines.c:") != NULL);
	steps++;
}

void
psi_wait_end(struct psi_wait *wait)
{
	(void)wait;
	ends++;
}

static void
waits(void)
{
	int looks = 0, zero = 0;

	GASNET_BLOCKUNTIL(++looks > 0);
	CHECK(looks == 1 && steps == 0 && ends == 0);
	if (looks)
		GASNET_BLOCKUNTIL(++looks >= 5);
	else
		looks = -1;
	CHECK(looks == 5 && steps == 3 && ends == 1);
	GASNET_BLOCKUNTIL((void)zero, looks == 5);
	CHECK(steps == 3 && ends == 1);
}

/* Events: the one that is already done never reaches the library. */
static int event_calls;

void
psi_event_wait(gex_Event_t ev)
{
	event_calls += ev == AS(gex_Event_t, source);
}

int
psi_event_test(gex_Event_t ev)
{
	event_calls += ev == AS(gex_Event_t, source);
	return GASNET_ERR_NOT_READY;
}

int
gasnet_AMPoll(void)
{
	event_calls += 100;
	return GASNET_OK;
}

static void
events(void)
{
	gex_Event_Wait(GEX_EVENT_INVALID);
	CHECK(gex_Event_Test(GEX_EVENT_INVALID) == GASNET_OK);
	CHECK(event_calls == 0);
	gex_Event_Wait(AS(gex_Event_t, source));
	CHECK(gex_Event_Test(AS(gex_Event_t, source)) == GASNET_ERR_NOT_READY);
	CHECK(event_calls == 2);
	CHECK(gasnet_try_syncnb_nopoll(GASNET_INVALID_HANDLE) == GASNET_OK);
	CHECK(event_calls == 2);
	CHECK(gasnet_try_syncnb(AS(gex_Event_t, source)) == GASNET_ERR_NOT_READY);
	CHECK(event_calls == 103);
}

/* Transfers: rank 1 of 3 owns owner_base..+SEGMENT and is mapped at segment. */
#define SEGMENT (PSI_RMA_SMALL_BYTES + 64)
static unsigned char segment[SEGMENT + 16];
static uintptr_t owner_base;
static struct pst_peer peers[6];
static struct pst_inline table;
static uint64_t counts[PSI_RMA_COUNTS_INLINE], moved[PSI_RMA_MOVED_KINDS];
static int copies, library_calls;
static gex_Flags_t library_flags;

const struct pst_inline *pst_inline_v1;
#if GASNET_PAR
__thread uint64_t *psi_counts_self __attribute__((tls_model("initial-exec")));
__thread uint64_t *psi_moved_self __attribute__((tls_model("initial-exec")));
#endif

static void
copy(void *dst, const void *from, size_t nbytes)
{
	copies++;
	memcpy(dst, from, nbytes);
}

int
psi_rma_put(gex_TM_t tm, gex_Rank_t rank, void *dest, const void *src, size_t nbytes,
	    gex_Flags_t flags)
{
	(void)tm, (void)rank, (void)dest, (void)src, (void)nbytes;
	library_flags = flags;
	library_calls++;
	return 31;
}

int
psi_rma_get(gex_TM_t tm, void *dest, gex_Rank_t rank, const void *src, size_t nbytes,
	    gex_Flags_t flags)
{
	(void)tm, (void)rank, (void)src;
	library_flags = flags;
	library_calls++;
	memset(dest, 0, nbytes);
	return 32;
}

void
psi_rma_value_bad(size_t nbytes)
{
	printf("inlines.c: a value of %u bytes\n", TO(unsigned, nbytes));
	abort();
}

static void
map_peers(void)
{
#if GASNET_PAR
	psi_counts_self = counts;
	psi_moved_self = moved;
#endif
	owner_base = UINT64_C(0x7fff00001000);
	peers[1].base = owner_base;
	peers[1].size_bytes = SEGMENT;
	peers[1].offset = AS(uintptr_t, segment) - owner_base;
	peers[4] = peers[1]; /* the second endpoint of process 1 */
	table.abi = PSI_INLINE_ABI;
	table.size_bytes = sizeof(table);
	table.job_tm = AS(gex_TM_t, target);
	table.job_size = 3;
	table.places = 6;
	table.peers = peers;
	table.copy = copy;
	table.counts = counts;
	table.moved = moved;
	pst_inline_v1 = &table;
}

static unsigned char *
at(size_t offset)
{
	return AS(unsigned char *, owner_base + offset);
}

/* One put and one get of a size, both ways of knowing the size. */
static void
transfer(gex_TM_t tm, size_t offset, size_t nbytes)
{
	static unsigned char out[SEGMENT + 2], in[SEGMENT + 2];
	size_t i;

	for (i = 0; i < sizeof(out); i++)
		out[i] = TO(unsigned char, i * 7 + nbytes + 1);
	memset(segment, 0xee, sizeof(segment));
	memset(in, 0xdd, sizeof(in));
	memset(moved, 0, sizeof(moved));
	CHECK(gex_RMA_PutBlocking(tm, 1, at(offset), out, nbytes, 0) == 0);
	CHECK(memcmp(segment + offset, out, nbytes) == 0);
	CHECK(segment[offset + nbytes] == 0xee);
	CHECK(offset == 0 || segment[offset - 1] == 0xee);
	CHECK(gex_RMA_GetBlocking(tm, in + 1, 1, at(offset), nbytes, 0) == 0);
	CHECK(moved[PSI_RMA_COUNT_PUTS] == nbytes * 65536 + 1);
	CHECK(moved[PSI_RMA_COUNT_GETS] == nbytes * 65536 + 1);
	CHECK(memcmp(in + 1, out, nbytes) == 0 && in[0] == 0xdd && in[nbytes + 1] == 0xdd);
}

static void
transfers(void)
{
	gex_TM_t team = AS(gex_TM_t, target);
	size_t nbytes;

	CHECK(gex_RMA_PutBlocking(team, 1, at(0), source, 8, 0) == 31);
	CHECK(library_calls == 1);
	map_peers();
	for (nbytes = 0; nbytes <= SEGMENT; nbytes++) {
		transfer(team, 0, nbytes);
		transfer(PSI_TM_LEGACY, SEGMENT - nbytes, nbytes);
	}
	CHECK(library_calls == 1 && copies == 4 * (SEGMENT - PSI_RMA_SMALL_BYTES));

	gasnet_put(1, at(8), "constants", 9);
	CHECK(memcmp(segment + 8, "constants", 9) == 0);
	gasnet_put_bulk(1, at(40), "constants", 9);
	gasnet_get(target, 1, at(8), 9);
	CHECK(memcmp(target, "constants", 9) == 0);
	gasnet_get_bulk(target + 20, 1, at(40), 9);
	CHECK(memcmp(target + 20, "constants", 9) == 0);
	CHECK(library_calls == 1);

	moved[PSI_RMA_COUNT_PUTS] = 65536 * 3 + PSI_RMA_CALLS_PER_POLL - 1; /* the one that polls */
	CHECK(gex_RMA_PutBlocking(team, 1, at(0), source, 8, 0) == 31);
	CHECK(gex_RMA_PutBlocking(team, 1, at(0), source, 8, 0) == 0);
	CHECK(library_calls == 2);
}

void
psi_rma_fill(gasnet_node_t node, void *dest, int val, size_t nbytes)
{
	(void)node, (void)dest, (void)val, (void)nbytes;
	library_calls++;
}

gasnet_handle_t
psi_rma_fill_nb(gasnet_node_t node, void *dest, int val, size_t nbytes)
{
	(void)node, (void)dest, (void)val, (void)nbytes;
	library_calls++;
	return AS(gasnet_handle_t, source);
}

void
psi_rma_fill_nbi(gasnet_node_t node, void *dest, int val, size_t nbytes)
{
	(void)node, (void)dest, (void)val, (void)nbytes;
	library_calls++;
}

static void
fill(unsigned form, unsigned char *dest, int val, size_t nbytes)
{
	if (form == 0)
		gasnet_memset(1, dest, val, nbytes);
	else if (form == 1)
		CHECK(gasnet_memset_nb(1, dest, val, nbytes) == GASNET_INVALID_HANDLE);
	else
		gasnet_memset_nbi(1, dest, val, nbytes);
}

/* Of each size at either end, the bytes that are meant and no others, from the low-order byte of
 * val. */
static void
fills(void)
{
	size_t nbytes, end, i;
	unsigned form;

	library_calls = 0;
	for (nbytes = 0; nbytes <= SEGMENT; nbytes++) {
		for (form = 0; form < 6; form++) {
			const size_t offset = form % 2 ? SEGMENT - nbytes : 0;

			end = offset + nbytes;
			memset(segment, 0xee, sizeof(segment));
			memset(moved, 0, sizeof(moved));
			fill(form / 2, at(offset), 0x123, nbytes);
			for (i = 0; i < sizeof(segment); i++)
				CHECK(segment[i] == (i >= offset && i < end ? 0x23 : 0xee));
			CHECK(moved[PSI_RMA_COUNT_PUTS] == nbytes * 65536 + 1);
		}
	}
	CHECK(library_calls == 0);
	gasnet_memset(1, at(0) - 1, 0, 8);
	CHECK(gasnet_memset_nb(1, at(SEGMENT - 7), 0, 8) == AS(gasnet_handle_t, source));
	gasnet_memset_nbi(2, at(0), 0, 8);
	moved[PSI_RMA_COUNT_PUTS] = PSI_RMA_CALLS_PER_POLL - 1; /* the one that polls */
	gasnet_memset(1, at(0), 0, 8);
	CHECK(library_calls == 4);
}

/* What the table does not allow goes to the library. */
static void
refusals(void)
{
	gex_TM_t team = AS(gex_TM_t, target);
	gex_Flags_t plain = GEX_FLAG_IMMEDIATE | GEX_FLAG_PEER_NEVER_SELF |
			    GEX_FLAG_SELF_SEG_SOME | GEX_FLAG_PEER_SEG_BOUND;

	library_calls = 0;
	CHECK(gex_RMA_PutBlocking(team, 1, at(0), source, 8, plain) == 0);
	CHECK(library_calls == 0);
	CHECK(gex_RMA_PutBlocking(team, 1, at(0), source, 8, GEX_FLAG_PEER_SEG_OFFSET) == 31);
	CHECK(library_flags == GEX_FLAG_PEER_SEG_OFFSET);
	CHECK(gex_RMA_PutBlocking(gex_TM_Pair(GEX_EP_INVALID, 3), 1, at(0), source, 8, 0) == 31);
	CHECK(gex_RMA_PutBlocking(team, 0, at(0), source, 8, 0) == 31);
	CHECK(gex_RMA_PutBlocking(team, 3, at(0), source, 8, 0) == 31);
	CHECK(gex_RMA_PutBlocking(team, GEX_RANK_INVALID, at(0), source, 8, 0) == 31);
	CHECK(gex_RMA_PutBlocking(team, 1, at(0) - 1, source, 8, 0) == 31);
	CHECK(gex_RMA_PutBlocking(team, 1, at(SEGMENT - 7), source, 8, 0) == 31);
	CHECK(gex_RMA_PutBlocking(team, 1, at(0), source, SEGMENT + 1, 0) == 31);
	CHECK(gex_RMA_PutBlocking(team, 1, at(16), source, TO(size_t, -8), 0) == 31);
	CHECK(gex_RMA_GetBlocking(team, source, 1, at(SEGMENT), 1, 0) == 32);
	CHECK(library_calls == 10);
}

/* Ranks of teams that the client made are looked up, and served as well. */
static void
created_teams(void)
{
	static uint32_t places[] = { 6, 1, 1, 4 };
	static struct pst_team made;
	gex_TM_t team = AS(gex_TM_t, &made);

	made.size = 2;
	made.places = places;
	library_calls = 0;
	memset(segment, 0xee, sizeof(segment));
	CHECK(gex_RMA_PutBlocking(team, 1, at(8), "constant", 8, 0) == 0);
	CHECK(memcmp(segment + 8, "constant", 8) == 0);
	CHECK(gex_RMA_GetBlocking(team, target, 1, at(8), 8, 0) == 0);
	CHECK(memcmp(target, "constant", 8) == 0);
	CHECK(library_calls == 0);
	CHECK(gex_RMA_PutBlocking(team, 0, at(0), source, 8, 0) == 31);
	CHECK(gex_RMA_PutBlocking(team, 2, at(0), source, 8, 0) == 31);
	CHECK(gex_RMA_PutBlocking(team, GEX_RANK_INVALID, at(0), source, 8, 0) == 31);
	made.places = NULL;
	CHECK(gex_RMA_PutBlocking(team, 1, at(0), source, 8, 0) == 0);
	CHECK(gex_RMA_PutBlocking(GEX_TM_INVALID, 1, at(0), source, 8, 0) == 31);
	CHECK(library_calls == 4);

	made.size = 4; /* a further endpoint, by a team and by a pair */
	made.places = places;
	CHECK(gex_RMA_PutBlocking(team, 3, at(0), source, 8, 0) == 0);
	CHECK(gex_RMA_PutBlocking(gex_TM_Pair(GEX_EP_INVALID, 1), 1, at(0), source, 8, 0) == 0);
	CHECK(library_calls == 4);
	CHECK(gex_RMA_PutBlocking(gex_TM_Pair(GEX_EP_INVALID, 1), 0, at(0), source, 8, 0) == 31);
	CHECK(gex_RMA_PutBlocking(gex_TM_Pair(GEX_EP_INVALID, 0), 4, at(0), source, 8, 0) == 31);
	CHECK(gex_RMA_PutBlocking(gex_TM_Pair(GEX_EP_INVALID, 2), 0, at(0), source, 8, 0) == 31);
	CHECK(library_calls == 7);
}

static void
values(void)
{
	const gex_RMA_Value_t value = UINT64_C(0x8877665544332211);
	gex_TM_t team = AS(gex_TM_t, target);
	size_t nbytes;

	for (nbytes = 1; nbytes <= SIZEOF_GEX_RMA_VALUE_T; nbytes++) {
		gex_RMA_Value_t low = value << (64 - 8 * nbytes) >> (64 - 8 * nbytes);

		memset(segment, 0xee, sizeof(segment));
		CHECK(gex_RMA_PutBlockingVal(team, 1, at(3), value, nbytes, 0) == 0);
		CHECK(segment[2] == 0xee && segment[3 + nbytes] == 0xee);
		CHECK(gex_RMA_GetBlockingVal(team, 1, at(3), nbytes, 0) == low);
		gasnet_put_val(1, at(64), value, nbytes);
		CHECK(memcmp(segment + 3, segment + 64, nbytes) == 0);
		CHECK(gasnet_get_val(1, at(64), nbytes) == low);
	}
	CHECK(gex_RMA_PutBlockingVal(team, 1, at(0), 0x1234, 2, 0) == 0);
	CHECK(gex_RMA_GetBlockingVal(team, 1, at(0), 2, 0) == 0x1234);
	library_calls = 0;
	CHECK(gex_RMA_GetBlockingVal(team, 2, at(0), 2, GEX_FLAG_IMMEDIATE) == 0);
	CHECK(library_calls == 1 && library_flags == 0);
}

/* Codes keep their kind, and are constants of the preprocessor too. */
#if GEX_OP_TO_FETCHING(GEX_OP_ADD) != GEX_OP_FADD || GEX_OP_TO_FETCHING(GEX_OP_CAS) != GEX_OP_FCAS
#error "fetching codes"
#endif
#if GEX_OP_TO_NONFETCHING(GEX_OP_SWAP) != GEX_OP_SET || GEX_OP_CSWAP != GEX_OP_FCAS
#error "non-fetching codes"
#endif

static void
codes(void)
{
	gex_OP_t op;

	for (op = GEX_OP_AND; op <= GEX_OP_CAS; op <<= 1) {
		gex_OP_t fetching = GEX_OP_TO_FETCHING(op);

		CHECK(fetching == op << 15 && GEX_OP_TO_FETCHING(fetching) == fetching);
		CHECK(GEX_OP_TO_NONFETCHING(fetching) == op && GEX_OP_TO_NONFETCHING(op) == op);
	}
	CHECK(GEX_OP_TO_FETCHING(GEX_OP_GET) == GEX_OP_GET);
}

gex_EP_Index_t
gex_EP_QueryIndex(gex_EP_t ep)
{
	return ep == GEX_EP_INVALID ? 0 : 2;
}

static void
pairs(void)
{
	CHECK(gex_TM_Pair(GEX_EP_INVALID, 0) == PSI_TM_LEGACY);
	CHECK(AS(uintptr_t, gex_TM_Pair(AS(gex_EP_t, source), 3)) == (3 << 16 | 2) * 2 + 1);
}

void
inlines(void)
{
	waits();
	events();
	transfers();
	fills();
	refusals();
	created_teams();
	values();
	codes();
	pairs();
}

#ifdef __cplusplus
}
#endif
