/* What arrives is checked, counted and answered. */
#include "tests/stress/storm.h"
#include "tests/stress/storm_plant.h"

#include "tests/lib/pt_args.h"

/* An answer's key, of its request's. */
#define ANSWER_KEY(key) ((key) ^ 0x5bd1e995u)

static void
check_payload(enum storm_kind kind, const char *buf, size_t nbytes, const gex_AM_Arg_t *args)
{
	PT_EQ(nbytes, kind == STORM_SHORT ? 0 : args[A_LENGTH]);
	if (nbytes)
		PT_MEM(buf, nbytes, (uint32_t)args[A_KEY]);
}

static void
plant_wrong(char *buf, size_t nbytes, gex_AM_Arg_t *args)
{
	if (nbytes && storm_planted(PLANT_BYTE))
		buf[nbytes / 2] ^= 1;
	if (storm_planted(PLANT_ARGUMENT))
		args[A_KEY] ^= 1;
}

/* ------------------------------------------------------------------------ requests --- */

static void
answer(gex_Token_t token, gex_Rank_t source, const gex_AM_Arg_t *args)
{
	const int want = args[A_WANT], who = args[A_WHO];
	struct storm_thread *self = storm_self;
	struct pt_rng rng = { (uint32_t)args[A_KEY] };
	struct storm_message m = {
		.token = token, .is_reply = 1, .kind = (enum storm_kind)(want & WANT_KIND),
		.wide = !!(want & WANT_WIDE), .immediate = !!(want & WANT_IMMEDIATE),
		.cancel = !!(want & WANT_CANCEL), .buffer = self->answer,
	};

	m.args[A_KEY] = (gex_AM_Arg_t)ANSWER_KEY((uint32_t)args[A_KEY]);
	m.args[A_WHO] = who;
	m.args[A_WANT] = want;
	if (m.kind != STORM_SHORT) {
		m.way = (enum storm_way)((want & WANT_WAY) >> WANT_WAY_SHIFT);
		m.len_bytes = storm_length(&rng, m.kind == STORM_LONG ? LONG_BYTES
		                                                      : storm.medium_bytes);
		m.dest = storm_answer_at(source, (unsigned)who & 255, (unsigned)who >> 8);
	}
	storm_seal(&m, source);
	if (m.kind == STORM_LONG) /* the last answer there may have been another thread's */
		PT_HAD_AGAIN(pt.peers[source].local + ((char *)m.dest - pt.peers[source].owner));
	if (storm_send(&m, self))
		return;
	m.immediate = m.cancel = 0;
	PT_CHECK(storm_send(&m, self));
}

static void
on_request(gex_Token_t token, enum storm_kind kind, char *buf, size_t nbytes,
           gex_AM_Arg_t *args, unsigned nargs)
{
	gex_Rank_t source = pt_source(token);
	const int want = args[A_WANT];

	if (storm_planted(PLANT_LOST))
		return;
	plant_wrong(buf, nbytes, args);
	storm_check(args, nargs, source);
	check_payload(kind, buf, nbytes, args);
	if (kind == STORM_LONG)
		PT_PTR(buf, storm_long_at(pt.rank, source, (unsigned)args[A_WHO] & 255));
	storm_tally_add(&storm.got[source], (uint32_t)args[A_KEY]);
	if (storm_planted(PLANT_TWICE))
		storm_tally_add(&storm.got[source], (uint32_t)args[A_KEY]);
	if (want & WANT_PAUSE)
		storm_pause(&storm_self->rng);
	if ((want & WANT_KIND) != STORM_KINDS)
		answer(token, source, args);
}

/* ------------------------------------------------------------------------- replies --- */

/* The entry is its thread's again. */
static void
answered(void *context)
{
	struct storm_entry *entry = (struct storm_entry *)context;
	struct storm_thread *owner = entry->owner;

	if (entry->is_long)
		PT_SET(owner->long_busy[entry->rank], 0);
	PT_SET(entry->waiting, 0);
	__atomic_sub_fetch(&owner->waiting, 1, __ATOMIC_ACQ_REL);
}

static void
on_reply(gex_Token_t token, enum storm_kind kind, char *buf, size_t nbytes,
         gex_AM_Arg_t *args, unsigned nargs)
{
	gex_Rank_t source = pt_source(token);
	const unsigned thread = (unsigned)args[A_WHO] & 255, index = (unsigned)args[A_WHO] >> 8;
	struct storm_entry *entry;

	plant_wrong(buf, nbytes, args);
	storm_check(args, nargs, source);
	PT_CHECK(thread < storm.threads && index < ENTRIES);
	entry = &storm.thread[thread].entry[index];
	PT_EQ(PT_GET(entry->waiting), 1);
	PT_EQ((uint32_t)args[A_KEY], ANSWER_KEY(entry->key));
	PT_EQ(args[A_WANT], entry->want);
	PT_EQ(source, entry->rank);
	PT_EQ(kind, entry->want & WANT_KIND);
	PT_EQ(nargs == WIDE, !!(entry->want & WANT_WIDE));
	check_payload(kind, buf, nbytes, args);
	if (kind == STORM_LONG)
		PT_PTR(buf, storm_answer_at(pt.rank, thread, index));
	if (storm_planted(PLANT_WAKE))
		storm_behind_its_back(answered, entry);
	else
		answered(entry);
	if (storm_planted(PLANT_TWICE_ANSWERED))
		on_reply(token, kind, buf, nbytes, args, nargs);
}

/* ------------------------------------------------------- by kind and number of arguments --- */

#define SHORT_HANDLER(name, on, count)                                              \
	static void name(gex_Token_t token PT_PARAMS##count)                        \
	{                                                                           \
		gex_AM_Arg_t args[] = { LIST##count };                              \
		on(token, STORM_SHORT, NULL, 0, args, count);                       \
	}
#define PAYLOAD_HANDLER(name, on, kind, count)                                              \
	static void name(gex_Token_t token, void *buf, size_t nbytes PT_PARAMS##count)      \
	{                                                                                   \
		gex_AM_Arg_t args[] = { LIST##count };                                      \
		on(token, kind, (char *)buf, nbytes, args, count);                          \
	}
#define LIST5  a0, a1, a2, a3, a4
#define LIST16 LIST5, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15

SHORT_HANDLER(req_short, on_request, 5)
SHORT_HANDLER(req_short_wide, on_request, 16)
PAYLOAD_HANDLER(req_medium, on_request, STORM_MEDIUM, 5)
PAYLOAD_HANDLER(req_medium_wide, on_request, STORM_MEDIUM, 16)
PAYLOAD_HANDLER(req_long, on_request, STORM_LONG, 5)
PAYLOAD_HANDLER(req_long_wide, on_request, STORM_LONG, 16)
SHORT_HANDLER(rep_short, on_reply, 5)
SHORT_HANDLER(rep_short_wide, on_reply, 16)
PAYLOAD_HANDLER(rep_medium, on_reply, STORM_MEDIUM, 5)
PAYLOAD_HANDLER(rep_medium_wide, on_reply, STORM_MEDIUM, 16)
PAYLOAD_HANDLER(rep_long, on_reply, STORM_LONG, 5)
PAYLOAD_HANDLER(rep_long_wide, on_reply, STORM_LONG, 16)

gex_AM_Entry_t storm_handlers[] = {
	PT_HANDLER(REQ_SHORT, req_short, PT_REQ_SHORT, NARROW),
	PT_HANDLER(REQ_SHORT + 1, req_short_wide, PT_REQ_SHORT, WIDE),
	PT_HANDLER(REQ_MEDIUM, req_medium, PT_REQ_MEDIUM, NARROW),
	PT_HANDLER(REQ_MEDIUM + 1, req_medium_wide, PT_REQ_MEDIUM, WIDE),
	PT_HANDLER(REQ_LONG, req_long, PT_REQ_LONG, NARROW),
	PT_HANDLER(REQ_LONG + 1, req_long_wide, PT_REQ_LONG, WIDE),
	PT_HANDLER(REP_SHORT, rep_short, PT_REP_SHORT, NARROW),
	PT_HANDLER(REP_SHORT + 1, rep_short_wide, PT_REP_SHORT, WIDE),
	PT_HANDLER(REP_MEDIUM, rep_medium, PT_REP_MEDIUM, NARROW),
	PT_HANDLER(REP_MEDIUM + 1, rep_medium_wide, PT_REP_MEDIUM, WIDE),
	PT_HANDLER(REP_LONG, rep_long, PT_REP_LONG, NARROW),
	PT_HANDLER(REP_LONG + 1, rep_long_wide, PT_REP_LONG, WIDE),
};
const size_t storm_handlers_count = PT_COUNT(storm_handlers);
