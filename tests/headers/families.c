/*
 * The inline functions and macros of the headers, against a library of this
 * file's own that records what reaches it: each argument arrives once, where
 * it belongs, in every family and for every argument count; transfers are
 * served on the spot exactly where the table allows it.
 *
 * C99 and C++11 alike.
 */
#include <gasnet.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
#define AS(type, x) (reinterpret_cast<type>(x))
#define TO(type, x) (static_cast<type>(x))
extern "C" {
#else
#define AS(type, x) ((type)(x))
#define TO(type, x) ((type)(x))
#endif

static struct {
	const char *call;
	gex_TM_t tm;
	gex_Token_t token;
	gex_AM_SrcDesc_t sd;
	gex_Rank_t rank;
	gex_AM_Index_t handler;
	const void *src;
	size_t nbytes;
	void *dest;
	gex_Event_t *lc_opt;
	gex_Flags_t flags;
	unsigned nargs;
	gex_AM_Arg_t args[16];
	int answer;
} seen;

static int failures;
static int evaluations;

static void
check(int good, const char *what, int line)
{
	if (!good) {
		printf("families.c:%d: %s\n", line, what);
		failures++;
	}
}
#define CHECK(cond) check((cond) ? 1 : 0, #cond, __LINE__)

static int
record(const char *call, unsigned nargs, const gex_AM_Arg_t *args)
{
	unsigned i;

	seen.call = call;
	seen.nargs = nargs;
	for (i = 0; i < nargs && i < 16; i++)
		seen.args[i] = args[i];
	return seen.answer;
}

/* The library. */
int
psi_am_request_short(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler, gex_Flags_t flags,
		     unsigned nargs, const gex_AM_Arg_t *args)
{
	seen.tm = tm;
	seen.rank = rank;
	seen.handler = handler;
	seen.flags = flags;
	return record("RequestShort", nargs, args);
}

int
psi_am_request_long(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler, const void *src,
		    size_t nbytes, void *dest, gex_Event_t *lc_opt, gex_Flags_t flags,
		    unsigned nargs, const gex_AM_Arg_t *args)
{
	seen.src = src;
	seen.nbytes = nbytes;
	seen.dest = dest;
	seen.lc_opt = lc_opt;
	psi_am_request_short(tm, rank, handler, flags, nargs, args);
	return record("RequestLong", nargs, args);
}

int
psi_am_request_medium(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler, const void *src,
		      size_t nbytes, gex_Event_t *lc_opt, gex_Flags_t flags, unsigned nargs,
		      const gex_AM_Arg_t *args)
{
	psi_am_request_long(tm, rank, handler, src, nbytes, NULL, lc_opt, flags, nargs, args);
	return record("RequestMedium", nargs, args);
}

int
psi_am_reply_short(gex_Token_t token, gex_AM_Index_t handler, gex_Flags_t flags, unsigned nargs,
		   const gex_AM_Arg_t *args)
{
	seen.token = token;
	seen.handler = handler;
	seen.flags = flags;
	return record("ReplyShort", nargs, args);
}

int
psi_am_reply_long(gex_Token_t token, gex_AM_Index_t handler, const void *src, size_t nbytes,
		  void *dest, gex_Event_t *lc_opt, gex_Flags_t flags, unsigned nargs,
		  const gex_AM_Arg_t *args)
{
	seen.src = src;
	seen.nbytes = nbytes;
	seen.dest = dest;
	seen.lc_opt = lc_opt;
	psi_am_reply_short(token, handler, flags, nargs, args);
	return record("ReplyLong", nargs, args);
}

int
psi_am_reply_medium(gex_Token_t token, gex_AM_Index_t handler, const void *src, size_t nbytes,
		    gex_Event_t *lc_opt, gex_Flags_t flags, unsigned nargs,
		    const gex_AM_Arg_t *args)
{
	psi_am_reply_long(token, handler, src, nbytes, NULL, lc_opt, flags, nargs, args);
	return record("ReplyMedium", nargs, args);
}

#define COMMIT_MEDIUM(name, call)                                                          \
	int name(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler, size_t nbytes,               \
		 gex_Flags_t commit_flags, unsigned nargs, const gex_AM_Arg_t *args)       \
	{                                                                                  \
		seen.sd = sd;                                                              \
		seen.handler = handler;                                                    \
		seen.nbytes = nbytes;                                                      \
		seen.flags = commit_flags;                                                 \
		return record(call, nargs, args);                                          \
	}
#define COMMIT_LONG(name, call)                                                            \
	int name(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler, size_t nbytes, void *dest,   \
		 gex_Flags_t commit_flags, unsigned nargs, const gex_AM_Arg_t *args)       \
	{                                                                                  \
		seen.sd = sd;                                                              \
		seen.handler = handler;                                                    \
		seen.nbytes = nbytes;                                                      \
		seen.dest = dest;                                                          \
		seen.flags = commit_flags;                                                 \
		return record(call, nargs, args);                                          \
	}
COMMIT_MEDIUM(psi_am_commit_request_medium, "CommitRequestMedium")
COMMIT_MEDIUM(psi_am_commit_reply_medium, "CommitReplyMedium")
COMMIT_LONG(psi_am_commit_request_long, "CommitRequestLong")
COMMIT_LONG(psi_am_commit_reply_long, "CommitReplyLong")

/* What none of these calls deserves. */
void
psi_legacy_count_bad(const char *call, unsigned int told, unsigned int given)
{
	printf("families.c: %s was told of %u arguments, and given %u\n", call, told, given);
	abort();
}

/* Arguments, each of which counts how often it is evaluated. */
static char source[64], target[64];
static gex_Event_t event;

static gex_AM_Arg_t
arg(int i)
{
	evaluations++;
	return -1000 * i - 7;
}

#define ONCE(type, name, value)              \
	static type once_##name(void)        \
	{                                    \
		evaluations++;               \
		return value;                \
	}
ONCE(gex_TM_t, tm, AS(gex_TM_t, target))
ONCE(gex_Rank_t, rank, 71)
ONCE(gex_Token_t, token, AS(gex_Token_t, source))
ONCE(gex_AM_SrcDesc_t, sd, AS(gex_AM_SrcDesc_t, source))
ONCE(gex_AM_Index_t, handler, 201)
ONCE(const void *, src, source + 3)
ONCE(size_t, nbytes, 17)
ONCE(void *, dest, target + 5)
ONCE(gex_Event_t *, lc, &event)
ONCE(gex_Flags_t, flags, GEX_FLAG_IMMEDIATE)

#define WITH_0
#define WITH_1  , arg(0)
#define WITH_2  WITH_1, arg(1)
#define WITH_3  WITH_2, arg(2)
#define WITH_4  WITH_3, arg(3)
#define WITH_5  WITH_4, arg(4)
#define WITH_6  WITH_5, arg(5)
#define WITH_7  WITH_6, arg(6)
#define WITH_8  WITH_7, arg(7)
#define WITH_9  WITH_8, arg(8)
#define WITH_10 WITH_9, arg(9)
#define WITH_11 WITH_10, arg(10)
#define WITH_12 WITH_11, arg(11)
#define WITH_13 WITH_12, arg(12)
#define WITH_14 WITH_13, arg(13)
#define WITH_15 WITH_14, arg(14)
#define WITH_16 WITH_15, arg(15)

/* Call with m arguments behind fixed ones: was it the right one, and whole? */
static void
came_through(const char *call, unsigned m, int fixed, int line)
{
	unsigned i;

	check(seen.call != NULL && strcmp(seen.call, call) == 0, call, line);
	check(seen.nargs == m, "argument count", line);
	for (i = 0; i < m; i++)
		check(seen.args[i] == -1000 * TO(int, i) - 7, "argument value", line);
	check(evaluations == fixed + TO(int, m), "each argument is evaluated once", line);
	check(seen.handler == 201, "handler", line);
}

static void
start(int answer)
{
	memset(&seen, 0, sizeof(seen));
	evaluations = 0;
	seen.answer = answer;
}

static void
payload_came(int line)
{
	check(seen.src == source + 3 && seen.nbytes == 17, "payload", line);
}

static void
destination_came(int line)
{
	check(seen.dest == target + 5, "destination", line);
}

static void
request_came(int line)
{
	check(seen.tm == AS(gex_TM_t, target) && seen.rank == 71, "team and rank", line);
	check(seen.flags == GEX_FLAG_IMMEDIATE, "flags", line);
}

static void
reply_came(int line)
{
	check(seen.token == AS(gex_Token_t, source), "token", line);
	check(seen.flags == GEX_FLAG_IMMEDIATE, "flags", line);
}

#define WHERE once_tm(), once_rank(), once_handler()
#define BACK once_token(), once_handler()
#define LOAD once_src(), once_nbytes()

/* Both spellings of one EX call. */
#define EX(Name, m, fixed, also, ...)                                              \
	do {                                                                       \
		start(7);                                                          \
		CHECK(gex_AM_##Name##m(__VA_ARGS__ WITH_##m) == 7);                \
		came_through(#Name, m, fixed, __LINE__);                           \
		also;                                                              \
		start(0);                                                          \
		CHECK(gex_AM_##Name(__VA_ARGS__ WITH_##m) == 0);                   \
		came_through(#Name, m, fixed, __LINE__);                           \
		also;                                                              \
	} while (0)

#define EX_ALL(m)                                                                            \
	EX(RequestShort, m, 4, request_came(__LINE__), WHERE, once_flags());                    \
	EX(RequestMedium, m, 7, request_came(__LINE__); payload_came(__LINE__), WHERE, LOAD,    \
	   once_lc(), once_flags());                                                         \
	CHECK(seen.lc_opt == &event);                                                        \
	EX(RequestLong, m, 8, request_came(__LINE__); payload_came(__LINE__);                \
	   destination_came(__LINE__), WHERE, LOAD, once_dest(), once_lc(), once_flags());      \
	CHECK(seen.lc_opt == &event);                                                        \
	EX(ReplyShort, m, 3, reply_came(__LINE__), BACK, once_flags());                      \
	EX(ReplyMedium, m, 6, reply_came(__LINE__); payload_came(__LINE__), BACK, LOAD,      \
	   once_lc(), once_flags());                                                         \
	CHECK(seen.lc_opt == &event);                                                        \
	EX(ReplyLong, m, 7, reply_came(__LINE__); payload_came(__LINE__);                    \
	   destination_came(__LINE__), BACK, LOAD, once_dest(), once_lc(), once_flags());    \
	CHECK(seen.lc_opt == &event);

#define PREPARED once_sd(), once_handler(), once_nbytes()

static void
commit_came(gex_Flags_t flags, int line)
{
	check(seen.sd == AS(gex_AM_SrcDesc_t, source), "descriptor", line);
	check(seen.nbytes == 17, "payload", line);
	check(seen.flags == flags, "commit flags", line);
}

/* The four spellings of one Commit. */
#define COMMIT(Name, m, fixed, ...)                                                          \
	do {                                                                                 \
		start(7);                                                                    \
		gex_AM_##Name##m(__VA_ARGS__ WITH_##m);                                      \
		came_through(#Name, m, fixed, __LINE__);                                     \
		commit_came(0, __LINE__);                                                    \
		start(7);                                                                    \
		gex_AM_##Name(__VA_ARGS__ WITH_##m);                                         \
		came_through(#Name, m, fixed, __LINE__);                                     \
		commit_came(0, __LINE__);                                                    \
		start(7);                                                                    \
		CHECK(gex_AM_##Name##m##_v2(__VA_ARGS__, once_flags() WITH_##m) == 7);       \
		came_through(#Name, m, fixed + 1, __LINE__);                                 \
		commit_came(GEX_FLAG_IMMEDIATE, __LINE__);                                   \
		start(7);                                                                    \
		CHECK(gex_AM_##Name##_v2(__VA_ARGS__, once_flags() WITH_##m) == 7);          \
		came_through(#Name, m, fixed + 1, __LINE__);                                 \
		commit_came(GEX_FLAG_IMMEDIATE, __LINE__);                                   \
	} while (0)

#define COMMIT_ALL(m)                                                \
	COMMIT(CommitRequestMedium, m, 3, PREPARED);                 \
	COMMIT(CommitReplyMedium, m, 3, PREPARED);                   \
	COMMIT(CommitRequestLong, m, 4, PREPARED, once_dest());      \
	destination_came(__LINE__);                                  \
	COMMIT(CommitReplyLong, m, 4, PREPARED, once_dest());        \
	destination_came(__LINE__);

static unsigned int
count(unsigned int m)
{
	evaluations++;
	return m;
}

/* Legacy calls; those without a number are told the count. */
#define LEGACY(Name, Call, m, fixed, also, ...)                                    \
	do {                                                                       \
		start(0);                                                          \
		CHECK(gasnet_AM##Name##m(__VA_ARGS__ WITH_##m) == GASNET_OK);      \
		came_through(Call, m, fixed, __LINE__);                            \
		also;                                                              \
		start(0);                                                          \
		CHECK(gasnet_AM##Name(__VA_ARGS__, count(m) WITH_##m) == GASNET_OK); \
		came_through(Call, m, fixed + 1, __LINE__);                        \
		also;                                                              \
	} while (0)

static void
legacy_came(int line)
{
	check(seen.tm == PSI_TM_LEGACY && seen.rank == 71, "destination process", line);
	check(seen.flags == 0, "flags", line);
}

static void
legacy_payload_came(int line)
{
	payload_came(line);
	check(seen.lc_opt == GEX_EVENT_NOW, "local completion", line);
}

#define NODE once_rank(), once_handler()
#define LEGACY_ALL(m)                                                                         \
	LEGACY(RequestShort, "RequestShort", m, 2, legacy_came(__LINE__), NODE);              \
	LEGACY(RequestMedium, "RequestMedium", m, 4, legacy_came(__LINE__);                   \
	       legacy_payload_came(__LINE__), NODE, LOAD);                                    \
	LEGACY(RequestLong, "RequestLong", m, 5, legacy_came(__LINE__);                       \
	       legacy_payload_came(__LINE__); destination_came(__LINE__), NODE, LOAD,         \
	       once_dest());                                                                  \
	LEGACY(RequestLongAsync, "RequestLong", m, 5, legacy_came(__LINE__);                  \
	       legacy_payload_came(__LINE__); destination_came(__LINE__), NODE, LOAD,         \
	       once_dest());                                                                  \
	LEGACY(ReplyShort, "ReplyShort", m, 2, (void)0, BACK);                                \
	LEGACY(ReplyMedium, "ReplyMedium", m, 4, legacy_payload_came(__LINE__), BACK, LOAD);  \
	LEGACY(ReplyLong, "ReplyLong", m, 5, legacy_payload_came(__LINE__);                   \
	       destination_came(__LINE__), BACK, LOAD, once_dest());

#define FAMILY(m)                            \
	static void family_##m(void)         \
	{                                    \
		EX_ALL(m)                    \
		COMMIT_ALL(m)                \
		LEGACY_ALL(m)                \
	}
PSI_AM_EACH_COUNT(FAMILY)

/* Waiting: the condition is looked at once when true, and steps are ended. */
static int steps, ends;

void
psi_wait_step(struct psi_wait *wait)
{
	CHECK(wait->where != NULL && strstr(wait->where, "families.c:") != NULL);
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
#define SEGMENT 256
static unsigned char segment[SEGMENT + 16];
static uintptr_t owner_base;
static struct pst_peer peers[3];
static struct pst_inline table;
static uint64_t counts[2];
static int copies, library_calls;
static gex_Flags_t library_flags;

const struct pst_inline *pst_inline_v1;
#if GASNET_PAR
__thread uint64_t *psi_counts_self __attribute__((tls_model("initial-exec")));
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
	printf("families.c: a value of %u bytes\n", TO(unsigned, nbytes));
	abort();
}

static void
map_peers(void)
{
#if GASNET_PAR
	psi_counts_self = counts;
#endif
	owner_base = UINT64_C(0x7fff00001000);
	peers[1].base = owner_base;
	peers[1].size_bytes = SEGMENT;
	peers[1].offset = AS(uintptr_t, segment) - owner_base;
	table.abi = PSI_INLINE_ABI;
	table.size_bytes = sizeof(table);
	table.job_tm = AS(gex_TM_t, target);
	table.job_size = 3;
	table.peers = peers;
	table.copy = copy;
	table.counts = counts;
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
	counts[PSI_RMA_COUNT_PUTS] = counts[PSI_RMA_COUNT_GETS] = 0;
	CHECK(gex_RMA_PutBlocking(tm, 1, at(offset), out, nbytes, 0) == 0);
	CHECK(memcmp(segment + offset, out, nbytes) == 0);
	CHECK(segment[offset + nbytes] == 0xee);
	CHECK(offset == 0 || segment[offset - 1] == 0xee);
	CHECK(gex_RMA_GetBlocking(tm, in + 1, 1, at(offset), nbytes, 0) == 0);
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

	counts[PSI_RMA_COUNT_PUTS] = PSI_RMA_CALLS_PER_POLL - 1; /* the one that polls */
	CHECK(gex_RMA_PutBlocking(team, 1, at(0), source, 8, 0) == 31);
	CHECK(gex_RMA_PutBlocking(team, 1, at(0), source, 8, 0) == 0);
	CHECK(library_calls == 2);
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
	CHECK(gex_RMA_PutBlocking(AS(gex_TM_t, source), 1, at(0), source, 8, 0) == 31);
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

	for (op = GEX_OP_ADD; op <= GEX_OP_CAS; op <<= 1) {
		gex_OP_t fetching = GEX_OP_TO_FETCHING(op);

		CHECK(fetching > GEX_OP_USER_NC && GEX_OP_TO_FETCHING(fetching) == fetching);
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

/* Not reached here, but referred to by what is. */
const char PSI_LINK_CHECK[] = "", PSI_LINK_HEADERS[] = "", psi_mode_object[] = "";

#ifdef __cplusplus
}
#endif

#define RUN(m) family_##m();
int
main(void)
{
	PSI_AM_EACH_COUNT(RUN)
	waits();
	events();
	transfers();
	refusals();
	values();
	codes();
	pairs();
	if (failures)
		printf("%d failures\n", failures);
	return failures != 0;
}
