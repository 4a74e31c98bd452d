/*
 * Every number of arguments, in both directions.  The including program
 * defines ARGS_FORMS, ARGS_FIRST and for each M the functions
 *
 *     send_short_M(form, rank, index, key)          answer_short_M(form, token, index, key)
 *     send_medium_M(form, rank, index, buf, nbytes, key)      answer_medium_M(...)
 *     send_long_M(form, rank, index, buf, nbytes, dest, key)  answer_long_M(...)
 *
 * which send arguments PT_VALS##M(key).  `form` selects the spelling of the
 * call; all ranks use the same one at the same time.
 */
#include "tests/lib/pt.h"
#include "tests/lib/pt_args.h"

enum { SHORT, MEDIUM, LONG, CATEGORIES };
enum { REQUEST, REPLY, DIRECTIONS };
enum { NARGS = 17, SLOT_BYTES = 64 };

static PT_OWN volatile int form;
static PT_OWN pt_count replies;

static uint32_t
message_key(int category, int direction, unsigned nargs, gex_Rank_t source)
{
	uint32_t kind = (uint32_t)((form * CATEGORIES + category) * DIRECTIONS + direction);

	return (kind * NARGS + nargs) * 64 + source;
}

static gex_AM_Index_t
handler_index(int category, int direction, unsigned nargs)
{
	return (gex_AM_Index_t)(128u + (unsigned)(category * DIRECTIONS + direction) * NARGS +
	                        nargs);
}

static size_t
payload_bytes(unsigned nargs)
{
	return 8 + nargs;
}

/* Where a Long of `source` lands at `target`; requests and replies apart. */
static char *
landing(gex_Rank_t target, gex_Rank_t source, int direction, unsigned nargs)
{
	size_t slot = ((size_t)source * DIRECTIONS + (size_t)direction) * NARGS + nargs;

	return pt.peers[target].owner + slot * SLOT_BYTES;
}

static void
check_args(uint32_t key, unsigned nargs, const gex_AM_Arg_t *got)
{
	for (unsigned i = 0; i < nargs; i++)
		PT_EQ(got[i], pt_arg(key, i));
}

static uint32_t
check_message(gex_Token_t token, int category, int direction, unsigned nargs,
              const gex_AM_Arg_t *got)
{
	uint32_t key = message_key(category, direction, nargs, pt_source(token));

	check_args(key, nargs, got + 1);
	return key;
}

static void
check_medium(gex_Token_t token, int direction, unsigned nargs, const gex_AM_Arg_t *got,
             const void *buf, size_t nbytes)
{
	uint32_t key = check_message(token, MEDIUM, direction, nargs, got);

	PT_EQ(nbytes, payload_bytes(nargs));
	PT_MEM(buf, nbytes, key);
}

static void
check_long(gex_Token_t token, int direction, unsigned nargs, const gex_AM_Arg_t *got,
           const void *buf, size_t nbytes)
{
	uint32_t key = check_message(token, LONG, direction, nargs, got);

	PT_PTR(buf, landing(pt.rank, pt_source(token), direction, nargs));
	PT_EQ(nbytes, payload_bytes(nargs));
	PT_MEM(buf, nbytes, key);
}

#define DEFINE_HANDLERS(M)                                                                         \
	static void reply_short_##M(gex_Token_t token PT_PARAMS##M)                                \
	{                                                                                          \
		const gex_AM_Arg_t got[] = { 0 PT_NAMES##M };                                      \
		check_message(token, SHORT, REPLY, M, got);                                        \
		PT_INC(replies);                                                                   \
	}                                                                                          \
	static void reply_medium_##M(gex_Token_t token, void *buf, size_t nbytes PT_PARAMS##M)     \
	{                                                                                          \
		const gex_AM_Arg_t got[] = { 0 PT_NAMES##M };                                      \
		check_medium(token, REPLY, M, got, buf, nbytes);                                   \
		PT_INC(replies);                                                                   \
	}                                                                                          \
	static void reply_long_##M(gex_Token_t token, void *buf, size_t nbytes PT_PARAMS##M)       \
	{                                                                                          \
		const gex_AM_Arg_t got[] = { 0 PT_NAMES##M };                                      \
		check_long(token, REPLY, M, got, buf, nbytes);                                     \
		PT_INC(replies);                                                                   \
	}                                                                                          \
	static void request_short_##M(gex_Token_t token PT_PARAMS##M)                              \
	{                                                                                          \
		const gex_AM_Arg_t got[] = { 0 PT_NAMES##M };                                      \
		check_message(token, SHORT, REQUEST, M, got);                                      \
		answer_short_##M(form, token, handler_index(SHORT, REPLY, M),                      \
		                 message_key(SHORT, REPLY, M, pt.rank));                           \
	}                                                                                          \
	static void request_medium_##M(gex_Token_t token, void *buf, size_t nbytes PT_PARAMS##M)   \
	{                                                                                          \
		const gex_AM_Arg_t got[] = { 0 PT_NAMES##M };                                      \
		uint32_t key = message_key(MEDIUM, REPLY, M, pt.rank);                             \
		char payload[SLOT_BYTES];                                                          \
		check_medium(token, REQUEST, M, got, buf, nbytes);                                 \
		pt_fill(payload, payload_bytes(M), key);                                           \
		answer_medium_##M(form, token, handler_index(MEDIUM, REPLY, M), payload,           \
		                  payload_bytes(M), key);                                          \
	}                                                                                          \
	static void request_long_##M(gex_Token_t token, void *buf, size_t nbytes PT_PARAMS##M)     \
	{                                                                                          \
		const gex_AM_Arg_t got[] = { 0 PT_NAMES##M };                                      \
		uint32_t key = message_key(LONG, REPLY, M, pt.rank);                               \
		char payload[SLOT_BYTES];                                                          \
		check_long(token, REQUEST, M, got, buf, nbytes);                                   \
		pt_fill(payload, payload_bytes(M), key);                                           \
		answer_long_##M(form, token, handler_index(LONG, REPLY, M), payload,               \
		                payload_bytes(M), landing(pt_source(token), pt.rank, REPLY, M),    \
		                key);                                                              \
	}                                                                                          \
	static void send_##M(int category, gex_Rank_t rank)                                        \
	{                                                                                          \
		uint32_t key = message_key(category, REQUEST, M, pt.rank);                         \
		gex_AM_Index_t index = handler_index(category, REQUEST, M);                        \
		char payload[SLOT_BYTES];                                                          \
		pt_fill(payload, payload_bytes(M), key);                                           \
		if (category == SHORT)                                                             \
			send_short_##M(form, rank, index, key);                                    \
		else if (category == MEDIUM)                                                       \
			send_medium_##M(form, rank, index, payload, payload_bytes(M), key);        \
		else                                                                               \
			send_long_##M(form, rank, index, payload, payload_bytes(M),                \
			              landing(rank, pt.rank, REQUEST, M), key);                    \
	}
PT_EACH(DEFINE_HANDLERS)

static void
send_message(int category, unsigned nargs, gex_Rank_t rank)
{
	switch (nargs) {
#define CASE(M)                                                                                    \
	case M:                                                                                    \
		send_##M(category, rank);                                                          \
		break;
		PT_EACH(CASE)
#undef CASE
	}
}

enum { ENTRIES = (int)CATEGORIES * (int)DIRECTIONS * (int)NARGS };

static PT_OWN gex_AM_Entry_t table[ENTRIES];

static void
add_entry(int category, int direction, unsigned nargs, gex_AM_Fn_t fn)
{
	static const gex_Flags_t categories[] = { GEX_FLAG_AM_SHORT, GEX_FLAG_AM_MEDIUM,
		                                  GEX_FLAG_AM_LONG };
	static const gex_Flags_t directions[] = { GEX_FLAG_AM_REQUEST, GEX_FLAG_AM_REPLY };
	gex_AM_Index_t index = handler_index(category, direction, nargs);
	gex_AM_Entry_t *entry = &table[index - 128];

	entry->gex_index = index;
	entry->gex_fnptr = fn;
	entry->gex_flags = categories[category] | directions[direction];
	entry->gex_nargs = nargs;
}

static void
fill_table(void)
{
#define ADD(M)                                                                                     \
	add_entry(SHORT, REQUEST, M, (gex_AM_Fn_t)request_short_##M);                              \
	add_entry(SHORT, REPLY, M, (gex_AM_Fn_t)reply_short_##M);                                  \
	add_entry(MEDIUM, REQUEST, M, (gex_AM_Fn_t)request_medium_##M);                            \
	add_entry(MEDIUM, REPLY, M, (gex_AM_Fn_t)reply_medium_##M);                                \
	add_entry(LONG, REQUEST, M, (gex_AM_Fn_t)request_long_##M);                                \
	add_entry(LONG, REPLY, M, (gex_AM_Fn_t)reply_long_##M);
	PT_EACH(ADD)
#undef ADD
}

static void
exchange_all(void)
{
	for (unsigned nargs = 0; nargs < NARGS; nargs++) {
		for (gex_Rank_t rank = 0; rank < pt.size; rank++) {
			for (int category = ARGS_FIRST; category < CATEGORIES; category++) {
				int before = PT_GET(replies);

				send_message(category, nargs, rank);
				GASNET_BLOCKUNTIL(PT_GET(replies) == before + 1);
			}
		}
	}
}

static void
args_main(int *argc, char ***argv, gex_Flags_t flags)
{
	int want = 0;

	fill_table();
	pt_init(argc, argv, flags);
	PT_LE(16, gex_AM_MaxArgs());
	pt_attach(table, PT_COUNT(table), (size_t)pt.size * DIRECTIONS * NARGS * SLOT_BYTES);
	for (int next = 0; next < ARGS_FORMS; next++) {
		form = next;
		pt_barrier(); /* everyone uses the new form from here on */
		exchange_all();
		want += ((int)CATEGORIES - (int)ARGS_FIRST) * (int)NARGS * (int)pt.size;
		PT_EQ(PT_GET(replies), want);
		pt_barrier(); /* nobody answers in the old form any more */
	}
	pt_finish();
}
