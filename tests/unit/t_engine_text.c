/* What an engine's server says, as text: lines of words, values in pieces, and cards; and who may
 * listen at the name on a card. */
#include "bootstrap/engine/pboot_blob.h"
#include "bootstrap/engine/pboot_card.h"
#include "bootstrap/engine/pboot_pmi1_line.h"
#include "bootstrap/engine/pboot_siblings.h"
#include "bootstrap/share/pboot_descend.h"
#include "tests/unit/main.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static char text[PBOOT_PMI1_LINE_MAX + 1];
static struct pboot_pmi1_line line;

static bool
split(const char *source)
{
	strcpy(text, source);
	return pboot_pmi1_split(text, strlen(source), &line);
}

START_TEST(a_line_is_words)
{
	int64_t number;

	ck_assert(split("cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024"));
	ck_assert_uint_eq(line.count, 4);
	ck_assert_str_eq(pboot_pmi1_value(&line, "cmd"), "maxes");
	ck_assert(pboot_pmi1_number(&line, "vallen_max", 1, 1024, &number));
	ck_assert_int_eq(number, 1024);
	ck_assert(!pboot_pmi1_number(&line, "vallen_max", 1, 1023, &number));
	ck_assert(!pboot_pmi1_number(&line, "vallen", 0, 1023, &number));
	ck_assert_ptr_null(pboot_pmi1_value(&line, "kvsname"));
}
END_TEST

START_TEST(blanks_and_rests_do_no_harm)
{
	ck_assert(split("cmd=put_result  rc=0 msg=key taken already "));
	ck_assert_str_eq(pboot_pmi1_value(&line, "msg"), "key");
	ck_assert(split("cmd="));
	ck_assert_str_eq(pboot_pmi1_value(&line, "cmd"), "");
	ck_assert(split("cmd=get_result value=a=b value=c"));
	ck_assert_str_eq(pboot_pmi1_value(&line, "value"), "a=b");
}
END_TEST

START_TEST(what_is_no_line_is_refused)
{
	static const char *const bad[] = {
		"",
		" ",
		"barrier_out",
		"rc=0 cmd=barrier_out",
		"cmd=a =b",
		"cmd=a\tb=c",
		"cmd=\x80",
		"cmd=a 1= 2= 3= 4= 5= 6= 7= 8= 9= 10= 11= 12= 13= 14= 15= 16="
	};
	size_t i;

	for (i = 0; i < sizeof bad / sizeof *bad; i++)
		ck_assert_msg(!split(bad[i]), "\"%s\" was taken", bad[i]);
	memcpy(text, "cmd=a\0b=c", 9);
	ck_assert(!pboot_pmi1_split(text, 9, &line));
}
END_TEST

START_TEST(numbers_are_whole_and_in_bounds)
{
	static const char *const bad[] = { "cmd=a n=", "cmd=a n=x", "cmd=a n=1x", "cmd=a n=-1",
		"cmd=a n=99999999999999999999", "cmd=a n=1.5" };
	int64_t number = 7;
	size_t i;

	for (i = 0; i < sizeof bad / sizeof *bad; i++) {
		ck_assert(split(bad[i]));
		ck_assert_msg(!pboot_pmi1_number(&line, "n", 0, 100, &number), "%s", bad[i]);
	}
	ck_assert_int_eq(number, 7);
}
END_TEST

/* Cuts a value into pieces of max characters, and puts it together again. */
static void
there_and_back(size_t len, size_t max)
{
	unsigned char *value = malloc(len + 1), *back = malloc(len + 1);
	struct pboot_blob blob = { .bytes = back, .room_bytes = len };
	char piece[1024];
	size_t from = 0, cut, i;
	int got = 0;

	for (i = 0; i < len; i++)
		value[i] = (unsigned char)(i * 167 + 13);
	while ((cut = pboot_blob_cut(value, len, from, max, piece)) > 0) {
		ck_assert_uint_le(cut, max);
		ck_assert_uint_eq(strlen(piece), cut);
		ck_assert_int_eq(got, 0);
		got = pboot_blob_add(&blob, piece);
		from += cut;
	}
	ck_assert_int_eq(got, 1);
	ck_assert_uint_eq(blob.len_bytes, len);
	ck_assert_mem_eq(value, back, len);
	free(value);
	free(back);
}

START_TEST(a_value_comes_back_whole)
{
	static const size_t lengths[] = { 0, 1, 2, 7, 100, 511, 4096 };
	size_t i, max;

	for (i = 0; i < sizeof lengths / sizeof *lengths; i++)
		for (max = 2; max < 1024; max += i < 4 ? 2 : 166)
			there_and_back(lengths[i], max);
}
END_TEST

START_TEST(pieces_of_something_else_are_refused)
{
	static const char *const bad[] = { "",
		                           "0",
		                           "0000000",
		                           "0000000g",
		                           "0000000201020",
		                           "00000001abcd",
		                           "00000005",
		                           "ffffffff",
		                           "0000000A",
		                           "00000001 1",
		                           "00000004010203041" };
	unsigned char room[4];
	size_t i;

	for (i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct pboot_blob blob = { .bytes = room, .room_bytes = sizeof room };

		ck_assert_msg(pboot_blob_add(&blob, bad[i]) < 0, "\"%s\" was taken", bad[i]);
	}
}
END_TEST

#define LIMIT "000000012a05f200"
#define NAME "0123456789abcdef0123456789abcdef"
#define AGENT "fedcba9876543210fedcba9876543210"

START_TEST(a_card_comes_back_whole)
{
	static const char *const agents[] = { "", AGENT };
	struct pboot_card card, back;
	char room[PBOOT_CARD_ROOM];
	size_t len, i;

	pboot_card_fill(&card);
	memcpy(card.name, NAME, sizeof card.name);
	memcpy(card.agent, agents[_i], strlen(agents[_i]));
	memset(card.host, 'h', sizeof card.host - 1);
	len = pboot_card_write(&card, room);
	ck_assert_uint_eq(len, strlen(room));
	ck_assert(pboot_card_read(room, len, &back));
	ck_assert_int_eq(back.pid, getpid());
	ck_assert_uint_eq(back.host_id, card.host_id);
	ck_assert_uint_ne(card.program, 0);
	ck_assert_uint_eq(back.program, card.program);
	ck_assert_uint_ne(card.limit_ns, 0);
	ck_assert_uint_eq(back.limit_ns, card.limit_ns);
	ck_assert_str_eq(back.name, NAME);
	ck_assert_str_eq(back.agent, agents[_i]);
	ck_assert_str_eq(back.host, card.host);
	ck_assert_int_eq(back.messages, card.messages);
	for (i = 0; i + sizeof card.host < len; i++)
		ck_assert(!pboot_card_read(room, i, &back));
}
END_TEST

static void
card_is_refused(const char *card_text)
{
	struct pboot_card card;

	ck_assert_msg(!pboot_card_read(card_text, strlen(card_text), &card),
	              "\"%s\" was taken", card_text);
}

START_TEST(what_is_no_card_is_refused)
{
	static const char *const no_cards[] = { "", "x", "3" };
	/* behind the version */
	static const char *const bad[] = {
		"0.1.0",
		"0.1.0 0 1 0123456789abcdef fedcba9876543210 " LIMIT " " NAME " - h",
		"0.1.0 -5 1 0123456789abcdef fedcba9876543210 " LIMIT " " NAME " - h",
		"0.1.0 5 1 0123456789abcdeg fedcba9876543210 " LIMIT " " NAME " - h",
		"0.1.0 5 1 0123456789abcdef fedcba9876543210 " LIMIT " " NAME " -",
		"0.1.0 5 1 0123456789abcdef fedcba9876543210 " LIMIT " 0123 - h",
		"0.1.0 5 1 0123456789abcdef fedcba9876543210 " LIMIT " " NAME " 0123 h",
		"0.1.0 5 1 0123456789abcdef fedcba9876543210 " LIMIT " " NAME " h",
		"0.1.0 5 1 0123456789abcdef fedcba9876543210 12a05f200 " NAME " - h",
		"0.1.0 5 1 0123456789abcdef fedcba98765432 " LIMIT " " NAME " - h",
		"0.1.0 5 1 0123456789abcdef fedcba9876543210 " LIMIT " " NAME " - h i",
	};
	char card[PBOOT_CARD_ROOM];
	size_t i;

	for (i = 0; i < sizeof no_cards / sizeof *no_cards; i++)
		card_is_refused(no_cards[i]);
	for (i = 0; i < sizeof bad / sizeof *bad; i++) {
		snprintf(card, sizeof card, "%d %s", PBOOT_WIRE_VERSION, bad[i]);
		card_is_refused(card);
	}
}
END_TEST

START_TEST(a_card_of_another_version_names_its_release)
{
	const char *other = "999 2.0.0 of a kind that is not known yet";
	struct pboot_card card;

	ck_assert(pboot_card_read(other, strlen(other), &card));
	ck_assert_int_eq(card.version, 999);
	ck_assert_str_eq(card.release, "2.0.0");
}
END_TEST

START_TEST(hosts_are_numbered_by_their_lowest_ranks)
{
	static const uint64_t ids[] = { 7, 9, 7, 3, 9, 9, 3 };
	static const uint32_t wanted[] = { 0, 1, 0, 2, 1, 1, 2 };
	struct pboot_card cards[7];
	uint32_t host_of[7], i;

	for (i = 0; i < 7; i++)
		cards[i].host_id = ids[i];
	ck_assert_uint_eq(pboot_card_hosts(cards, 7, host_of), 3);
	ck_assert_mem_eq(host_of, wanted, sizeof wanted);
	ck_assert_uint_eq(pboot_card_hosts(cards, 1, host_of), 1);
}
END_TEST

START_TEST(heartbeats_are_for_the_host_with_the_least_limit)
{
	const struct pboot_card cards[] = { { .limit_ns = 5000 }, { .limit_ns = 2000 },
					    { .limit_ns = 9000 } };

	ck_assert_uint_eq(pboot_card_period_ns(cards, 3), 400);
	ck_assert_uint_eq(pboot_card_period_ns(cards, 1), 1000);
}
END_TEST

/* A keeper that takes a rank for ended since it can open no file would end a job that is well. */
START_TEST(a_process_lives_when_descriptors_have_run_out)
{
	const struct rlimit none = { 0, 0 };
	const pid_t gone = fork();
	siginfo_t info;
	int status;
	pid_t child;

	if (gone == 0)
		_exit(0);
	ck_assert_int_eq(waitid(P_PID, (id_t)gone, &info, WEXITED | WNOWAIT), 0);
	child = fork();
	if (child == 0)
		_exit(setrlimit(RLIMIT_NOFILE, &none) == 0 && pboot_process_lives(getppid()) &&
		    !pboot_process_lives(gone) ? 0 : 1);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(waitpid(gone, &status, 0), gone);
}
END_TEST

/* A child of another user listens at the name and tells so; then it waits for its end. */
static void
stranger_listen(const char *name, int told)
{
	if (setuid(65534) != 0 || pboot_wire_listen(name) < 0)
		_exit(1);
	if (write(told, "", 1) == 1)
		pause();
	_exit(1);
}

START_TEST(a_stranger_at_the_name_is_refused)
{
	char name[PBOOT_NAME_BYTES], byte;
	int told[2], listener, sock;
	pid_t stranger;

	pboot_wire_name(name);
	listener = pboot_wire_listen(name);
	sock = pboot_wire_connect(name);
	ck_assert_int_ge(listener, 0);
	ck_assert_int_ge(sock, 0);
	close(sock);
	close(listener);
	if (geteuid() != 0)	/* nobody else can be had */
		return;
	ck_assert_int_eq(pipe(told), 0);
	stranger = fork();
	if (stranger == 0)
		stranger_listen(name, told[1]);
	close(told[1]);
	ck_assert_int_eq(read(told[0], &byte, 1), 1);
	ck_assert_int_eq(pboot_wire_connect(name), -ECONNREFUSED);
	kill(stranger, SIGKILL);
	waitpid(stranger, NULL, 0);
	close(told[0]);
}
END_TEST

START_TEST(ranks_of_a_host_by_slurm)
{
	static const struct { const char *ranks, *host; uint32_t count; } cases[] = {
		{ "2", "0", 2 }, { "2(x3),1", "0", 2 }, { "2(x3),1", "2", 2 },
		{ "2(x3),1", "3", 1 }, { "2(x3),1", "4", 0 }, { "1,16(x2)", "1", 16 },
		{ "2(x3", "0", 0 }, { "2(x3;1", "0", 0 }, { "", "0", 0 }, { "x", "0", 0 },
		{ NULL, "0", 0 }, { "2", NULL, 0 }, { "99999999999", "0", 0 },
		{ "2;3", "1", 0 },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		ck_assert_uint_eq(pboot_siblings_of_slurm(cases[i].ranks, cases[i].host),
		                  cases[i].count);
}
END_TEST

int
main(void)
{
	TCase *tests = tcase_create("engine_text");

	tcase_add_test(tests, a_line_is_words);
	tcase_add_test(tests, blanks_and_rests_do_no_harm);
	tcase_add_test(tests, what_is_no_line_is_refused);
	tcase_add_test(tests, numbers_are_whole_and_in_bounds);
	tcase_add_test(tests, a_value_comes_back_whole);
	tcase_add_test(tests, pieces_of_something_else_are_refused);
	tcase_add_loop_test(tests, a_card_comes_back_whole, 0, 2);
	tcase_add_test(tests, what_is_no_card_is_refused);
	tcase_add_test(tests, a_card_of_another_version_names_its_release);
	tcase_add_test(tests, hosts_are_numbered_by_their_lowest_ranks);
	tcase_add_test(tests, a_process_lives_when_descriptors_have_run_out);
	tcase_add_test(tests, heartbeats_are_for_the_host_with_the_least_limit);
	tcase_add_test(tests, a_stranger_at_the_name_is_refused);
	tcase_add_test(tests, ranks_of_a_host_by_slurm);
	return unit_run("engine_text", tests);
}
