/* Operations of parts: events, leaves, arrays, regions, implicit sets, and whose pool they go
 * to. */
#include "runtime/job/modules.h"
#include "runtime/op/op.h"
#include "runtime/process/endpoint.h"
#include "runtime/process/process.h"

#include "tests/unit/main.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static void
set_up(void)
{
	psi.thread_mode = PSI_MODE_PAR;
	psi.open = true;
	psi.modules = psi_modules;
}

static void
done_at_once(void)
{
	struct psi_op *op = psi_op_begin(false);
	gex_Event_t leaf = (gex_Event_t)op;

	ck_assert_ptr_eq(psi_op_started(op, &leaf), GEX_EVENT_INVALID);
	ck_assert_ptr_eq(leaf, GEX_EVENT_INVALID);
	op = psi_op_begin(false);
	psi_part_done(psi_op_part(op, PSI_PART_LC));
	psi_part_done(psi_op_part(op, PSI_PART_PUT));
	ck_assert_ptr_eq(psi_op_started(op, &leaf), GEX_EVENT_INVALID);
	ck_assert_ptr_eq(leaf, GEX_EVENT_INVALID);
	op = psi_op_begin(false);
	psi_op_refused(op);
}

START_TEST(an_operation_that_is_done_has_no_event)
{
	set_up();
	done_at_once();
}
END_TEST

START_TEST(a_leaf_is_done_before_its_root_and_as_often_as_asked)
{
	struct psi_op *op;
	gex_Event_t root, leaf = GEX_EVENT_INVALID;
	uint64_t put, read, more;

	set_up();
	op = psi_op_begin(false);
	put = psi_op_part(op, PSI_PART_PUT);
	read = psi_op_part(op, PSI_PART_LC);
	root = psi_op_started(op, &leaf);
	ck_assert_ptr_ne(root, GEX_EVENT_INVALID);
	ck_assert_ptr_eq(gex_Event_QueryLeaf(root, GEX_EC_LC), leaf);
	ck_assert_int_ne(gex_Event_Test(root), GASNET_OK);
	ck_assert_int_ne(gex_Event_Test(leaf), GASNET_OK);
	more = psi_part_another(put, PSI_PART_PUT);
	psi_part_done(read);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(gex_Event_Test(leaf), GASNET_OK);
		ck_assert_int_eq(gex_Event_Test(gex_Event_QueryLeaf(root, GEX_EC_LC)), GASNET_OK);
	}
	psi_part_done(put);
	ck_assert_int_ne(gex_Event_Test(root), GASNET_OK);
	psi_part_done(more);
	ck_assert_int_eq(gex_Event_Test(root), GASNET_OK);
}
END_TEST

START_TEST(in_an_array_leaves_may_follow_their_root)
{
	gex_Event_t events[6];
	uint64_t parts[2][2];

	set_up();
	for (unsigned i = 0; i < 2; i++) {
		struct psi_op *op = psi_op_begin(false);

		parts[i][0] = psi_op_part(op, PSI_PART_PUT);
		parts[i][1] = psi_op_part(op, PSI_PART_LC);
		events[3 * i] = psi_op_started(op, &events[3 * i + 1]);
		events[3 * i + 2] = GEX_EVENT_INVALID;
	}
	ck_assert_int_ne(gex_Event_TestSome(events, 6, 0), GASNET_OK);
	psi_part_done(parts[1][1]);
	ck_assert_int_eq(gex_Event_TestSome(events, 6, 0), GASNET_OK);
	ck_assert_ptr_eq(events[4], GEX_EVENT_INVALID);
	ck_assert_int_ne(gex_Event_TestSome(events, 6, 0), GASNET_OK);
	psi_part_done(parts[0][1]);
	psi_part_done(parts[0][0]);
	ck_assert_int_ne(gex_Event_TestAll(events, 6, 0), GASNET_OK);
	ck_assert_ptr_eq(events[0], GEX_EVENT_INVALID);
	ck_assert_ptr_eq(events[1], GEX_EVENT_INVALID);
	ck_assert_ptr_ne(events[3], GEX_EVENT_INVALID);
	psi_part_done(parts[1][0]);
	ck_assert_int_eq(gex_Event_TestAll(events, 6, 0), GASNET_OK);
	ck_assert_ptr_eq(events[3], GEX_EVENT_INVALID);
}
END_TEST

START_TEST(each_category_of_the_implicit_set_has_its_own_count)
{
	static const gex_EC_t bits[] = { GEX_EC_PUT, GEX_EC_GET, GEX_EC_RMW, GEX_EC_AM, GEX_EC_LC };
	uint64_t parts[PSI_PART_CATEGORIES];

	set_up();
	for (unsigned i = 0; i < PSI_PART_CATEGORIES; i++) {
		struct psi_op *set = psi_op_begin(true);

		parts[i] = psi_op_part(set, i);
		ck_assert_ptr_eq(psi_op_started(set, NULL), GEX_EVENT_INVALID);
	}
	for (unsigned i = 0; i < PSI_PART_CATEGORIES; i++) {
		ck_assert_int_ne(gex_NBI_Test(GEX_EC_ALL, 0), GASNET_OK);
		ck_assert_int_ne(gex_NBI_Test(bits[i], 0), GASNET_OK);
		psi_part_done(parts[i]);
		ck_assert_int_eq(gex_NBI_Test(bits[i], 0), GASNET_OK);
	}
	ck_assert_int_eq(gex_NBI_Test(GEX_EC_ALL, 0), GASNET_OK);
}
END_TEST

START_TEST(a_region_keeps_its_operations_out_of_the_set)
{
	uint64_t outside, inside[2];
	gex_Event_t event, leaf;

	set_up();
	outside = psi_op_part(psi_op_begin(true), PSI_PART_GET);
	gex_NBI_BeginAccessRegion(0);
	inside[0] = psi_op_part(psi_op_begin(true), PSI_PART_PUT);
	inside[1] = psi_op_part(psi_op_begin(true), PSI_PART_LC);
	done_at_once();
	event = gex_NBI_EndAccessRegion(0);
	ck_assert_int_ne(gex_Event_Test(event), GASNET_OK);
	ck_assert_int_eq(gex_NBI_Test(GEX_EC_PUT | GEX_EC_LC, 0), GASNET_OK);
	ck_assert_int_ne(gex_NBI_Test(GEX_EC_GET, 0), GASNET_OK);
	leaf = gex_Event_QueryLeaf(event, GEX_EC_LC);
	ck_assert_int_ne(gex_Event_Test(leaf), GASNET_OK);
	psi_part_done(inside[1]);
	ck_assert_int_eq(gex_Event_Test(leaf), GASNET_OK);
	psi_part_done(outside);
	ck_assert_int_eq(gex_NBI_Test(GEX_EC_ALL, 0), GASNET_OK);
	ck_assert_int_ne(gex_Event_Test(event), GASNET_OK);
	psi_part_done(inside[0]);
	ck_assert_int_eq(gex_Event_Test(event), GASNET_OK);
	gex_NBI_BeginAccessRegion(0);
	ck_assert_ptr_eq(gex_NBI_EndAccessRegion(0), GEX_EVENT_INVALID);
}
END_TEST

enum { MANY = 70016 };  /* fills whole chunks */
static gex_Event_t many[MANY];
static uint64_t many_parts[MANY];

static void
start_many(void)
{
	for (unsigned i = 0; i < MANY; i++) {
		struct psi_op *op = psi_op_begin(false);

		many_parts[i] = psi_op_part(op, PSI_PART_GET);
		many[i] = psi_op_started(op, NULL);
		ck_assert_ptr_ne(many[i], GEX_EVENT_INVALID);
	}
}

static void *
finish_many(void *unused)
{
	for (unsigned i = 0; i < MANY; i++)
		psi_part_done(many_parts[i]);
	return unused;
}

static void *
sync_many(void *unused)
{
	ck_assert_int_eq(gex_Event_TestAll(many, MANY, 0), GASNET_OK);
	return unused;
}

static void
in_thread(void *(*fn)(void *))
{
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, fn, NULL), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
}

static int
by_address(const void *a, const void *b)
{
	const uintptr_t one = *(const uintptr_t *)a, other = *(const uintptr_t *)b;

	return one < other ? -1 : one > other;
}

START_TEST(operations_return_from_the_thread_that_synchronises_them)
{
	static gex_Event_t first[MANY];

	set_up();
	start_many();
	memcpy(first, many, sizeof first);
	in_thread(finish_many);
	in_thread(sync_many);
	start_many();
	qsort(first, MANY, sizeof *first, by_address);
	for (unsigned i = 0; i < MANY; i++)
		ck_assert_ptr_nonnull(bsearch(&many[i], first, MANY, sizeof *first, by_address));
	in_thread(finish_many);
	ck_assert_int_eq(gex_Event_TestAll(many, MANY, 0), GASNET_OK);
}
END_TEST

/* -- waiting for many ------------------------------------------------------------------------- */

static size_t looks;
static unsigned polls;

static bool
many_done(const void *object, uint64_t number)
{
	(void)number;
	ck_assert_uint_lt(looks++, 4 * (size_t)MANY);
	return *(const bool *)object;
}

/* Each poll ends one operation, the last of the array first. */
static bool many_ended[MANY];

static unsigned
poll_ends_one(struct psi_port *port, unsigned networks, unsigned budget)
{
	(void)port, (void)networks, (void)budget;
	ck_assert_uint_lt(polls, MANY);
	many_ended[MANY - ++polls] = true;
	return 1;
}

static void
set_up_polls(const struct psi_conduit_ops *ops)
{
	static const uint32_t host_of[1];
	static struct gex_EP_s ep;

	set_up();
	psi.boot = (struct pboot_job){ .size = 1, .host_count = 1, .host_of = host_of };
	psi.places = 1;
	psi_hosts_open();
	psi.shared = calloc(1, psi_shared_bytes(1, 0));
	ck_assert_ptr_nonnull(psi.shared);
	psi.ops = ep.ops = ops;
	psi.ep = &ep;
}

/* Such a wait took 40 s over a network, since it looked at all of them after each poll. */
START_TEST(a_wait_for_many_looks_at_few_of_them_per_poll)
{
	static const struct psi_conduit_ops ops = { .poll = poll_ends_one };

	set_up_polls(&ops);
	for (unsigned i = 0; i < MANY; i++)
		many[i] = psi_event_new(many_done, &many_ended[i], i, PSI_FOR_EVENTS, NULL);
	gex_Event_WaitAll(many, MANY, 0);
	ck_assert_uint_eq(polls, MANY);
	for (unsigned i = 0; i < MANY; i++)
		ck_assert_ptr_eq(many[i], GEX_EVENT_INVALID);
}
END_TEST

static uint64_t pair_parts[2];

static unsigned
poll_ends_part(struct psi_port *port, unsigned networks, unsigned budget)
{
	(void)port, (void)networks, (void)budget;
	ck_assert_uint_lt(polls, 2);
	psi_part_done(pair_parts[polls++]);
	return 1;
}

START_TEST(a_wait_for_all_may_have_a_leaf_behind_its_root)
{
	static const struct psi_conduit_ops ops = { .poll = poll_ends_part };
	gex_Event_t events[3] = { GEX_EVENT_INVALID };
	struct psi_op *op;

	set_up_polls(&ops);
	op = psi_op_begin(false);
	pair_parts[0] = psi_op_part(op, PSI_PART_PUT);
	pair_parts[1] = psi_op_part(op, PSI_PART_LC);
	events[1] = psi_op_started(op, &events[2]);
	gex_Event_WaitAll(events, 3, 0);
	ck_assert_uint_eq(polls, 2);
	ck_assert_ptr_eq(events[1], GEX_EVENT_INVALID);
	ck_assert_ptr_eq(events[2], GEX_EVENT_INVALID);
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("op");

	tcase_add_test(tests, an_operation_that_is_done_has_no_event);
	tcase_add_test(tests, a_leaf_is_done_before_its_root_and_as_often_as_asked);
	tcase_add_test(tests, in_an_array_leaves_may_follow_their_root);
	tcase_add_test(tests, each_category_of_the_implicit_set_has_its_own_count);
	tcase_add_test(tests, a_region_keeps_its_operations_out_of_the_set);
	tcase_add_test(tests, operations_return_from_the_thread_that_synchronises_them);
	tcase_add_test(tests, a_wait_for_many_looks_at_few_of_them_per_poll);
	tcase_add_test(tests, a_wait_for_all_may_have_a_leaf_behind_its_root);
	return unit_run("op", tests);
}
