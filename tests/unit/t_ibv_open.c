/*
 * How the ibv conduit opens what it has chosen: what it says where a call of the device fails, what
 * it takes of a small device, and several ports.  Whatever fails, all that was taken is given back.
 */
#include "tests/unit/ibv_devices.h"
#include "tests/unit/main.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* -- calls that fail --------------------------------------------------------------------------- */

static const struct { enum mock_call call; const char *part; } opening[] = {
	{ MOCK_PD, "has no protection domain" },
	{ MOCK_CHANNEL, "has no completion channel" },
	{ MOCK_CQ, "has no completion queue" },
	{ MOCK_SRQ, "has no shared receive queue" },
	{ MOCK_MR, "cannot register" },
	{ MOCK_POST_SRQ, "receive buffers; lower GASNET_RBUF_COUNT" },
	{ MOCK_QP, "no queue pair for datagrams" },
	{ MOCK_MODIFY, "no queue pair for datagrams" },
	{ MOCK_POST_RECV, "no queue pair for datagrams" },
};

START_TEST(open_that_fails_says_why_once_and_gives_all_back)
{
	mock_reset(1);
	rig_job(1, false);
	device(0)->refuse[opening[_i].call] = ENOMEM;
	ck_assert_int_eq(rig_open(0), PSI_FAILED);
	ck_assert_uint_eq(rig_ranks[0].lines, 1);
	ck_assert_msg(strstr(rig_ranks[0].said, opening[_i].part) != NULL, "%s",
	              rig_ranks[0].said);
	ck_assert_uint_eq(device(0)->counts.objects, 0);
	ck_assert_uint_eq(device(0)->counts.registrations, 0);
}
END_TEST

/* The second and third registration too. */
START_TEST(memory_that_cannot_be_registered)
{
	mock_reset(1);
	rig_job(1, false);
	device(0)->refuse[MOCK_MR] = ENOMEM;
	device(0)->refuse_after[MOCK_MR] = (unsigned)_i;
	ck_assert_int_eq(rig_open(0), PSI_FAILED);
	ck_assert_uint_eq(rig_ranks[0].lines, 1);
	ck_assert_uint_eq(device(0)->counts.objects, 0);
}
END_TEST

/* A small device: queues are as large as it has them. */
START_TEST(queues_are_cut_to_what_the_device_has)
{
	mock_reset(1);
	rig_job(1, false);
	device(0)->limits.max_qp_wr = 100;
	device(0)->limits.max_srq_wr = 60;
	device(0)->limits.max_cqe = 900;
	device(0)->limits.max_qp_rd_atom = 2;
	ck_assert_msg(rig_open(0) == PSI_OK, "%s", rig_ranks[0].said);
	ck_assert_uint_eq(rig_ranks[0].conduit->depth, 64);
	ck_assert_uint_eq(rig_ranks[0].conduit->receive_count, 60);
	ck_assert_uint_eq(rig_ranks[0].conduit->reads, 2);
	ck_assert_uint_le((unsigned)rig_ranks[0].conduit->devices[0].cq->cqe, 900);
	ck_assert_uint_ge(rig_ranks[0].conduit->signals_most, 64);
}
END_TEST

/* Each receive buffer may have a completion in the queue. */
START_TEST(receives_leave_room_for_other_completions)
{
	const struct psi_conduit *conduit;

	mock_reset(1);
	rig_job(1, false);
	rig_set(PSI_NO_PEER, "GASNET_RBUF_COUNT", "65536");
	device(0)->limits.max_qp_wr = 100;
	device(0)->limits.max_srq_wr = 100000;
	device(0)->limits.max_cqe = 900;
	ck_assert_msg(rig_open(0) == PSI_OK, "%s", rig_ranks[0].said);
	conduit = rig_ranks[0].conduit;
	ck_assert_uint_ge(conduit->receive_count, 400);
	ck_assert_uint_le(conduit->receive_count + 4 * conduit->depth + conduit->signals_most, 900);
}
END_TEST

/* Down to the least: all that can complete at once has an entry. */
START_TEST(queues_fit_a_small_completion_queue)
{
	static const char *const entries[] = { "256", "300", "512", "700", "5000" };
	const unsigned most = (unsigned)atoi(entries[_i]);
	const struct psi_conduit *conduit;

	rig_set(PSI_NO_PEER, "PST_IBV_COMPLETION_QUEUE", entries[_i]);
	rig_start(1);
	conduit = rig_ranks[0].conduit;
	ck_assert_int_le(conduit->devices[0].cq->cqe, (int)most);
	ck_assert_uint_ge(conduit->receive_count, 32);
	ck_assert_uint_ge(conduit->signals_most, conduit->depth);
	ck_assert_uint_le(conduit->receive_count + 2 * PIBV_HELLOS + 4 * conduit->depth +
	                  conduit->signals_most, most);
}
END_TEST

/* As the runtime accepts them. */
START_TEST(settings_may_be_hexadecimal)
{
	rig_set(PSI_NO_PEER, "PST_IBV_SEND_QUEUE", "0x20");
	rig_set(PSI_NO_PEER, "PST_IBV_MAX_MEDIUM", "16KB");
	rig_start(1);
	ck_assert_uint_eq(rig_ranks[0].conduit->depth, 32);
	ck_assert_uint_eq(rig_ranks[0].conduit->medium_bytes, 16384);
}
END_TEST

START_TEST(describe_names_port_and_reason)
{
	char text[640];

	rig_set(PSI_NO_PEER, "GASNET_MAX_MTU", "2047");
	rig_start(1);
	pibv_ops.describe(rig_as(0)->conduit, text, sizeof text);
	ck_assert_msg(strstr(text, ", MTU 1024, ") != NULL, "%s", text);
	ck_assert_msg(strstr(text, "port 1 of mock0 (RoCE v2 over IPv4, GID 0, the first that is "
	                           "up), 1 rail, ") != NULL, "%s", text);
	ck_assert_msg(strstr(text, "bytes per peer") != NULL, "%s", text);
	ck_assert_msg(strstr(text, "traffic class") == NULL, "%s", text);
}
END_TEST

/* -- rails ------------------------------------------------------------------------------------- */

/* Two devices of two ports each, which are all asked for. */
static void
four_ports_up(void)
{
	devices_start();
	for (unsigned i = 0; i < MOCK_DEVICES; i++)
		for (unsigned port = 1; port <= MOCK_PORTS; port++)
			port_up(i, port);
	rig_set(PSI_NO_PEER, "PST_IBV_RAILS", "4");
}

START_TEST(rails_of_one_device_share_it)
{
	const struct psi_conduit *conduit;

	four_ports_up();
	ck_assert_msg(rig_open(0) == PSI_OK, "%s", rig_ranks[0].said);
	conduit = rig_ranks[0].conduit;
	ck_assert_uint_eq(conduit->device_count, 2);
	ck_assert_uint_eq(conduit->rail_count, 4);
	for (unsigned rail = 0; rail < 4; rail++) {
		ck_assert_uint_eq(conduit->rails[rail].device_index, rail / 2);
		ck_assert_uint_eq(conduit->rails[rail].port_number, rail % 2 + 1);
	}
}
END_TEST

static const struct { unsigned device; enum mock_call call; const char *part; } further[] = {
	{ 1, MOCK_PD, "device mock1 has no queues" },
	{ 1, MOCK_CQ, "device mock1 has no queues" },
	{ 0, MOCK_POST_SRQ, "device mock0 takes 0 of" },
};

START_TEST(device_that_cannot_register_a_segment_is_named)
{
	static char bytes[4096];
	struct psi_segment_name name;
	struct psi_registration *registration;

	four_ports_up();
	ck_assert_int_eq(rig_open(0), PSI_OK);
	device(1)->refuse[MOCK_MR] = ENOMEM;
	ck_assert_int_eq(pibv_ops.segment_bind(rig_as(0)->conduit, bytes, sizeof bytes, &name,
	                                       &registration), PSI_FAILED);
	ck_assert_uint_eq(rig_ranks[0].lines, 1);
	ck_assert_msg(strstr(rig_ranks[0].said, "device mock1 cannot register 4096 bytes") != NULL,
	              "%s", rig_ranks[0].said);
	ck_assert_uint_eq(device(1)->counts.registrations, 0);
}
END_TEST

START_TEST(open_of_rails_that_fails_gives_all_back)
{
	four_ports_up();
	device(further[_i].device)->refuse[further[_i].call] = ENOMEM;
	ck_assert_int_eq(rig_open(0), PSI_FAILED);
	ck_assert_uint_eq(rig_ranks[0].lines, 1);
	ck_assert_msg(strstr(rig_ranks[0].said, further[_i].part) != NULL, "%s",
	              rig_ranks[0].said);
	ck_assert_uint_eq(device(0)->counts.objects + device(1)->counts.objects, 0);
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("open");

	tcase_add_loop_test(tests, open_that_fails_says_why_once_and_gives_all_back, 0,
	                    sizeof opening / sizeof *opening);
	tcase_add_loop_test(tests, memory_that_cannot_be_registered, 0, 3);
	tcase_add_test(tests, queues_are_cut_to_what_the_device_has);
	tcase_add_test(tests, receives_leave_room_for_other_completions);
	tcase_add_loop_test(tests, queues_fit_a_small_completion_queue, 0, 5);
	tcase_add_test(tests, settings_may_be_hexadecimal);
	tcase_add_test(tests, describe_names_port_and_reason);
	tcase_add_test(tests, rails_of_one_device_share_it);
	tcase_add_test(tests, device_that_cannot_register_a_segment_is_named);
	tcase_add_loop_test(tests, open_of_rails_that_fails_gives_all_back, 0,
	                    sizeof further / sizeof *further);
	return unit_run("ibv open", tests);
}
