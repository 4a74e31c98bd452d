/* The PMI-1 client against a server that does what it should, and against ones that do not. */
#include "bootstrap/engine/pboot_engine.h"
#include "bootstrap/engine/pboot_pmi1.h"
#include "tests/unit/capture.h"
#include "tests/unit/main.h"
#include "tests/unit/pmi1_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { VALUE_BYTES = 1500 };

static const struct pboot_engine *const engine = &pboot_engine_pmi1;
static struct pt_child client;

static void
fill(unsigned char value[VALUE_BYTES])
{
	size_t i;

	for (i = 0; i < VALUE_BYTES; i++)
		value[i] = (unsigned char)(i * 31 + i / 256);
}

/* What a rank does: status 0 if all went well, 1 after a message of the client's. */
static void
be_client(void)
{
	unsigned char value[VALUE_BYTES], back[VALUE_BYTES];
	uint32_t rank = 99, size = 99;
	size_t len = 0;

	pboot_pmi1_answer_ms = 300;
	fill(value);
	if (!engine->probe() || !engine->open(&rank, &size))
		_exit(1);
	if (rank != 1 || size != 4)
		_exit(3);
	if (!engine->put("card", value, sizeof value) || !engine->fence() ||
	    !engine->get(1, "card", back, sizeof back, &len))
		_exit(1);
	if (len != sizeof value || memcmp(value, back, len) != 0)
		_exit(4);
	if (getenv("ABORTS"))
		engine->abort(7, "the test asks for it");
	else
		engine->finalize();
	if (!getenv("ABORTS") && engine->probe())
		_exit(5);
}

static pid_t
start_server(int sock, int other, const struct pmi1_server *how)
{
	const pid_t pid = fork();

	if (pid == 0) {
		close(other);
		_exit(pmi1_serve(sock, how));
	}
	close(sock);
	return pid;
}

/* Runs a client against a server: the client's status is in client.status, the server's is
 * returned. */
static int
run(const struct pmi1_server *how)
{
	char text[16];
	int ends[2], status;
	pid_t server;

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	server = start_server(ends[0], ends[1], how);
	snprintf(text, sizeof text, "%d", ends[1]);
	setenv("PMI_FD", text, 1);
	pt_child_start(&client, be_client);
	close(ends[1]);
	pt_child_end(&client);
	ck_assert_int_eq(waitpid(server, &status, 0), server);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void
setup(void)
{
	setenv("PMI_SIZE", "4", 1);
	setenv("PMI_RANK", "1", 1);
	unsetenv("PMI_PORT");
	unsetenv("ABORTS");
}

static unsigned
lines(void)
{
	unsigned count = 0;
	const char *at;

	for (at = client.text; (at = strchr(at, '\n')) != NULL; at++)
		count++;
	return count;
}

/* The client failed with one line that has these words. */
static void
expect_failure(const char *words)
{
	ck_assert_msg(client.status == 1 << 8, "status %x: %s", client.status, client.text);
	ck_assert_msg(strstr(client.text, words) != NULL, "no \"%s\" in: %s", words, client.text);
	ck_assert_msg(lines() == 1, "%u lines: %s", lines(), client.text);
}

static void
expect_success(void)
{
	ck_assert_msg(client.status == 0, "status %x: %s", client.status, client.text);
	ck_assert_str_eq(client.text, "");
}

START_TEST(a_value_goes_and_comes)
{
	ck_assert_int_eq(run(&(struct pmi1_server) { .vallen_max = 0 }), 0);
	expect_success();
}
END_TEST

START_TEST(values_are_cut_to_the_limit)
{
	ck_assert_int_eq(run(&(struct pmi1_server) { .vallen_max = 33 }), 0);
	expect_success();
	ck_assert_int_eq(run(&(struct pmi1_server) { .vallen_max = 1000000000 }), 0);
	expect_success();
}
END_TEST

START_TEST(slow_answers_are_put_together)
{
	ck_assert_int_eq(run(&(struct pmi1_server) { .in_bits = true }), 0);
	expect_success();
}
END_TEST

START_TEST(an_abort_is_told)
{
	setenv("ABORTS", "1", 1);
	ck_assert_int_eq(run(&(struct pmi1_server) { .vallen_max = 0 }), 17);
	expect_success();
}
END_TEST

/* Whenever the server goes, one line says so.  The first 11 requests come before finalize. */
START_TEST(a_server_that_goes_is_noticed)
{
	int at;

	for (at = 1; at <= 12; at++) {
		run(&(struct pmi1_server) { .close_at = at });
		expect_failure("the process manager");
	}
}
END_TEST

START_TEST(a_server_that_is_gone_at_the_end_is_no_failure)
{
	run(&(struct pmi1_server) { .close_at = 13 });
	ck_assert_int_eq(client.status, 0);
}
END_TEST

static const struct {
	int at;
	const char *instead, *words;
} wrong[] = {
	{ 1, "cmd=response_to_init pmi_version=2 rc=-1\n", "with an error: rc=-1" },
	{ 1, "cmd=response_to\n", "expected response_to_init" },
	{ 1, NULL, "no answer" },
	{ 2, "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=4\n", "too short" },
	{ 2, "cmd=maxes kvsname_max=256 keylen_max=2 vallen_max=1024\n", "too short" },
	{ 2, "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=-1\n", "too short" },
	{ 2, "cmd=maxes\n", "too short" },
	{ 2, "\n", "expected maxes" },
	{ 2, "\1\2\3\n", "expected maxes from the process manager, got \"???\"" },
	{ 3, "cmd=my_kvsname\n", "no name of its store" },
	{ 3, "cmd=my_kvsname kvsname=\n", "no name of its store" },
	{ 4, "cmd=put_result rc=-1 msg=out_of_room\n", "rc=-1, out_of_room" },
	{ 8, "cmd=barrier_in\n", "expected barrier_out" },
	{ 9, "cmd=get_result rc=-1 msg=key_not_found value=unknown\n", "key_not_found" },
	{ 9, "cmd=get_result rc=0\n", "is not what rank 1 put there" },
	{ 9, "cmd=get_result rc=0 value=nonsense\n", "is not what rank 1 put there" },
	{ 9, "cmd=get_result rc=0 value=ffffffff00\n", "is not what rank 1 put there" },
	{ 9, "cmd=get_result rc=0 value=\n", "is not what rank 1 put there" },
};

START_TEST(wrong_answers_are_refused)
{
	run(&(struct pmi1_server) { .instead_at = wrong[_i].at, .instead = wrong[_i].instead });
	expect_failure(wrong[_i].words);
}
END_TEST

START_TEST(an_endless_line_is_refused)
{
	static char line[6000];

	memset(line, 'x', sizeof line - 1);
	run(&(struct pmi1_server) { .instead_at = 2, .instead = line });
	expect_failure("at most 4096 bytes");
}
END_TEST

static void
try_environment(const char *fd, const char *size, const char *rank, const char *words)
{
	setenv("PMI_FD", fd, 1);
	setenv("PMI_SIZE", size, 1);
	setenv("PMI_RANK", rank, 1);
	pt_child_start(&client, be_client);
	pt_child_end(&client);
	expect_failure(words);
}

START_TEST(a_bad_environment_is_refused)
{
	int file = open("/dev/null", O_RDWR);
	char text[16];

	snprintf(text, sizeof text, "%d", file);
	try_environment(text, "4", "1", "is no open socket");
	try_environment("999", "4", "1", "is no open socket");
	try_environment("x", "4", "1", "PMI_FD=x");
	try_environment("-1", "4", "1", "PMI_FD=-1");
	try_environment("3", "0", "0", "PMI_SIZE=0");
	try_environment("3", "4", "4", "PMI_RANK=4: expected a whole number from 0 to 3");
	try_environment("3", "4", "-1", "PMI_RANK=-1");
	try_environment("3", "100000", "1", "PMI_SIZE=100000");
	try_environment("3", "", "1", "PMI_SIZE=");
}
END_TEST

static int
listen_somewhere(char port_out[32])
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	int sock = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t len = sizeof at;

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	ck_assert_int_eq(bind(sock, (struct sockaddr *)&at, sizeof at), 0);
	ck_assert_int_eq(listen(sock, 1), 0);
	ck_assert_int_eq(getsockname(sock, (struct sockaddr *)&at, &len), 0);
	snprintf(port_out, 32, "127.0.0.1:%d", ntohs(at.sin_port));
	return sock;
}

START_TEST(a_port_tells_rank_and_size)
{
	static const struct pmi1_server how = { .by_port = true };
	char port[32];
	int sock = listen_somewhere(port), status;
	pid_t server = fork();

	if (server == 0)
		_exit(pmi1_serve(accept(sock, NULL, NULL), &how));
	close(sock);
	unsetenv("PMI_FD");
	unsetenv("PMI_SIZE");
	unsetenv("PMI_RANK");
	setenv("PMI_PORT", port, 1);
	setenv("PMI_ID", "1", 1);
	pt_child_start(&client, be_client);
	pt_child_end(&client);
	ck_assert_int_eq(waitpid(server, &status, 0), server);
	ck_assert_int_eq(status, 0);
	expect_success();
}
END_TEST

static void
try_port(const char *port, const char *words)
{
	unsetenv("PMI_FD");
	setenv("PMI_PORT", port, 1);
	setenv("PMI_ID", "1", 1);
	pt_child_start(&client, be_client);
	pt_child_end(&client);
	expect_failure(words);
}

START_TEST(a_bad_port_is_refused)
{
	char port[32];

	close(listen_somewhere(port));
	try_port(port, "refused");
	try_port("nowhere", "expected host:port");
	try_port(":1", "expected host:port");
	try_port("no.such.host.invalid:1", "cannot connect to PMI_PORT=no.such.host.invalid:1");
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("engine_pmi1");

	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, a_value_goes_and_comes);
	tcase_add_test(tests, values_are_cut_to_the_limit);
	tcase_add_test(tests, slow_answers_are_put_together);
	tcase_add_test(tests, an_abort_is_told);
	tcase_add_test(tests, a_server_that_goes_is_noticed);
	tcase_add_test(tests, a_server_that_is_gone_at_the_end_is_no_failure);
	tcase_add_loop_test(tests, wrong_answers_are_refused, 0, sizeof wrong / sizeof *wrong);
	tcase_add_test(tests, an_endless_line_is_refused);
	tcase_add_test(tests, a_bad_environment_is_refused);
	tcase_add_test(tests, a_port_tells_rank_and_size);
	tcase_add_test(tests, a_bad_port_is_refused);
	return unit_run("engine_pmi1", tests);
}
