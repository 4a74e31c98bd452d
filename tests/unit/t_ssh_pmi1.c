/* The server of PMI-1 for the ranks of one host: what it answers, fences of two hosts, what it
 * refuses. */
#include "bootstrap/ssh/pboot_pmi1_server.h"
#include "tests/unit/main.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct pboot_pmi1_server server;
static char answer[PBOOT_PMI1_ANSWER_MAX];
static int status;

static enum pboot_pmi1_what
say(uint32_t rank, const char *text)
{
	static char line[2 * PBOOT_PMI1_LINE_MAX];

	strcpy(line, text);
	return pboot_pmi1_serve(&server, rank, line, strlen(text), answer, &status);
}

static void
begin(uint32_t size, uint32_t count)
{
	uint32_t rank;

	ck_assert(pboot_pmi1_server_open(&server, size, count));
	for (rank = 0; rank < count; rank++) {
		ck_assert_int_eq(say(rank, "cmd=init pmi_version=1 pmi_subversion=1"),
		    PBOOT_PMI1_JOINED);
		ck_assert_str_eq(answer,
		    "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n");
	}
}

START_TEST(values_of_all_hosts_are_there_after_a_fence)
{
	begin(4, 2);
	ck_assert_int_eq(say(0, "cmd=put kvsname=penstock key=k0 value=v0"), PBOOT_PMI1_ANSWERED);
	ck_assert_str_eq(answer, "cmd=put_result rc=0 msg=success\n");
	ck_assert_int_eq(say(1, "cmd=put kvsname=penstock key=k1 value=a=b"), PBOOT_PMI1_ANSWERED);
	ck_assert_int_eq(say(0, "cmd=barrier_in"), PBOOT_PMI1_FENCED);
	ck_assert(!pboot_pmi1_server_is_fenced(&server));
	ck_assert(!pboot_pmi1_server_release(&server, "", 0));
	ck_assert_int_eq(say(1, "cmd=barrier_in"), PBOOT_PMI1_FENCED);
	ck_assert(pboot_pmi1_server_is_fenced(&server));
	ck_assert_uint_eq(server.fresh_len, 13);
	ck_assert_int_eq(memcmp(server.fresh, "k0=v0\nk1=a=b\n", 13), 0);
	ck_assert(pboot_pmi1_server_release(&server, "k0=v0\nk1=a=b\nk2=v2\nk2=v3\n", 25));
	ck_assert_uint_eq(server.fresh_len, 0);
	ck_assert_int_eq(say(0, "cmd=get kvsname=penstock key=k1"), PBOOT_PMI1_ANSWERED);
	ck_assert_str_eq(answer, "cmd=get_result rc=0 msg=success value=a=b\n");
	ck_assert_int_eq(say(0, "cmd=get kvsname=penstock key=k2"), PBOOT_PMI1_ANSWERED);
	ck_assert_str_eq(answer, "cmd=get_result rc=0 msg=success value=v3\n");
	ck_assert_int_eq(say(0, "cmd=get kvsname=penstock key=k"), PBOOT_PMI1_ANSWERED);
	ck_assert_str_eq(answer, "cmd=get_result rc=-1 msg=no_such_key value=unknown\n");
	ck_assert_int_eq(say(0, "cmd=finalize"), PBOOT_PMI1_DONE);
	ck_assert_str_eq(answer, "cmd=finalize_ack\n");
	ck_assert_int_eq(say(0, "cmd=get_maxes"), PBOOT_PMI1_FAULT);
	ck_assert_int_eq(say(0, "cmd=init pmi_version=1 pmi_subversion=1"), PBOOT_PMI1_TWICE);
	ck_assert_str_eq(answer, "");
	ck_assert_int_eq(say(1, "cmd=init pmi_version=1 pmi_subversion=1"), PBOOT_PMI1_TWICE);
	pboot_pmi1_server_close(&server);
}
END_TEST

START_TEST(many_values)
{
	static char text[20000 * 24];
	char line[96];
	size_t len = 0;
	unsigned i;

	begin(1, 1);
	ck_assert_int_eq(say(0, "cmd=barrier_in"), PBOOT_PMI1_FENCED);
	for (i = 0; i < 20000; i++)
		len += (size_t)sprintf(text + len, "key-%u=value-%u\n", i, i);
	ck_assert(pboot_pmi1_server_release(&server, text, len));
	for (i = 0; i < 20000; i += 7) {
		sprintf(line, "cmd=get kvsname=penstock key=key-%u", i);
		ck_assert_int_eq(say(0, line), PBOOT_PMI1_ANSWERED);
		sprintf(line, "cmd=get_result rc=0 msg=success value=value-%u\n", i);
		ck_assert_str_eq(answer, line);
	}
	pboot_pmi1_server_close(&server);
}
END_TEST

START_TEST(what_is_refused)
{
	static const char *const bad[] = { "", "get_maxes", "cmd=what", "cmd=put key=k",
		"cmd=put key= value=v", "cmd=get", "cmd=get key=", "cmd=get\tkey=k" };
	char line[PBOOT_PMI1_VALUE_MAX + 64] = "cmd=put key=k value=";
	size_t i;

	begin(2, 1);
	for (i = 0; i < sizeof bad / sizeof *bad; i++)
		ck_assert_msg(say(0, bad[i]) == PBOOT_PMI1_FAULT, "\"%s\" is taken", bad[i]);
	memset(line + strlen(line), 'v', PBOOT_PMI1_VALUE_MAX);
	ck_assert_int_eq(say(0, line), PBOOT_PMI1_ANSWERED);
	strcat(line, "v");
	ck_assert_int_eq(say(0, line), PBOOT_PMI1_FAULT);
	for (i = 1; i < PBOOT_PMI1_PUTS_MAX; i++)
		ck_assert_int_eq(say(0, "cmd=put key=k value=v"), PBOOT_PMI1_ANSWERED);
	ck_assert_int_eq(say(0, "cmd=put key=k value=v"), PBOOT_PMI1_FAULT);
	pboot_pmi1_server_close(&server);
	ck_assert(pboot_pmi1_server_open(&server, 1, 1));
	ck_assert_int_eq(say(0, "cmd=barrier_in"), PBOOT_PMI1_FAULT);
	ck_assert_int_eq(say(0, "cmd=init pmi_version=2"), PBOOT_PMI1_FAULT);
	pboot_pmi1_server_close(&server);
}
END_TEST

START_TEST(a_text_that_is_no_values)
{
	static const char *const bad[] = { "k=v", "\n", "k\n", "=v\n", "k=v\n\n", "k=a b\n",
		"k=\1\n" };
	size_t i;

	for (i = 0; i < sizeof bad / sizeof *bad; i++) {
		begin(1, 1);
		ck_assert_int_eq(say(0, "cmd=barrier_in"), PBOOT_PMI1_FENCED);
		ck_assert_msg(!pboot_pmi1_server_release(&server, bad[i], strlen(bad[i])),
		    "\"%s\" is taken", bad[i]);
		pboot_pmi1_server_close(&server);
	}
}
END_TEST

START_TEST(an_abort_has_a_status)
{
	begin(1, 1);
	ck_assert_int_eq(say(0, "cmd=abort exitcode=7"), PBOOT_PMI1_ABORTED);
	ck_assert_int_eq(status, 7);
	ck_assert_int_eq(say(0, "cmd=abort exitcode=0"), PBOOT_PMI1_ABORTED);
	ck_assert_int_eq(status, 1);
	ck_assert_int_eq(say(0, "cmd=abort exitcode=4711"), PBOOT_PMI1_ABORTED);
	ck_assert_int_eq(status, 1);
	ck_assert_str_eq(answer, "");
	pboot_pmi1_server_close(&server);
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("pmi1");

	tcase_add_test(tests, values_of_all_hosts_are_there_after_a_fence);
	tcase_add_test(tests, many_values);
	tcase_add_test(tests, what_is_refused);
	tcase_add_test(tests, a_text_that_is_no_values);
	tcase_add_test(tests, an_abort_has_a_status);
	return unit_run("ssh_pmi1", tests);
}
