/*
 * The families of active messages in the headers, against a library of this
 * file's own that records what reaches it: each argument arrives once, where
 * it belongs, in every family and for every argument count.
 *
 * C99 and C++11 alike; inlines.c is the other half of the program.
 */
#include "families.h"

#ifdef __cplusplus
extern "C" {
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

int failures;
static int evaluations;

void
check_at(int good, const char *what, const char *file, int line)
{
	if (!good) {
		printf("%s:%d: %s\n", file, line, what);
		failures++;
	}
}

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
	inlines();
	atomics();
	if (failures)
		printf("%d failures\n", failures);
	return failures != 0;
}
