/* Longs as an operation of the contract: by a conduit, and by the reference, whose messages may
 * find no room. */
#include "tests/unit/operations_rig.h"

#include "tests/unit/main.h"

#include <string.h>

static struct psi_long the_long;        /* as the conduit got it */

static int
send_long(gex_Flags_t flags)
{
	return gex_AM_RequestLong(&rig_tm, PEER, GEX_AM_INDEX_BASE, rig_source, sizeof rig_source,
	                          (char *)(uintptr_t)BASE, GEX_EVENT_NOW, flags, 0);
}

static int
fake_long(struct psi_port *port, struct psi_long *message)
{
	(void)port;
	the_long = *message;
	return message->state[0]++ ? PSI_OK : PSI_AGAIN;
}

START_TEST(a_long_names_key_and_offset_and_keeps_its_descriptor)
{
	const struct psi_conduit_ops that_sends_longs = { FAKE_REQUIRED, .am_long = fake_long };

	rig_set_up(&that_sends_longs, rig_reference());
	ck_assert_int_eq(gex_AM_RequestLong(&rig_tm, PEER, GEX_AM_INDEX_BASE, rig_source, 8,
	                                    rig_there, GEX_EVENT_NOW, 0, 0), GASNET_OK);
	ck_assert_uint_eq(the_long.dest.peer, PEER);
	ck_assert_uint_eq(the_long.dest.name.key, KEY);
	ck_assert_uint_eq(the_long.dest.offset, OFFSET);
	ck_assert_uint_eq(the_long.state[0], 1);
	ck_assert_ptr_eq(the_long.owner, &rig_ep);
	ck_assert_uint_eq(fake.sends, 0);
}
END_TEST

START_TEST(a_long_waits_between_the_calls_of_its_operation)
{
	rig_set_up_without_room();
	fake.room_each_poll = 1;
	ck_assert_int_eq(send_long(0), GASNET_OK);
	ck_assert_mem_eq(fake.there, rig_source, sizeof rig_source);
	ck_assert_uint_ge(fake.polls, fake.sends);
}
END_TEST

START_TEST(a_long_that_may_not_wait_is_refused_whole_or_sent_whole)
{
	char before[WHOLE];

	rig_set_up_without_room();
	ck_assert_int_eq(send_long(GEX_FLAG_IMMEDIATE), GASNET_ERR_NOT_READY);
	ck_assert_uint_eq(fake.sends, 0);
	for (unsigned room = 1; room < 4; room++) {
		fake.sends = 0;
		fake.room = room;
		memset(fake.there, 0, sizeof fake.there);
		ck_assert_int_eq(send_long(GEX_FLAG_IMMEDIATE), GASNET_OK);
		ck_assert_uint_eq(fake.polls, 0);
		ck_assert_uint_eq(fake.sends, room);
		memcpy(before, rig_source, sizeof before);
		memset(rig_source, 0, sizeof rig_source);       /* it has been read */
		fake.room = 1000;
		psi_poll();
		ck_assert_mem_eq(fake.there, before, sizeof before);
		memcpy(rig_source, before, sizeof before);
		fake.polls = 0;
	}
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("operations_long");

	tcase_add_test(tests, a_long_names_key_and_offset_and_keeps_its_descriptor);
	tcase_add_test(tests, a_long_waits_between_the_calls_of_its_operation);
	tcase_add_test(tests, a_long_that_may_not_wait_is_refused_whole_or_sent_whole);
	return unit_run("operations_long", tests);
}
