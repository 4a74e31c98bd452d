/*
 * The table of the contract: a conduit's operations over those of the reference, over
 * fillers; and what the runtime asks of a put and makes of its cookies, shown by a conduit
 * that puts.
 */
#include "tests/unit/operations_rig.h"

#include "runtime/signal/put_signal.h"
#include "runtime/signal/sem.h"
#include "tests/unit/capture.h"
#include "tests/unit/main.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

START_TEST(the_table_has_no_holes)
{
	const struct psi_conduit_ops *table;
	const size_t first = offsetof(struct psi_conduit_ops, probe);
	void (*operation)(void);

	for (unsigned i = 0; i < 2; i++) {
		ck_assert_ptr_null(
			psi_conduit_lay(&that_sends, i ? rig_reference() : NULL, &table));
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

	ck_assert_ptr_null(psi_conduit_lay(&that_puts, rig_reference(), &table));
	ck_assert(table->put == fake_put);
	ck_assert(table->get == rig_reference()->get && table->get);
	ck_assert(table->vis == rig_reference()->vis && table->vis);
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
	ck_assert_str_eq(psi_conduit_lacks(&bare), "probe");
	ck_assert_ptr_null(psi_conduit_lacks(&that_sends));
}
END_TEST

START_TEST(a_put_names_key_offset_and_cookie_and_ends_with_the_cookie)
{
	char source[8] = "1234567";
	gex_Event_t event;

	rig_set_up(&that_puts, rig_reference());
	event = gex_RMA_PutNB(&rig_tm, PEER, rig_there, source, sizeof source, GEX_EVENT_DEFER, 0);
	ck_assert_uint_eq(fake.puts, 1);
	ck_assert_uint_eq(fake.sends, 0);
	ck_assert_uint_eq(fake.put.remote.peer, PEER);
	ck_assert_uint_eq(fake.put.remote.name.key, KEY);
	ck_assert_uint_eq(fake.put.remote.offset, OFFSET);
	ck_assert_ptr_eq(fake.put.owner, &rig_ep);
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

	rig_set_up(&that_puts, rig_reference());
	event = gex_RMA_PutNB(&rig_tm, PEER, rig_there, source, sizeof source, &leaf, 0);
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

	rig_set_up(&that_puts, rig_reference());
	fake.refusals = 1;
	event = gex_RMA_PutNB(&rig_tm, PEER, rig_there, source, sizeof source, GEX_EVENT_DEFER,
	                      GEX_FLAG_IMMEDIATE);
	ck_assert_ptr_eq(event, GEX_EVENT_NO_OP);
	ck_assert_uint_eq(fake.puts, 1);
	fake.refusals = 3;
	event = gex_RMA_PutNB(&rig_tm, PEER, rig_there, source, sizeof source, GEX_EVENT_DEFER, 0);
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

	rig_set_up(&that_puts, rig_reference());
	event = gex_RMA_GetNB(&rig_tm, here, PEER, rig_there, sizeof here, 0);
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
	return (struct psi_transfer){
		.remote = { PEER, { KEY, 0 }, 0 }, .owner = &rig_ep, .here = rig_source,
		.len_bytes = sizeof rig_source, .cookie = part(), .immediate = immediate,
	};
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
		.remote = { PEER, { KEY, 0 }, 0 }, .owner = &rig_ep, .op = GEX_OP_ADD,
		.operand1 = 1,
		.result = &result, .cookie = part(), .immediate = immediate,
	};

	return psi.ops->atomic(NULL, &word);
}

static const struct psi_signal_operation the_signal = {
	.remote = { PEER, { KEY, 0 }, 0 }, .owner = &rig_ep, .what = PST_SIGNAL_SEM, .n = 1,
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

	rig_set_up_without_room();
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

/* -- a signal as one number -------------------------------------------------------------------- */

enum { SLOT = 3, LIVE = 5 << 2 };

static const pst_signal_t three_posts = {
	.pst_what = PST_SIGNAL_SEM, .pst_n = 3,
	.pst_ref = { { (uint64_t)LIVE << PSI_SEM_SLOT_BITS | SLOT, 0 } },
};

START_TEST(a_signal_that_fits_one_number_is_applied_from_it)
{
	static uint64_t lines[PSI_SEM_SLOTS][8];
	static uint32_t live[PSI_SEM_SLOTS];
	static struct pst_sem_peer sems[2];
	uint64_t packed;

	rig_set_up_without_room();
	packed = psi_signal_packed(rig_ep.place, &three_posts);
	psi.sems = sems;
	ck_assert(!psi_signal_arrived(packed));         /* it has no semaphores yet */
	sems[rig_ep.place] = (struct pst_sem_peer){ .lines = lines, .live = live };
	ck_assert(!psi_signal_arrived(packed));
	ck_assert(!psi_signal_arrived(3 << 7));         /* that of a free slot */
	live[SLOT] = LIVE;
	ck_assert(psi_signal_arrived(packed));
	ck_assert(psi_signal_arrived(packed));
	ck_assert_uint_eq(lines[SLOT][0], 6);
	ck_assert(!psi_signal_arrived(packed | 1));     /* to an endpoint that is not there */
	ck_assert(!psi_signal_arrived(packed & ~(uint64_t)0xff80));
	live[SLOT] += 4;
	ck_assert(!psi_signal_arrived(packed));
	ck_assert_uint_eq(lines[SLOT][0], 6);
}
END_TEST

START_TEST(other_signals_do_not_fit_one_number)
{
	pst_signal_t sig = three_posts;

	rig_set_up_without_room();
	sig.pst_n = 511;
	ck_assert_uint_ne(psi_signal_packed(PEER, &sig), 0);
	sig.pst_n = 512;
	ck_assert_uint_eq(psi_signal_packed(PEER, &sig), 0);
	sig = three_posts;
	sig.pst_what = PST_SIGNAL_ADD;
	ck_assert_uint_eq(psi_signal_packed(PEER, &sig), 0);
	psi.checks = true;
	ck_assert_uint_eq(psi_signal_packed(PEER, &three_posts), 0);
	psi.checks = false;
}
END_TEST

/* -- an operation that nobody provides --------------------------------------------------------- */

static void
get_of_nobody(void)
{
	char here[8];

	rig_set_up(&that_puts, NULL);
	gex_Event_Wait(gex_RMA_GetNB(&rig_tm, here, PEER, rig_there, sizeof here, 0));
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
	tcase_add_test(tests, a_signal_that_fits_one_number_is_applied_from_it);
	tcase_add_test(tests, other_signals_do_not_fit_one_number);
	tcase_add_test(tests, an_operation_that_nobody_provides_ends_the_job_with_one_line);
	return unit_run("operations", tests);
}
