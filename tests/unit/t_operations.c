/*
 * The table of the contract: a conduit's operations over those of the reference, over
 * `unsupported'; and what the runtime asks of an operation and makes of its cookies, shown by a
 * conduit that puts.
 */
#include "runtime/conduit/conduits.h"
#include "runtime/job/modules.h"
#include "runtime/op/begin.h"
#include "runtime/process/process.h"
#include "runtime/segment/reach.h"
#include "runtime/signal/put_signal.h"
#include "runtime/team/team.h"
#include "runtime/vis/vis.h"
#include "runtime/wait/waiting.h"
#include "tests/unit/capture.h"
#include "tests/unit/main.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* Where the peer says that its segment lies; nothing is there. */
enum { PEER = 1, BASE = 0x100000, SIZE = 4096, KEY = 77, OFFSET = 40 };

static struct gex_EP_s ep;
static struct gex_TM_s tm;
static char *const there = (char *)(uintptr_t)(BASE + OFFSET);

/* What the conduit was asked, and what its next poll hands back. */
static struct {
	unsigned puts, sends, polls, refusals;
	bool has_no_room;               /* sends are counted against room */
	unsigned room, room_each_poll;  /* that are accepted; that a poll adds */
	bool in_operation;
	char there[SIZE];               /* the peer's segment, as the messages make it */
	struct psi_transfer put;
	struct psi_long the_long;
	struct psi_am sent;
	int32_t args[PSI_MAX_ARGS];
	uint64_t completes[2];
} fake;

static int
fake_put(struct psi_port *port, const struct psi_transfer *transfer)
{
	(void)port;
	fake.puts++;
	if (fake.refusals) {
		fake.refusals--;
		return PSI_AGAIN;
	}
	fake.put = *transfer;
	return PSI_OK;
}

/* Where a piece of a Long goes. */
static void *
there_of(const struct psi_am *piece)
{
	return fake.there + psi_part_of(piece->args[1], piece->args[2]);
}

/* Does what the peer would do with the messages of Longs and of puts of many pieces. */
static void
receive(const struct psi_am *am)
{
	const char *bytes = am->payload;

	if (am->handler == PSI_HANDLER_LONG_PIECE) {
		memcpy(there_of(am), am->payload, am->len_bytes);
	} else if (am->handler == PSI_HANDLER_VIS_PUT) {
		const struct psi_run *runs = am->payload;

		bytes = (const char *)(runs + am->args[2]);
		for (int32_t i = 0; i < am->args[2]; i++)
			for (size_t k = 0; k < runs[i].count; k++, bytes += runs[i].len)
				memcpy(fake.there + runs[i].addr +
				               k * (uintptr_t)runs[i].stride,
				       bytes, runs[i].len);
	}
}

static int
fake_send(struct psi_port *port, const struct psi_am *am)
{
	(void)port;
	if (fake.has_no_room && !fake.room)
		return PSI_AGAIN;
	fake.room--;
	fake.sends++;
	receive(am);
	fake.sent = *am;
	memcpy(fake.args, am->args, am->nargs * sizeof *am->args);
	return PSI_OK;
}

/* Of pieces it keeps what the descriptor points to, and moves them in its next poll; it reads sides
 * by services alone, as one does that has no undefined symbol. */
static const struct psi_services served = {
	.cursor_open = psi_cursor_open, .cursor_look = psi_cursor_look,
	.cursor_take = psi_cursor_take, .completed = psi_completed,
};

static struct {
	struct psi_vis_operation vis;
	struct psi_side there, here;
	struct psi_nest nests[2];
} kept;

static int
fake_vis(struct psi_port *port, const struct psi_vis_operation *vis)
{
	(void)port;
	ck_assert_uint_le(psi_side_room_bytes(vis->there), sizeof kept.nests[0]);
	kept.vis = *vis;
	kept.there = psi_side_copy(vis->there, &kept.nests[0]);
	kept.here = psi_side_copy(vis->here, &kept.nests[1]);
	return PSI_OK;
}

/* Moves the first bytes of both runs, as many as both have in one piece. */
static size_t
move_piece(const struct psi_run *theirs, const struct psi_run *ours)
{
	const size_t len = theirs->len < ours->len ? theirs->len : ours->len;
	char *at = fake.there + theirs->addr, *here = (char *)ours->addr;

	ck_assert_uint_le(theirs->addr + len, SIZE);
	memcpy(kept.vis.is_put ? at : here, kept.vis.is_put ? here : at, len);
	return len;
}

static void
move_kept(void)
{
	struct psi_cursor at, from;
	struct psi_run theirs, ours;
	size_t moved = 0;

	served.cursor_open(&at, &kept.there, (struct psi_position){ 0, 0 });
	served.cursor_open(&from, &kept.here, (struct psi_position){ 0, 0 });
	while (served.cursor_look(&at, &theirs) && served.cursor_look(&from, &ours)) {
		const size_t len = move_piece(&theirs, &ours);

		served.cursor_take(&at, len, 1);
		served.cursor_take(&from, len, 1);
		moved += len;
	}
	ck_assert_uint_eq(moved, kept.vis.len_bytes);
	served.completed(kept.vis.cookie);
	kept.vis.cookie = 0;
}

static unsigned
fake_poll(struct psi_port *port, unsigned networks, unsigned budget)
{
	(void)port, (void)networks, (void)budget;
	ck_assert_msg(!fake.in_operation, "an operation of the table polls");
	fake.polls++;
	fake.room += fake.room_each_poll;
	if (kept.vis.cookie)
		move_kept();
	for (unsigned i = 0; i < 2; i++) {
		if (fake.completes[i])
			psi_completed(fake.completes[i]);
		fake.completes[i] = 0;
	}
	return 0;
}

static size_t
fake_max_medium(struct psi_port *port, uint32_t peer, unsigned network, unsigned nargs)
{
	(void)port, (void)peer, (void)network, (void)nargs;
	return 512;
}

static bool
fake_probe(const struct psi_services *services, char *reason, size_t reason_bytes)
{
	(void)services, (void)reason, (void)reason_bytes;
	return true;
}

static int
fake_open(const struct psi_services *services, const struct psi_conduit_job *job,
          struct psi_attributes *attributes_out, struct psi_conduit **conduit_out)
{
	(void)services, (void)job, (void)attributes_out, (void)conduit_out;
	return PSI_OK;
}

static int
fake_port_open(struct psi_conduit *conduit, uint32_t place, bool serial, void *owner,
               struct psi_port **port_out)
{
	(void)conduit, (void)place, (void)serial, (void)owner, (void)port_out;
	return PSI_OK;
}

static int
fake_connect(struct psi_conduit *conduit)
{
	(void)conduit;
	return PSI_OK;
}

#define FAKE_REQUIRED \
	.name = "fake", .probe = fake_probe, .open = fake_open, .port_open = fake_port_open, \
	.connect = fake_connect, .am_max_medium = fake_max_medium, .am_send = fake_send, \
	.poll = fake_poll

static const struct psi_conduit_ops that_puts = { FAKE_REQUIRED, .put = fake_put };
static const struct psi_conduit_ops that_sends = { FAKE_REQUIRED };
static const struct psi_conduit_ops that_moves_pieces = { FAKE_REQUIRED, .vis = fake_vis };

static const struct psi_module *
reference_module(void)
{
	for (const struct psi_module *const *at = psi_modules; *at; at++)
		if ((*at)->operations)
			return *at;
	ck_abort_msg("no part has operations");
	return NULL;
}

static const struct psi_conduit_ops *
reference(void)
{
	return reference_module()->operations;
}

/* A job of two ranks, of which the other has a segment that this process cannot map. */
static void
set_up(const struct psi_conduit_ops *conduit, const struct psi_conduit_ops *below)
{
	static const uint32_t host_of[2] = { 0, 1 };

	memset(&fake, 0, sizeof fake);
	psi.boot = (struct pboot_job){ .size = 2, .host_count = 2, .host_of = host_of };
	psi.places = tm.size = 2;
	psi_hosts_open();
	psi.shared = calloc(1, psi_shared_bytes(2, 0));
	psi.peers = calloc((size_t)2 * GASNET_MAXEPS, sizeof *psi.peers);
	psi.known = calloc((size_t)2 * GASNET_MAXEPS, sizeof *psi.known);
	ck_assert(psi.shared && psi.peers && psi.known);
	psi.known[PEER] =
		(struct psi_segment_entry){ .base = BASE, .size_bytes = SIZE, .key = KEY };
	psi.modules = psi_modules;
	ck_assert_ptr_null(psi_conduit_lay(conduit, below, &psi.ops));
	ep.ops = psi.ops;
	tm.ep = psi.ep = &ep;
	psi.tm = &tm;
	psi.cpus = 2;                   /* one for each */
	psi.thread_mode = PSI_MODE_PARSYNC;
	psi.open = true;
}

START_TEST(the_table_has_no_holes)
{
	const struct psi_conduit_ops *table;
	const size_t first = offsetof(struct psi_conduit_ops, probe);
	void (*operation)(void);

	for (unsigned i = 0; i < 2; i++) {
		ck_assert_ptr_null(psi_conduit_lay(&that_sends, i ? reference() : NULL, &table));
		for (size_t at = first; at < sizeof *table; at += sizeof operation) {
			memcpy(&operation, (const char *)table + at, sizeof operation);
			ck_assert_msg(operation != NULL, "a hole at byte %zu", at);
		}
	}
}
END_TEST

START_TEST(the_conduit_lies_over_the_reference_and_that_over_unsupported)
{
	const struct psi_conduit_ops *table;
	const struct psi_conduit_ops bare = { .put = fake_put };
	const struct psi_transfer transfer = { .len_bytes = 1 };

	ck_assert_ptr_null(psi_conduit_lay(&that_puts, reference(), &table));
	ck_assert(table->put == fake_put);
	ck_assert(table->get == reference()->get && table->get);
	ck_assert(table->vis == reference()->vis && table->vis);
	ck_assert_ptr_null(psi_conduit_lay(&that_puts, NULL, &table));
	ck_assert(table->put == fake_put);
	ck_assert_int_eq(table->get(NULL, &transfer), PSI_UNSUPPORTED);
	ck_assert_int_eq(table->fill(NULL, &transfer), PSI_UNSUPPORTED);
	ck_assert_int_eq(table->vis(NULL, NULL), PSI_UNSUPPORTED);
	ck_assert_int_eq(table->atomic(NULL, NULL), PSI_UNSUPPORTED);
	ck_assert_int_eq(table->signal(NULL, NULL), PSI_UNSUPPORTED);
	ck_assert_int_eq(table->put_signal(NULL, NULL, NULL), PSI_UNSUPPORTED);
	ck_assert_int_eq(table->am_long(NULL, NULL), PSI_UNSUPPORTED);
	ck_assert_str_eq(psi_conduit_lay(&bare, NULL, &table), "probe");
}
END_TEST

START_TEST(a_put_names_key_offset_and_cookie_and_ends_with_the_cookie)
{
	char source[8] = "1234567";
	gex_Event_t event;

	set_up(&that_puts, reference());
	event = gex_RMA_PutNB(&tm, PEER, there, source, sizeof source, GEX_EVENT_DEFER, 0);
	ck_assert_uint_eq(fake.puts, 1);
	ck_assert_uint_eq(fake.sends, 0);
	ck_assert_uint_eq(fake.put.remote.peer, PEER);
	ck_assert_uint_eq(fake.put.remote.key, KEY);
	ck_assert_uint_eq(fake.put.remote.offset, OFFSET);
	ck_assert_ptr_eq(fake.put.owner, &ep);
	ck_assert_ptr_eq(fake.put.here, source);
	ck_assert_uint_eq(fake.put.len_bytes, sizeof source);
	ck_assert_uint_ne(fake.put.cookie, 0);
	ck_assert_uint_eq(fake.put.read_cookie, 0);
	ck_assert_ptr_ne(event, GEX_EVENT_INVALID);
	ck_assert_int_ne(gex_Event_Test(event), GASNET_OK);
	fake.completes[0] = fake.put.cookie;
	gex_Event_Wait(event);
	ck_assert_uint_gt(fake.polls, 0);
}
END_TEST

START_TEST(a_source_is_read_when_its_own_cookie_says_so)
{
	char source[8] = "1234567";
	gex_Event_t event, leaf;

	set_up(&that_puts, reference());
	event = gex_RMA_PutNB(&tm, PEER, there, source, sizeof source, &leaf, 0);
	ck_assert_uint_ne(fake.put.read_cookie, 0);
	ck_assert_int_ne(gex_Event_Test(leaf), GASNET_OK);
	fake.completes[0] = fake.put.read_cookie;
	gex_Event_Wait(leaf);
	ck_assert_int_ne(gex_Event_Test(event), GASNET_OK);
	fake.completes[0] = fake.put.cookie;
	gex_Event_Wait(event);
}
END_TEST

START_TEST(what_finds_no_room_is_tried_again_and_what_may_not_wait_refused)
{
	char source[8] = "1234567";
	gex_Event_t event;

	set_up(&that_puts, reference());
	fake.refusals = 1;
	event = gex_RMA_PutNB(&tm, PEER, there, source, sizeof source, GEX_EVENT_DEFER,
	                      GEX_FLAG_IMMEDIATE);
	ck_assert_ptr_eq(event, GEX_EVENT_NO_OP);
	ck_assert_uint_eq(fake.puts, 1);
	fake.refusals = 3;
	event = gex_RMA_PutNB(&tm, PEER, there, source, sizeof source, GEX_EVENT_DEFER, 0);
	ck_assert_uint_eq(fake.puts, 5);
	ck_assert_uint_ge(fake.polls, 3);
	fake.completes[0] = fake.put.cookie;
	gex_Event_Wait(event);
}
END_TEST

START_TEST(what_the_conduit_lacks_goes_by_messages_that_hold_offsets)
{
	char here[8];
	gex_Event_t event;

	set_up(&that_puts, reference());
	event = gex_RMA_GetNB(&tm, here, PEER, there, sizeof here, 0);
	ck_assert_uint_eq(fake.puts, 0);
	ck_assert_uint_eq(fake.sends, 1);
	ck_assert_uint_eq(fake.sent.handler, PSI_HANDLER_GET);
	ck_assert_uint_eq(psi_part_of(fake.args[0], fake.args[1]), OFFSET);
	ck_assert_int_eq(fake.args[2], sizeof here);
	fake.completes[0] = psi_part_of(fake.args[5], fake.args[6]);
	gex_Event_Wait(event);
}
END_TEST

/* -- operations that find no room -------------------------------------------------------------- */

enum { PIECES = 40, PIECE = 64, STEP = 100, WHOLE = PIECES * PIECE };

static char source[WHOLE];

/* The table, with a note of when an operation runs. */
static const struct psi_conduit_ops *laid;
static struct psi_conduit_ops watched;

static int
watch_over(int result)
{
	fake.in_operation = false;
	return result;
}

#define WATCH(name, parameters, arguments) \
	static int watch_##name parameters \
	{ \
		fake.in_operation = true; \
		return watch_over(laid->name arguments); \
	}
#define WATCH_ONE(name, descriptor) \
	WATCH(name, (struct psi_port *port, descriptor *what), (port, what))
WATCH_ONE(put, const struct psi_transfer)
WATCH_ONE(get, const struct psi_transfer)
WATCH_ONE(fill, const struct psi_transfer)
WATCH_ONE(vis, const struct psi_vis_operation)
WATCH_ONE(atomic, const struct psi_word_operation)
WATCH_ONE(signal, const struct psi_signal_operation)
WATCH_ONE(am_long, struct psi_long)
WATCH(put_signal, (struct psi_port *port, const struct psi_transfer *transfer,
                   const struct psi_signal_operation *signal), (port, transfer, signal))

static void
fill_source(void)
{
	for (size_t i = 0; i < sizeof source; i++)
		source[i] = (char)(i % 251);
}

/* All by the reference, over a conduit that has no room for messages but what tests give it. */
static void
set_up_without_room(void)
{
	set_up(&that_sends, reference());
	psi.attributes.max_medium_bytes = 512;
	reference_module()->open();
	laid = psi.ops;
	watched = *laid;
	watched.put = watch_put;
	watched.get = watch_get;
	watched.fill = watch_fill;
	watched.vis = watch_vis;
	watched.atomic = watch_atomic;
	watched.signal = watch_signal;
	watched.put_signal = watch_put_signal;
	watched.am_long = watch_am_long;
	psi.ops = ep.ops = &watched;
	fake.has_no_room = true;
	fill_source();
}

static struct psi_op *op;

static uint64_t
part(void)
{
	op = psi_op_begin(false);
	return psi_op_part(op, PSI_PART_PUT);
}

static struct psi_transfer
transfer_of(bool immediate)
{
	return (struct psi_transfer){ .remote = { PEER, KEY, 0 }, .owner = &ep, .here = source,
		                      .len_bytes = sizeof source, .cookie = part(),
		                      .immediate = immediate };
}

static int
start_put(bool immediate)
{
	const struct psi_transfer transfer = transfer_of(immediate);

	return psi.ops->put(NULL, &transfer);
}

static int
start_get(bool immediate)
{
	const struct psi_transfer transfer = transfer_of(immediate);

	return psi.ops->get(NULL, &transfer);
}

static int
start_fill(bool immediate)
{
	struct psi_transfer transfer = transfer_of(immediate);

	transfer.here = NULL;
	return psi.ops->fill(NULL, &transfer);
}

static int
start_atomic(bool immediate)
{
	static uint64_t result;
	const struct psi_word_operation word = {
		.remote = { PEER, KEY, 0 }, .owner = &ep, .op = GEX_OP_ADD, .operand1 = 1,
		.result = &result, .cookie = part(), .immediate = immediate,
	};

	return psi.ops->atomic(NULL, &word);
}

static const struct psi_signal_operation the_signal = {
	.remote = { PEER, KEY, 0 }, .owner = &ep, .what = PST_SIGNAL_SEM, .n = 1,
};

static int
start_signal(bool immediate)
{
	(void)immediate;
	return psi.ops->signal(NULL, &the_signal);
}

static int
start_put_signal(bool immediate)
{
	struct psi_transfer transfer = transfer_of(immediate);

	transfer.len_bytes = 64;
	return psi.ops->put_signal(NULL, &transfer, &the_signal);
}

START_TEST(no_operation_polls_with_or_without_room)
{
	static int (*const start[])(bool) = { start_put, start_get, start_fill, start_atomic,
		                              start_signal, start_put_signal };

	set_up_without_room();
	for (size_t which = 0; which < sizeof start / sizeof *start; which++) {
		for (unsigned room = 0; room < 8; room++) {
			fake.room = room / 2;
			(void)start[which](room % 2);
			ck_assert_uint_eq(fake.polls, 0);
		}
		fake.room = 1000;
		psi_poll();
		fake.polls = 0;
	}
}
END_TEST

static gex_Event_t
put_pieces(gex_Flags_t flags)
{
	const ptrdiff_t strides[] = { STEP }, packed[] = { PIECE };
	const size_t count[] = { PIECES };

	return gex_VIS_StridedPutNB(&tm, PEER, (char *)(uintptr_t)BASE, strides, source, packed,
	                            PIECE, count, 1, flags);
}

static void
check_pieces(void)
{
	for (size_t i = 0; i < PIECES; i++)
		ck_assert_mem_eq(fake.there + i * STEP, source + i * PIECE, PIECE);
}

START_TEST(pieces_that_find_no_room_are_sent_by_polls)
{
	const unsigned room = (unsigned)_i;

	set_up_without_room();
	fake.room = room;
	ck_assert_ptr_ne(put_pieces(0), GEX_EVENT_NO_OP);
	ck_assert_uint_eq(fake.sends, room);
	fake.room_each_poll = 1;
	for (unsigned i = 0; i < 100; i++)
		psi_poll();
	check_pieces();
}
END_TEST

START_TEST(pieces_that_may_not_wait_are_refused_whole_or_sent_whole)
{
	set_up_without_room();
	ck_assert_ptr_eq(put_pieces(GEX_FLAG_IMMEDIATE), GEX_EVENT_NO_OP);
	ck_assert_uint_eq(fake.polls, 0);
	fake.room = 1;
	ck_assert_ptr_ne(put_pieces(GEX_FLAG_IMMEDIATE), GEX_EVENT_NO_OP);
	ck_assert_uint_eq(fake.polls, 0);
	ck_assert_uint_eq(fake.sends, 1);
	fake.room = 1000;
	psi_poll();
	check_pieces();
}
END_TEST

START_TEST(transfers_of_pieces_that_wait_are_bounded)
{
	set_up_without_room();
	for (unsigned i = 0; i < 64; i++)
		ck_assert_ptr_ne(put_pieces(0), GEX_EVENT_NO_OP);
	ck_assert_uint_eq(fake.sends, 0);
	ck_assert_ptr_eq(put_pieces(GEX_FLAG_IMMEDIATE), GEX_EVENT_NO_OP);
	fake.room_each_poll = 1;
	(void)put_pieces(0);
	ck_assert_uint_gt(fake.sends, 1);       /* one poll is every put's */
}
END_TEST

static int
send_long(gex_Flags_t flags)
{
	return gex_AM_RequestLong(&tm, PEER, GEX_AM_INDEX_BASE, source, sizeof source,
	                          (char *)(uintptr_t)BASE, GEX_EVENT_NOW, flags, 0);
}

static int
fake_long(struct psi_port *port, struct psi_long *message)
{
	(void)port;
	fake.the_long = *message;
	return message->state[0]++ ? PSI_OK : PSI_AGAIN;
}

START_TEST(a_long_names_key_and_offset_and_keeps_its_descriptor)
{
	const struct psi_conduit_ops that_sends_longs = { FAKE_REQUIRED, .am_long = fake_long };

	set_up(&that_sends_longs, reference());
	ck_assert_int_eq(gex_AM_RequestLong(&tm, PEER, GEX_AM_INDEX_BASE, source, 8, there,
	                                    GEX_EVENT_NOW, 0, 0), GASNET_OK);
	ck_assert_uint_eq(fake.the_long.dest.peer, PEER);
	ck_assert_uint_eq(fake.the_long.dest.key, KEY);
	ck_assert_uint_eq(fake.the_long.dest.offset, OFFSET);
	ck_assert_uint_eq(fake.the_long.state[0], 1);
	ck_assert_ptr_eq(fake.the_long.owner, &ep);
	ck_assert_uint_eq(fake.sends, 0);
}
END_TEST

START_TEST(a_long_waits_between_the_calls_of_its_operation)
{
	set_up_without_room();
	fake.room_each_poll = 1;
	ck_assert_int_eq(send_long(0), GASNET_OK);
	ck_assert_mem_eq(fake.there, source, sizeof source);
	ck_assert_uint_ge(fake.polls, fake.sends);
}
END_TEST

START_TEST(a_long_that_may_not_wait_is_refused_whole_or_sent_whole)
{
	char before[WHOLE];

	set_up_without_room();
	ck_assert_int_eq(send_long(GEX_FLAG_IMMEDIATE), GASNET_ERR_NOT_READY);
	ck_assert_uint_eq(fake.sends, 0);
	for (unsigned room = 1; room < 4; room++) {
		fake.sends = 0;
		fake.room = room;
		memset(fake.there, 0, sizeof fake.there);
		ck_assert_int_eq(send_long(GEX_FLAG_IMMEDIATE), GASNET_OK);
		ck_assert_uint_eq(fake.polls, 0);
		ck_assert_uint_eq(fake.sends, room);
		memcpy(before, source, sizeof before);
		memset(source, 0, sizeof source);       /* it has been read */
		fake.room = 1000;
		psi_poll();
		ck_assert_mem_eq(fake.there, before, sizeof before);
		memcpy(source, before, sizeof before);
		fake.polls = 0;
	}
}
END_TEST

/* -- pieces by a conduit ----------------------------------------------------------------------- */

START_TEST(a_conduit_reads_the_pieces_of_a_strided_put)
{
	gex_Event_t event;

	set_up(&that_moves_pieces, reference());
	fill_source();
	event = put_pieces(0);
	ck_assert_uint_eq(kept.vis.remote.peer, PEER);
	ck_assert_uint_eq(kept.vis.remote.key, KEY);
	ck_assert_uint_eq(kept.vis.remote.offset, 0);
	ck_assert_uint_eq(kept.vis.len_bytes, WHOLE);
	ck_assert(kept.vis.is_put);
	gex_Event_Wait(event);
	check_pieces();
	ck_assert_uint_eq(fake.sends, 0);
}
END_TEST

START_TEST(a_conduit_reads_the_pieces_of_a_get_by_lists)
{
	char here[WHOLE];
	gex_Memvec_t dst[] = { { here, 100 }, { here + 100, 0 }, { here + 200, 30 } };
	gex_Memvec_t src[] = { { (char *)(uintptr_t)BASE + 7, 60 },
		               { (char *)(uintptr_t)BASE + SIZE - 70, 70 } };
	gex_Event_t event;

	set_up(&that_moves_pieces, reference());
	fill_source();
	memcpy(fake.there, source, WHOLE);
	memcpy(fake.there + SIZE - 70, source, 70);
	event = gex_VIS_VectorGetNB(&tm, 3, dst, PEER, 2, src, 0);
	ck_assert_ptr_ne(event, GEX_EVENT_INVALID);
	gex_Event_Wait(event);
	ck_assert_mem_eq(here, source + 7, 60);
	ck_assert_mem_eq(here + 60, source, 40);
	ck_assert_mem_eq(here + 200, source + 40, 30);
}
END_TEST

/* -- an operation that nobody provides --------------------------------------------------------- */

static void
get_of_nobody(void)
{
	char here[8];

	set_up(&that_puts, NULL);
	gex_Event_Wait(gex_RMA_GetNB(&tm, here, PEER, there, sizeof here, 0));
}

START_TEST(an_operation_that_nobody_provides_ends_the_job_with_one_line)
{
	const char *line = "gex_RMA_GetNB: conduit fake has no operation `get'";
	static struct pt_child child;

	pt_child_start(&child, get_of_nobody);
	pt_child_end(&child);
	ck_assert(WIFSIGNALED(child.status));
	ck_assert_ptr_nonnull(strstr(child.text, line));
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("operations");

	tcase_add_test(tests, the_table_has_no_holes);
	tcase_add_test(tests, the_conduit_lies_over_the_reference_and_that_over_unsupported);
	tcase_add_test(tests, a_put_names_key_offset_and_cookie_and_ends_with_the_cookie);
	tcase_add_test(tests, a_source_is_read_when_its_own_cookie_says_so);
	tcase_add_test(tests, what_finds_no_room_is_tried_again_and_what_may_not_wait_refused);
	tcase_add_test(tests, what_the_conduit_lacks_goes_by_messages_that_hold_offsets);
	tcase_add_test(tests, no_operation_polls_with_or_without_room);
	tcase_add_loop_test(tests, pieces_that_find_no_room_are_sent_by_polls, 0, 4);
	tcase_add_test(tests, pieces_that_may_not_wait_are_refused_whole_or_sent_whole);
	tcase_add_test(tests, transfers_of_pieces_that_wait_are_bounded);
	tcase_add_test(tests, a_long_names_key_and_offset_and_keeps_its_descriptor);
	tcase_add_test(tests, a_long_waits_between_the_calls_of_its_operation);
	tcase_add_test(tests, a_long_that_may_not_wait_is_refused_whole_or_sent_whole);
	tcase_add_test(tests, a_conduit_reads_the_pieces_of_a_strided_put);
	tcase_add_test(tests, a_conduit_reads_the_pieces_of_a_get_by_lists);
	tcase_add_test(tests, an_operation_that_nobody_provides_ends_the_job_with_one_line);
	return unit_run("operations", tests);
}
